"""Results on disk: npz files of plain arrays and a JSON text, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from convexhc._files import atomic_write
from convexhc.graph import Graph

File = str | os.PathLike[str]
Result = TypeVar("Result")


def write_npz(file: File, text: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a JSON text to a file, atomically."""
    with atomic_write(file) as partial, partial.open("wb") as stream:
        np.savez(stream, text=np.array(json.dumps(text)), **arrays)  # type: ignore[arg-type]
        stream.flush()
        os.fsync(stream.fileno())


def read_npz(
    file: File,
    kind: str,
    unpack: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Result],
) -> Result:
    """Read a file of `write_npz` and unpack it; ValueError if it is not a valid ``kind``."""
    try:
        # If given a name, numpy does not close a file that is not an archive.
        with Path(file).open("rb") as stream:
            arrays = _arrays(np.load(stream, allow_pickle=False))
        text = json.loads(str(arrays.pop("text")))
        if not isinstance(text, dict) or text.get("kind") != kind:
            raise ValueError("it holds something else")
        return unpack(text, arrays)
    except (zipfile.BadZipFile, ValueError, LookupError, EOFError) as error:
        raise ValueError(
            f"{file} is not a readable {kind} of convexhc ({error}): it may be cut short or of "
            "another program. It was left as it is; name another file, or delete this one."
        ) from error


def kind_of(file: File) -> str | None:
    """Kind of a file of `write_npz`, as ``path`` or ``checkpoint``; None for any other file."""
    if not zipfile.is_zipfile(file):
        return None
    try:
        with np.load(file, allow_pickle=False) as archive:
            text = json.loads(str(archive["text"]))
    except (zipfile.BadZipFile, ValueError, LookupError, EOFError):
        return None
    return str(text["kind"]) if isinstance(text, dict) and "kind" in text else None


def _arrays(loaded: Any) -> dict[str, NDArray[Any]]:
    if isinstance(loaded, np.ndarray):
        raise ValueError("a single array")
    with loaded as archive:
        return {name: archive[name] for name in archive.files}


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
    return tuple(_decode(part) for part in name["tuple"]) if isinstance(name, dict) else name


# Arrays of a graph, beside its size and names.
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
