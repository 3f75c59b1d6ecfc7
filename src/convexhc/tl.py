"""Clustering of single-cell data: cells of an AnnData object, in the style of scanpy's tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._checks import named
from convexhc._types import Labels
from convexhc.api.clustering import PAIRWISE
from convexhc.api.options import instead
from convexhc.estimators import ConvexHierarchicalClustering
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.path.packing import pack_path
from convexhc.path.path import By, Path, unpack_path
from convexhc.path.suggestion import suggest
from convexhc.provenance import fingerprint

__all__ = ["convexhc", "cut", "path"]


def convexhc(
    adata: Any,
    *,
    obsp: str | None = None,
    neighbors_key: str | None = None,
    adjacency: Any = None,
    key_added: str = "convexhc",
    n_clusters: int | None = None,
    lam: float | None = None,
    min_cluster_size: int | None = None,
    similarity: str = "graph",
    weights: Any = "multiscale",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Cluster cells by their neighbourhood graph, at every scale.

    Fits `ConvexHierarchicalClustering` to a graph of the cells, by default that of
    ``scanpy.pp.neighbors``. `cut` takes another number of clusters from the result without solving
    again.

    Parameters
    ----------
    adata : AnnData
        Annotated data. Results are written to ``obs`` and ``uns`` unless ``copy`` is true.
    obsp, neighbors_key, adjacency : str, str, matrix, optional
        The graph, as in scanpy: an entry of ``obsp``; that of the neighbours in
        ``uns[neighbors_key]``; or a matrix, one row and column per cell. At most one of them;
        default: ``neighbors_key="neighbors"``, or ``obsp="connectivities"`` if ``uns`` has none.
    key_added : str
        Name of the results in ``adata.obs`` and ``adata.uns``; existing ones are replaced.
    n_clusters, lam, min_cluster_size, weights
        As for `ConvexHierarchicalClustering`.
    similarity : str
        How K is made from the graph, as for `convexhc.cluster`: one of the similarities of graphs,
        or "precomputed" if the graph is K.
    copy : bool
        Return a copy with the results instead of writing them to ``adata``.
    **options
        Further parameters of `ConvexHierarchicalClustering`: ``space``, ``shift``, ``l1_ratio``,
        ``method``, ``tol``, ``max_iter``, ``max_clusters``, ``lam_step``, ``prove``, ``progress``.

    Returns
    -------
    AnnData or None
        The copy, if ``copy`` is true. Results:

        ``obs[key_added]`` : categorical of str
            Cluster of every cell: "0", "1", ..., numbered by first occurrence.
        ``uns[key_added]`` : dict
            ``linkage`` (scipy's form, over cells), ``n_connected_components``, ``version``; for
            every lam solved ``lambdas``, ``path_n_clusters``, ``relative_gap``,
            ``effective_rank``, ``n_iter``, ``status``; the dicts ``params``, ``similarity``
            and, if the scale was suggested, ``plateau``; and ``path``, what `cut` and `path` read.
            All of it can be written to h5ad.

    Raises
    ------
    ValueError, TypeError
        No such graph, a graph that is not symmetric, or an option out of its range. Nothing is
        written then.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from convexhc import tl
    >>> adata = anndata.AnnData(np.zeros((6, 1)))
    >>> adata.obsp["connectivities"] = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)) + 0.01
    >>> tl.convexhc(adata, n_clusters=2)
    >>> adata.obs["convexhc"].tolist()
    ['0', '0', '0', '1', '1', '1']
    """
    named("similarity", similarity, dict.fromkeys(PAIRWISE))
    model = ConvexHierarchicalClustering(
        n_clusters,
        lam=lam,
        similarity=similarity,
        weights=weights,
        min_cluster_size=min_cluster_size,
    )
    # Neighbours are those of points.
    known = set(model.get_params()) - {"n_neighbors"}
    unknown = sorted(set(options) - known)
    if unknown:
        advice = instead(unknown[0]) or f": the options are {', '.join(sorted(known))}"
        raise TypeError(f"unknown option {unknown[0]!r}{advice}.")
    key = _key_of(adata, obsp, neighbors_key, adjacency)
    cells = _cells(adata, key, adjacency)
    fitted = model.set_params(**options).fit(cells)
    target = adata.copy() if copy else adata
    target.obs[key_added] = _categories(fitted.labels_)
    target.uns[key_added] = _results(fitted, key, cells if key else None)
    return target if copy else None


