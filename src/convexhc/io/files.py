"""Readers of files, by extension."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from convexhc.graph import Graph
from convexhc.io.objects import read_anndata, read_networkx
from convexhc.io.reading import Reading
from convexhc.io.text import read_text


def read_file(path: Path, reading: Reading) -> Graph:
    """Read the graph in a file; errors start with the name of the file."""
    accepted = f"accepted files: {' '.join(_READERS)}"
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {str(path)!r}; text is taken as the name of a file ({accepted})"
        )
    reader = _READERS.get(path.suffix.lower())
    if reader is None or not path.is_file():
        raise ValueError(f"{str(path)!r} is not a file of a known kind ({accepted})")
    try:
        return reader(path, reading)
    except TypeError as error:
        raise TypeError(f"{path}: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read_npz(path: Path, reading: Reading) -> Graph:
    with np.load(path, allow_pickle=False) as archive:
        arrays = list(archive.files)
        if len(arrays) == 1:
            return reading.matrix(archive[arrays[0]])
    if "format" not in arrays:
        raise ValueError(
            f"the archive holds the arrays {arrays}: it must hold a single one, or a matrix "
            "written by scipy.sparse.save_npz"
        )
    return reading.matrix(sparse.load_npz(path))


def _read_network(path: Path, reading: Reading) -> Graph:
    networkx = _required("networkx", path, extra="graphs")
    kind = path.suffix.lower()
    try:
        if kind == ".gml":
            return _read_gml(networkx, path, reading)
        readers = {
            ".graphml": networkx.read_graphml,
            ".gexf": networkx.read_gexf,
            ".net": networkx.read_pajek,
        }
        return read_networkx(readers[kind](path), reading)
    except (networkx.NetworkXException, SyntaxError) as error:
        # XML parse errors are SyntaxErrors.
        raise ValueError(f"not a valid {kind} file: {error}") from error


def _read_gml(networkx: Any, path: Path, reading: Reading) -> Graph:
    # Read by id, because networkx rejects files without labels; then named by unique labels.
    graph = networkx.read_gml(path, label="id")
    labels = [label for _, label in graph.nodes(data="label")]
    if None not in labels and len(set(labels)) == len(labels):
        graph = networkx.relabel_nodes(graph, dict(zip(graph.nodes, labels, strict=True)))
    return read_networkx(graph, reading)


def _read_h5ad(path: Path, reading: Reading) -> Graph:
    return read_anndata(_required("anndata", path, extra="anndata").read_h5ad(path), reading)


def _required(module: str, path: Path, *, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"reading {path.name!r} needs {module}: install it with pip install 'convexhc[{extra}]'"
        ) from error


_READERS: dict[str, Callable[[Path, Reading], Graph]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".mtx": lambda path, reading: reading.matrix(scipy.io.mmread(path)),
    ".npy": lambda path, reading: reading.matrix(np.load(path, allow_pickle=False)),
    ".npz": _read_npz,
    ".graphml": _read_network,
    ".gml": _read_network,
    ".gexf": _read_network,
    ".net": _read_network,
    ".h5ad": _read_h5ad,
}
