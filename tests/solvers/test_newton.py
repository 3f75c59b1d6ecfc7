"""The Newton method: passes agree with formulas, and solutions with all other methods."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import naive
from convexhc.fusion import points_solve
from convexhc.fusion.contraction import contract
from convexhc.fusion.points_solve import solve_points
from convexhc.graph import Graph
from convexhc.kernels.newton import (
    allocate_response,
    cheap_to_fuse,
    dual_response,
    newton_direction,
    well_inside,
)
from convexhc.kernels.prox import dual_norms, norms
from convexhc.kernels.round_newton import curvature_product, round_system
from convexhc.model.problem import points_problem
from convexhc.solvers import newton, round_newton
from convexhc.solvers.dual_fista import DualAscent
from convexhc.solvers.loop import Status, run
from convexhc.solvers.newton import SemismoothNewton
from convexhc.solvers.round_newton import Groups, round_direction, stiff_groups
from laws import L1_RATIOS, first_occurrence, l1_ratios, random_problem, random_weights, seeds


def smooth_penalty(problem, C, Y, sigma):
    """The smoothed penalty and its gradient, from the passes."""
    n, m = C.shape
    out = allocate_response(problem.penalty.n_edges, n, m)
    value, slack = dual_response(C, Y, sigma, problem.penalty.edges, out)
    return value, slack, out


@given(seeds, l1_ratios)
def test_the_response_is_the_gradient_and_its_curvature_the_hessian(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "points", 0.4, l1_ratio)
    C, sigma = problem.fidelity.target, 0.7
    Y = problem.penalty.feasible_dual(rng.normal(size=(problem.penalty.n_edges, 3)))
    _, slack, at = smooth_penalty(problem, C, Y, sigma)
    direction, h = rng.normal(size=C.shape), 1e-6
    up, _, above = smooth_penalty(problem, C + h * direction, Y, sigma)
    down, _, below = smooth_penalty(problem, C - h * direction, Y, sigma)
    assert_allclose((up - down) / (2 * h), np.vdot(at.total, direction), atol=1e-6)
    radius = 0.4 * problem.penalty.differences.graph.weight
    assert (dual_norms(at.Y, l1_ratio) <= radius * (1.0 + 1e-12)).all()
    assert slack >= -1e-12
    # Applying the Hessian (by finite differences) inverts the solution of the Newton system.
    mass = np.full(len(C), 2.0)
    edges = problem.penalty.edges
    X, accurate = newton_direction(direction, sigma, mass, edges, at, 1e-12, 1000)
    assert accurate
    # The dense Hessian agrees.
    H = naive.newton_matrix(len(C), sigma, mass, edges, at)
    assert_allclose(H, H.T, atol=1e-12)
    assert_allclose(H @ X.ravel(), -direction.ravel(), atol=1e-8)
    _, _, above = smooth_penalty(problem, C + h * X, Y, sigma)
    _, _, below = smooth_penalty(problem, C - h * X, Y, sigma)
    curved = (above.total - below.total) / (2 * h)
    smooth = (above.fused == at.fused).all() and (below.fused == at.fused).all()
    if smooth and ((above.kept != 0) == (below.kept != 0)).all():
        assert_allclose(mass[:, None] * X + curved, -direction, atol=1e-4)


@given(seeds)
def test_euclidean_balls_agree_with_zero_soft_thresholds(seed):
    """The passes without soft thresholds agree with those with zero thresholds."""
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, 9)
    weights[0, 1] = weights[1, 0] = 1e-300
    problem = points_problem(rng.normal(size=(9, 5)), Graph.from_matrix(weights), 0.4)
    C, edges, sigma = problem.fidelity.target, problem.penalty.edges, 0.7
    Y = problem.penalty.feasible_dual(rng.normal(size=(edges.tail.size, 5)))
    mass, G = rng.uniform(1.0, 3.0, 9), rng.normal(size=(9, 5))
    found = []
    for round_balls in (False, True):
        at = allocate_response(edges.tail.size, 9, 5, round_balls=round_balls)
        sums = dual_response(C, Y, sigma, edges, at)
        assert np.shares_memory(at.Y, at.kept) == round_balls
        H = naive.newton_matrix(9, sigma, mass, edges, at)
        found.append((*sums, at.Y, at.shrink, at.total, H))
    direction, _ = newton_direction(G, sigma, mass, edges, at._replace(round=False), 1e-13, 1000)
    assert_allclose(H @ direction.ravel(), -G.ravel(), atol=1e-8)
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, atol=1e-9)


@given(seeds, l1_ratios)
def test_cheap_to_fuse_compares_the_cost_with_the_allowance(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "points", 0.4, l1_ratio)
    C, edges, mass = problem.fidelity.target, problem.penalty.edges, rng.uniform(1.0, 3.0, 99)
    between = C[edges.tail] - C[edges.head]
    one, other = mass[edges.tail], mass[edges.head]
    cost = (edges.soft + edges.block) * norms(between, l1_ratio)
    cost += 0.5 * one * other / (one + other) * np.square(between).sum(axis=1)
    middle = float(np.median(cost)) * (1.0 + 1e-9)
    assert_array_equal(cheap_to_fuse(C, mass, edges, middle), cost <= middle)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_newton_agrees_with_the_oracle(l1_ratio):
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(12, 3)), Graph.from_matrix(random_weights(rng, 12))
    for lam in (0.0, 0.05, 0.3):
        answer = oracle.proximity(X, weights, lam, l1_ratio=l1_ratio)
        problem = points_problem(X, weights, lam, l1_ratio=l1_ratio)
        found = run(problem, SemismoothNewton(), tol=1e-11, max_iter=100, check_every=1)
        assert found.status is Status.SOLVED
        assert_allclose(found.centroids, answer.C, atol=1e-4)
        assert_allclose(found.certificate.objective, answer.objective, rtol=1e-6, atol=1e-8)


@given(seeds, l1_ratios)
def test_newton_agrees_with_dual_ascent(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "points", float(rng.uniform(0.01, 1.0)), l1_ratio)
    one = run(problem, SemismoothNewton(), tol=1e-10, max_iter=200, check_every=1)
    other = run(problem, DualAscent(), tol=1e-8)
    assert one.status is Status.SOLVED
    apart = np.square(one.centroids - other.centroids).sum()
    # Strong convexity: half the squared distance is at most the gap.
    gaps = max(one.certificate.gap, 0.0) + max(other.certificate.gap, 0.0)
    assert apart <= 4.0 * gaps + 1e-12


@given(seeds, l1_ratios)
def test_contraction_does_not_change_the_solution(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "points", 0.0, l1_ratio)
    start = None
    for lam in (0.02, 0.1, 0.3, 0.31, 1.0):
        before = None if start is None else start.dual.copy()
        found = solve_points(problem.at(lam), start=start, tol=1e-6, max_iter=200)
        if start is not None:
            assert_array_equal(start.dual, before)
        start = found
        alone = run(problem.at(lam), SemismoothNewton(), tol=1e-12, max_iter=200, check_every=1)
        assert found.status is Status.SOLVED
        assert found.relative_gap <= 1e-6
        assert found.lam == lam
        assert_allclose(
            problem.at(lam).certify(found.centroids, found.dual).gap, found.certificate.gap
        )
        apart = np.square(found.centroids - alone.centroids).sum()
        gaps = max(found.certificate.gap, 0.0) + max(alone.certificate.gap, 0.0)
        assert apart <= 4.0 * gaps + 1e-12


@given(seeds, l1_ratios)
def test_an_interpolated_warm_start_does_not_change_the_solution(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "points", 0.0, l1_ratio)
    options = {"tol": 1e-6, "max_iter": 200}
    # From the unpenalised solution, across a fusion, and far beyond the last one.
    for lams in ((0.0, 0.02, 0.03), (0.1, 0.3, 0.31), (0.02, 0.03, 3.0)):
        before, start = (solve_points(problem.at(x), start=None, **options) for x in lams[:2])
        held = [(one.centroids.copy(), one.dual.copy()) for one in (before, start)]
        last = problem.at(lams[2])
        found = solve_points(last, start=start, second=before, **options)
        plain = solve_points(last, start=start, **options)
        assert found.status is Status.SOLVED
        apart = np.square(found.centroids - plain.centroids).sum()
        gaps = max(found.certificate.gap, 0.0) + max(plain.certificate.gap, 0.0)
        assert apart <= 4.0 * gaps + 1e-12
        for one, (centroids, dual) in zip((before, start), held, strict=True):
            assert_array_equal(one.centroids, centroids)
            assert_array_equal(one.dual, dual)


def test_an_interpolated_warm_start_saves_iterations():
    rng = np.random.default_rng(4)
    X, weights = rng.normal(size=(60, 3)), Graph.from_matrix(random_weights(rng, 60))
    problem, options = points_problem(X, weights, 0.0), {"tol": 1e-6, "max_iter": 200}
    spent, lams = {"plain": 0, "line": 0}, 1e-3 * 1.2 ** np.arange(8)
    solved = [solve_points(problem.at(lam), start=None, **options) for lam in lams]
    for before, start, lam in zip(solved, solved[1:], lams[2:], strict=False):
        at = problem.at(lam)
        spent["plain"] += solve_points(at, start=start, **options).n_iter
        spent["line"] += solve_points(at, start=start, second=before, **options).n_iter
    assert spent["line"] < spent["plain"]


@pytest.mark.parametrize("weight", [1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_an_edge_of_negligible_weight_fuses_nothing(weight, lam):
    """The edge of an outlier to its nearest neighbour has a Gaussian weight that underflows."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(8, 2)), [[40.0, 0.0], [40.0, 0.1]]])
    W = np.zeros((10, 10))
    W[:8, :8] = random_weights(rng, 8)
    W[0, 8] = W[8, 0] = weight
    W[8, 9] = W[9, 8] = 1.0
    found, alone = (
        solve_points(
            points_problem(X[:n], Graph.from_matrix(W[:n, :n]), lam),
            start=None,
            tol=1e-4,
            max_iter=200,
        )
        for n in (10, 8)
    )
    assert found.status is Status.SOLVED
    assert found.relative_gap <= 1e-4
    assert_array_equal(found.labels[:8], alone.labels)
    assert found.n_clusters == alone.n_clusters + (2 if lam < 0.01 else 1)