def cut(
    adata: Any,
    *,
    n_clusters: int | None = None,
    lam: float | None = None,
    by: By = "pruning",
    min_cluster_size: int | None = None,
    key: str = "convexhc",
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """Cut the tree of the cells again, at another scale and without solving.

    Parameters
    ----------
    adata : AnnData
        With the results of `tl.convexhc`, in this process or read from h5ad.
    n_clusters, lam, by, min_cluster_size
        As for `Path.labels`; without n_clusters and lam, the suggested scale.
    key : str
        Name of the results in ``adata.uns``.
    key_added : str, optional
        Name of the clusters in ``adata.obs``; default: ``key``, whose ``params`` are updated.
    copy : bool
        Return a copy with the clusters instead of writing them to ``adata``.

    Returns
    -------
    AnnData or None
        The copy, if ``copy`` is true.

    Raises
    ------
    ValueError
        No such results, or a scale out of range.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from convexhc import tl
    >>> adata = anndata.AnnData(np.zeros((6, 1)))
    >>> adata.obsp["connectivities"] = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)) + 0.01
    >>> tl.convexhc(adata, n_clusters=2)
    >>> tl.cut(adata, n_clusters=3, min_cluster_size=1, key_added="three")
    >>> adata.obs["three"].nunique()
    3
    """
    solved = path(adata, key=key)
    if n_clusters is None and lam is None:
        labels = suggest(solved, min_cluster_size).labels
    else:
        labels = solved.labels(
            n_clusters=n_clusters, lam=lam, by=by, min_cluster_size=min_cluster_size
        )
    target = adata.copy() if copy else adata
    target.obs[key if key_added is None else key_added] = _categories(labels)
    if key_added in (None, key):
        scale = {"n_clusters": n_clusters, "lam": lam, "min_cluster_size": min_cluster_size}
        results = target.uns[key]
        kept = {name: value for name, value in results["params"].items() if name not in scale}
        results["params"] = kept | _plain(scale)
        results.pop("plateau", None)
    return target if copy else None


def path(adata: Any, *, key: str = "convexhc") -> Path:
    """The `Path` that `tl.convexhc` stored, for `convexhc.plots`, reports and exports.

    Raises
    ------
    ValueError
        No such results, or the graph they were made of is gone or another.
    """
    results = adata.uns.get(key) if hasattr(adata, "uns") else None
    if not isinstance(results, Mapping) or "path" not in results:
        raise ValueError(
            f"adata.uns has no path under {key!r}: cluster the cells first, with "
            f"tl.convexhc(adata, key_added={key!r})."
        )
    stored = dict(results["path"])
    text = json.loads(str(stored.pop("text")))
    graph = stored.pop("graph", None)
    if graph is None:
        graph = _cells(adata, str(results["params"]["obsp"]), None)
    else:
        graph = Graph.from_matrix(graph, names=_cell_names(adata), signed=True)
    arrays = {name: np.asarray(array) for name, array in stored.items()}
    arrays["partitions"] = arrays["partitions"].astype(np.int64)
    solved = unpack_path({**text, "names": list(range(graph.n))}, arrays)
    return replace(solved, names=graph.names, graph=graph)


def _key_of(adata: Any, obsp: str | None, neighbors_key: str | None, adjacency: Any) -> str:
    """Name of the graph in ``obsp``, by scanpy's rules; empty if a matrix is given."""
    if not hasattr(adata, "obsp") or not hasattr(adata, "obs_names"):
        raise TypeError(
            f"adata must be an AnnData object, received {type(adata).__name__}: for a matrix or a "
            "graph use ConvexHierarchicalClustering or solve_path."
        )
    given = {"obsp": obsp, "neighbors_key": neighbors_key, "adjacency": adjacency}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise ValueError(f"give one of obsp, neighbors_key and adjacency, received {chosen}.")
    if obsp is not None or adjacency is not None:
        return obsp or ""
    key = "neighbors" if neighbors_key is None else neighbors_key
    if key not in adata.uns:
        if neighbors_key is None:
            return "connectivities"
        raise ValueError(
            f"adata.uns has no {key!r}: compute neighbours with "
            f"scanpy.pp.neighbors(adata, key_added={key!r}), or name the graph with obsp=..."
        )
    return str(adata.uns[key].get("connectivities_key", "connectivities"))


def _cells(adata: Any, key: str, adjacency: Any) -> Graph:
    """The graph of the cells, with their names if these are unique."""
    if adjacency is None and key not in adata.obsp:
        present = ", ".join(repr(name) for name in sorted(adata.obsp)) or "nothing"
        raise ValueError(
            f"adata.obsp has no {key!r}, it has {present}: name another with obsp=..., or compute "
            "one, for instance with scanpy.pp.neighbors(adata)."
        )
    matrix = adata.obsp[key] if adjacency is None else adjacency
    graph = as_graph(matrix, names=_cell_names(adata))
    if graph.n != adata.n_obs:
        raise ValueError(f"adjacency has {graph.n} nodes, adata has {adata.n_obs} cells.")
    return graph


def _cell_names(adata: Any) -> list[str] | None:
    return adata.obs_names.tolist() if adata.obs_names.is_unique else None


def _categories(labels: Labels) -> Any:
    """Labels as scanpy writes them: categories of text, in numerical order."""
    import pandas as pd

    return pd.Categorical(labels.astype(str), categories=[str(k) for k in range(labels.max() + 1)])


def _results(fitted: ConvexHierarchicalClustering, key: str, cells: Graph | None) -> dict[str, Any]:
    """The entry of ``uns``: arrays, text, numbers and dicts of these, as h5ad can hold."""
    solved = fitted.path_
    results = {
        "params": {**_plain(fitted.get_params()), "obsp": key or "given"},
        "version": solved.provenance.version,
        "similarity": _plain(fitted.similarity_),
        # Copies, since the arrays of the path are read-only.
        "linkage": fitted.linkage_.copy(),
        "n_connected_components": fitted.n_connected_components_,
        "path_n_clusters": solved.n_clusters.copy(),
        "lambdas": solved.lambdas.copy(),
        "relative_gap": solved.relative_gap.copy(),
        "effective_rank": solved.effective_rank.copy(),
        "n_iter": np.array([level.n_iter for level in solved.levels]),
        "status": np.array([level.status.name for level in solved.levels], dtype=object),
        "path": _stored(solved, cells),
    }
    if fitted.plateau_ is not None:
        results["plateau"] = asdict(fitted.plateau_)
    return results


def _stored(solved: Path, cells: Graph | None) -> dict[str, Any]:
    """The path without names and centroids; without its graph if that is ``cells``."""
    text, arrays = pack_path(solved)
    del text["names"]
    smallest = np.min_scalar_type(len(solved.names))
    stored: dict[str, Any] = {
        name: array.copy()
        for name, array in arrays.items()
        if not name.startswith(("graph_", "cluster_centroids_"))
    }
    stored["partitions"] = stored["partitions"].astype(smallest)
    stored["status"] = stored["status"].astype(object)
    stored["text"] = json.dumps(text)
    if solved.graph is not None and (
        cells is None or fingerprint(solved.graph) != fingerprint(cells)
    ):
        stored["graph"] = sparse.csr_matrix(solved.graph.matrix())
    return stored


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are set, as plain values; any other object becomes "given"."""
    plain = bool | int | float | str
    written = {}
    for name, value in values.items():
        if value is not None:
            item = value.item() if isinstance(value, np.generic) else value
            written[name] = item if isinstance(item, plain) else "given"
    return written
