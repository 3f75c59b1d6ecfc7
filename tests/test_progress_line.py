"""The progress line: its content, its estimate of the time left, and when nothing is drawn."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from numba import njit

import convexhc
from convexhc.progress_line import ProgressLine, in_notebook, new_line, shown

K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True

    def last(self):
        """The line as last drawn."""
        return self.getvalue().rsplit("\x1b[K", 1)[-1]


class Clock:
    """A clock that is set by the test."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


def line_and_clock():
    clock = Clock()
    return ProgressLine(Terminal(), now=clock), clock


def test_time_left_is_proportional_to_the_share_left():
    line, clock = line_and_clock()
    line.show(0.0, "begin")
    clock.time += 30.0
    line.show(0.25, "text")
    assert line.stream.last() == "[######..................] text  about 1 min 30 s left"


def test_a_resumed_run_is_timed_from_its_start():
    line, clock = line_and_clock()
    line.show(0.5, "resumed")
    clock.time += 30.0
    line.show(0.75, "on")
    assert line.stream.last().endswith("about 30.0 s left")


def test_no_time_is_estimated_from_a_small_share():
    line, clock = line_and_clock()
    line.show(0.0, "begin")
    clock.time += 60.0
    line.show(0.04, "hardly")
    assert "left" not in line.stream.last()


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_nothing_is_drawn_to_a_file_or_if_quiet(stream):
    line = ProgressLine(stream, quiet=stream.isatty())
    line.show(0.5, "text")
    line.clear()
    assert stream.getvalue() == ""


def test_clear_leaves_an_empty_line():
    line, _ = line_and_clock()
    line.show(0.5, "text")
    line.clear()
    assert line.stream.last() == ""


@pytest.mark.parametrize("lambdas", [None, [0.1, 0.5, 1.0]])
def test_a_path_draws_the_line_at_every_level(lambdas):
    K = convexhc.as_graph(np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6))
    line, _ = line_and_clock()
    path = convexhc.solve_path(K, lambdas, progress=line)
    drawn = line.stream.getvalue().split("\x1b[K")[1:]
    assert len(drawn) == len(path.levels)
    last = path.levels[-1]
    clusters = "1 cluster " if last.n_clusters == 1 else f"{last.n_clusters} clusters "
    for word in (f"lam {last.lam:.4g}", clusters, f"gap {last.relative_gap:.1e}"):
        assert word in drawn[-1]
    assert drawn[-1].startswith(f"[{'#' * 24}]") or lambdas is None


def test_compilation_is_left_out_of_the_time_left():
    line, clock = line_and_clock()
    line.show(0.0, "begin")
    clock.time += 100.0
    line.leave_out(70.0)
    line.show(0.5, "text")
    assert line.stream.last().endswith("text  about 30.0 s left")


def test_compilation_of_a_run_is_announced_once_and_timed():
    line, _ = line_and_clock()
    left_out = []
    line.leave_out = left_out.append

    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x)

    with shown(line) as first, shown(line) as second:
        assert first is second is line
        outer(1)
        outer(1.5)
    # A kernel counts once, with those that it calls.
    assert len(left_out) == 2
    assert min(left_out) > 0.0
    assert line.stream.getvalue().count("compiling, once per installation") == 1
    assert not line.busy


def test_an_own_line_is_erased_and_a_given_one_stays(monkeypatch):
    line, _ = line_and_clock()
    monkeypatch.setattr("convexhc.progress_line.new_line", lambda: line)
    with shown(True) as drawn:
        drawn.show(0.5, "text")
    assert line.stream.last() == ""
    with shown(line):
        line.show(0.5, "text")
    assert "text" in line.stream.last()


@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_progress_is_true_false_or_a_function(wrong):
    with pytest.raises(TypeError, match="progress must be True, False or a function, received"):
        convexhc.solve_path(K, [0.1], progress=wrong)


def test_a_notebook_gets_a_line_without_a_terminal(monkeypatch):
    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    stream = io.StringIO()
    ProgressLine(stream).show(0.5, "text")
    assert stream.getvalue() == ""
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert in_notebook()
    ProgressLine(stream).show(0.5, "text")
    assert "text" in stream.getvalue()


def test_tqdm_draws_where_it_is_installed(monkeypatch):
    pytest.importorskip("tqdm")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    path = convexhc.solve_path(K, [0.1, 0.5, 1.0], progress=True)
    said = stream.getvalue()
    assert "100%" in said
    assert f"lam {path.levels[-1].lam:.4g}" in said
    assert "gap" in said
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert type(new_line()) is ProgressLine


@pytest.mark.parametrize(
    "run",
    [
        lambda **how: convexhc.solve(K, 0.3, **how),
        lambda **how: convexhc.solve_path(K, [0.1, 1.0], **how),
        lambda **how: convexhc.cluster(K, 5, test_structure=False, **how),
        lambda **how: convexhc.solve_features_path(K, 5, **how),
        lambda **how: convexhc.solve_points_path([[0.0], [0.1], [5.0]], 5, weights=2, **how),
        lambda **how: convexhc.smooth_path(K, **how),
        lambda **how: convexhc.solve_paths([K, K], lambdas=5, test_structure=False, **how),
        lambda **how: convexhc.stability.bootstrap(
            K, lambda graph: np.arange(6), n_resamples=2, **how
        ),
        lambda **how: convexhc.ConvexHierarchicalClustering(2, **how).fit(K),
        lambda **how: convexhc.ConvexClustering(2, **how).fit([[0.0], [0.1], [5.0]]),
    ],
    ids=[
        "solve",
        "solve_path",
        "cluster",
        "solve_features_path",
        "solve_points_path",
        "smooth_path",
        "solve_paths",
        "bootstrap",
        "ConvexHierarchicalClustering",
        "ConvexClustering",
    ],
)
def test_everything_that_takes_time_shows_its_progress(run, monkeypatch):
    calls = []
    run(progress=lambda *said: calls.append(said))
    assert calls
    line, _ = line_and_clock()
    monkeypatch.setattr("convexhc.progress_line.new_line", lambda: line)
    run(progress=True)
    assert line.stream.getvalue()


def test_the_progress_of_a_single_lam_is_that_of_its_gap():
    line, _ = line_and_clock()
    seen = []
    solution = convexhc.solve(K, 0.3, tol=1e-8, progress=lambda n, found: seen.append((n, found)))
    assert seen[-1] == (solution.n_iter, solution.certificate)
    convexhc.solve(K, 0.3, tol=1e-8, progress=line)
    drawn = line.stream.getvalue().split("\x1b[K")[1:]
    assert len(drawn) == len(seen)
    assert drawn[-1].startswith(f"[{'#' * 24}] lam 0.3  iteration {solution.n_iter}  gap")


def test_a_cohort_counts_its_graphs():
    done = []
    convexhc.solve_paths([K, K], lambdas=5, progress=lambda *said: done.append(said))
    assert done == [(1, 2), (2, 2)]
