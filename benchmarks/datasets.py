"""The similarities on which the solvers are timed."""

from __future__ import annotations

from convexhc.datasets import fractal_graph
from convexhc.graph import Graph
from convexhc.similarity import two_hop


def fractal(n_meta: int) -> Graph:
    """2-hop similarity of a fractal graph with 49 nodes per meta node."""
    return two_hop(fractal_graph(0, n_meta=n_meta).adjacency).graph


DATASETS = {49: fractal(1), 98: fractal(2), 196: fractal(4)}
