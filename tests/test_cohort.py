"""Many graphs: the same paths as single calls, failures reported, runs resumed."""

from __future__ import annotations

import os
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import deadly_tasks
import joblib
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import convexhc
from convexhc import _workers
from convexhc.api import cohort as module
from convexhc.kernels.threads import limited_threads
from laws import random_kernel

LAMBDAS = [0.05, 0.3, 2.0]
# The paper's problem on a given similarity.
PAPER = {"similarity": "precomputed", "weights": None, "lambdas": LAMBDAS}


@pytest.fixture(scope="module")
def graphs():
    return {f"g{k}": random_kernel(np.random.default_rng(k), 6 + k) for k in range(4)}


@pytest.fixture(scope="module")
def singles(graphs):
    return {name: convexhc.cluster(graph, **PAPER) for name, graph in graphs.items()}


def assert_same(path, other):
    np.testing.assert_array_equal(path.partitions, other.partitions)
    np.testing.assert_allclose(path.objective, other.objective, rtol=1e-12)
    assert path.names == other.names
    assert path.provenance.digest == other.provenance.digest


def test_paths_are_those_of_single_calls_in_the_order_given(graphs, singles):
    seen = []
    cohort = convexhc.solve_paths(
        graphs, **PAPER, on_result=lambda done, outcome: seen.append((done, outcome.name))
    )
    assert [outcome.name for outcome in cohort] == list(graphs)
    assert seen == [(k + 1, name) for k, name in enumerate(graphs)]
    assert not cohort.failed
    for name, path in cohort.paths.items():
        assert_same(path, singles[name])
    assert all(outcome.seconds > 0.0 and not outcome.resumed for outcome in cohort)


def test_a_list_or_a_generator_is_named_by_position(graphs):
    cohort = convexhc.solve_paths(
        (graph for graph in graphs.values()), **{**PAPER, "lambdas": iter(LAMBDAS)}
    )
    assert list(cohort.paths) == [0, 1, 2, 3]
    assert all(path.lambdas.tolist() == LAMBDAS for path in cohort.paths.values())
    assert len(convexhc.solve_paths([])) == 0


@pytest.mark.parametrize("kept", [False, True])
def test_a_graph_that_fails_is_reported_and_the_others_kept(graphs, singles, kept, tmp_path):
    mixed = {
        "g0": graphs["g0"],
        "indefinite": [[0.0, 1.0], [1.0, 0.0]],
        "nan": [[1.0, np.nan], [np.nan, 1.0]],
        "no file": tmp_path / "missing.csv",
        "g1": graphs["g1"],
    }
    folder = tmp_path / "kept" if kept else None
    cohort = convexhc.solve_paths(mixed, **PAPER, folder=folder)
    assert [outcome.name for outcome in cohort] == list(mixed)
    assert list(cohort.paths) == ["g0", "g1"]
    assert cohort.failed["indefinite"].startswith(
        "NotPositiveSemidefiniteError: the similarity is not positive"
    )
    assert cohort.failed["no file"].startswith("FileNotFoundError: ")
    assert list(cohort.failed) == ["indefinite", "nan", "no file"]
    assert "Traceback" in cohort.outcomes[1].trace
    assert_same(cohort.paths["g1"], singles["g1"])
    assert repr(cohort) == "Cohort(2 paths, 3 failed)"


def test_insufficient_memory_is_a_failure_of_that_graph(graphs, monkeypatch):
    monkeypatch.setattr("convexhc.solvers.memory.available", lambda: 0)
    cohort = convexhc.solve_paths(graphs, **PAPER)
    assert len(cohort.failed) == 4
    assert cohort.failed["g2"].startswith("MemoryError: ")


def test_a_second_call_reads_the_finished_and_solves_the_rest(
    graphs, singles, tmp_path, monkeypatch
):
    class Interrupted(BaseException):
        pass

    def after_two(done, outcome):
        if done == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        convexhc.solve_paths(graphs, **PAPER, folder=tmp_path, on_result=after_two)
    assert len(list(tmp_path.iterdir())) == 2
    cohort = convexhc.solve_paths(graphs, **PAPER, folder=tmp_path)
    assert [outcome.resumed for outcome in cohort] == [True, True, False, False]
    for name, path in cohort.paths.items():
        assert_same(path, singles[name])
    monkeypatch.setattr(module, "cluster", None)
    monkeypatch.setattr(module, "_checked", dict)
    again = convexhc.solve_paths(graphs, **PAPER, folder=tmp_path)
    assert all(outcome.resumed for outcome in again)
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".npz"] * 4


def test_a_failed_graph_is_tried_again(graphs, tmp_path, monkeypatch):
    with monkeypatch.context() as short:
        short.setattr("convexhc.solvers.memory.available", lambda: 0)
        first = convexhc.solve_paths(graphs, **PAPER, folder=tmp_path)
    assert len(first.failed) == 4
    assert not convexhc.solve_paths(graphs, **PAPER, folder=tmp_path).failed


