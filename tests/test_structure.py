"""The test for groups: positive where they are planted, negative on random graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from drawn_graphs import planted, wired_at_random

from convexhc import datasets
from convexhc.similarity.structure import SETTINGS as STRUCTURE
from convexhc.similarity.structure import Structure, group_structure


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(seed):
    A, _ = planted(seed, (20, 20, 20), inside=0.4, across=0.05)
    for graph in (A, (A > 0).astype(float)):
        found = group_structure(graph)
        assert found.found
        assert found.tested
        assert 0.0 < found.chance < found.inside <= 1.0


def test_the_karate_club_has_groups():
    assert group_structure(datasets.karate().adjacency).found
    assert group_structure(nx.karate_club_graph()).found


@pytest.mark.parametrize("seed", range(6))
def test_a_random_graph_has_no_groups(seed):
    found = group_structure(wired_at_random(seed))
    assert found.tested
    assert not found.found
    assert found.z_score < STRUCTURE.significant_z


def test_a_random_graph_with_heavy_tailed_weights_has_no_groups():
    rng = np.random.default_rng(0)
    A = wired_at_random(7)
    heavy = np.triu(A * rng.pareto(2.5, A.shape) + A, 1)
    assert not group_structure(heavy + heavy.T).found


def test_a_bipartite_graph_has_no_groups():
    A = nx.to_numpy_array(nx.bipartite.random_graph(40, 40, 0.2, seed=0))
    assert not group_structure(A).found


@pytest.mark.parametrize(
    "A",
    [
        np.zeros((1, 1)),
        np.ones((1, 1)),
        np.ones((2, 2)),
        np.ones((3, 3)),
        np.zeros((2, 2)),
        np.zeros((7, 7)),
        np.eye(12),
    ],
    ids=["one", "a loop", "two", "three", "two apart", "no edges", "only loops"],
)
def test_tiny_graphs_are_not_tested(A):
    found = group_structure(A)
    assert found == Structure(0.0, 0.0, 0.0)
    assert not found.tested
    assert not found.found
    assert "too few" in str(found)


def test_the_result_depends_on_the_seed_only():
    A, _ = planted(0)
    assert group_structure(A) == group_structure(A)
    assert group_structure(A, random_state=1) != group_structure(A)


def test_neither_the_unit_of_weights_nor_self_loops_matter():
    A, _ = planted(0)
    found = group_structure(A)
    for other in (1e6 * A, A + np.diag(np.arange(24.0))):
        again = group_structure(other)
        assert (again.z_score, again.inside) == pytest.approx((found.z_score, found.inside))


def test_negative_weights_are_ignored():
    A, group = planted(0)
    below = np.where((A == 0) & (group[:, None] != group), -0.5, A)
    assert group_structure(below) == group_structure(A)


def test_the_verdict_in_words():
    assert str(Structure(5.0, 0.7, 0.3)).startswith("groups found: 70 % of the edges")
    assert "30 % expected (z = 5.0)" in str(Structure(5.0, 0.7, 0.3))
    assert str(Structure(2.9, 0.7, 0.6)).startswith("no groups beyond chance")
