"""The solver loop: when it checks, when it stops, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted, shrinking_pair

import convexhc
from convexhc.solvers.loop import Status, run


def test_iterates_until_the_relative_gap_is_below_the_tolerance():
    problem, best, dual = shrinking_pair()
    method = Scripted(best, dual)
    solution = run(problem, method, tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.relative_gap <= 1e-6
    assert (solution.n_iter, solution.method) == (method.stepped, "scripted")
    assert solution.lam == problem.lam
    np.testing.assert_allclose(solution.centroids, best, atol=1e-2)
    # There is at least one step between two checks.
    assert method.offered <= method.stepped + 1


@given(st.integers(0, 400))
def test_the_budget_is_spent_exactly_with_growing_check_intervals(budget):
    problem, _, dual = shrinking_pair()
    # The method converges to a wrong point: no certificate is ever small.
    method = Scripted(np.array([[0.0], [2.0]]), dual)
    checks = []
    solution = run(
        problem, method, tol=1e-6, max_iter=budget, on_check=lambda n, c: checks.append(n)
    )
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == method.stepped == budget
    assert checks[0] == 0
    assert checks[-1] == budget
    intervals = np.diff(checks)
    assert np.all(intervals > 0)
    # The last interval may be cut short by the budget.
    assert np.all(np.diff(intervals[:-1]) >= 0)
    # Convergence is detected after at most a tenth more iterations, or a few steps.
    assert np.all(intervals <= np.maximum(20, 0.11 * np.array(checks[:-1])))


@pytest.mark.parametrize(("times", "waits"), [(1.1, (1, 3)), (1.5, (3, 6)), (100.0, (10, 10))])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_smaller_gap_schedules_an_earlier_check(times, waits, absolute):
    problem, best, dual = shrinking_pair()
    gap = run(problem, Scripted(best, dual), max_iter=0).certificate
    least = {"gap_tol": gap.gap / times} if absolute else {"tol": gap.relative_gap / times}
    checks = []
    run(
        problem,
        Scripted(best, dual),
        on_check=lambda n, _: checks.append(n),
        **{"tol": 0.0, **least},
    )
    assert waits[0] <= checks[1] - checks[0] <= waits[1]


def test_gap_tol_is_absolute():
    problem, best, dual = shrinking_pair()
    relative = run(problem, Scripted(best, dual), tol=0.0, gap_tol=1e-4)
    assert relative.status is Status.SOLVED
    assert 0.0 < relative.certificate.gap <= 1e-4


def test_runs_of_one_method_share_no_state():
    problem, best, dual = shrinking_pair()
    method = Scripted(best, dual)
    one, other = (run(problem, method, tol=1e-6) for _ in range(2))
    for name in ("centroids", "dual", "labels"):
        assert not np.shares_memory(getattr(one, name), getattr(other, name))
    assert not np.shares_memory(one.labels, method.labels)


def test_fused_rows_are_averaged_before_certification():
    problem, _, _ = shrinking_pair(lam=2.0)
    nearly = Scripted(np.array([[0.5 - 1e-9], [0.5 + 1e-9]]), np.array([[-0.5]]), np.zeros(2, int))
    solution = run(problem, nearly, tol=1e-3)
    assert solution.centroids[0].tobytes() == solution.centroids[1].tobytes()
    assert solution.n_clusters == 1
    # At the mean the penalty is exactly zero and the fidelity is a quarter.
    assert solution.certificate.objective == pytest.approx(0.25, abs=1e-12)
    again = problem.certify(solution.centroids, solution.dual)
    assert again == solution.certificate


def test_premature_fusions_are_not_certified():
    problem, best, dual = shrinking_pair(lam=0.25)
    wrong = Scripted(best, dual, np.zeros(2, int))
    solution = run(problem, wrong, tol=1e-4, max_iter=100)
    assert solution.status is Status.MAX_ITER
    assert solution.relative_gap > 1e-2


def test_on_check_can_stop_the_run_and_start_is_passed_to_the_method():
    problem, best, dual = shrinking_pair()
    first = run(problem, Scripted(best, dual), tol=1e-6)
    method = Scripted(best, dual)
    stopped = run(problem, method, start=first, tol=1e-12, on_check=lambda n, c: n > 0)
    assert method.started is first
    assert stopped.status is Status.STOPPED
    assert "on_check" in stopped.status.value
    assert stopped.n_iter > 0


def test_a_candidate_that_is_enough_ends_the_run_above_the_tolerance():
    problem, best, dual = shrinking_pair()
    asked = []

    def enough(of, candidate, certificate):
        assert of is problem
        assert of.certify(candidate.C, candidate.Y) == certificate
        asked.append(certificate.relative_gap)
        return certificate.relative_gap < 1e-3

    found = run(problem, Scripted(best, dual), tol=1e-9, enough=enough)
    assert found.status is Status.SOLVED
    assert found.relative_gap == asked[-1] > 1e-9
    assert min(asked[:-1]) >= 1e-3


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_a_sentence(status):
    assert status.value[0].isupper()
    assert status.value.endswith(".")


@pytest.mark.parametrize("method", ["admm", "primal_dual", "dual_fista"])
def test_start_that_violates_the_constraint_gives_no_false_certificate(method):
    """A solution on the simplex has wrong column sums, and a lower objective than the optimum."""
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(8, 3)), rng.random((8, 8))
    K, W = X @ X.T + 0.1 * np.eye(8), np.triu(W, 1) + np.triu(W, 1).T
    start = convexhc.solve(K, 0.3, weights=W, constraint="simplex", tol=1e-6)
    assert start.certificate.residual <= 1e-6
    assert np.abs(start.centroids.sum(axis=0) - 1.0).max() > 1e-3
    exact = convexhc.solve(K, 0.3, weights=W, tol=1e-9)
    found = convexhc.solve(K, 0.3, weights=W, start=start, method=method)
    assert found.status is Status.SOLVED
    assert found.certificate.residual <= 1e-6
    assert found.objective >= exact.objective - 1e-8 * abs(exact.objective)


def test_a_gap_that_does_not_fall_ends_the_run_with_advice():
    problem, _, dual = shrinking_pair()
    stuck = Scripted(problem.fidelity.target.copy(), dual)
    found = run(problem, stuck, tol=1e-6, max_iter=100_000)
    assert found.status is Status.STAGNATED
    assert "another method" in found.status.value
    assert found.n_iter < 10_000


def test_a_gap_that_falls_slowly_does_not_count_as_stagnation():
    problem, best, dual = shrinking_pair()

    @dataclass
    class Slow(Scripted):
        def step(self, problem, state):
            self.stepped += 1
            state["C"] = self.best + (problem.fidelity.target - self.best) / self.stepped**0.1
            state["Y"] = self.dual

    assert run(problem, Slow(best, dual), tol=1e-6, max_iter=20_000).status is Status.MAX_ITER


def test_dual_fista_gives_a_slow_inner_problem_longer_runs():
    """Nodes over ten orders: runs of two hundred inner iterations needed a thousand steps."""
    rng = np.random.default_rng(0)
    scales = 10.0 ** np.linspace(-5.0, 5.0, 6)
    X = rng.random((6, 3))
    K = (X @ X.T) * np.outer(scales, scales)
    found = convexhc.solve(K, 1e4 * K.max(), method="dual_fista", constraint="simplex", max_iter=60)
    assert found.status is Status.SOLVED


class Reporting(Scripted):
    """It reports its clusters, and its steps are as long as the gap."""

    def step(self, problem, state):
        super().step(problem, state)
        return 4.0**-self.stepped

    def current_labels(self, problem, state):
        return state["labels"]


@dataclass
class DoubtUntil:
    """Doubt that ends at an iteration."""

    end: int
    observed: int = 0

    def observe(self, labels, move):
        assert move > 0.0
        self.observed += 1

    def remains(self, n_iter, move):
        return n_iter < self.end


def test_a_run_in_doubt_goes_on_within_its_tolerance():
    problem, best, dual = shrinking_pair()
    plain = run(problem, Reporting(best, dual), tol=1e-4)
    doubt, method = DoubtUntil(plain.n_iter + 7), Reporting(best, dual)
    longer = run(problem, method, tol=1e-4, doubt=doubt)
    assert longer.status is Status.SOLVED
    assert longer.n_iter == doubt.observed == plain.n_iter + 7
    assert longer.relative_gap < plain.relative_gap <= 1e-4
    # No certificate is spent while doubt remains, but the one that finds the tolerance reached.
    assert method.offered <= 1 + plain.n_iter


def test_a_run_in_doubt_is_solved_when_its_budget_is_spent():
    problem, best, dual = shrinking_pair()
    found = run(problem, Reporting(best, dual), tol=1e-4, max_iter=40, doubt=DoubtUntil(1000))
    assert (found.status, found.n_iter) == (Status.SOLVED, 40)


def test_doubt_needs_a_method_that_reports_its_labels():
    problem, best, dual = shrinking_pair()
    plain = run(problem, Scripted(best, dual), tol=1e-4)
    watched = run(problem, Scripted(best, dual), tol=1e-4, doubt=DoubtUntil(1000))
    assert watched.n_iter == plain.n_iter