@pytest.mark.parametrize("change", ["data", "option", "each", "weights", "name", "names", "damage"])
def test_results_of_another_run_are_not_read(change, graphs, tmp_path):
    graph = graphs["g1"]
    convexhc.solve_paths({"a": graph}, **PAPER, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    options = {**PAPER, "folder": tmp_path}
    given = {"a": graph}
    if change == "data":
        given = {"a": graph.with_diagonal(graph.diagonal + 0.1)}
    elif change == "option":
        options["tol"] = 1e-5
    elif change == "each":
        options["each"] = {"a": {"l1_ratio": 0.5}}
    elif change == "weights":
        options["weights"] = graphs["g1"].with_diagonal(0.0)
    elif change == "name":
        given = {"b": graph}
    elif change == "names":
        given = {"a": convexhc.as_graph(graph, names=list("tuvwxyz"))}
    else:
        file.write_bytes(file.read_bytes()[:-200])
    (outcome,) = convexhc.solve_paths(given, **options)
    assert outcome.path is not None
    assert not outcome.resumed
    (outcome,) = convexhc.solve_paths(given, **options)
    assert outcome.resumed


def test_points_are_kept_in_a_folder_too(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    options = {"similarity": "nearest_neighbors", "n_neighbors": 3, "lambdas": 5}
    expected = convexhc.cluster(X, **options)
    for resumed in (False, True):
        (outcome,) = convexhc.solve_paths([X], **options, folder=tmp_path)
        assert outcome.resumed is resumed
        assert_same(outcome.path, expected)
    (outcome,) = convexhc.solve_paths([X + 1.0], **options, folder=tmp_path)
    assert not outcome.resumed
    graph = convexhc.similarity.neighbor_graph(X)
    for resumed in (False, True):
        (outcome,) = convexhc.solve_paths([graph], points=X, lambdas=5, folder=tmp_path)
        assert outcome.resumed is resumed
        assert outcome.path.density is not None


def test_how_a_similarity_was_made_is_kept_in_a_folder_too(tmp_path):
    K = convexhc.similarity.two_hop(convexhc.datasets.karate().adjacency)
    for _ in range(2):
        (outcome,) = convexhc.solve_paths([K], **PAPER, folder=tmp_path)
        assert outcome.path.provenance.options["similarity"]["kind"] == "two_hop"


def test_similar_names_have_separate_files(graphs, tmp_path):
    named = {"a/b": graphs["g0"], "a b": graphs["g0"], ("a", "b"): graphs["g0"], 1: graphs["g0"]}
    named["1"] = graphs["g0"]
    convexhc.solve_paths(named, **PAPER, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5
    assert all(file.parent == tmp_path for file in tmp_path.rglob("*.npz"))


def test_single_graphs_can_have_their_own_options(graphs):
    grid = dict.fromkeys((0.0, 0.5, 1.0), graphs["g3"])
    each = {ratio: {"l1_ratio": ratio} for ratio in grid}
    cohort = convexhc.solve_paths(grid, each=each, **PAPER)
    for ratio, path in cohort.paths.items():
        assert path.provenance.options["l1_ratio"] == ratio
        assert_same(path, convexhc.cluster(graphs["g3"], **PAPER, l1_ratio=ratio))


def test_invalid_options_are_rejected_before_anything_is_solved(graphs, tmp_path):
    with pytest.raises(TypeError, match=r"no option 'tolerance'; it has lambdas, similarity"):
        convexhc.solve_paths(graphs, tolerance=1.0)
    with pytest.raises(TypeError, match="checkpoint is for a single path: use folder"):
        convexhc.solve_paths(graphs, checkpoint="x.npz")
    with pytest.raises(TypeError, match="on_check is for a single path: use on_result"):
        convexhc.solve_paths(graphs, on_check=bool)
    with pytest.raises(ValueError, match="each has options for 'g9'"):
        convexhc.solve_paths(graphs, each={"g9": {}})
    with pytest.raises(ValueError, match="n_threads must be at least 1"):
        convexhc.solve_paths(graphs, n_threads=0)
    kept = convexhc.solve_paths(graphs, **PAPER, keep=lambda lam: True, folder=tmp_path)
    assert "cannot be told apart" in kept.failed["g0"]


def test_threads_are_limited_inside_and_restored_outside():
    before = numba.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]
    with limited_threads(1) as count:
        assert count == numba.get_num_threads() == 1
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
    after = numba.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]
    assert after == before


def test_two_threads_of_joblib_give_the_same_paths(graphs, singles):
    with joblib.parallel_config("threading"):
        cohort = convexhc.solve_paths(graphs, n_jobs=2, **PAPER)
    for name, path in cohort.paths.items():
        assert_same(path, singles[name])


def test_every_graph_is_submitted_at_once_so_that_workers_can_join_later(graphs, monkeypatch):
    handed, seen, wrapped = [], [], joblib.delayed

    def delayed(function):
        def hand(*arguments):
            handed.append(arguments)
            return wrapped(function)(*arguments)

        return hand

    monkeypatch.setattr(joblib, "delayed", delayed)
    many = dict.fromkeys(range(24), graphs["g0"])
    with joblib.parallel_config("threading"):
        convexhc.solve_paths(many, n_jobs=2, **PAPER, on_result=lambda *_: seen.append(len(handed)))
    assert seen == [24] * 24


def test_two_processes_give_the_same_paths_and_survive_a_failure(graphs, singles, tmp_path):
    bad = {"bad": -np.eye(2)}
    seen = []
    cohort = convexhc.solve_paths(
        bad | graphs,
        n_jobs=2,
        **PAPER,
        folder=tmp_path,
        on_result=lambda done, outcome: seen.append((done, os.getpid())),
    )
    assert list(cohort.failed) == ["bad"]
    assert [outcome.name for outcome in cohort] == ["bad", *graphs]
    assert seen == [(k + 1, os.getpid()) for k in range(5)]
    for name, path in cohort.paths.items():
        assert_same(path, singles[name])
    assert len(list(tmp_path.iterdir())) == 4


def test_a_dask_cluster_gives_the_same_paths_and_survives_a_failure(graphs, singles, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        (worker,) = client.run(os.getpid).values()
        cohort = convexhc.solve_paths(
            {"bad": -np.eye(2)} | graphs, **PAPER, folder=tmp_path / "kept"
        )
        (elsewhere,) = joblib.Parallel()([joblib.delayed(os.getpid)()])
    assert elsewhere == worker != os.getpid()
    assert list(cohort.failed) == ["bad"]
    assert [outcome.name for outcome in cohort] == ["bad", *graphs]
    for name, path in cohort.paths.items():
        assert_same(path, singles[name])
    assert len(list((tmp_path / "kept").iterdir())) == 4


def test_killed_workers_lose_only_the_tasks_that_kill_them(tmp_path):
    """Of twenty, one kills every worker, one every worker that receives it, one only the first."""
    tasks = dict(enumerate([*range(20)]))
    tasks |= {3: "kill", 8: deadly_tasks.KillsOnArrival(), 15: tmp_path / "once"}
    found = dict(_workers.in_workers(deadly_tasks.doubled, tasks, 2, lambda task, error: "lost"))
    expected = {k: 2 * k for k in range(20)} | {3: "lost", 8: "lost", 15: 0}
    assert found == expected


def test_a_worker_killed_on_dask_loses_only_the_task_that_kills_it(tmp_path):
    """joblib alone would wait for ever for the result of that task."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    tasks = dict(enumerate([*range(6)])) | {2: "kill", 4: tmp_path / "once"}
    # Give up at the first death; never a worker that takes long to restart on a busy machine.
    settings = {"distributed.scheduler.allowed-failures": 0}
    settings["distributed.deploy.lost-worker-timeout"] = "600s"
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found = dict(
            _workers.in_workers(deadly_tasks.doubled, tasks, None, lambda task, error: "lost")
        )
    assert found == {k: 2 * k for k in range(6)} | {2: "lost", 4: 0}


def test_a_graph_whose_workers_died_is_reported():
    task = module._Task(0, "a", np.eye(2), {}, 1)
    outcome = module._lost(task, BrokenProcessPool("killed"))
    assert outcome.path is None
    assert "BrokenProcessPool: two workers died while they solved it" in outcome.error


class KilledError(Exception):
    """What Dask raises."""


@pytest.mark.parametrize("killed", [BrokenProcessPool, KilledError])
def test_without_a_note_of_what_was_started_the_culprit_is_found_by_halving(killed, monkeypatch):
    """As on other machines, or where a graph kills the worker that receives it."""
    seen = []

    def pool(client, calls, n_jobs):
        seen.append(len(calls))
        for function, task, position, _ in calls:
            if position == 5:
                raise killed
            yield position, function(task)

    monkeypatch.setattr(_workers, "_pool", pool)
    distributed = SimpleNamespace(KilledWorker=KilledError, Client=KilledError)
    monkeypatch.setitem(_workers.sys.modules, "distributed", distributed)
    tasks = {position: position for position in range(12)}
    found = dict(_workers.in_workers(lambda k: 2 * k, tasks, 2, lambda k, error: None))
    assert found == {k: None if k == 5 else 2 * k for k in tasks}
    assert seen[0] == 12
    assert seen.count(1) >= 2
