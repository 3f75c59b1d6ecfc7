"""Readers of files, by extension."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convexhc._extras import required
from convexhc.graph import Graph
from convexhc.io.arrays import read_members, read_npy, sparse_from
from convexhc.io.border import border, most_numbers
from convexhc.io.h5ad import read_h5ad
from convexhc.io.matrix_market import read_mtx
from convexhc.io.objects import read_networkx
from convexhc.io.reading import Reading
from convexhc.io.text import read_edge_list, read_text

# The attributes at the end of a line of an edge list, {'weight': 2.0}, and the weight in them.
_ATTRIBUTES = re.compile(r"[ \t]*\{([^{}\n]*)\}[ \t]*$", re.MULTILINE)
_WEIGHT = re.compile(r"['\"]weight['\"]\s*:\s*([^\s,]+)")


def read_file(path: Path, reading: Reading) -> Graph:
    """Read the graph in a file; errors start with the name of the file."""
    accepted = f"accepted files: {' '.join(_READERS)}"
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {str(path)!r}; text is taken as the name of a file ({accepted})"
        )
    suffix = _ending(path)
    if suffix not in _READERS or not path.is_file():
        raise ValueError(f"{str(path)!r} is not a file of a known kind ({accepted})")
    parse, build = _READERS[suffix]
    kind = f"{suffix} file"
    with border(path, kind):
        content = parse(path, reading)
    with border(path, kind, ours=(ValueError, TypeError)):
        return build(content, reading)


def _ending(path: Path) -> str:
    """The ending of a file; with the one before it if the file is compressed."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last == ".gz" else last


def _parse_text(path: Path, reading: Reading) -> str:
    # utf-8-sig drops the byte-order mark that spreadsheets write.
    return (
        (_unpacked(path) if path.suffix.lower() == ".gz" else path.read_bytes())
        .decode("utf-8-sig")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )


def _unpacked(path: Path) -> bytes:
    """The content of a gzip file, which may not be out of proportion to its size."""
    limit = 8 * most_numbers(path.stat().st_size)
    with gzip.open(path) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it unpacks to more than {limit} bytes")
    return content


def _parse_edge_list(path: Path, reading: Reading) -> str:
    """The text of an edge list, whose lines may end in attributes as networkx writes them."""
    return _ATTRIBUTES.sub(_weight_in, _parse_text(path, reading))


def _weight_in(attributes: re.Match[str]) -> str:
    """The weight among the attributes of an edge, as a column of its own."""
    found = _WEIGHT.search(attributes[1])
    return f" {found[1]}" if found else ""


def _parse_npz(path: Path, reading: Reading) -> Any:
    arrays = read_members(path)
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if "format" not in arrays:
        raise ValueError(
            f"the archive holds the arrays {list(arrays)}: it must hold a single one, or a matrix "
            "written by scipy.sparse.save_npz"
        )
    return sparse_from(arrays)


def _parse_network(path: Path, reading: Reading) -> Any:
    networkx = required("networkx", f"reading {path.name!r}")
    readers = {
        ".graphml": networkx.read_graphml,
        ".gexf": networkx.read_gexf,
        ".net": networkx.read_pajek,
    }
    kind = path.suffix.lower()
    return readers[kind](path) if kind in readers else _parse_gml(networkx, path)


def _parse_gml(networkx: Any, path: Path) -> Any:
    # Read by id, because networkx rejects files without labels; then named by unique labels.
    graph = networkx.read_gml(path, label="id")
    labels = [label for _, label in graph.nodes(data="label")]
    if None not in labels and len(set(labels)) == len(labels):
        return networkx.relabel_nodes(graph, dict(zip(graph.nodes, labels, strict=True)))
    return graph


def _matrix(content: Any, reading: Reading) -> Graph:
    return reading.matrix(content)


def _cells(content: Any, reading: Reading) -> Graph:
    return reading.matrix(*content)


_Reader = tuple[Callable[[Path, Reading], Any], Callable[[Any, Reading], Graph]]
_TEXT: _Reader = (_parse_text, read_text)
_EDGES: _Reader = (_parse_edge_list, read_edge_list)
_TEXTS = {".csv": _TEXT, ".tsv": _TEXT, ".txt": _TEXT, ".edgelist": _EDGES, ".edges": _EDGES}
# How the content is taken from a file, and how a graph is built from it.
_READERS: dict[str, _Reader] = {
    **_TEXTS,
    **{f"{ending}.gz": reader for ending, reader in _TEXTS.items()},
    ".mtx": (lambda path, _: read_mtx(path), _matrix),
    ".npy": (lambda path, _: read_npy(path), _matrix),
    ".npz": (_parse_npz, _matrix),
    ".graphml": (_parse_network, read_networkx),
    ".gml": (_parse_network, read_networkx),
    ".gexf": (_parse_network, read_networkx),
    ".net": (_parse_network, read_networkx),
    ".h5ad": (lambda path, reading: read_h5ad(path, reading.key), _cells),
}
SUFFIXES = tuple(_READERS)
