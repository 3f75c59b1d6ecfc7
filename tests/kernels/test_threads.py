"""Small products use one BLAS thread, large ones all of them; the settings are restored."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from threadpoolctl import threadpool_info, threadpool_limits

import convexhc
from convexhc.kernels import threads
from convexhc.kernels.threads import threads_along, threads_for
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


@pytest.mark.parametrize(("width", "dense"), [(1, False), (40, True)])
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
