"""A solve that does not fit into memory is rejected before it starts, with correct figures."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import convexhc
from convexhc import datasets, similarity
from convexhc.api import graph_path
from convexhc.api.options import Options
from convexhc.api.single_lam import read_problem
from convexhc.model.problem import smooth_problem
from convexhc.solvers import memory
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import run

METHODS = ["admm", "primal_dual", "dual_fista"]
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def kernel():
    A = datasets.nested_blocks((4, 5, 5), (0.05, 0.3, 0.9)).adjacency
    return similarity.two_hop(A, shift=0.05)


def prepared(kernel, weights=None):
    return read_problem(kernel, 0.3, weights=weights, options=Options())[1]


@each_method
@pytest.mark.parametrize("weights", [None, 3])
def test_the_estimate_is_close_to_the_peak_memory_of_a_solve(method, weights, kernel):
    run(prepared(kernel, weights), choose_method(prepared(kernel), method), max_iter=1)
    problem = prepared(kernel, weights)
    tracemalloc.start()
    try:
        run(problem, choose_method(problem, method), max_iter=12)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / 1.5 <= memory.estimate(problem, method) <= 1.5 * peak


@each_method
def test_fewer_edges_need_less(method, kernel):
    few, many = prepared(kernel, 2), prepared(kernel)
    assert few.penalty.n_edges < many.penalty.n_edges
    assert memory.estimate(few, method) < memory.estimate(many, method)


def test_the_method_that_the_refusal_recommends_needs_least(kernel):
    problem = prepared(kernel)
    needs = {method: memory.estimate(problem, method) for method in METHODS}
    assert min(needs, key=needs.get) == "primal_dual"


def test_a_penalty_without_edges_is_counted_without_them(kernel):
    problem = smooth_problem(kernel.graph, 1.0)
    assert 0 < memory.estimate(problem, "admm") < memory.estimate(prepared(kernel), "admm")


@pytest.mark.parametrize("call", ["solve", "solve_path"])
@each_method
def test_a_solve_that_does_not_fit_is_rejected_with_both_figures(call, method, kernel, monkeypatch):
    monkeypatch.setattr(memory, "estimate", lambda problem, method: 3_200_000_000)
    monkeypatch.setattr(memory, "available", lambda: 1_500_000_000)
    function = getattr(convexhc, call)
    arguments = (kernel, 0.3) if call == "solve" else (kernel,)
    with pytest.raises(MemoryError) as refused:
        function(*arguments, method=method)
    text = str(refused.value)
    assert re.search(rf"{method} on 100 nodes .* 3\.2 GB, 1\.5 GB are free", text)
    assert re.search(r"weights=10, .* at most \d+\.\d GB", text)
    assert "primal_dual" in text
    assert ("use method='primal_dual' (" in text) == (method != "primal_dual")
    assert re.search(r"smooth_path \(\d+\.\d GB\)", text)


@pytest.mark.parametrize("call", ["solve", "solve_path"])
def test_one_byte_too_few_is_rejected(call, kernel, monkeypatch):
    needed = memory.estimate(prepared(kernel), "primal_dual")
    if call == "solve_path":
        needed = memory.path_estimate(prepared(kernel), "primal_dual", keep=True, solved=1)
    arguments = (kernel, 0.3) if call == "solve" else (kernel, [0.3])
    function = getattr(convexhc, call)
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(MemoryError, match="free"):
        function(*arguments, method="primal_dual", max_iter=1)
    monkeypatch.setattr(memory, "available", lambda: needed)
    with pytest.warns(ConvergenceWarning, match="not solved"):
        function(*arguments, method="primal_dual", max_iter=1)


def test_unknown_free_memory_rejects_nothing(monkeypatch):
    def silent(name):
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", silent)
    for file in ("_MEMINFO", "_OWN_GROUP"):
        monkeypatch.setattr(memory, file, "no such file")
    assert memory.available() is None
    assert convexhc.solve(np.eye(3) + 0.5, 1.0).status is convexhc.Status.SOLVED


def test_free_memory_is_a_number_of_bytes_if_the_system_reports_it():
    free = memory.available()
    assert free is None or free > 1_000_000


@pytest.mark.parametrize("keep", [True, False])
def test_the_estimate_is_close_to_the_peak_memory_of_a_path(keep):
    kernel = similarity.two_hop(datasets.fractal_graph(0, n_meta=1).adjacency, shift=0.05)
    options = {"method": "primal_dual", "keep": "all" if keep else "labels", "tol": 1e-3}
    # Solve the path once before: compiled code loaded on first use must not count.
    convexhc.solve_path(kernel, **options)
    tracemalloc.start()
    try:
        path = convexhc.solve_path(kernel, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    count = len(path.levels)
    needed = memory.path_estimate(prepared(kernel), "primal_dual", keep=keep, solved=count)
    assert peak / 1.5 <= needed <= 1.5 * peak
    assert memory.estimate(prepared(kernel), "primal_dual") < needed


def test_free_memory_includes_the_reclaimable_cache(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\nMemAvailable:    2000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", str(tmp_path / "meminfo"))
    monkeypatch.setattr(memory, "_OWN_GROUP", "no such file")
    assert memory.available() == 2_048_000


@pytest.mark.parametrize("version", [1, 2])
def test_the_smallest_enclosing_limit_applies(version, tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemAvailable: 900000 kB\n")
    kind = "memory" if version == 1 else ""
    said = {1: "4:memory:/job/step\n3:cpu:/else", 2: "0::/job/step"}[version]
    (tmp_path / "own").write_text(said)
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        2: ("memory.max", "memory.current"),
    }
    most, now = names[version]
    step = tmp_path / "groups" / kind / "job" / "step"
    step.mkdir(parents=True)
    for folder, limit, used in (
        (step, "max", 400),
        (step.parent, 5000, 3000),
        (step.parents[1], 9000, 4000),
    ):
        (folder / most).write_text(f"{limit}\n")
        (folder / now).write_text(f"{used}\n")
    (step.parent / "memory.stat").write_text("anon 2500\ninactive_file 500\n")
    for name, file in (("_MEMINFO", "meminfo"), ("_OWN_GROUP", "own"), ("_GROUPS", "groups")):
        monkeypatch.setattr(memory, name, str(tmp_path / file))
    assert memory.available() == 2500
    (step.parent / now).write_text("8000")
    assert memory.available() == 0
    (step.parent / most).unlink()
    assert memory.available() == 5000


def ring(n):
    A = np.diag(np.ones(n - 1), 1)
    A[0, -1] = 1.0
    return A + A.T


FRACTAL = datasets.fractal_graph(0, n_meta=1).adjacency
# In the ring, nodes and not edges take the memory.
PATHS = [(FRACTAL, {}), (FRACTAL, {"lambdas": 5}), (FRACTAL, {"max_clusters": 6})]
PATHS.append((ring(150), {"lambdas": 8}))


@pytest.mark.parametrize(("adjacency", "options"), PATHS)
def test_a_path_is_promised_more_than_its_peak(adjacency, options, monkeypatch):
    """What is checked before a path bounds what it allocates, and by less than four times."""
    kernel = similarity.two_hop(adjacency, shift=0.05)
    given, promised = {"tol": 1e-3, "lam_step": 0.3, **options}, []
    require = memory.require_memory

    def noted(what, needed, cheaper):
        promised.append(needed)
        require(what, needed, cheaper)

    for module in (memory, graph_path):
        monkeypatch.setattr(module, "require_memory", noted)
    convexhc.solve_path(kernel, **given)
    tracemalloc.start()
    try:
        convexhc.solve_path(kernel, **given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= promised[-1] <= 4.0 * peak


def test_a_path_from_above_that_does_not_fit_is_rejected(kernel, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(MemoryError, match=r"from above with 5 clusters needs .* \(max_clusters\)"):
        convexhc.solve_path(kernel, max_clusters=5)


def test_a_limit_of_the_address_space_applies(monkeypatch):
    resource = pytest.importorskip("resource")
    used = int(Path(memory._OWN_SIZE).read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(memory.resource, "getrlimit", lambda which: (used + 10**9, -1))
    assert 0 < memory.available() < 1.5e9
