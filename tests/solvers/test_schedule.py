"""When certificates are computed: by step lengths where they are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted, shrinking_pair

from convexhc.model.problem import Certificate
from convexhc.solvers.loop import run
from convexhc.solvers.schedule import SETTINGS, Schedule

TOL = 1e-4


def certificate(gap):
    return Certificate(-1.0, gap, 0.0, 1e-12)


def begun(start=None, **options):
    return Schedule.of(
        start, **{"tol": TOL, "gap_tol": 0.0, "min_iter": 0, "check_every": 10, **options}
    )


@pytest.fixture(scope="module")
def solved():
    problem, best, dual = shrinking_pair()
    return run(problem, Scripted(best, dual), tol=TOL)


@given(gap=st.floats(2e-4, 1e3), move=st.floats(1e-12, 1e6), n_iter=st.integers(0, 5000))
def test_the_next_certificate_waits_for_a_smaller_step_within_bounds(gap, move, n_iter):
    schedule = begun()
    schedule.record(n_iter, move, certificate(gap))
    soon = schedule.soonest
    assert n_iter < soon <= schedule.latest
    # A step length as large as before is too large; a negligible one suffices.
    assert not schedule.due(soon, move) or soon == schedule.latest
    assert schedule.due(soon, 0.0)
    assert not schedule.due(soon - 1, 0.0)
    # At the latest, a gap far away waits for as long as it takes; one nearby for ten iterations.
    longest = 10 if gap <= TOL * np.e else SETTINGS.max_wait
    assert schedule.due(n_iter + max(longest, n_iter // 10), np.inf)


@given(near=st.floats(1.5e-4, 1.0), times=st.floats(1.5, 100.0))
def test_a_larger_gap_waits_for_a_smaller_step(near, times):
    one, other = begun(), begun()
    one.record(10, 1.0, certificate(near))
    other.record(10, 1.0, certificate(times * near))
    assert other.level < one.level < 1.0


def test_without_step_lengths_certificates_follow_the_iteration_count():
    schedule = begun(min_iter=4)
    assert not schedule.due(3, 0.0)
    assert schedule.due(4, 0.0)
    schedule.record(4, 0.0, certificate(1.0))
    assert (schedule.soonest, schedule.latest) == (14, 14)


def test_the_step_length_of_the_start_schedules_the_first_certificate(solved):
    known = replace(solved, move=1e-3, certificate=certificate(0.5 * TOL), n_iter=12)
    schedule = begun(known)
    # Not before a step length is known; then once it is as small as that of the start.
    assert not schedule.due(0, 0.0)
    assert schedule.due(1, 1e-3)
    assert not schedule.due(1, 1.0)
    assert schedule.due(24, 1.0)
    assert begun(replace(known, move=0.0)).due(0, 0.0)


def test_a_gap_of_round_off_makes_the_first_certificate_due_at_once(solved):
    nought = replace(solved, move=1e-30, certificate=certificate(1e-18))
    assert begun(nought).due(1, 1.0)


def test_a_method_that_reports_step_lengths_needs_fewer_certificates():
    problem, best, dual = shrinking_pair()

    class Reporting(Scripted):
        def step(self, problem, state):
            before = state["C"].copy()
            super().step(problem, state)
            return float(np.square(state["C"] - before).sum())

    silent, reporting = Scripted(best, dual), Reporting(best, dual)
    first = replace(run(problem, reporting, tol=1e-9), lam=0.5 * problem.lam)
    assert first.move > 0.0
    reporting.offered = reporting.stepped = 0
    again = run(problem, reporting, tol=1e-9, start=first)
    run(problem, silent, tol=1e-9, start=replace(first, move=0.0))
    assert again.relative_gap <= 1e-9
    assert reporting.offered < silent.offered
    assert reporting.stepped <= silent.stepped