def test_a_cluster_without_a_flow_is_split():
    # A start with everything wrongly in one cluster, for which no flow exists.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(6, 2)), rng.normal(size=(6, 2)) + 9.0])
    problem = points_problem(X, Graph.from_matrix(random_weights(rng, 12)), 0.02)
    all_one = solve_points(problem.at(50.0), start=None, tol=1e-6, max_iter=200)
    assert all_one.n_clusters == 1
    found = solve_points(problem, start=all_one, tol=1e-6, max_iter=200)
    fresh = solve_points(problem, start=None, tol=1e-6, max_iter=200)
    assert found.status is Status.SOLVED
    assert_array_equal(found.labels, fresh.labels)
    assert found.n_clusters > 2


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.9])
def test_infeasible_flows_are_not_certified(kept, monkeypatch):
    """Flows that do not meet their demand are rejected by the certificate."""
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(20, 2)), Graph.from_matrix(random_weights(rng, 20))
    problem = points_problem(X, weights, 0.05)
    edges = problem.penalty.edges
    true, spoiled = points_solve.complete_point_dual, []

    def complete(problem, found, **options):
        done = true(problem, found, **options)
        inside = done.labels[edges.tail] == done.labels[edges.head]
        spoiled.append(bool(inside.any()))
        return replace(done, dual=np.where(inside[:, None], kept * done.dual, done.dual))

    monkeypatch.setattr(points_solve, "complete_point_dual", complete)
    found = solve_points(problem, start=None, tol=1e-8, max_iter=200)
    assert any(spoiled)
    assert found.status is Status.SOLVED
    assert found.relative_gap <= 1e-8
    assert problem.certify(found.centroids, found.dual).relative_gap <= 1e-8


