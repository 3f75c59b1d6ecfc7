"""The path over lam: its range, its certificates, and its reproducibility."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import datasets, similarity, solve_path
from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.fusion.lam_max import consensus_bound
from convexhc.path.plan import n_events
from convexhc.solvers.solution import Status
from laws import first_occurrence

TOL = 1e-4
# One lam inside every wide plateau of the small graph: nodes, cliques, meta nodes, one cluster.
GRID = [0.1, 0.9, 2.5, 6.0]


@pytest.fixture(scope="module")
def small():
    graph = datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4)
    return similarity.two_hop(graph.adjacency, shift=0.05), graph


@pytest.fixture(scope="module")
def small_path(small):
    return solve_path(small[0])


@pytest.fixture(scope="module")
def on_grid(small):
    return solve_path(small[0], GRID)


@pytest.fixture(scope="session")
def fractal_path():
    graph = datasets.fractal_graph(0)
    return solve_path(similarity.two_hop(graph.adjacency, shift=0.05)), graph


@pytest.mark.slow
def test_the_path_of_the_fractal_graph_has_both_levels(fractal_path):
    path, graph = fractal_path
    for truth, k in ((graph.fine, 28), (graph.coarse, 4)):
        (at, *_) = np.flatnonzero(path.n_clusters == k)
        np.testing.assert_array_equal(path.partitions[at], truth)
        assert adjusted_rand_score(truth, path.labels(n_clusters=k)) == 1.0
        assert adjusted_rand_score(truth, path.labels(lam=path.lambdas[at])) == 1.0
    assert path.n_clusters[0] == 196
    assert path.n_clusters[-1] == 1
    assert path.complete


@pytest.mark.slow
def test_every_lam_of_the_fractal_graph_is_certified(fractal_path):
    path, _ = fractal_path
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert path.relative_gap.max() <= TOL
    assert max(point.residual for point in path.levels) <= 1e-8
    assert is_valid_linkage(path.linkage)
    assert is_monotonic(path.linkage)


@pytest.mark.slow
def test_both_levels_of_the_fractal_graph_are_its_widest_plateaus(fractal_path):
    path, _ = fractal_path
    between = [p for p in path.plateaus if 1 < p.n_clusters < 196]
    widest = sorted(between, key=lambda p: -p.log_width)[:2]
    assert {p.n_clusters for p in widest} == {28, 4}
    assert min(p.log_width for p in widest) > np.log(2.0)
    assert path.suggested_plateau.n_clusters in (28, 4)


@pytest.mark.slow
def test_centroids_of_the_fractal_graph_are_those_of_its_groups(fractal_path):
    path, graph = fractal_path
    lam = np.sqrt(np.prod([(p.lam_from, p.lam_to) for p in path.plateaus if p.n_clusters == 4]))
    pi = path.pi(lam)
    np.testing.assert_allclose([pi.sum(axis=0), pi.sum(axis=1)], 1.0, atol=1e-8)
    assert len(np.unique(pi.T, axis=0)) == 4
    np.testing.assert_array_equal(pi[:, 0], pi[:, 48])
    assert graph.coarse[0] == graph.coarse[48]


@pytest.mark.data
@pytest.mark.slow
def test_both_levels_of_the_authors_similarity_are_recovered_without_error(data_dir):
    file = data_dir / "authors_synthetic" / "synthetic_K_196.csv"
    K = np.loadtxt(file, delimiter=",") + 0.05 * np.eye(196)
    path = solve_path(K)
    nodes = np.arange(196)
    assert adjusted_rand_score(nodes // 7, path.labels(n_clusters=28)) == 1.0
    assert adjusted_rand_score(nodes // 49, path.labels(n_clusters=4)) == 1.0
    assert {28, 4} <= set(path.n_clusters.tolist())
    assert {point.status for point in path.levels} == {Status.SOLVED}


def test_a_path_goes_from_single_nodes_to_the_components(small_path):
    assert small_path.complete
    assert (np.diff(small_path.lambdas) > 0).all()
    assert small_path.n_clusters[0] == 24
    assert small_path.n_clusters[-1] == 1
    # It ends at the first lam with the consensus.
    assert small_path.n_clusters[-2] > 1


def test_the_path_contains_the_known_groups(small, small_path):
    _, graph = small
    for truth, k in ((graph.fine, 6), (graph.coarse, 2)):
        np.testing.assert_array_equal(small_path.labels(n_clusters=k), truth)


def test_every_level_agrees_with_a_single_solve(small, small_path):
    K, _ = small
    for point in small_path.levels[:: len(small_path.levels) // 5]:
        alone = convexhc.solve(K, point.lam)
        assert point.status is Status.SOLVED
        assert point.relative_gap <= TOL
        # Each is within its own gap of the same minimum.
        assert point.objective == pytest.approx(alone.objective, abs=TOL * abs(alone.objective))


def test_the_default_range_is_limited_by_the_consensus_bound(small, small_path):
    problem = read_problem(small[0], 0.0, weights=None, options=Options())[1]
    bound = consensus_bound(problem)
    assert small_path.lambdas[0] <= 0.01 * bound
    assert small_path.lambdas[-1] <= 1.5 * bound


def fusions(left, right):
    """Number of merges and splits that lead from one partition to the other."""
    both = len(np.unique(np.stack([left, right]), axis=1).T)
    return 2 * both - len(np.unique(left)) - len(np.unique(right))


def assert_resolved(path, lam_step):
    """Consecutive lam more than lam_step apart have at most one fusion between them."""
    apart = [
        (left.lam, right.lam)
        for left, right in pairwise(path.levels)
        if fusions(left.labels, right.labels) > 1
        and right.lam > left.lam * (1.0 + lam_step) * (1.0 + 1e-12)
    ]
    assert not apart


def test_intervals_wider_than_lam_step_have_at_most_one_fusion(small_path):
    assert_resolved(small_path, 0.1)


def test_a_smaller_lam_step_separates_more_merges(small, small_path):
    finer = solve_path(small[0], lam_step=0.02)
    assert_resolved(finer, 0.02)
    assert set(small_path.n_clusters) <= set(finer.n_clusters)
    assert len(set(small_path.n_clusters)) < len(set(finer.n_clusters))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 1, 2, 3], [0, 1, 2, 3], 0),
        ([0, 1, 2, 3], [0, 0, 1, 2], 1),
        ([0, 1, 2, 3], [0, 0, 1, 1], 2),
        ([0, 0, 1, 1], [0, 1, 2, 2], 1),
        # A member changes sides: one cluster splits, one is merged from two pieces.
        ([0, 0, 1, 1], [0, 1, 1, 1], 2),
        ([0], [0], 0),
    ],
)
def test_events_are_merges_and_splits(left, right, expected):
    assert n_events(np.array(left), np.array(right)) == expected


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_events_are_symmetric_and_independent_of_the_numbering(seed, n):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n, (2, n))
    counted = n_events(left, right)
    assert n_events(right, left) == counted
    assert n_events(rng.permutation(n)[left], rng.permutation(n)[right]) == counted
    order = rng.permutation(n)
    assert n_events(left[order], right[order]) == counted
    assert (counted == 0) == np.array_equal(first_occurrence(left), first_occurrence(right))


@pytest.mark.parametrize(
    "given_as",
    [
        [2.5, 0.1, 0.9, 0.1, 2.5],
        (0.1, 0.9, 2.5),
        np.array([0.9, 2.5, 0.1]),
        np.array([0.1, 0.9, 2.5]).astype(np.longdouble),
        {0.9, 0.1, 2.5},
    ],
    ids=lambda given_as: type(given_as).__name__,
)
def test_given_lambdas_are_solved_each_once_in_order(small, on_grid, given_as):
    path = solve_path(small[0], given_as)
    np.testing.assert_array_equal(path.lambdas, [0.1, 0.9, 2.5])
    np.testing.assert_array_equal(path.partitions, on_grid.partitions[:3])
    np.testing.assert_array_equal(path.objective, on_grid.objective[:3])
    assert path.complete


def test_lambdas_may_be_drawn_from_a_generator_and_hold_integers_and_zero():
    path = solve_path(np.eye(3) + 0.5, (lam for lam in (2, 0)))
    np.testing.assert_array_equal(path.lambdas, [0.0, 2.0])
    np.testing.assert_array_equal(path.n_clusters, [3, 1])
    np.testing.assert_allclose(path.pi(0.0), np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("lambdas", "error", "said"),
    [
        ([], ValueError, "empty"),
        ([0.1, -1.0], ValueError, "-1.0"),
        ([np.nan], ValueError, "nan"),
        ([0.1, np.inf], ValueError, "inf"),
        (0.5, TypeError, "0.5"),
        ("0.5", TypeError, "0.5"),
        (["0.5"], TypeError, "0.5"),
        ([True], TypeError, "True"),
        ([[0.1, 0.2]], TypeError, "lambdas"),
        ([None], TypeError, "None"),
    ],
)
def test_invalid_lambdas_are_rejected_with_the_value_received(lambdas, error, said):
    with pytest.raises(error, match="lambdas") as refused:
        solve_path(np.eye(3) + 0.5, lambdas)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("lam_step", 0.0, ValueError),
        ("lam_step", -0.1, ValueError),
        ("lam_step", "fine", TypeError),
        ("tol", -1e-4, ValueError),
        ("tol", np.nan, ValueError),
        ("max_iter", -1, ValueError),
        ("l1_ratio", 1.5, ValueError),
        ("method", "simplex", ValueError),
        ("constraint", "admm", ValueError),
        ("keep", "some", ValueError),
        ("keep", 3, ValueError),
    ],
)
def test_invalid_options_are_rejected_by_name(option, value, error):
    with pytest.raises(error, match=f"{option} must be") as refused:
        solve_path(np.eye(3) + 0.5, **{option: value})
    assert repr(value) in str(refused.value)


@pytest.mark.parametrize("method", ["admm", "primal_dual", "dual_fista"])
def test_every_method_finds_the_same_path(small, on_grid, method):
    path = solve_path(small[0], GRID, method=method, max_iter=5000)
    assert {point.status for point in path.levels} == {Status.SOLVED}
    np.testing.assert_allclose(path.objective, on_grid.objective, rtol=TOL)
    np.testing.assert_array_equal(path.partitions, on_grid.partitions)


def test_the_simplex_constraint_has_a_path(small):
    K, graph = small
    path = solve_path(K, GRID, constraint="simplex")
    np.testing.assert_allclose(path.pi(0.9).sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_array_equal(path.labels(lam=0.9), graph.fine)
    # With fewer constraints the minimum is not higher.
    both = solve_path(K, GRID)
    assert (path.objective <= both.objective + TOL * np.abs(both.objective)).all()


def test_components_are_those_of_the_weights_not_of_the_kernel(small):
    K, graph = small
    cliques = np.kron(np.eye(6), np.ones((4, 4)))
    path = solve_path(K, weights=cliques)
    np.testing.assert_array_equal(path.components, graph.fine)
    np.testing.assert_array_equal(path.partitions[-1], graph.fine)
    assert path.complete


def test_a_path_stopped_by_a_callback_is_incomplete(small):
    seen = []

    def third(point):
        seen.append(point)
        return len(seen) == 3

    path = solve_path(small[0], on_check=third)
    assert not path.complete
    assert len(path.levels) == 3
    assert sorted(point.lam for point in seen) == path.lambdas.tolist()


def test_on_check_is_called_once_per_level_and_a_falsy_result_continues(small, on_grid):
    seen = []
    path = solve_path(small[0], GRID, on_check=seen.append)
    assert path.complete
    assert [point.lam for point in seen] == GRID
    np.testing.assert_array_equal([point.objective for point in seen], on_grid.objective)


def test_a_path_that_does_not_reach_the_consensus_is_not_complete(small):
    with pytest.warns(ConvergenceWarning, match="lam were not solved to tol=0.0001.*raise max_i"):
        path = solve_path(small[0], max_iter=0)
    assert path.n_clusters[-1] > 1
    assert Status.MAX_ITER in {point.status for point in path.levels}
    assert not path.complete


def test_the_same_input_gives_identical_bits(small, small_path):
    again = solve_path(small[0])
    np.testing.assert_array_equal(again.lambdas, small_path.lambdas)
    np.testing.assert_array_equal(again.partitions, small_path.partitions)
    np.testing.assert_array_equal(again.objective, small_path.objective)
    for one, other in zip(again.levels, small_path.levels, strict=True):
        np.testing.assert_array_equal(one.cluster_centroids, other.cluster_centroids)


@given(st.permutations(range(24)))
@settings(max_examples=10)
def test_relabelled_nodes_give_the_relabelled_path(small, on_grid, order):
    path = solve_path(small[0].graph.permuted(order), GRID)
    np.testing.assert_allclose(path.objective, on_grid.objective, rtol=TOL)
    for found, expected in zip(path.partitions, on_grid.partitions, strict=True):
        np.testing.assert_array_equal(found, first_occurrence(expected[order]))
    assert path.names == tuple(order)


ON_THREADS = """
import json
import sys

import numba

from convexhc import datasets, similarity, solve_path

adjacency = datasets.fractal_graph(0, n_meta=2, n_super=4, clique=8).adjacency
K = similarity.heat(adjacency, time=2.0)
runs = []
for threads in (1, 2, 2):
    numba.set_num_threads(threads)
    path = solve_path(K, [0.5, 6.0])
    bits = [value.hex() for p in path.levels for value in p.cluster_centroids.ravel().tolist()]
    runs.append([path.objective.tolist(), path.partitions.tolist(), bits])
json.dump(runs, sys.stdout)
"""


def test_one_and_two_threads_agree_and_two_are_reproducible():
    """The similarity is dense enough that its edges are distributed over threads."""
    done = subprocess.run(
        [sys.executable, "-c", ON_THREADS],
        env={**os.environ, "NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, two, again = json.loads(done.stdout)
    np.testing.assert_allclose(two[0], one[0], rtol=TOL)
    assert two[1] == one[1]
    assert [len(set(labels)) for labels in one[1]] == [8, 2]
    assert again == two
