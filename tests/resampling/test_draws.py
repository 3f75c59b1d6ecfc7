"""Resamples: what is kept, what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from convexhc import as_graph
from convexhc.resampling.draws import default_resample, draws
from laws import random_weights, seeds

TABLE = np.arange(12.0).reshape(4, 3)


def graph_of(seed, *, counts=False):
    rng = np.random.default_rng(seed)
    W = random_weights(rng, 8)
    if counts:
        W = np.triu(rng.integers(1, 9, W.shape) * (W > 0), 1)
        W = W + W.T
    return as_graph(W)


def drawn(observed, kind, count=3, share=0.7, seed=1):
    return list(
        draws(observed, kind, n_resamples=count, share=share, random_state=seed),
    )


def weights_of(graph):
    return dict(
        zip(zip(graph.tail.tolist(), graph.head.tolist(), strict=True), graph.weight, strict=True)
    )


@given(seeds)
def test_dropped_edges_leave_the_others_as_they_are(seed):
    graph = graph_of(seed)
    for one in drawn(graph, "drop"):
        assert one.names == graph.names
        assert weights_of(one).items() <= weights_of(graph).items()
    (whole,) = drawn(graph, "drop", count=1, share=1.0)
    assert weights_of(whole) == weights_of(graph)


@given(seeds)
def test_edges_drawn_with_replacement_are_as_many_as_there_are(seed):
    graph = graph_of(seed)
    weight = weights_of(graph)
    for one in drawn(graph, "edges"):
        times = [w / weight[edge] for edge, w in weights_of(one).items()]
        assert sum(times) == pytest.approx(graph.n_edges)
        assert times == pytest.approx(np.round(times))


@given(seeds)
def test_drawn_counts_have_the_same_sum(seed):
    graph = graph_of(seed, counts=True)
    for one in drawn(graph, "weights"):
        assert one.weight.sum() == graph.weight.sum()
        assert weights_of(one).keys() <= weights_of(graph).keys()


def test_counts_are_drawn_in_proportion_to_their_size():
    graph = as_graph(np.array([[0, 9000, 1000], [9000, 0, 0], [1000, 0, 0]]))
    mean = np.mean([one.weight for one in drawn(graph, "weights", count=200)], axis=0)
    # The standard error of the mean of 200 draws is 30 / sqrt(200), about 2.
    np.testing.assert_allclose(mean, [9000, 1000], atol=10)


def test_columns_are_drawn_whole_and_with_replacement():
    columns = {tuple(column) for column in TABLE.T.tolist()}
    samples = drawn(TABLE, "columns", count=20)
    assert all(one.shape == TABLE.shape for one in samples)
    assert all({tuple(column) for column in one.T.tolist()} <= columns for one in samples)
    assert len({one.tobytes() for one in samples}) > 5


@pytest.mark.parametrize("kind", ["drop", "edges", "weights"])
def test_more_resamples_begin_with_the_same_ones(kind):
    graph = graph_of(0, counts=True)
    few, many = drawn(graph, kind, count=2), drawn(graph, kind, count=5)
    assert [weights_of(one) for one in few] == [weights_of(one) for one in many[:2]]
    assert len({tuple(weights_of(one).items()) for one in many}) == 5
    other = drawn(graph, kind, count=2, seed=2)
    assert [weights_of(one) for one in few] != [weights_of(one) for one in other]


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (graph_of(0), "drop"),
        (graph_of(0, counts=True), "weights"),
        (as_graph(np.ones((3, 3)) - np.eye(3)), "drop"),
        (TABLE, "columns"),
    ],
    ids=["weights", "counts", "edges", "points"],
)
def test_what_is_resampled_by_default(observed, expected):
    assert default_resample(observed) == expected


@pytest.mark.parametrize(
    ("observed", "kind", "options", "message"),
    [
        (graph_of(0), "columns", {}, "needs points"),
        (graph_of(0), "weights", {}, "needs weights that are counts"),
        (TABLE, "drop", {}, "needs a graph"),
        (graph_of(0), "nodes", {}, "resample must be one of"),
        (graph_of(0), "drop", {"share": 0.0}, "share must be"),
        (graph_of(0), "drop", {"count": 0}, "n_resamples must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(observed, kind, options, message):
    with pytest.raises(ValueError, match=message):
        drawn(observed, kind, **options)


def test_a_graph_without_edges_has_itself_as_resamples():
    empty = as_graph(np.zeros((3, 3)))
    for kind in ("drop", "edges", "weights"):
        assert [one.n_edges for one in drawn(empty, kind)] == [0, 0, 0]
