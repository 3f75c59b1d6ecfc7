"""Plans and the engine on a model whose clusters are known at every lam."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.graph import Graph
from convexhc.path.engine import run
from convexhc.path.level import Level
from convexhc.path.plan import Bisecting, Descending, Grid, n_events
from convexhc.path.progress import Progress
from convexhc.provenance import Provenance
from convexhc.solvers.solution import Status

LAM_MAX = 10.0


@dataclass(frozen=True)
class Known:
    """Clusters at one lam."""

    lam: float
    labels: np.ndarray

    @property
    def n_clusters(self):
        return int(self.labels.max()) + 1


class Chain:
    """A chain of nodes whose links fuse at given lam: every partition is known."""

    def __init__(self, heights):
        self.heights = np.asarray(heights, float)
        self.n = self.heights.size + 1
        self.names, self.components = tuple(range(self.n)), np.zeros(self.n, int)
        self.graph, self.features = Graph.from_matrix(np.eye(self.n)), None
        self.asked = []

    def labels(self, lam):
        return np.concatenate([[0], np.cumsum(self.heights > lam)])

    def unpenalized(self):
        return None

    def solve(self, lam, *, start, second, max_groups):
        self.asked.append(lam)
        found = Known(lam, self.labels(lam))
        too_many = max_groups is not None and found.n_clusters > max_groups
        return None if too_many else found

    def level(self, solution, *, keep):
        return Level(solution.lam, solution.labels, 0.0, 0.0, 0.0, 1, Status.SOLVED, 1.0)

    def only_identical(self, labels):
        return labels.max() + 1 == labels.size


class Memory:
    """An in-memory checkpoint that can interrupt a run."""

    def __init__(self, interrupt_after=None):
        self.kept, self.interrupt_after = None, interrupt_after

    def load(self):
        return self.kept

    def keep(self, progress):
        self.kept = progress
        if len(progress.levels) == self.interrupt_after:
            raise KeyboardInterrupt

    def finish(self, progress):
        self.kept = progress


def walked(chain, plan, **options):
    provenance = Provenance.of({}, "")
    return run(chain, plan, provenance, keep=lambda lam: False, **options)


heights = st.lists(st.floats(1e-2, 8.0), min_size=1, max_size=12, unique=True)
steps = st.sampled_from([0.01, 0.1, 0.5])


def bisecting(chain, lam_step):
    return Bisecting(LAM_MAX, lam_step, chain.n, 1, chain.only_identical)


@given(heights, steps)
def test_bisection_separates_merges_down_to_the_step(values, lam_step):
    chain = Chain(values)
    path = walked(chain, bisecting(chain, lam_step))
    assert path.complete
    assert path.n_clusters[0] == chain.n
    assert path.n_clusters[-1] == 1
    assert len(set(chain.asked)) == len(chain.asked) == len(path.levels)
    for low, high in pairwise(path.levels):
        close = high.lam / low.lam <= 1.0 + lam_step
        assert close or n_events(low.labels, high.labels) <= 1


@given(heights, steps, st.integers(1, 12))
def test_a_descending_path_ends_with_more_clusters_than_requested(values, lam_step, most):
    chain = Chain(values)
    path = walked(chain, Descending(LAM_MAX, lam_step, chain.n, 1, most))
    assert path.complete
    assert path.n_clusters[-1] == 1
    assert path.n_clusters[0] > most or path.n_clusters[0] == chain.n
    # Every interval is resolved down to the first level with more clusters than requested.
    wanted = [level for level in path.levels if level.n_clusters <= most]
    for low, high in pairwise(wanted):
        close = high.lam / low.lam <= 1.0 + lam_step + 1e-9
        assert close or n_events(low.labels, high.labels) <= 1


@given(heights, st.sampled_from([0.02, 0.1, 0.3, 0.5]), st.integers(1, 12))
def test_a_descending_path_takes_no_shorter_steps_than_asked_for(values, lam_step, most):
    chain = Chain(values)
    path = walked(chain, Descending(LAM_MAX, lam_step, chain.n, 1, most))
    below = [level.lam for level in path.levels if level.lam <= LAM_MAX]
    assert all(high / low >= (1.0 + lam_step) * (1.0 - 1e-6) for low, high in pairwise(below))


def test_a_descending_path_replaces_a_crowded_lam_by_a_shorter_step(monkeypatch):
    monkeypatch.setattr(Descending, "crowd_factor", 1)
    monkeypatch.setattr(Descending, "crowd_offset", 0)
    chain = Chain(np.geomspace(6.5, 4.0, 30))
    path = walked(chain, Descending(LAM_MAX, 0.02, chain.n, 1, 5))
    assert len(chain.asked) > len(path.levels)
    assert path.n_clusters[0] > 5
    assert path.complete


@pytest.mark.parametrize("lam_step", [0.02, 0.1, 0.6])
def test_a_descending_path_ends_above_a_collapse(monkeypatch, lam_step):
    """All nodes fall apart at lam = 3: no level has them, and the last one is a step above."""
    monkeypatch.setattr(Descending, "crowd_factor", 2)
    monkeypatch.setattr(Descending, "crowd_offset", 0)
    chain = Chain([7.0, 6.0, *np.full(60, 3.0)])
    path = walked(chain, Descending(LAM_MAX, lam_step, chain.n, 1, 5))
    assert path.complete
    assert path.n_clusters.max() == 3
    assert 3.0 < path.lambdas[0] <= 3.0 * (1.0 + lam_step) * (1.0 + 1e-6)


def test_a_descending_path_crosses_a_gap_between_splits_in_long_steps():
    chain = Chain([5000.0, *np.linspace(1.0, 2.0, 8)])
    path = walked(chain, Descending(2e4, 0.1, chain.n, 1, 5))
    between = np.sort(path.lambdas[(path.lambdas > 2.0) & (path.lambdas < 5000.0)])
    assert path.complete
    assert between.size < np.log(5000.0 / 2.0) / np.log(1.5)


@given(heights, st.booleans(), st.integers(0, 3))
def test_a_grid_is_solved_as_given(values, descending, stop_at):
    chain = Chain(values)
    grid = (0.005, 0.5, 1.0, 9.0)
    path = walked(chain, Grid(grid, descending=descending, stop_at=stop_at))
    order = chain.asked[::-1] if descending else chain.asked
    assert path.lambdas.tolist() == sorted(order)
    if stop_at == 0:
        assert path.lambdas.tolist() == list(grid)
        assert path.complete
    else:
        counts = [Known(lam, chain.labels(lam)).n_clusters for lam in chain.asked]
        assert all(count > stop_at for count in counts[:-1])
        assert path.complete == (counts[-1] <= stop_at)


@pytest.mark.parametrize("after", [1, 2, 5, 9])
@pytest.mark.parametrize("kind", ["bisecting", "descending", "grid"])
def test_an_interrupted_run_takes_the_same_steps(kind, after):
    def plan(chain):
        if kind == "bisecting":
            return bisecting(chain, 0.05)
        if kind == "descending":
            return Descending(LAM_MAX, 0.05, chain.n, 1, 8)
        return Grid(tuple(np.geomspace(0.01, 9.0, 12)))

    values = np.geomspace(0.05, 7.0, 9)
    whole = Chain(values)
    expected = walked(whole, plan(whole))
    first, second = Chain(values), Chain(values)
    store = Memory(interrupt_after=after)
    with pytest.raises(KeyboardInterrupt):
        walked(first, plan(first), store=store)
    store.interrupt_after = None
    found = walked(second, plan(second), store=store)
    assert first.asked + second.asked == whole.asked
    np.testing.assert_array_equal(found.lambdas, expected.lambdas)
    np.testing.assert_array_equal(found.partitions, expected.partitions)
    assert found.complete == expected.complete


def test_a_callback_can_end_the_path():
    chain, seen = Chain([0.5, 1.0, 2.0]), []
    path = walked(
        chain, bisecting(chain, 0.1), listen=lambda level: seen.append(level) or len(seen) == 2
    )
    assert len(path.levels) == len(chain.asked) == 2
    assert not path.complete


@given(heights, st.floats(1e-4, 20.0), st.integers(1, 13))
def test_the_share_done_is_finite_and_grows_with_lam(values, lam, count):
    chain = Chain(values)
    for plan in (bisecting(chain, 0.1), Descending(LAM_MAX, 0.1, chain.n, 1, 12), Grid((0.1, 1.0))):
        low, high = sorted([lam, 1.5 * lam])
        assert np.isfinite(plan.share(lam, count))
        if not plan.descending:
            assert plan.share(low, count) <= plan.share(high, count)
    assert bisecting(chain, 0.1).share(LAM_MAX, 1) == pytest.approx(1.0)
    assert Grid((0.1, 1.0)).share(1.0, 1) == 1.0


def test_progress_is_replaced_and_never_modified():
    level = Chain([1.0]).level(Known(0.5, np.array([0, 1])), keep=False)
    empty = Progress()
    one = empty.solved(level, Known(0.5, level.labels))
    two = one.advanced()
    assert empty.levels == empty.ahead == ()
    assert one.current is None
    assert len(one.ahead) == 1
    assert two.current is one.ahead[0]
    assert two.ahead == ()
    assert replace(two, crowded_lam=1.0).current is two.current
