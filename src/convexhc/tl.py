"""Clustering of single-cell data: cells of an AnnData object, in the style of scanpy's tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from convexhc._checks import named
from convexhc.api.clustering import PAIRWISE
from convexhc.estimators import ConvexHierarchicalClustering
from convexhc.io import as_graph

__all__ = ["convexhc"]


def convexhc(
    adata: Any,
    *,
    obsp: str = "connectivities",
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

    Fits `ConvexHierarchicalClustering` to the graph ``adata.obsp[obsp]``, by default that of
    ``scanpy.pp.neighbors``.

    Parameters
    ----------
    adata : AnnData
        Annotated data. Results are written to ``obs`` and ``uns`` unless ``copy`` is true.
    obsp : str
        Name of the cell-by-cell graph.
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
            ``effective_rank``, ``n_iter``, ``status``; and the dicts ``params``, ``similarity``
            and, if the scale was suggested, ``plateau``. All of it can be written to h5ad.

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
        raise TypeError(
            f"unknown option {unknown[0]!r}: the options are {', '.join(sorted(known))}."
        )
    fitted = model.set_params(**options).fit(_cells(adata, obsp))
    target = adata.copy() if copy else adata
    target.obs[key_added] = _categories(fitted.labels_)
    target.uns[key_added] = _results(fitted, obsp)
    return target if copy else None


def _cells(adata: Any, obsp: str) -> Any:
    """The graph of the cells, with their names if these are unique."""
    if not hasattr(adata, "obsp") or not hasattr(adata, "obs_names"):
        raise TypeError(
            f"adata must be an AnnData object, received {type(adata).__name__}: for a matrix or a "
            "graph use ConvexHierarchicalClustering or solve_path."
        )
    if obsp not in adata.obsp:
        present = ", ".join(repr(key) for key in sorted(adata.obsp)) or "nothing"
        raise ValueError(
            f"adata.obsp has no {obsp!r}, it has {present}: name another with obsp=..., or compute "
            "one, for instance with scanpy.pp.neighbors(adata)."
        )
    names = adata.obs_names.tolist() if adata.obs_names.is_unique else None
    return as_graph(adata.obsp[obsp], names=names)


def _categories(labels: Any) -> Any:
    """Labels as scanpy writes them: categories of text, in numerical order."""
    import pandas as pd

    return pd.Categorical(labels.astype(str), categories=[str(k) for k in range(labels.max() + 1)])


def _results(fitted: ConvexHierarchicalClustering, obsp: str) -> dict[str, Any]:
    """The entry of ``uns``: arrays, text, numbers and dicts of these, as h5ad can hold."""
    path = fitted.path_
    results = {
        "params": {**_written(fitted.get_params()), "obsp": obsp},
        "version": path.provenance.version,
        "similarity": _written(fitted.similarity_),
        # Copies, since the arrays of the path are read-only.
        "linkage": fitted.linkage_.copy(),
        "n_connected_components": fitted.n_connected_components_,
        "lambdas": path.lambdas.copy(),
        "path_n_clusters": path.n_clusters.copy(),
        "relative_gap": path.relative_gap.copy(),
        "effective_rank": path.effective_rank.copy(),
        "n_iter": np.array([level.n_iter for level in path.levels]),
        "status": np.array([level.status.name for level in path.levels], dtype=object),
    }
    if fitted.plateau_ is not None:
        results["plateau"] = asdict(fitted.plateau_)
    return results


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are set, as plain values; any other object becomes "given"."""
    plain = bool | int | float | str
    written = {}
    for name, value in values.items():
        if value is not None:
            item = value.item() if isinstance(value, np.generic) else value
            written[name] = item if isinstance(item, plain) else "given"
    return written
