"""Small products use one BLAS thread, large ones all of them; the settings are restored."""

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from threadpoolctl import threadpool_info, threadpool_limits

import convexhc
from convexhc.kernels import threads
from convexhc.kernels.threads import limited_threads, thread_count, threads_along, threads_for
from convexhc.model.fidelity import KernelMatrix


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize("chosen", [threads_for, threads_along])
@pytest.mark.parametrize(
    ("shape", "dense"), [((100, 100), True), ((20, 5000), True), ((400, 400), False)]
)
def test_small_or_few_products_use_one_thread(chosen, shape, dense):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with chosen(shape, dense=dense):
            assert blas_threads() == {1}
        assert blas_threads() == before


@pytest.mark.parametrize("chosen", [threads_for, threads_along])
def test_large_products_keep_their_threads(chosen):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with chosen((400, 400), dense=True):
            assert blas_threads() == before


class Pool:
    """The thread pool of the compiled passes, on a machine with four threads."""

    config = SimpleNamespace(NUMBA_NUM_THREADS=4)

    def __init__(self):
        self.count = 4

    def get_num_threads(self):
        return self.count

    def set_num_threads(self, count):
        self.count = count


@pytest.mark.parametrize(
    ("shape", "dense", "inside"), [((400, 400), True, 1), ((400, 400), False, 4), ((9, 9), True, 4)]
)
@pytest.mark.parametrize("fails", [False, True])
def test_compiled_passes_do_not_compete_with_large_products(
    shape, dense, inside, fails, monkeypatch
):
    pool = Pool()
    monkeypatch.setattr(threads, "numba", pool)
    with contextlib.suppress(ZeroDivisionError), threads_for(shape, dense=dense):
        assert pool.count == inside
        if fails:
            raise ZeroDivisionError
    assert pool.count == 4


@pytest.mark.parametrize(("width", "dense"), [(1, False), (55, True)])
def test_products_are_dense_if_the_matrix_or_its_factor_is(width, dense):
    """A ring has a sparse factor; the same number of long chords has a dense one."""
    n = 300
    rows, rng = np.arange(n), np.random.default_rng(0)
    ends = (rows + 1) % n if width == 1 else rng.integers(n, size=(n * width) // 10)
    starts = rows if width == 1 else rng.integers(n, size=ends.size)
    W = csr_array((np.ones(ends.size), (starts, ends)), shape=(n, n))
    matrix = KernelMatrix(csr_array(W + W.T + 100 * eye_array(n)))
    assert matrix.is_sparse
    assert matrix.dense_products is dense
    assert KernelMatrix(csr_array(np.ones((9, 9)))).dense_products


def test_a_path_restores_the_number_of_threads():
    seen = []
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        convexhc.solve_path(K, [0.1, 1.0], on_check=lambda point: seen.append(blas_threads()))
        assert blas_threads() == before
    assert seen == [{1}, {1}]


@pytest.mark.parametrize("first", ["first in, first out", "first in, last out"])
def test_limits_of_two_python_threads_overlap_and_end_with_the_number_of_before(first):
    """Each is entered and left on its own; leaving one must not undo or outlive the other."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        one, other = threads_for((9, 9), dense=True), limited_threads(1)
        one.__enter__()
        other.__enter__()
        leave = [one, other] if first == "first in, first out" else [other, one]
        leave[0].__exit__(None, None, None)
        assert blas_threads() == {1}
        leave[1].__exit__(None, None, None)
        assert blas_threads() == before


def test_limits_only_lower_the_number_of_threads():
    with threadpool_limits(1, user_api="blas"), limited_threads(2):
        assert blas_threads() == {1}


def test_solves_from_eight_python_threads_agree_and_leave_blas_as_it_was():
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    alone = convexhc.solve(K, 0.5).centroids
    together = Barrier(8)

    def solve(_):
        # All are inside their limit at once.
        return convexhc.solve(K, 0.5, on_check=lambda n, c: n == 0 and together.wait(60) < 0)

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(8) as workers:
        before = blas_threads()
        for found in workers.map(solve, range(8)):
            np.testing.assert_array_equal(found.centroids, alone)
        assert blas_threads() == before


def test_only_the_main_thread_uses_a_pool_that_no_two_threads_may_enter(monkeypatch):
    monkeypatch.setattr(threads, "numba", Pool())
    monkeypatch.setattr(threads.pool, "threading_layer", lambda: "workqueue")
    with ThreadPoolExecutor(1) as worker:
        assert thread_count() == 4
        assert worker.submit(thread_count).result() == 1
        monkeypatch.setattr(threads.pool, "threading_layer", lambda: "omp")
        assert worker.submit(thread_count).result() == 4


# A pass over 2000 edges of 600 columns uses the pool. GNU OpenMP ends a forked process that does.
FORK = """
import os, numpy as np
from convexhc.graph import Graph
from convexhc.kernels import edges as kernels
from convexhc.model.penalty import Differences, Fusion

def ascend():
    C = np.random.default_rng(0).normal(size=(2001, 600))
    i = np.arange(2000)
    chain = Graph(2001, i, i + 1, np.ones(2000), np.zeros(2001), tuple(range(2001)))
    edges = Fusion(Differences(chain), 1.0, 0.05).edges
    scratch, Y = kernels.scratch(edges, 2001, 600), np.zeros((2000, 600))
    kernels.ascend(C, Y, 1.0, edges, scratch)
    return scratch.partial_sums.shape[0], scratch.total

runs, total = ascend()
assert runs == 2, runs
child = os.fork()
if child == 0:
    runs, again = ascend()
    os._exit(0 if runs == 1 and np.allclose(total, again, rtol=1e-12) else 3)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_process_forked_after_a_threaded_pass_works_on_one_thread():
    environment = dict(os.environ, NUMBA_NUM_THREADS="2", PYTHONWARNINGS="ignore")
    done = subprocess.run([sys.executable, "-c", FORK], env=environment, timeout=300)
    assert done.returncode == 0


def test_a_pool_that_reports_no_threads_gets_one_and_is_left_as_it_was(monkeypatch):
    class Library:
        filepath, user_api, num_threads = "a.so", "openmp", 0

        def set_num_threads(self, count):
            self.num_threads = count

    found = SimpleNamespace(lib_controllers=[Library()])
    monkeypatch.setattr(threads, "_controller", cache(lambda: found))
    limits = threads._Limits()
    with limits.at_most(1):
        assert found.lib_controllers[0].num_threads == 1
    assert found.lib_controllers[0].num_threads == 0