@given(seeds)
def test_links_between_contractions_agree_with_direct_contraction(seed):
    rng = np.random.default_rng(seed)
    problem = points_problem(rng.normal(size=(9, 2)), Graph.from_matrix(random_weights(rng, 9)), 1)
    labels = first_occurrence(rng.integers(0, 6, 9))
    coarser = first_occurrence(rng.integers(0, 3, labels.max() + 1))
    outer, inner = contract(problem, labels), contract(problem, coarser[labels])
    links, direct = points_solve._EdgeMap.of(outer), points_solve._EdgeMap.of(inner)
    further = links.then(direct, outer.sums.shape[0])
    inside = rng.normal(size=(problem.penalty.n_edges, 2))
    for one, contraction in ((links, outer), (direct, inner)):
        dual = rng.normal(size=(contraction.sums.shape[0], 2))
        between = contraction.share[:, None] * (contraction.sums.T @ dual)
        expected = np.where(contraction.share[:, None] > 0.0, between, inside)
        assert_allclose(one.expand(dual, inside), expected, atol=1e-12)
        count = contraction.sums.shape[0]
        assert_allclose(one.restrict(inside, count), contraction.sums @ inside, atol=1e-12)
    # Two steps agree with one wherever the coarser contraction has an edge.
    dual, rough = (rng.normal(size=(c.sums.shape[0], 2)) for c in (inner, outer))
    twice = links.expand(further.expand(dual, rough), inside)
    at = inner.share > 0.0
    assert_allclose(twice[at], direct.expand(dual, inside)[at], atol=1e-12)


