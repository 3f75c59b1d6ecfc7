"""The tool for single-cell data: cluster the cells of an AnnData object, as scanpy's tools do."""

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

    The graph is ``adata.obsp[obsp]``, by default that of ``scanpy.pp.neighbors``; K is made from
    it, and the path solved and cut, by `ConvexHierarchicalClustering`.

    Parameters
    ----------
    adata : AnnData
        Annotated data; given new entries in ``obs`` and ``uns`` unless ``copy`` is true.
    obsp : str
        Name of the cell-by-cell graph.
    key_added : str
        Name of the results in ``adata.obs`` and ``adata.uns``, replaced if they are there.
    n_clusters : int, optional
        Number of clusters, by the best pruning of the tree.
    lam : float, optional
        Solve for this strength of the penalty alone. Give at most one of the two; with neither,
        the scale of `Path.suggestion` is taken.
    min_cluster_size : int, optional
        Smaller clusters do not count. Default as for `Path.labels`.
    similarity : str
        How K is made from the graph: as `ConvexHierarchicalClustering` does for a similarity of
        that name. "graph" is `convexhc.cluster`; "precomputed" takes the graph itself for K.
    weights : "multiscale", int, graph or None
        Edge weights of the penalty, as for `ConvexHierarchicalClustering`.
    copy : bool
        Return a copy with the results instead of writing them into ``adata``.
    **options
        Further parameters of `ConvexHierarchicalClustering`: ``shift``, ``space``, ``l1_ratio``,
        ``method``, ``tol``, ``max_iter``, ``max_clusters``, ``lam_step``, ``progress``.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Written are

        ``obs[key_added]`` : categorical of str
            Cluster of every cell: "0", "1", ... by first occurrence.
        ``uns[key_added]`` : dict
            ``linkage`` (scipy's form, over cells), ``n_connected_components``, ``version``; for
            every lam solved ``lambdas``, ``path_n_clusters``, ``relative_gap``,
            ``effective_rank``, ``n_iter``, ``status``; and the dicts ``params``, ``similarity``
            and, if the scale was chosen, ``plateau``. All of it can be written to h5ad.

        Time and memory are those of `convexhc.solve_path` on n cells.

    Raises
    ------
    ValueError, TypeError
        No such graph, a graph that is not symmetric, or as `ConvexHierarchicalClustering`.
        Nothing is written then.

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
    fitted = ConvexHierarchicalClustering(
        n_clusters,
        lam=lam,
        similarity=_checked_similarity(similarity),
        weights=weights,
        min_cluster_size=min_cluster_size,
        **_checked_options(options),
    ).fit(_cells(adata, obsp))
    target = adata.copy() if copy else adata
    target.obs[key_added] = _categories(fitted.labels_)
    target.uns[key_added] = _results(fitted, obsp)
    return target if copy else None


def _checked_similarity(similarity: str) -> str:
    """Refuse the similarities that are of points."""
    named("similarity", similarity, dict.fromkeys(PAIRWISE))
    return similarity


def _checked_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what is no option here, so that a slip is told apart from a parameter of its own."""
    known = (
        "shift",
        "space",
        "l1_ratio",
        "method",
        "tol",
        "max_iter",
        "max_clusters",
        "lam_step",
        "progress",
    )
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}: the options are {', '.join(known)}.")
    return options


def _cells(adata: Any, obsp: str) -> Any:
    """The graph between cells, by their names where these tell them apart."""
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
    """Labels as scanpy writes them: text, in the order of the numbers."""
    import pandas as pd

    return pd.Categorical(labels.astype(str), categories=[str(k) for k in range(labels.max() + 1)])


def _results(fitted: ConvexHierarchicalClustering, obsp: str) -> dict[str, Any]:
    """What goes to uns: arrays, text, numbers and dicts of these, which is all h5ad can hold."""
    path = fitted.path_
    results = {
        "params": {**_written(fitted.get_params()), "obsp": obsp},
        "version": path.provenance.version,
        "similarity": _written(fitted.similarity_),
        # Copies, since those of the tree are read-only and scanpy's users edit theirs.
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
    """Options that are set, in types that can be written; a graph is only said to be given."""
    plain = bool | int | float | str
    written = {}
    for name, value in values.items():
        if value is not None:
            item = value.item() if isinstance(value, np.generic) else value
            written[name] = item if isinstance(item, plain) else "given"
    return written
