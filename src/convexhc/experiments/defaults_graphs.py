"""The labelled graphs on which the defaults are chosen: drawn, from networkx, and real ones."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from convexhc.datasets import karate, nested_blocks
from convexhc.experiments.data import IntArray, weighted_graph

# Blocks inside blocks: children at each depth, and the edge probability at each depth. In "wide"
# a finest block has more nodes than the neighbours that the default keeps.
BLOCKS: Mapping[str, tuple[tuple[int, ...], tuple[float, ...]]] = {
    "blocks strong": ((3, 4, 10), (0.01, 0.1, 0.8)),
    "blocks medium": ((3, 4, 10), (0.02, 0.1, 0.6)),
    "blocks weak": ((3, 4, 10), (0.03, 0.12, 0.5)),
    "blocks wide": ((3, 4, 20), (0.01, 0.05, 0.6)),
    "blocks deep": ((2, 2, 4, 8), (0.01, 0.04, 0.15, 0.8)),
}
LEVELS = {2: ("coarse", "fine"), 3: ("coarse", "middle", "fine")}
CLASSIC = {"football": "conference", "polbooks": "leaning", "uk_faculty": "group"}


@dataclass(frozen=True, eq=False)
class Known:
    """A graph with one or more levels of known groups."""

    name: str
    adjacency: csr_array
    levels: Mapping[str, IntArray]


def drawn_graphs(names: tuple[str, ...], n_seeds: int) -> list[Known]:
    """Nested block models, several draws of each."""
    graphs = []
    for name in names:
        sizes, probabilities = BLOCKS[name]
        for seed in range(n_seeds):
            drawn = nested_blocks(sizes, probabilities, seed)
            levels = dict(zip(LEVELS[len(drawn.labels)], drawn.labels, strict=True))
            graphs.append(Known(f"{name} {seed}", drawn.adjacency, levels))
    return graphs


def club() -> Known:
    """The karate club, which networkx carries."""
    graph = karate()
    assert graph.labels is not None
    return Known("karate", graph.adjacency, {"club": graph.labels})


def real_graphs(folder: Path) -> list[Known]:
    """Football, political books, UK faculty, and the primary school with classes and grades."""
    graphs = []
    for name, column in CLASSIC.items():
        here = folder / "classic" / name
        labels = _column(here / "nodes.csv", column)
        edges = weighted_graph(here / "edges.csv", labels.size, columns=("u", "v", "weight"))
        graphs.append(Known(name, edges, {column: labels}))
    here = folder / "primary_school"
    levels = {
        "class": _column(here / "nodes.csv", "label"),
        "grade": _column(here / "nodes.csv", "grade"),
    }
    size = levels["class"].size
    contacts = weighted_graph(here / "edges_total.csv", size, columns=("u", "v", "contacts"))
    return [*graphs, Known("primary school", contacts, levels)]


def _column(file: Path, column: str) -> IntArray:
    """One column of a table of nodes, as numbers."""
    with file.open(newline="") as lines:
        words = [row[column] for row in csv.DictReader(lines)]
    _, labels = np.unique(words, return_inverse=True)
    return labels.astype(np.int64)
