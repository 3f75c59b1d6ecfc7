"""Connected components of the points model: solved separately, they solve the whole problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from convexhc import solve_points_path
from convexhc.fusion import components
from convexhc.fusion.components import Parts
from convexhc.fusion.points_solve import solve_points
from convexhc.graph import Graph
from convexhc.model.problem import cluster_means, points_problem
from convexhc.solvers.solution import Status
from laws import classes_of_equal_rows, random_weights

LAMBDAS = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 5.0, 10.0]
ISOLATED = 2


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Solve every component separately, although the data are small."""
    monkeypatch.setattr(components, "_MIN_DUAL_SIZE", 1)


def scattered(seed=0, n=18, parts=3, columns=3):
    """Points and weights in ``parts`` components and two isolated nodes, in random order."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n + ISOLATED,) * 2)
    W[:n, :n] = random_weights(rng, n, parts=parts)
    order = rng.permutation(n + ISOLATED)
    # Components of different sizes fuse at different lam.
    size = np.repeat([0.3, 1.0, 4.0], [n // 3, n // 3, n + ISOLATED - 2 * (n // 3)])
    X = size[:, None] * rng.normal(size=(n + ISOLATED, columns))
    return X[order], Graph.from_matrix(W).permuted(order)


def same_clusters(one, other):
    return len(set(zip(one, other, strict=True))) == one.max() + 1 == other.max() + 1


def walked(parts, lambdas, *, tol=1e-6, max_iter=200):
    found = [None]
    for lam in lambdas:
        found.append(parts.solve(lam, start=found[-1], tol=tol, max_iter=max_iter))
    return found[1:]


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("least", [1, 40])
def test_the_minimum_is_between_the_bounds(monkeypatch, l1_ratio, least):
    monkeypatch.setattr(components, "_MIN_DUAL_SIZE", least)
    X, weights = scattered()
    problem = points_problem(X, weights, 0.0, l1_ratio=l1_ratio)
    for found in walked(Parts.of(problem), LAMBDAS[1:7], tol=1e-8):
        truth = oracle.proximity(X, weights, found.lam, l1_ratio=l1_ratio)
        proof = found.certificate
        assert found.status is Status.SOLVED
        assert proof.relative_gap <= 1e-8
        assert proof.objective - proof.gap <= truth.objective * (1.0 + 1e-7)
        assert proof.objective >= truth.objective * (1.0 - 1e-6)
        assert_allclose(found.centroids, truth.C, atol=2e-3)
        assert_array_equal(classes_of_equal_rows(found.centroids), found.labels)


def test_objective_gap_and_iterations_are_sums():
    problem = points_problem(*scattered(), 0.0)
    parts = Parts.of(problem)
    assert [part.n_components for part in parts.parts] == [1, 1, 1]
    options = {"start": None, "second": None, "tol": 1e-2, "max_iter": 200}
    for lam in (0.02, 0.1, 0.4):
        whole = parts.solve(lam, **options)
        each = [part.solve(lam, **options) for part in parts.parts]
        for value in ("objective", "gap"):
            total = sum(getattr(one.certificate, value) for one in each)
            assert_allclose(getattr(whole.certificate, value), total, rtol=1e-9, atol=1e-13)
        assert whole.n_iter == sum(one.n_iter for one in each) > 0
        # The dual alone proves the bound: it is feasible, and its value is computed explicitly.
        radius = lam * problem.penalty.differences.graph.weight
        assert (np.linalg.norm(whole.dual, axis=1) <= radius * (1.0 + 1e-12)).all()
        pull, X = problem.at(lam).penalty.pull(whole.dual), problem.fidelity.target
        bound = np.vdot(pull, X) - 0.5 * np.vdot(pull, pull)
        assert_allclose(whole.certificate.objective - whole.certificate.gap, bound, rtol=1e-12)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_each_component_agrees_with_a_separate_solve(l1_ratio):
    X, weights = scattered()
    path = solve_points_path(X, LAMBDAS, weights=weights, l1_ratio=l1_ratio)
    total = np.zeros(len(LAMBDAS))
    for component in range(5):
        nodes = np.flatnonzero(path.components == component)
        alone = solve_points_path(
            X[nodes], LAMBDAS, weights=weights.subgraph(nodes), l1_ratio=l1_ratio
        )
        total += alone.objective
        for i, (mine, theirs) in enumerate(zip(path.levels, alone.levels, strict=True)):
            assert same_clusters(
                np.unique(mine.labels[nodes], return_inverse=True)[1], theirs.labels
            )
            rows = path.centroids(mine.lam)[nodes]
            # Exactly the mean, once the component is one cluster.
            met = nodes.size > 1 and i > 0 and alone.n_clusters[i - 1] == 1
            mean = cluster_means(X[nodes], theirs.labels)[theirs.labels]
            assert_array_equal(rows, mean if met else alone.centroids(theirs.lam))
    assert_allclose(path.objective, total, rtol=1e-12)
    assert path.relative_gap.max() <= 1e-4
    assert {point.status for point in path.levels} == {Status.SOLVED}


@pytest.mark.parametrize("seed", range(4))
def test_components_agree_with_a_solve_of_the_whole_problem(seed):
    X, weights = scattered(seed)
    problem, start = points_problem(X, weights, 0.0), None
    for found in walked(Parts.of(problem), LAMBDAS):
        start = solve_points(problem.at(found.lam), start=start, tol=1e-6, max_iter=200)
        assert_array_equal(found.labels, start.labels)
        assert_allclose(found.certificate.objective, start.certificate.objective, rtol=2e-6)
        apart = np.square(found.centroids - start.centroids).sum()
        gaps = max(found.certificate.gap, 0.0) + max(start.certificate.gap, 0.0)
        assert apart <= 4.0 * gaps + 1e-12


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_a_component_is_solved_in_the_space_that_its_rows_span(l1_ratio):
    X, weights = scattered(columns=2)
    piece = weights.components()[1]
    # Every component has two columns of its own; all are turned.
    wide = np.zeros((len(X), 2 * (piece.max() + 1)))
    wide[np.arange(len(X))[:, None], 2 * piece[:, None] + np.arange(2)] = X
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(wide.shape[1],) * 2))[0]
    problem = points_problem(wide @ turn, weights, 0.0, l1_ratio=l1_ratio)
    parts = Parts.of(problem)
    # The l1 norm is that of the coordinates given.
    columns = 2 if l1_ratio == 0.0 else wide.shape[1]
    assert {part.problem.shape[1] for part in parts.parts} == {columns}
    for found in walked(parts, LAMBDAS[1:7], tol=1e-8):
        truth = oracle.proximity(wide @ turn, weights, found.lam, l1_ratio=l1_ratio)
        assert found.status is Status.SOLVED
        assert found.certificate.relative_gap <= 1e-8
        assert_allclose(found.certificate.objective, truth.objective, rtol=1e-6)
        assert_allclose(found.centroids, truth.C, atol=2e-3)


def test_another_order_of_the_nodes_gives_the_same_clusters():
    X, weights = scattered()
    order = np.random.default_rng(1).permutation(len(X))
    one = solve_points_path(X, 25, weights=weights)
    other = solve_points_path(X[order], 25, weights=weights.permuted(order))
    assert_allclose(other.lambdas, one.lambdas)
    assert_allclose(other.objective, one.objective, rtol=1e-9)
    for mine, theirs in zip(one.partitions, other.partitions, strict=True):
        assert same_clusters(mine[order], theirs)


def test_isolated_points_stay_at_their_data():
    X, weights = scattered()
    touched = np.unique(np.concatenate([weights.tail, weights.head]))
    single = np.setdiff1d(np.arange(len(X)), touched)
    path = solve_points_path(X, LAMBDAS, weights=weights)
    without = solve_points_path(X[touched], LAMBDAS, weights=weights.subgraph(touched))
    for mine, theirs in zip(path.levels, without.levels, strict=True):
        assert_array_equal(path.centroids(mine.lam)[single], X[single])
        assert same_clusters(np.unique(mine.labels[touched], return_inverse=True)[1], theirs.labels)
        assert mine.n_clusters == theirs.n_clusters + ISOLATED
        assert mine.n_iter == theirs.n_iter
    none = solve_points_path(X, [0.1, 1.0], weights=np.zeros((len(X),) * 2))
    assert_array_equal(none.partitions, [np.arange(len(X))] * 2)
    assert_array_equal(none.relative_gap, [0.0, 0.0])
    assert {point.status for point in none.levels} == {Status.SOLVED}


@pytest.mark.parametrize(("away", "spread"), [(37.1, 0.0), (1e3, 1e-12)])
def test_a_component_of_equal_points_adds_only_round_off(away, spread):
    X, weights = scattered()
    W, n = weights.dense(), len(X)
    both = np.zeros((n + 7,) * 2)
    both[:n, :n] = W
    both[n:, n:] = random_weights(np.random.default_rng(2), 7)
    equal = away * np.array([1.0, -0.3, 1.0 / 3.0])
    equal = equal + spread * np.random.default_rng(5).normal(size=(7, 3))
    table = np.concatenate([X, equal])
    path = solve_points_path(table, LAMBDAS, weights=both)
    plain = solve_points_path(X, LAMBDAS, weights=weights)
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert_allclose(path.objective[1:], plain.objective[1:], rtol=1e-9)
    for labels in path.partitions[1:]:
        assert np.unique(labels[n:]).size == 1
    assert_array_equal(path.partitions[1:, :n], plain.partitions[1:])


def test_a_component_that_is_one_cluster_is_not_solved_again(monkeypatch):
    X, weights = scattered()
    parts = Parts.of(points_problem(X, weights, 0.0))
    end = walked(parts, LAMBDAS[:8])[-1]
    assert end.n_clusters == 3 + ISOLATED

    def never(*_, **__):
        raise AssertionError("solved again")

    monkeypatch.setattr(components, "solve_points", never)
    later = parts.solve(100.0, start=end, tol=1e-6, max_iter=200)
    assert later.n_iter == 0
    assert later.lam == 100.0
    piece = weights.components()[1]
    assert_array_equal(later.labels, piece)
    assert_array_equal(later.centroids, cluster_means(X, piece)[piece])
    assert_allclose(later.certificate.objective, end.certificate.objective, rtol=1e-12)
    # At a smaller lam, or without a dual that proves it, the mean is not assumed.
    unproven = replace(end, dual=0.0 * end.dual)
    for lam, start in ((0.01, end), (100.0, unproven)):
        with pytest.raises(AssertionError, match="solved again"):
            parts.solve(lam, start=start, tol=1e-6, max_iter=200)


def test_the_status_is_the_worst_of_the_parts(monkeypatch):
    parts = Parts.of(points_problem(*scattered(), 0.0))
    sizes = []

    def spent(problem, **options):
        sizes.append(problem.shape[0])
        found = solve_points(problem, **options)
        return replace(found, status=Status.MAX_ITER) if len(sizes) == 2 else found

    monkeypatch.setattr(components, "solve_points", spent)
    found = parts.solve(0.1, start=None, tol=1e-6, max_iter=200)
    assert sizes == [6, 6, 6]
    assert found.status is Status.MAX_ITER
    assert parts.solve(0.1, start=None, tol=1e-6, max_iter=200).status is Status.SOLVED


def test_an_interrupted_run_resumes_bit_for_bit(tmp_path):
    X, weights = scattered()
    whole = solve_points_path(X, 20, weights=weights)
    for stop in (1, 5, len(whole.levels) - 2):
        seen = []

        def halt(point, seen=seen, stop=stop):
            seen.append(point)
            return len(seen) == stop

        file = tmp_path / f"{stop}.npz"
        solve_points_path(X, 20, weights=weights, checkpoint=file, on_check=halt)
        rest = solve_points_path(X, 20, weights=weights, checkpoint=file)
        assert rest.complete
        assert_array_equal(rest.partitions, whole.partitions)
        for name in ("objective", "relative_gap", "effective_rank"):
            assert_array_equal(getattr(rest, name), getattr(whole, name))
        assert [p.n_iter for p in rest.levels] == [p.n_iter for p in whole.levels]
        for lam in whole.lambdas:
            assert_array_equal(rest.centroids(lam), whole.centroids(lam))


def test_a_single_component_is_solved_directly():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(12, 2)), Graph.from_matrix(random_weights(rng, 12))
    problem, start = points_problem(X, weights, 0.0), None
    assert Parts.of(problem).parts is None
    assert Parts.of(points_problem(X[:1], weights.subgraph([0]), 0.0)).parts is None
    for found in walked(Parts.of(problem), LAMBDAS):
        start = solve_points(problem.at(found.lam), start=start, tol=1e-6, max_iter=200)
        for name in ("centroids", "dual", "labels"):
            assert_array_equal(getattr(found, name), getattr(start, name))
        assert found.certificate == start.certificate
        assert found.n_iter == start.n_iter


# Four triangles of points in the plane: three edges and six dual entries each.
@pytest.mark.parametrize(
    ("least", "held"), [(6, [1, 1, 1, 1]), (7, [2, 2]), (13, [3, 1]), (24, None), (99, None)]
)
def test_small_components_share_a_part(monkeypatch, least, held):
    monkeypatch.setattr(components, "_MIN_DUAL_SIZE", least)
    W = np.kron(np.eye(4), np.ones((3, 3)))
    X = np.random.default_rng(0).normal(size=(12, 2))
    found = Parts.of(points_problem(X, Graph.from_matrix(W).without_diagonal(), 0.0)).parts
    assert (None if found is None else [part.n_components for part in found]) == held
