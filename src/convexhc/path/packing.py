"""A path as text and arrays, for its file and for other containers such as AnnData."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from convexhc.io.archive import decode_names, encode_names, pack_graph, unpack_graph
from convexhc.path.level import pack_levels, unpack_levels
from convexhc.provenance import Provenance
from convexhc.similarity.density import Density
from convexhc.similarity.structure import Structure

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
