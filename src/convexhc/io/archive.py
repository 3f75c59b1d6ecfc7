"""Results on disk: npz files of plain arrays and a JSON text, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from convexhc._files import atomic_write
from convexhc.graph import Graph
from convexhc.io.arrays import read_members
from convexhc.io.border import border

File = str | os.PathLike[str]
Result = TypeVar("Result")


def write_npz(file: File, text: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a JSON text to a file, atomically.

    The text lists the arrays: every array has a checksum, but the list of the archive has none.
    """
    described = json.dumps({**text, "arrays": sorted(arrays)})
    with atomic_write(file) as stream:
        np.savez(stream, text=np.array(described), **arrays)  # type: ignore[arg-type]


def read_npz(
    file: File,
    kind: str,
    unpack: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Result],
) -> Result:
    """Read a file of `write_npz` and unpack it; ValueError if it is not a valid ``kind``."""
    try:
        with border(file, f"{kind} of convexhc"):
            arrays = read_members(file)
            text = json.loads(str(arrays.pop("text")))
            if not isinstance(text, dict) or text.get("kind") != kind:
                raise ValueError("it holds something else")
            if text.get("arrays", sorted(arrays)) != sorted(arrays):
                raise ValueError("arrays are missing")
            return unpack(text, arrays)
    except ValueError as error:
        raise ValueError(
            f"{error}. It may be cut short or of another program. It was left as it is; name "
            "another file, or delete this one."
        ) from error


def kind_of(file: File) -> str | None:
    """Kind of a file of `write_npz`, as ``path`` or ``checkpoint``; None for any other file."""
    if not zipfile.is_zipfile(file):
        return None
    try:
        with border(file, "result"):
            text = json.loads(str(read_members(file, only="text")["text"]))
            return str(text["kind"])
    except ValueError:
        return None


def encode_names(names: tuple[Hashable, ...]) -> list[Any]:
    """Node names as JSON values: numbers and text unchanged, tuples tagged, others as text."""
    return [_encode(name) for name in names]


def decode_names(names: list[Any]) -> tuple[Hashable, ...]:
    """Inverse of `encode_names`."""
    return tuple(_decode(name) for name in names)


def _encode(name: object) -> Any:
    if isinstance(name, tuple):
        return {"tuple": [_encode(part) for part in name]}
    if isinstance(name, np.generic):
        name = name.item()
    return name if isinstance(name, str | int | float | bool | None) else str(name)


def _decode(name: Any) -> Any:
    """A name as it was before `_encode`: JSON has no tuples."""
    return tuple(_decode(part) for part in name["tuple"]) if isinstance(name, dict) else name


# Arrays of a graph, besides its size and names.
_GRAPH_ARRAYS = ("tail", "head", "weight", "diagonal")


def pack_graph(graph: Graph | None) -> dict[str, NDArray[Any]]:
    """A graph as arrays, without its names; empty for None."""
    return (
        {} if graph is None else {f"graph_{name}": getattr(graph, name) for name in _GRAPH_ARRAYS}
    )


def unpack_graph(arrays: Mapping[str, NDArray[Any]], names: tuple[Hashable, ...]) -> Graph | None:
    """The graph that `pack_graph` stored, if there was one."""
    if "graph_tail" not in arrays:
        return None
    parts = {name: arrays[f"graph_{name}"] for name in _GRAPH_ARRAYS}
    return Graph(n=len(names), names=names, **parts)
