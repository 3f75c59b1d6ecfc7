"""Stability of clusters under resampling of the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc import as_graph, datasets, similarity, solve_path, stability
from convexhc.stability import _best_jaccard

FRACTAL = datasets.fractal_graph(n_meta=2, n_super=3, clique=6)


def pieces(graph):
    return graph.components()[1]


def six(graph):
    return solve_path(similarity.two_hop(graph), lam_step=0.5).labels(n_clusters=6)


def test_with_every_edge_kept_nothing_changes():
    found = stability.bootstrap(FRACTAL.adjacency, six, n_resamples=2, share=1.0)
    np.testing.assert_array_equal(found.adjusted_rand, 1.0)
    np.testing.assert_array_equal(found.jaccard, np.ones((2, 6)))


def test_real_groups_are_stable_and_arbitrary_ones_are_not():
    def arbitrary(graph):
        """Random groups, seeded by the number of edges."""
        return np.random.default_rng(graph.n_edges).permutation(graph.n) % 6

    real = stability.bootstrap(FRACTAL.adjacency, six, n_resamples=5)
    none = stability.bootstrap(FRACTAL.adjacency, arbitrary, n_resamples=5)
    assert real.per_cluster.min() > 0.75 > none.per_cluster.max()
    assert real.adjusted_rand.mean() > 0.9
    assert abs(none.adjusted_rand.mean()) < 0.3


def test_unstable_clusters_have_a_low_jaccard_index():
    """A complete graph stays connected; a chain does not."""
    A = np.zeros((20, 20))
    A[:10, :10] = 1.0
    for i in range(10, 19):
        A[i, i + 1] = A[i + 1, i] = 1.0
    np.fill_diagonal(A, 0.0)
    found = stability.bootstrap(A, pieces, n_resamples=30, share=0.7)
    assert found.per_cluster[0] == 1.0
    assert found.per_cluster[1] < 0.75


def test_names_and_diagonal_reach_the_clustering():
    seen = []

    def note(graph):
        seen.append(graph)
        return np.zeros(graph.n)

    graph = as_graph([("a", "a", 2.0), ("a", "b", 1.0), ("b", "c", 1.0)])
    stability.bootstrap(graph, note, n_resamples=50, share=0.5)
    assert {one.names for one in seen} == {("a", "b", "c")}
    assert all(one.diagonal.tolist() == [2.0, 0.0, 0.0] for one in seen)
    assert seen[0].n_edges == 2
    assert {one.n_edges for one in seen} == {0, 1, 2}


def test_the_result_depends_on_the_seed_but_not_on_threads():
    once = stability.bootstrap(FRACTAL.adjacency, pieces, share=0.3)
    again = stability.bootstrap(FRACTAL.adjacency, pieces, share=0.3, n_jobs=2)
    other = stability.bootstrap(FRACTAL.adjacency, pieces, share=0.3, random_state=1)
    np.testing.assert_array_equal(once.jaccard, again.jaccard)
    assert not np.array_equal(once.jaccard, other.jaccard)


labelled = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(labelled)
def test_jaccard_indices_agree_with_sets(pairs):
    labels, other = (np.unique(side, return_inverse=True)[1] for side in zip(*pairs, strict=True))
    groups = [
        [set(np.flatnonzero(side == k)) for k in range(side.max() + 1)] for side in (labels, other)
    ]
    expected = [max(len(a & b) / len(a | b) for b in groups[1]) for a in groups[0]]
    np.testing.assert_allclose(_best_jaccard(labels, other), expected, rtol=1e-15)


def test_repr():
    said = repr(stability.bootstrap(FRACTAL.adjacency, pieces, n_resamples=3, share=1.0))
    assert said == ("Stability(n_resamples=3, mean adjusted Rand 1.00, least stable cluster 1.00)")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_resamples": 0}, "n_resamples must be at least 1, received 0"),
        ({"share": 0.0}, "share must be above 0"),
        ({"share": 1.5}, "received 1.5"),
        ({"cluster": lambda graph: np.zeros(3)}, r"each of the 36 nodes, received shape \(3,\)"),
    ],
)
def test_invalid_arguments_are_rejected(options, match):
    arguments = {"cluster": pieces, **options}
    with pytest.raises(ValueError, match=match):
        stability.bootstrap(FRACTAL.adjacency, **arguments)
