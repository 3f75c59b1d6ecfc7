"""One large problem on several workers: the same answer, whoever computes its parts."""

from __future__ import annotations

import deadly_tasks
import joblib
import numpy as np
import pytest

import convexhc
from convexhc import _workers
from convexhc.fusion import components, graph_flows, inner_demand

GRAPH = convexhc.datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4)


@pytest.fixture
def sent(monkeypatch):
    """Number of tasks of every call to the workers; everything is worth sending."""
    counts = []
    monkeypatch.setattr(graph_flows, "_WORTH_SENDING", 0)
    for module in (graph_flows, components):

        def counted(function, tasks):
            counts.append(len(tasks))
            return _workers.map_in_workers(function, tasks)

        monkeypatch.setattr(module, "map_in_workers", counted)
    monkeypatch.setattr(inner_demand, "column_width", lambda n_rows: 1)
    monkeypatch.setattr(inner_demand, "_RUN_BLOCKS", 5)
    return counts


def assert_same(path: convexhc.Path, other: convexhc.Path) -> None:
    np.testing.assert_array_equal(path.lambdas, other.lambdas)
    np.testing.assert_array_equal(path.partitions, other.partitions)
    for one, two in zip(path.levels, other.levels, strict=True):
        assert (one.objective, one.relative_gap) == (two.objective, two.relative_gap)


def from_above(**options):
    K = convexhc.similarity.two_hop(GRAPH.adjacency, shift=0.1)
    return convexhc.solve_path(K, max_clusters=6, tol=1e-3, **options)


def of_points(**options):
    """Two groups of points that no edge joins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [50.0, 0.0]], 20, axis=0)
    return convexhc.solve_points_path(X, 3, weights=4, **options)


@pytest.mark.parametrize("solve", [from_above, of_points])
def test_the_answer_does_not_depend_on_the_workers(solve, sent, monkeypatch):
    monkeypatch.setattr(components, "_MIN_DUAL_SIZE", 1)
    expected = solve()
    assert not sent
    with joblib.parallel_config("threading"):
        assert_same(solve(n_jobs=2), expected)
    assert sent
    assert max(sent) > 1


def test_a_dask_cluster_gives_the_same_path(sent, tmp_path):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    settings = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found = from_above()
    assert sent
    assert_same(found, from_above())


def test_a_part_that_kills_its_workers_is_reported():
    with joblib.parallel_config("loky", n_jobs=2), pytest.raises(RuntimeError, match="two workers"):
        _workers.map_in_workers(deadly_tasks.doubled, ["kill"])


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_an_impossible_number_of_workers_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        from_above(n_jobs=n_jobs)
