"""Pieces of a graph are connected, and a path that starts from them is the same path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from convexhc import Status, solve_path
from convexhc.datasets import fractal_graph
from convexhc.fusion.graph_solve import connected
from convexhc.fusion.pieces import pieces
from convexhc.model.problem import graph_problem
from convexhc.path import graph_model
from convexhc.similarity import two_hop
from laws import random_kernel, seeds


@given(seed=seeds)
@settings(max_examples=20)
def test_pieces_are_connected_and_inside_components(seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, 30, density=0.1, parts=2)
    found = pieces(kernel.without_diagonal(), int(rng.integers(1, 9)))
    split = connected(graph_problem(kernel, 1.0), found)
    assert split.max() == found.max()
    component = kernel.components()[1]
    assert all(np.unique(component[found == g]).size == 1 for g in range(found.max() + 1))


def test_a_path_from_pieces_finds_the_same_clusters(monkeypatch):
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    K = two_hop(graph.adjacency)
    monkeypatch.setattr(graph_model, "_LARGE", 0)
    monkeypatch.setattr(graph_model, "_PIECE_NODES", 3)
    for factor in (4, 1):
        # With few groups allowed, clusters of the last lam are cut into pieces again.
        monkeypatch.setattr("convexhc.path.plan.Descending.crowd_factor", factor)
        down = solve_path(K, max_clusters=8)
        assert down.complete
        assert down.n_clusters[-1] == 1
        assert {level.status for level in down.levels} == {Status.SOLVED}
        for truth, k in ((graph.fine, 6), (graph.coarse, 2)):
            np.testing.assert_array_equal(down.labels(n_clusters=k), truth)


@pytest.mark.parametrize("n_pieces", [1, 30])
def test_limits(n_pieces):
    kernel = random_kernel(np.random.default_rng(0), 30)
    assert pieces(kernel.without_diagonal(), n_pieces).max() + 1 == n_pieces