@pytest.mark.parametrize("patience", [(), (1000,), (1, 1000)])
def test_factors_groups_and_conjugate_gradients_agree(patience, monkeypatch):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(30, 2)), Graph.from_matrix(random_weights(rng, 30))
    problem = points_problem(X, weights, 0.1)
    monkeypatch.setattr(newton, "SETTINGS", replace(newton.SETTINGS, max_block_cg=patience))
    found = run(problem, SemismoothNewton(), tol=1e-11, max_iter=100, check_every=1)
    other = run(problem, DualAscent(), tol=1e-8)
    assert found.status is Status.SOLVED
    assert_allclose(found.centroids, other.centroids, atol=1e-4)


def test_a_system_too_stiff_for_a_factor_ends_the_subproblem(monkeypatch):
    """At sigma = 1e20 the mass is lost to round-off, and the pivots of the Hessian cancel."""
    monkeypatch.setattr(newton, "SETTINGS", replace(newton.SETTINGS, max_block_cg=(0, 0)))
    chain = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    problem = points_problem(np.arange(8.0).reshape(4, 2) ** 2, chain, 1e6)
    state = SemismoothNewton().init(problem, None)
    state.sigma, C = 1e20, np.zeros((4, 2))
    newton._evaluate(problem, state, C)
    assert not newton._newton_step(problem, state)
    assert_array_equal(state.C, C)


def test_other_models_are_rejected():
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match=r"squared distances and no constraint.*Kernel"):
        run(random_problem(rng, "graph", 0.1, 0.0), SemismoothNewton())


def test_well_inside_is_inside_the_scaled_ball():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "points", 1.0, 0.3)
    Y = problem.penalty.feasible_dual(0.4 * rng.normal(size=(problem.penalty.n_edges, 3)))
    radius = problem.penalty.differences.graph.weight
    expected = dual_norms(Y, 0.3) <= 0.8 * radius
    assert_array_equal(well_inside(Y, problem.penalty.edges, 0.8), expected)
    assert expected.any()
    assert not expected.all()


def stiff_system(rng, n, m, sigma):
    """A round system, and its parts: some centroids are so near that their edges are fused."""
    problem = points_problem(
        rng.normal(size=(n, m)), Graph.from_matrix(random_weights(rng, n)), 0.3
    )
    edges, mass = problem.penalty.edges, rng.uniform(0.5, 3.0, n)
    at = allocate_response(edges.tail.size, n, m, round_balls=True)
    C = problem.fidelity.target * rng.choice([1e-4, 1.0], size=(n, 1))
    dual_response(C, np.zeros((edges.tail.size, m)), sigma, edges, at)
    return sigma, mass, edges, at


def dense_matrix(system, n, m):
    """The Newton matrix, column by column; the product returns <X, image>."""
    found = np.empty((n * m, n * m))
    for column, unit in enumerate(np.eye(n * m)):
        image = np.empty((n, m))
        energy = curvature_product(system, unit.reshape(n, m), image)
        found[:, column] = image.ravel()
        assert_allclose(energy, image.ravel() @ unit, rtol=1e-12)
    return found


@given(seeds)
def test_stiff_systems_of_many_columns_agree_with_a_dense_solution(seed):
    rng = np.random.default_rng(seed)
    n, m = 9, 5
    parts = stiff_system(rng, n, m, 50.0)
    system, diagonal = round_system(*parts)
    hessian = dense_matrix(system, n, m)
    # Single precision of the directions only.
    assert_allclose(hessian, naive.newton_matrix(n, *parts), rtol=1e-5, atol=50.0 * 1e-6)
    assert_allclose(np.diag(hessian), diagonal.ravel(), rtol=1e-6)
    assert np.linalg.eigvalsh(hessian).min() >= parts[1].min() * (1.0 - 1e-12)
    G = rng.normal(size=(n, m))
    expected = -np.linalg.solve(hessian, G.ravel())
    # Plain, in groups, and with groups after a few plain iterations.
    for max_plain in (0, 3, 5000):
        found, _ = round_direction(G, *parts, tol=1e-12, max_plain=max_plain, max_iter=5000)
        assert_allclose(found.ravel(), expected, rtol=1e-6, atol=1e-8)


