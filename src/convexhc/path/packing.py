"""A path as text and arrays, for its file and other containers, and checks of one that was read."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from convexhc.io.archive import decode_names, encode_names, pack_graph, unpack_graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.path.level import pack_levels, unpack_levels
from convexhc.provenance import Provenance
from convexhc.similarity.neighbors import Density
from convexhc.similarity.structure import Structure
from convexhc.tree.nested_partitions import checked_lambdas, first_members

if TYPE_CHECKING:
    from convexhc.path.path import Path


def pack_path(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A path as text, for JSON, and arrays."""
    text = {
        "kind": "path",
        **path.provenance.to_text(),
        "complete": path.complete,
        "names": encode_names(path.names),
        "structure": None if path.structure is None else asdict(path.structure),
    }
    arrays = {**pack_levels(path.levels), "components": path.components}
    arrays |= pack_graph(path.graph)
    if path.given_features is not None:
        arrays["features"] = path.given_features
    if path.density is not None:
        arrays |= {"node_density": path.density.nodes, "edge_density": path.density.edges}
    return text, arrays


def unpacked_fields(text: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields of the path that `pack_path` stored; ValueError where they are damaged."""
    names = decode_names(text["names"])
    known = text.get("structure")
    dense = (arrays["node_density"], arrays["edge_density"]) if "node_density" in arrays else None
    return {
        "levels": tuple(unpack_levels(arrays)),
        "names": names,
        "components": arrays["components"],
        "complete": bool(text["complete"]),
        "provenance": Provenance.from_text(text),
        "graph": unpack_graph(arrays, names),
        "given_features": arrays.get("features"),
        "structure": None if known is None else Structure(**known),
        "density": None if dense is None else Density(*dense),
    }


def checked_path(path: Path) -> Path:
    """The path, if it is valid; else ValueError."""
    n = len(path.names)
    _require(n > 0 and len(path.levels) > 0, "it has no nodes or no levels")
    _require(is_labels(path.components, n), "its components are not numbered")
    for level in path.levels:
        _require(is_labels(level.labels, n), f"the labels at lam {level.lam} are not numbered")
        proof = level.proof
        _require(
            proof is None
            or (
                is_labels(proof.finest, n)
                and is_labels(proof.coarsest, n)
                and _refines(proof.finest, level.labels)
                and _refines(level.labels, proof.coarsest)
            ),
            f"the proof at lam {level.lam} is not of its partition",
        )
        centroids = level.cluster_centroids
        _require(
            centroids is None or _is_numeric(centroids, (level.n_clusters, None)),
            f"the centroids at lam {level.lam} are not one per cluster",
        )
    checked_lambdas(path.lambdas)
    features, density, graph = path.given_features, path.density, path.graph
    _require(features is None or _is_numeric(features, (n, None)), "its features are not n rows")
    if density is not None:
        edges = None if graph is None else graph.n_edges
        valid = _is_numeric(density.nodes, (n,)) and _is_numeric(density.edges, (edges,))
        _require(valid, "its densities are not one per node and edge")
    return path


def is_labels(labels: NDArray[Any], n: int) -> bool:
    """Whether these are labels of n nodes, numbered by first occurrence."""
    return (
        labels.shape == (n,)
        and labels.dtype.kind in "iu"
        and np.array_equal(labels, numbered_by_first(labels))
    )


def _refines(fine: NDArray[Any], coarse: NDArray[Any]) -> bool:
    """Whether every class of the first partition is inside one of the second."""
    return bool(np.array_equal(coarse, coarse[first_members(fine)]))


def _is_numeric(array: NDArray[Any], shape: tuple[int | None, ...]) -> bool:
    """Whether an array of finite numbers has this shape; None stands for any length."""
    return (
        array.ndim == len(shape)
        and all(size in (None, found) for size, found in zip(shape, array.shape, strict=True))
        and array.dtype.kind in "iuf"
        and bool(np.isfinite(array).all())
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
