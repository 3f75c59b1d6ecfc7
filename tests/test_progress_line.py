"""The progress line: its content, its estimate of the time left, and when nothing is drawn."""

from __future__ import annotations

import io

import numpy as np
import pytest

import convexhc
from convexhc.progress_line import ProgressLine


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