def test_groups_invert_the_matrix_inside_them(monkeypatch):
    rng = np.random.default_rng(2)
    n, m = 12, 5
    system, diagonal = round_system(*stiff_system(rng, n, m, 50.0))
    total = system.mass + np.bincount(system.tail, system.stiffness, n)
    total += np.bincount(system.head, system.stiffness, n)
    full = np.diag(total * (1.0 + round_newton.SETTINGS.ridge))
    full[system.tail, system.head] = full[system.head, system.tail] = -system.stiffness
    R = rng.normal(size=(n, m))
    share = system.stiffness / np.minimum(total[system.tail], total[system.head])
    for max_size in (12, 4):
        monkeypatch.setattr(
            round_newton, "SETTINGS", replace(round_newton.SETTINGS, max_size=max_size)
        )
        labels = stiff_groups(system.tail, system.head, share, n)
        assert np.bincount(labels).max() <= max_size
        alone = np.bincount(labels)[labels] == 1
        Z = R / diagonal
        Groups.of(system).divide(R, Z)
        expected = np.linalg.solve(np.where(labels[:, None] == labels, full, 0.0), R)
        assert_allclose(Z[~alone], expected[~alone], rtol=1e-10)
        assert_allclose(Z[alone], (R / diagonal)[alone])
    assert (~alone).any()


def test_groups_are_positive_semidefinite_however_stiff_the_edges():
    n, m = 6, 4
    sigma = 1e20
    _, mass, edges, at = stiff_system(np.random.default_rng(4), n, m, sigma)
    fused = at._replace(shrink=np.zeros_like(at.shrink), bend=np.zeros_like(at.bend))
    groups = Groups.of(round_system(sigma, mass, edges, fused)[0])
    assert groups.found
    for _, inverse in groups.parts:
        values = np.linalg.eigvalsh(inverse)
        assert np.isfinite(values).all()
        assert (values[:, 0] >= -1e-14 * values[:, -1]).all()


def test_light_edges_count_as_if_their_other_end_did_not_move():
    rng = np.random.default_rng(3)
    n, m, light = 12, 5, 0.2
    sigma, mass, edges, at = stiff_system(rng, n, m, 5.0)
    whole, _ = round_system(sigma, mass, edges, at)
    system, diagonal = round_system(sigma, mass, edges, at, light)
    left = set(zip(system.tail.tolist(), system.head.tolist(), strict=True))
    assert 0 < len(left) < whole.tail.size
    total = mass + np.bincount(whole.tail, whole.stiffness, n)
    total += np.bincount(whole.head, whole.stiffness, n)
    masses = mass.copy()
    for i, j, c in zip(whole.tail, whole.head, whole.stiffness, strict=True):
        if c < light * min(total[i], total[j]):
            assert (i, j) not in left
            masses[[i, j]] += c
    assert_allclose(system.mass, masses, rtol=1e-12)
    assert_allclose(np.diag(dense_matrix(system, n, m)), diagonal.ravel(), rtol=1e-6)


def test_the_solution_does_not_depend_on_how_systems_are_solved(monkeypatch):
    rng = np.random.default_rng(5)
    problem = points_problem(
        rng.normal(size=(40, 6)), Graph.from_matrix(random_weights(rng, 40)), 0.05
    )
    plain = run(problem, SemismoothNewton(), tol=1e-10, max_iter=200, check_every=1)
    used = []

    def watched(system):
        used.append(Groups.of(system))
        return used[-1]

    monkeypatch.setattr(round_newton, "Groups", SimpleNamespace(of=watched))
    monkeypatch.setattr(newton, "SETTINGS", replace(newton.SETTINGS, max_plain_cg=0))
    monkeypatch.setattr(round_newton, "SETTINGS", replace(round_newton.SETTINGS, light_share=0.01))
    stiff = run(problem, SemismoothNewton(), tol=1e-10, max_iter=200, check_every=1)
    assert any(groups.found for groups in used)
    assert_array_equal(stiff.labels, plain.labels)
    assert_allclose(stiff.centroids, plain.centroids, atol=1e-5)
