"""What a fit is said to take: the road, memory and time."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
import pytest

from convexhc.api.clustering import cluster
from convexhc.commands import costs
from convexhc.commands.costs import feature_cost, road, seconds_of_rows
from convexhc.graph import Graph
from convexhc.similarity.leaves import SETTINGS as LEAVES
from convexhc.similarity.leaves import leaves_of


def options(**changed: object) -> Namespace:
    given = {"weights": "multiscale", "space": "auto", "similarity": "graph", "shift": None}
    return Namespace(**{**given, **changed})


def ring(n: int) -> Graph:
    node = np.arange(n)
    return Graph.from_edges(n, node, (node + 1) % n, np.ones(n))


@pytest.mark.parametrize(
    ("changed", "n", "said"),
    [
        ({}, LEAVES.max_nodes, f"in feature space, from {LEAVES.max_nodes} single nodes"),
        ({}, LEAVES.max_nodes + 1, f"in feature space, from about {LEAVES.n_leaves} leaves"),
        ({"max_clusters": 9}, 20, "in feature space, from above, down to 20 single nodes"),
        # Leaves are for graphs that determine everything.
        ({"shift": 0.1}, 5000, "in feature space, from 5000 single nodes"),
        ({"weights": "10"}, 50, "the paper's problem, from 50 single nodes"),
        (
            {"space": "similarity"},
            5000,
            "the paper's problem, from 5000 single nodes; faster: --max-clusters 50 (from above) "
            "or --space features",
        ),
        (
            {"space": "similarity", "max_clusters": 9},
            5000,
            "the paper's problem, from above; faster: --space features",
        ),
    ],
)
def test_the_road_is_said(changed: dict[str, object], n: int, said: str) -> None:
    assert road(options(**changed), n) == said


def test_the_road_is_the_one_taken() -> None:
    graph = ring(12)
    path = cluster(graph, 5, test_structure=False)
    assert path.provenance.options["similarity"]["n_leaves"] == 12
    assert "12 single nodes" in road(options(), 12)
    large = ring(LEAVES.max_nodes + 1)
    angle = 2.0 * np.pi * np.arange(large.n) / large.n
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    count = len(leaves_of(large.matrix(), circle).features)
    assert 0.9 * LEAVES.n_leaves <= count <= 1.1 * LEAVES.n_leaves


def test_the_estimate_meets_what_was_measured() -> None:
    for rows, seconds in costs.COSTS.fit_seconds:
        assert seconds_of_rows(rows) == pytest.approx(seconds)
    assert seconds_of_rows(1) == pytest.approx(costs.COSTS.fit_seconds[0][1])


def test_costs_grow_with_the_graph_and_fall_where_leaves_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(costs, "product_seconds", lambda: costs.COSTS.product_seconds)
    sizes = [10, 100, 1000, LEAVES.max_nodes, LEAVES.max_nodes + 1, 20_000]
    memory, seconds = np.array([feature_cost(options(), ring(n)) for n in sizes]).T
    for cost in (memory, seconds):
        assert (np.diff(cost)[:3] > 0.0).all()
        assert cost[4] < cost[3]
        assert cost[5] > cost[4]
    # A machine half as fast takes twice as long.
    monkeypatch.setattr(costs, "product_seconds", lambda: 2.0 * costs.COSTS.product_seconds)
    assert feature_cost(options(), ring(100))[1] == pytest.approx(2.0 * seconds[1])
