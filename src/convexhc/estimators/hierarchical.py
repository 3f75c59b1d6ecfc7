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
from convexhc.path import solve_path
from convexhc.similarity import (
    Similarity,
    diffusion,
    knn,
    normalized,
    rbf,
    shift_to_positive,
    two_hop,
)
from convexhc.similarity.result import Gamma
from convexhc.similarity.strongest import N_NEIGHBORS

__all__ = ["ConvexHierarchicalClustering"]

# Affinities of a square X, one row and one column a node; the others are of points.
_FROM_GRAPH = {"diffusion": diffusion, "two_hop": two_hop, "normalized": normalized}
_PAIRWISE = ("precomputed", *_FROM_GRAPH)


class ConvexHierarchicalClustering(PathClusterer):
    """Cluster a graph, a similarity matrix or points at every scale, and cut at one of them.

    Minimises Tr[pi'K pi - 2 K pi] + lam sum_ij W_ij (alpha |pi_i - pi_j|_2 + l1_ratio
    |pi_i - pi_j|_1), alpha = 1 - l1_ratio, over doubly stochastic pi, for growing lam
    (`convexhc.solve_path`). Nodes whose columns of pi coincide form a cluster.

    Parameters
    ----------
    n_clusters : int, optional
        Cut the tree into at most so many clusters: ``n_clusters_`` says how many it gave,
        ``path_.available_n_clusters`` how many it can give. If neither this nor ``lam`` is given,
        the cut is at a scale that lasts and says something (`Tree.suggest`), and ``plateau_``
        records the choice.
    lam : float, optional
        Solve for this strength of the penalty alone. ``linkage_`` then holds the clusters found
        there, joined at the top.
    affinity : {"precomputed", "diffusion", "two_hop", "normalized", "nearest_neighbors", "rbf"}
        What X is, and how the similarity K is made from it. X is K itself; X is a graph, and K is
        made by the function of `similarity` of that name, "diffusion" for a graph of which nothing
        else is known; X has one point a row, and K is made by `similarity.knn` or `similarity.rbf`.
    weights : int, graph or None
        Edge weights W: the number of strongest neighbours of K to keep, as connected as K, a graph
        on the same nodes, or None for all off-diagonal entries of K, which then may not be
        negative. Ten keep the scales apart where all of K fuses them at once.
    n_neighbors : int
        Neighbours of a point, for ``affinity="nearest_neighbors"``.
    gamma : float, "auto" or None
        Added to the diagonal of K; "auto" adds what makes K positive definite. None is 0 for
        "precomputed", which is then used as it is and refused if it has a negative eigenvalue;
        "auto" for points; and the default of the function that makes K for graphs.
    l1_ratio : float
        Share of the l1 norm in the penalty, between 0 and 1.
    method : {"auto", "dual_fista", "admm", "primal_dual"}
        Solver; all reach the same answer.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int
        Iterations for each lam.
    resolution : float
        Relative step of lam below which fusions are no longer told apart.
    min_cluster_size : int
        Smaller clusters do not count, and join the cluster they meet first in the tree.

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
        How K was made: ``kind``, ``gamma`` added to the diagonal, ``positive_definite`` if this is
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

    Notes
    -----
    Time and memory are those of `convexhc.solve_path`. There is no randomness. With scikit-learn
    1.9 or newer, callbacks set by ``set_callbacks`` are told of every lam, with the `Point` solved
    as ``metadata["point"]``, and may end the path.

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
        "affinity": [StrOptions({*_PAIRWISE, "nearest_neighbors", "rbf"})],
        # Whatever holds a graph; the input door knows.
        "weights": "no_validation",
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "method": [StrOptions({"auto", "dual_fista", "admm", "primal_dual"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "resolution": [Interval(Real, 0, None, closed="neither")],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: float | None = None,
        affinity: str = "precomputed",
        weights: Any = N_NEIGHBORS,
        n_neighbors: int = 10,
        gamma: Gamma | None = None,
        l1_ratio: float = 0.05,
        method: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 20_000,
        resolution: float = 0.1,
        min_cluster_size: int = 1,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.affinity = affinity
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.l1_ratio = l1_ratio
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.resolution = resolution
        self.min_cluster_size = min_cluster_size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = self.affinity in _PAIRWISE
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = pairwise
        tags.input_tags.positive_only = pairwise and not self._signed
        return tags

    @property
    def _signed(self) -> bool:
        """Negative similarities have no place in a penalty, but do in K."""
        return self.affinity == "precomputed" and self.weights is not None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: object = None) -> ConvexHierarchicalClustering:
        """Cluster.

        Parameters
        ----------
        X : (n, n) similarity or graph, or (n, d) points
            As ``affinity`` says. A graph is anything `convexhc.as_graph` reads: array, sparse
            matrix, DataFrame, networkx or igraph graph, list of edges, file name.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        self
        """
        K = self._similarity(X)
        self._check_scale(K.graph.n)
        on_check, finished = self._listeners(X)
        path = solve_path(
            K,
            None if self.lam is None else [self.lam],
            weights=self.weights,
            l1_ratio=self.l1_ratio,
            method=self.method,
            tol=self.tol,
            max_iter=self.max_iter,
            resolution=self.resolution,
            on_check=on_check,
        )
        self._cut(path)
        self._record(path)
        self.similarity_ = K.record
        finished()
        return self

    def _similarity(self, X: Any) -> Similarity:
        """Validate X, note its columns, and make K."""
        if self.affinity not in _PAIRWISE:
            points = validate_data(self, X, dtype=np.float64)
            gamma: Gamma = "auto" if self.gamma is None else self.gamma
            if self.affinity == "rbf":
                made = rbf(points, gamma=gamma)
            else:
                made = knn(points, n_neighbors=self.n_neighbors, gamma=gamma)
            return replace(made, graph=as_graph(made, names=row_names(X)))
        graph = self._graph(X)
        if self.affinity == "precomputed":
            before = (
                X if isinstance(X, Similarity) else Similarity(graph, "given", 0.0, None, False)
            )
            return _shifted(before, 0.0 if self.gamma is None else self.gamma)
        options: dict[str, Any] = {} if self.gamma is None else {"gamma": self.gamma}
        return _FROM_GRAPH[self.affinity](graph, **options)

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


def _shifted(K: Similarity, gamma: Gamma) -> Similarity:
    """K with gamma on its diagonal, and what was known of it kept."""
    if gamma == "auto":
        return shift_to_positive(K)
    least = None if K.min_eigenvalue is None else K.min_eigenvalue + gamma
    graph = K.graph.with_diagonal(K.graph.diagonal + gamma)
    return replace(K, graph=graph, gamma=K.gamma + float(gamma), min_eigenvalue=least)
