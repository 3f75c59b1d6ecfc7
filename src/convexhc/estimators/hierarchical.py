"""The scikit-learn clusterer: similarity, graph or points in, labels and tree out."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_non_negative, validate_data

from convexhc.estimators.from_path import PathClusterer, row_names
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.io.reading import find_columns
from convexhc.path import Path, cluster, solve_features_path, solve_path
from convexhc.similarity import (
    Similarity,
    diffusion,
    from_graph,
    from_points,
    multiscale_weights,
    neighbor_graph,
    normalized,
    rbf,
    shift_to_positive,
    spectral_features,
    two_hop,
)
from convexhc.similarity.diffusion_time import N_FEATURES
from convexhc.similarity.result import Shift
from convexhc.similarity.strongest import positive_part

__all__ = ["ConvexHierarchicalClustering"]

# Similarities of a square X, one row and one column a node; the others are of points.
_FROM_GRAPH = {
    "graph": from_graph,
    "diffusion": diffusion,
    "two_hop": two_hop,
    "normalized": normalized,
}
_PAIRWISE = ("precomputed", *_FROM_GRAPH)


class ConvexHierarchicalClustering(PathClusterer):
    """Cluster a graph, a similarity matrix or points at every scale, and cut at one of them.

    Every node has a centroid, and a fusion penalty of strength lam pulls the centroids of similar
    nodes together: nodes whose centroids coincide form a cluster. With ``similarity="graph"`` this
    is `convexhc.cluster`: similarity, weights and scale are chosen by the graph.

    Parameters
    ----------
    n_clusters : int, optional
        Exactly so many clusters, by the best pruning of the tree (`Path.labels`); at most that of
        the nodes. If neither this nor ``lam`` is given, the scale is that of `Path.suggestion`, and
        ``plateau_`` records the range of lam nearest to it.
    lam : float, optional
        Solve for this strength of the penalty alone. ``linkage_`` then holds the clusters found
        there, joined at the top.
    similarity : {"precomputed", "graph", "diffusion", "two_hop", "normalized", \
            "nearest_neighbors", "rbf"}
        What X is, and how the similarity K is made from it. X is K itself; X is a graph, and K is
        made by the function of `similarity` of that name, `similarity.from_graph` for "graph", the
        choice for a graph of which nothing is known; X has one point per row, and K is made by
        `similarity.from_points` or `similarity.rbf`.
    weights : "auto", int, graph or None
        Edge weights W: those that keep every scale (`similarity.multiscale_weights`); the number of
        strongest neighbours of K to keep, as connected as K; a graph on the same nodes; or None for
        all off-diagonal entries of K, which then may not be negative.
    space : {"auto", "features", "similarity"}
        Where the penalty acts: on the images of the centroids in the feature space of K
        (`convexhc.solve_features_path`), or on doubly stochastic pi, the paper's problem
        (`convexhc.solve_path`, eq. 4). "auto" takes the features, and the paper's problem if
        ``weights`` are given.
    n_neighbors : int, optional
        Neighbours of a point, for ``similarity="nearest_neighbors"``; default as for
        `similarity.neighbor_graph`.
    shift : float, "auto" or None
        Added to the diagonal of K; "auto" adds what makes K positive definite. None is 0 for
        "precomputed", which is then used as it is and refused if it has a negative eigenvalue;
        "auto" for points; and the default of the function that makes K for graphs.
    l1_ratio : float, optional
        Share of the l1 norm in the penalty, between 0 and 1. Default: 0 for features, whose axes
        mean nothing, and 0.05, as in the paper, for pi.
    method : {"auto", "dual_fista", "admm", "primal_dual"}
        Solver of the paper's problem; all reach the same answer.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int, optional
        Iterations for each lam. Default: 200 for features, 20 000 for pi.
    lam_step : float
        Relative step of lam below which fusions of the paper's problem are no longer told apart.
    min_cluster_size : int, optional
        Smaller clusters do not count. Default as for `Path.labels`.

    Attributes
    ----------
    labels_ : (n,) ndarray of int
        Cluster of every node, numbered by first occurrence.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    path_ : Path
        Everything solved: partitions, certificates, tree.
    plateau_ : Plateau or None
        The range of lam chosen; None if ``n_clusters`` or ``lam`` was given.
    linkage_ : (n - 1, 4) ndarray
        The tree as a scipy linkage, lam as height.
    children_, distances_ : (n - 1, 2) ndarray of int, (n - 1,) ndarray
        The same tree as scikit-learn writes it: the pairs joined, and the lam at which.
    n_leaves_, n_connected_components_ : int
        Nodes of the graph, and components of W, which only the top of the tree joins.
    lambdas_ : (L,) ndarray
        Every lam solved, increasing.
    n_iter_ : int
        Iterations, over all lam.
    similarity_ : dict
        How K was made: ``kind``, ``shift`` added to the diagonal, ``positive_definite`` if this is
        known, ``min_eigenvalue`` if it was computed, other options. K itself is not kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, if X is a DataFrame that has them.

    Raises
    ------
    ValueError, TypeError
        Both n_clusters and lam, a parameter out of range, or X that is not finite, symmetric and
        positive semidefinite where it has to be.

    Warns
    -----
    ConvergenceWarning
        Some lam was not solved to ``tol``.
    NoStructureWarning
        No scale was asked for, and the graph has no groups beyond chance, or the path collapses.

    Notes
    -----
    Time and memory are those of `convexhc.cluster` and `convexhc.solve_path`. There is no
    randomness. With scikit-learn 1.9 or newer, callbacks set by ``set_callbacks`` are told of every
    lam, with the `Level` solved as ``metadata["level"]``, and may end the path.

    Examples
    --------
    >>> import numpy as np
    >>> from convexhc.estimators import ConvexHierarchicalClustering
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> ConvexHierarchicalClustering(n_clusters=2).fit_predict(K)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "lam": [Interval(Real, 0, None, closed="left"), None],
        "similarity": [StrOptions({*_PAIRWISE, "nearest_neighbors", "rbf"})],
        # Whatever holds a graph; the input door knows.
        "weights": "no_validation",
        "space": [StrOptions({"auto", "features", "similarity"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "shift": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "method": [StrOptions({"auto", "dual_fista", "admm", "primal_dual"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "lam_step": [Interval(Real, 0, None, closed="neither")],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: float | None = None,
        similarity: str = "precomputed",
        weights: Any = "auto",
        space: str = "auto",
        n_neighbors: int | None = None,
        shift: Shift | None = None,
        l1_ratio: float | None = None,
        method: str = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        lam_step: float = 0.1,
        min_cluster_size: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.similarity = similarity
        self.weights = weights
        self.space = space
        self.n_neighbors = n_neighbors
        self.shift = shift
        self.l1_ratio = l1_ratio
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.lam_step = lam_step
        self.min_cluster_size = min_cluster_size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = self.similarity in _PAIRWISE
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = pairwise
        tags.input_tags.positive_only = pairwise and not self._signed
        return tags

    @property
    def _signed(self) -> bool:
        """Negative similarities have no place in a penalty, but do in K."""
        return self.similarity == "precomputed" and self.weights is not None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: object = None) -> ConvexHierarchicalClustering:
        """Cluster.

        Parameters
        ----------
        X : (n, n) similarity or graph, or (n, d) points
            As ``similarity`` says. A graph is anything `convexhc.as_graph` reads: array, sparse
            matrix, DataFrame, networkx or igraph graph, list of edges, file name.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        self
        """
        on_check, finished = self._listeners(X)
        options: dict[str, Any] = {"tol": self.tol, "on_check": on_check}
        in_features = self._in_features
        # Another diagonal or norm needs the similarity itself.
        by_graph = self.similarity in ("graph", "nearest_neighbors") and self.shift is None
        by_graph = by_graph and not self.l1_ratio
        if in_features and by_graph and self._auto_weights:
            graph, points = self._source(X)
            path = self._cluster(graph, points, options)
            self.similarity_ = dict(path.provenance.options["similarity"])
        else:
            K = self._similarity(X)
            path = self._solve(K, in_features, options)
            self.similarity_ = K.record
        self._cut(path)
        self._record(path)
        finished()
        return self

    @property
    def _auto_weights(self) -> bool:
        return isinstance(self.weights, str) and self.weights == "auto"

    @property
    def _in_features(self) -> bool:
        """Whether the penalty acts in feature space."""
        return self._auto_weights if self.space == "auto" else self.space == "features"

    def _cluster(self, graph: Graph, points: Any, options: dict[str, Any]) -> Path:
        """The road for graphs and points of which nothing is known."""
        self._check_scale(graph.n)
        if self.max_iter is not None:
            options["max_iter"] = self.max_iter
        if self.lam is not None:
            options["lambdas"] = [self.lam]
        return cluster(graph, points=points, test_structure=self._chooses, **options)

    def _solve(self, K: Similarity, in_features: bool, options: dict[str, Any]) -> Path:
        """The path of a similarity, in its feature space or over doubly stochastic matrices."""
        self._check_scale(K.graph.n)
        if self.max_iter is not None:
            options["max_iter"] = self.max_iter
        if self.l1_ratio is not None:
            options["l1_ratio"] = self.l1_ratio
        if self.lam is not None:
            options["lambdas"] = [self.lam]
        if in_features:
            weights = "multiscale" if self._auto_weights else self.weights
            return solve_features_path(K, weights=weights, **options)
        options |= {"method": self.method, "lam_step": self.lam_step}
        return solve_path(K, weights=self._edge_weights(K), **options)

    def _edge_weights(self, K: Similarity) -> Any:
        if not self._auto_weights:
            return self.weights
        X = spectral_features(K, min(N_FEATURES, K.graph.n))
        return multiscale_weights(positive_part(K.graph).matrix(), X)

    def _source(self, X: Any) -> tuple[Graph, Any]:
        """The graph that X is, or the neighbour graph of its points and the points."""
        if self.similarity == "graph":
            return self._graph(X), None
        points = validate_data(self, X, dtype=np.float64)
        made = neighbor_graph(points, n_neighbors=self.n_neighbors)
        return as_graph(made, names=row_names(X)), points

    def _similarity(self, X: Any) -> Similarity:
        """Validate X, note its columns, and make K."""
        if self.similarity not in _PAIRWISE:
            points = validate_data(self, X, dtype=np.float64)
            shift: Shift = "auto" if self.shift is None else self.shift
            if self.similarity == "rbf":
                made = rbf(points, shift=shift)
            else:
                made = from_points(points, n_neighbors=self.n_neighbors, shift=shift)
            return replace(made, graph=as_graph(made, names=row_names(X)))
        graph = self._graph(X)
        if self.similarity == "precomputed":
            before = (
                X if isinstance(X, Similarity) else Similarity(graph, "given", 0.0, None, False)
            )
            return _shifted(before, 0.0 if self.shift is None else self.shift)
        options: dict[str, Any] = {} if self.shift is None else {"shift": self.shift}
        return _FROM_GRAPH[self.similarity](graph, **options)

    def _graph(self, X: Any) -> Graph:
        """Read a square X: matrices as scikit-learn does, other graphs by the input door."""
        if not _is_matrix(X):
            graph = as_graph(X, signed=self._signed)
            # Notes the number of columns, and forgets the names that an earlier X may have had.
            validate_data(self, graph.matrix(), accept_sparse="csr")
            return graph
        # float32 stays, for the door allows it a coarser rounding between the two halves.
        matrix = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if not self._signed:
            check_non_negative(matrix, type(self).__name__)
        named = row_names(X)
        if named is not None and set(named) == set(X.columns):
            # Only the door puts columns in the order of the rows.
            return as_graph(X, signed=self._signed)
        return as_graph(matrix, signed=self._signed, names=named)


def _is_matrix(X: Any) -> bool:
    """Whether scikit-learn can check X; graphs and lists of edges it cannot."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return True
    if hasattr(X, "columns"):
        return find_columns(list(X.columns), None) is None
    if isinstance(X, list):
        return not (X and isinstance(X[0], tuple))
    return hasattr(X, "__array__") and not isinstance(X, Similarity)


def _shifted(K: Similarity, shift: Shift) -> Similarity:
    """K with shift on its diagonal, and what was known of it kept."""
    if shift == "auto":
        return shift_to_positive(K)
    least = None if K.min_eigenvalue is None else K.min_eigenvalue + shift
    graph = K.graph.with_diagonal(K.graph.diagonal + shift)
    return replace(K, graph=graph, shift=K.shift + float(shift), min_eigenvalue=least)
