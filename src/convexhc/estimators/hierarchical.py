"""The scikit-learn clusterer of graphs, similarities and points."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from convexhc.api.clustering import PAIRWISE, SIMILARITIES, cluster
from convexhc.api.options import MethodLike, OnLevel, Options
from convexhc.api.points_path import SPACES
from convexhc.estimators.from_path import (
    COUNT,
    PathClusterer,
    clusterer,
    nearest_centroid_score,
    pairwise_score,
    row_names,
)
from convexhc.graph import Graph
from convexhc.graph_checks import checked_sparse
from convexhc.io import as_graph
from convexhc.io.reading import find_columns
from convexhc.path import Path
from convexhc.similarity import Similarity
from convexhc.similarity.result import Shift
from convexhc.solvers.choose import METHODS


@clusterer
class ConvexHierarchicalClustering(PathClusterer):
    """Cluster a graph, a similarity matrix or points at every scale, and cut at one of them.

    Every node has a centroid, and a fusion penalty of strength lam pulls the centroids of similar
    nodes together: nodes whose centroids coincide form a cluster. The path is that of
    `convexhc.cluster` with the same options.

    Parameters
    ----------
    n_clusters : int, optional
        Exactly this many clusters, by the best pruning of the tree (`Path.labels`). With neither
        this nor ``lam``, the scale is that of `Path.suggestion`.
    lam : float, optional
        Solve for this strength of the penalty alone. ``linkage_`` then joins the clusters found
        there at the top.
    similarity : str
        What X is, and how the similarity K is made from it, as for `convexhc.cluster`: a graph by
        default, K itself for "precomputed", one row per point for "nearest_neighbors" and "rbf".
    weights, space, n_neighbors, shift, l1_ratio, method, tol, max_iter, max_clusters, lam_step, \
            prove, progress
        As for `convexhc.cluster`.
    min_cluster_size : int, optional
        Smaller clusters do not count. Default as for `Path.labels`.
    n_jobs : int, optional
        Threads, as in joblib; by default those of numba and of the linear algebra. Graphs in
        parallel are the business of `convexhc.solve_paths`, or of GridSearchCV.
    verbose : int
        Above 0, as ``progress=True``.

    Attributes
    ----------
    labels_ : (n,) ndarray of int
        Cluster of every node, numbered by first occurrence.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    path_ : Path
        Everything solved: partitions, certificates, tree.
    plateau_ : Plateau or None
        The range of lam nearest to the suggestion; None if ``n_clusters`` or ``lam`` was given.
    linkage_ : (n - 1, 4) ndarray
        The tree as a scipy linkage, lam as height.
    children_, distances_ : (n - 1, 2) ndarray of int, (n - 1,) ndarray
        The same tree in scikit-learn's form: the pairs joined, and the lam of each join.
    n_leaves_, n_connected_components_ : int
        Nodes, and connected components of W, which only the top of the tree joins.
    lambdas_ : (L,) ndarray
        Every lam solved, increasing.
    n_iter_ : int
        Iterations, over all lam.
    similarity_ : dict
        How K was made: its ``kind`` and options. If K itself was made, also the ``shift`` added to
        the diagonal, ``positive_definite``, and ``min_eigenvalue`` if it was computed.
    centroids_ : (k, d) ndarray
        Mean of the members of every cluster: of the rows of X for points, else of the features of
        the nodes, ``path_.features``.
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
        No scale was given, and the graph has no groups beyond chance, or the path collapses.

    Notes
    -----
    Time and memory are those of `convexhc.cluster` and `convexhc.solve_path`. There is no
    randomness. With scikit-learn 1.9 or newer, callbacks set by ``set_callbacks`` are called after
    every lam, with the `Level` as ``metadata["level"]``; a true answer ends the path.

    Examples
    --------
    >>> import numpy as np
    >>> from convexhc.estimators import ConvexHierarchicalClustering
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    >>> ConvexHierarchicalClustering(n_clusters=2).fit_predict(A)
    array([0, 0, 0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PathClusterer._parameter_constraints,
        "similarity": [StrOptions(set(SIMILARITIES))],
        "space": [StrOptions(set(SPACES))],
        "n_neighbors": [COUNT, None],
        "shift": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
        "method": [StrOptions(set(METHODS)), HasMethods(["init", "step", "candidate"])],
        "lam_step": [Interval(Real, 0, None, closed="neither")],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    lam: float | None = None
    similarity: str = "graph"
    weights: Any = "multiscale"
    space: str = "auto"
    n_neighbors: int | None = None
    shift: Shift | None = None
    l1_ratio: float | None = None
    method: MethodLike = Options.method
    tol: float = Options.tol
    max_iter: int | None = None
    max_clusters: int | None = Options.max_clusters
    lam_step: float = Options.lam_step
    prove: bool = Options.prove
    min_cluster_size: int | None = None
    progress: Any = False
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = self.similarity in PAIRWISE
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = pairwise
        tags.input_tags.positive_only = pairwise and not self._signed
        return tags

    @property
    def _signed(self) -> bool:
        """Whether K may have negative entries: not if they are the weights of the penalty."""
        return self.similarity == "precomputed" and self.weights is not None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: object = None) -> ConvexHierarchicalClustering:
        """Cluster a graph, a similarity or points.

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
        data, n = self._validated(X)
        suggests = self.n_clusters is None and self.lam is None
        options = self.get_params(deep=False)
        for name in ("n_clusters", "lam", "min_cluster_size", "verbose"):
            del options[name]
        options["progress"] = self.progress or bool(self.verbose > 0)

        def solve(on_check: OnLevel | None) -> Path:
            lambdas: Any = "auto" if self.lam is None else [self.lam]
            path = cluster(data, lambdas, test_structure=suggests, on_check=on_check, **options)
            self.similarity_ = dict(path.provenance.options["similarity"])
            names = None if self.similarity in PAIRWISE else row_names(X)
            return path if names is None else path.renamed(names)

        return self._fit(X, n, solve, None if self.similarity in PAIRWISE else data)

    def score(self, X: Any, y: object = None) -> float:
        """How well the clusters fit: for model selection, as by GridSearchCV.

        For a graph or a similarity, modularity. X may be the graph of the fit, whose nodes keep
        their labels; or have other nodes in its rows, as scikit-learn passes a test set of a
        pairwise X: then every row joins the cluster that adds most to the modularity of X, in which
        rows and columns have their own degrees. For points, the mean of (b - a) / max(a, b), a and
        b the distances of a row to its two nearest ``centroids_`` (the simplified silhouette). One
        cluster has the score 0.

        Parameters
        ----------
        X : graph or (m, n) similarities to the nodes of the fit, or (m, d) points
            As ``similarity`` says.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        float
            At most 1; larger is better.

        Examples
        --------
        >>> import networkx as nx
        >>> model = ConvexHierarchicalClustering(2).fit(nx.karate_club_graph())
        >>> 0.3 < model.score(nx.karate_club_graph()) < 0.5
        True
        """
        check_is_fitted(self)
        if self.similarity not in PAIRWISE:
            points = validate_data(self, X, dtype=np.float64, reset=False)
            return nearest_centroid_score(points, self.centroids_)
        if not _is_matrix(X):
            X = as_graph(X, signed=self._signed).matrix()
        block = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return pairwise_score(block, self.labels_)

    def _validated(self, X: Any) -> tuple[Any, int]:
        """X as `cluster` takes it, and its number of nodes; sets ``n_features_in_``."""
        if self.similarity in PAIRWISE:
            graph = self._graph(X)
            return (X if isinstance(X, Similarity) else graph), graph.n
        points = validate_data(self, X, dtype=np.float64)
        return points, len(points)

    def _graph(self, X: Any) -> Graph:
        """Read a square X: matrices by scikit-learn's checks, other graphs by `as_graph`."""
        if not _is_matrix(X):
            graph = as_graph(X, signed=self._signed)
            # Sets n_features_in_, and removes the column names of an earlier X.
            validate_data(self, graph.matrix(), accept_sparse="csr")
            return graph
        # scikit-learn follows the indices of a sparse matrix wherever they point.
        X = checked_sparse(X) if sparse.issparse(X) else X
        # float32 is not converted: `as_graph` then tolerates a coarser asymmetry.
        matrix = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if not self._signed:
            check_non_negative(matrix, type(self).__name__)
        named = row_names(X)
        if named is not None and set(named) == set(X.columns):
            # `as_graph` puts the columns in the order of the rows.
            return as_graph(X, signed=self._signed)
        return as_graph(matrix, signed=self._signed, names=named)


def _is_matrix(X: Any) -> bool:
    """Whether scikit-learn can check X, which is no graph object and no list of edges."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return True
    if hasattr(X, "columns"):
        return find_columns(list(X.columns), None) is None
    if isinstance(X, list):
        return not (X and isinstance(X[0], tuple))
    return hasattr(X, "__array__") and not isinstance(X, Similarity)
