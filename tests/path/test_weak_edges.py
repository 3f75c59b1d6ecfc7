"""Gaussian similarities of distant groups: weights that underflow are ignored."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from convexhc import solve, solve_path, solve_points_path
from convexhc.fusion import graph_solve
from convexhc.graph import Graph
from convexhc.model.problem import WEAKEST, points_problem
from convexhc.solvers.solution import Status


def two_groups(shift):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal((9.0, 0.0), size=(12, 2))])
    apart = np.square(X[:, None] - X[None]).sum(axis=2)
    return X, np.exp(-shift * apart) + 1e-6 * np.eye(24)


@pytest.mark.parametrize("shift", [1.0, 3.0])
@pytest.mark.parametrize("most", [None, 6])
def test_groups_with_negligible_weights_between_them_are_components(shift, most):
    _, K = two_groups(shift)
    assert 0.0 < K[:12, 12:].max() < WEAKEST
    path = solve_path(K, max_clusters=most)
    assert path.complete
    assert {point.status for point in path.levels} == {Status.SOLVED}
    last = max(path.levels, key=lambda point: point.lam)
    np.testing.assert_array_equal(last.labels, path.components)
    assert (path.components[:12, None] != path.components[None, 12:]).all()


@pytest.mark.parametrize("weight", [1e-3, 1e-5, 2e-6])
@pytest.mark.parametrize("most", [None, 3])
def test_blocks_joined_by_weak_edges_fuse_last(weight, most):
    """Every lam is certified, over as many orders of magnitude as the weights span."""
    rng = np.random.default_rng(0)
    noise = rng.uniform(0.5, 1.0, size=(15, 15))
    K = np.kron(np.eye(3), np.ones((5, 5))) * (noise + noise.T) / 2.0
    np.fill_diagonal(K, 6.0)
    K[0, 7] = K[7, 0] = K[8, 12] = K[12, 8] = weight
    path = solve_path(K, max_clusters=most)
    assert path.complete
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert path.relative_gap.max() <= 1e-4 * (1.0 + 1e-9)
    assert path.n_clusters.min() == 1
    np.testing.assert_array_equal(path.labels(n_clusters=3), np.repeat([0, 1, 2], 5))


def test_a_certificate_limited_by_round_off_is_not_solved(monkeypatch):
    """A cost that no search avoids, as for flows whose demand is lost to round-off."""
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    monkeypatch.setattr(graph_solve, "complete_dual", lambda *_, **__: (None, 1.0))
    with pytest.warns(ConvergenceWarning, match="Round-off keeps the certificate"):
        path = solve_path(K, [0.01, 1.0])
    assert (path.relative_gap > 1e-4).all()
    assert {point.status for point in path.levels} == {Status.ROUND_OFF}
    assert "2 lam not solved" in path.summary()


@pytest.mark.parametrize("method", ["admm", "primal_dual", "dual_fista"])
@pytest.mark.parametrize("weight", [1e-8, 1e-40, 1e-310])
def test_a_negligible_weight_changes_nothing(method, weight):
    K = np.kron(np.eye(2), np.full((4, 4), 0.5)) + 2.0 * np.eye(8)
    touched = K.copy()
    touched[3, 4] = touched[4, 3] = weight
    plain, found = (
        solve(A, 1.0, weights=A, method=method, tol=1e-6, max_iter=5000) for A in (K, touched)
    )
    np.testing.assert_array_equal(found.labels, plain.labels)
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-5)


@pytest.mark.parametrize("weight", [1e-14, 1e-40, 1e-310])
def test_points_with_negligible_weights_are_components(weight):
    X, _ = two_groups(1.0)
    W = np.zeros((24, 24))
    W[:12, :12] = W[12:, 12:] = 1.0
    W[0, 12] = W[12, 0] = weight
    np.fill_diagonal(W, 0.0)
    path = solve_points_path(X, 15, weights=W)
    assert path.complete
    assert {point.status for point in path.levels} == {Status.SOLVED}
    np.testing.assert_array_equal(path.levels[-1].labels, np.repeat([0, 1], 12))


def groups_in_a_row(weights, dimension, *, size=8, seed=0):
    """Groups with cancellation in every pivot, and one weak edge from each to the next."""
    rng, count = np.random.default_rng(seed), len(weights) + 1
    X = np.repeat(6.0 * rng.normal(size=(count, dimension)), size, axis=0)
    X += rng.normal(size=X.shape)
    W = np.kron(np.eye(count), np.ones((size, size)) - np.eye(size))
    for group, weight in enumerate(weights):
        one, other = size * group + rng.integers(size), size * (group + 1) + rng.integers(size)
        W[one, other] = W[other, one] = weight
    return X, W


def assert_certified_to_the_end(path, X, W, *, l1_ratio=0.0, tol=1e-3):
    """Every lam is solved, ends in components, and agrees with a more accurate solution."""
    assert path.complete
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert path.relative_gap.max() <= tol
    np.testing.assert_array_equal(path.partitions[-1], path.components)
    problem = points_problem(np.asarray(X), Graph.from_matrix(W), 0.0, l1_ratio=l1_ratio)
    tight = solve_points_path(X, path.lambdas, weights=W, l1_ratio=l1_ratio, tol=1e-8)
    for lam, objective, best in zip(path.lambdas, path.objective, tight.objective, strict=True):
        full = problem.at(lam).objective(path.centroids(lam))
        np.testing.assert_allclose(objective, full, rtol=1e-9)
        assert best * (1.0 - 1e-7) <= objective <= best * (1.0 + 2.0 * tol)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize(
    "weights",
    [
        [1.0, 1.0],
        [1e-4, 1e-4],
        [1e-8, 1e-8],
        [2e-12, 2e-12],
        [1e-4, 1e-8, 2e-12],
        [2e-12, 0.0, 1.0],
    ],
)
def test_points_joined_by_weak_edges_fuse_last(weights, dimension, l1_ratio):
    X, W = groups_in_a_row(weights, dimension)
    path = solve_points_path(X, 40, weights=W, l1_ratio=l1_ratio, tol=1e-3)
    assert path.n_clusters[-1] == 1 + weights.count(0.0)
    assert_certified_to_the_end(path, X, W, l1_ratio=l1_ratio)
    # The groups have fused before the weak edges matter.
    if max(weights) < 1e-3:
        np.testing.assert_array_equal(
            path.labels(n_clusters=len(weights) + 1), np.repeat(np.arange(len(weights) + 1), 8)
        )


@pytest.mark.parametrize("weight", [1e-7, 1e-9, 2e-12])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_points_on_two_chains_with_a_weak_link(dimension, weight):
    """Pivots of chains are one except the last, which is the weak link: zero in floating point."""
    X = np.random.default_rng(0).normal(size=(12, dimension))
    W = np.kron(np.eye(2), np.diag(np.ones(5), 1))
    W[2, 6] = weight
    path = solve_points_path(X, 30, weights=W + W.T, tol=1e-3)
    assert path.n_clusters[-1] == 1
    assert_certified_to_the_end(path, X, W + W.T)


@pytest.mark.parametrize("weights", [[1e-2, 1e-2], [1e-8, 2e-12]])
@pytest.mark.parametrize("columns", ["nought", "the same", "next to nought", "falling off"])
def test_tables_of_low_rank(columns, weights):
    X, W = groups_in_a_row(weights, 2)
    rng, wide = np.random.default_rng(0), np.zeros((len(X), 20))
    if columns == "the same":
        wide = X[:, rng.integers(0, 2, 20)]
    elif columns == "falling off":
        wide = rng.normal(size=wide.shape) * 0.1 ** np.arange(20)
    else:
        wide[:, [3, 11]] = X
        wide += (columns == "next to nought") * 1e-18 * rng.normal(size=wide.shape)
    path = solve_points_path(wide, 40, weights=W, tol=1e-3)
    assert_certified_to_the_end(path, wide, W)


def test_weak_is_relative_to_the_largest_weight():
    graph = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], [1e-20, 3e-15, 1e-14])
    strong = graph.without_weak(0.2)
    np.testing.assert_array_equal(strong.tail, [1, 2])
    np.testing.assert_array_equal(strong.weight, [3e-15, 1e-14])
    assert (strong.n, strong.names) == (graph.n, graph.names)
    assert graph.without_weak(1e-7) is graph
    assert Graph.from_edges(2, [], []).without_weak(0.5).n_edges == 0
