"""Readers of files, by extension."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from convexhc._extras import required
from convexhc.graph import Graph
from convexhc.io.arrays import read_members, read_mtx, read_npy, sparse_from
from convexhc.io.border import border, most_numbers
from convexhc.io.h5ad import read_h5ad
from convexhc.io.objects import read_networkx
from convexhc.io.reading import Reading
from convexhc.io.text import read_text

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
    content = _unpacked(path) if path.suffix.lower() == ".gz" else path.read_bytes()
    # utf-8-sig drops the byte-order mark that spreadsheets write.
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _unpacked(path: Path) -> bytes:
    """The content of a gzip file, which may not be out of proportion to its size."""
    limit = 8 * most_numbers(path.stat().st_size)
    with gzip.open(path) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it unpacks to more than {limit} bytes")
    return content


def _parse_edge_list(path: Path, reading: Reading) -> str:
    """The text of an edge list; attributes as networkx writes them are replaced by the weight."""

    def weight_in(attributes: re.Match[str]) -> str:
        found = _WEIGHT.search(attributes[1])
        return f" {found[1]}" if found else ""

    return _ATTRIBUTES.sub(weight_in, _parse_text(path, reading))


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
    kind = path.suffix.lower()
    if kind != ".gml":
        name = "pajek" if kind == ".net" else kind[1:]
        return getattr(networkx, f"read_{name}")(path)
    # Read by id, because networkx rejects files without labels; then named by unique labels.
    graph = networkx.read_gml(path, label="id")
    labels = [label for _, label in graph.nodes(data="label")]
    if None not in labels and len(set(labels)) == len(labels):
        return networkx.relabel_nodes(graph, dict(zip(graph.nodes, labels, strict=True)))
    return graph


def _matrix(content: Any, reading: Reading) -> Graph:
    return reading.matrix(content)


_Reader = tuple[Callable[[Path, Reading], Any], Callable[[Any, Reading], Graph]]
_TEXT: _Reader = (_parse_text, read_text)
_EDGES: _Reader = (_parse_edge_list, partial(read_text, may_be_matrix=False))
_NETWORK: _Reader = (_parse_network, read_networkx)
_TEXTS = {".csv": _TEXT, ".tsv": _TEXT, ".txt": _TEXT, ".edgelist": _EDGES, ".edges": _EDGES}
# How the content is taken from a file, and how a graph is built from it.
_READERS: dict[str, _Reader] = {
    **_TEXTS,
    **{f"{ending}.gz": reader for ending, reader in _TEXTS.items()},
    ".mtx": (lambda path, _: read_mtx(path), _matrix),
    ".npy": (lambda path, _: read_npy(path), _matrix),
    ".npz": (_parse_npz, _matrix),
    **dict.fromkeys((".graphml", ".gml", ".gexf", ".net"), _NETWORK),
    ".h5ad": (
        lambda path, reading: read_h5ad(path, reading.key),
        lambda content, reading: reading.matrix(*content),
    ),
}
SUFFIXES = tuple(_READERS)
