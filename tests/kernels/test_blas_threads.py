"""Short products get one thread of BLAS, long ones all, and nothing stays changed."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import convexhc
from convexhc.kernels.threads import threads_for


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize(("shape", "inside"), [((100, 100), {1}), ((20, 5000), {1})])
def test_short_products_are_not_shared(shape, inside):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with threads_for(shape):
            assert blas_threads() == inside
        assert blas_threads() == before


def test_long_products_keep_their_threads():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with threads_for((400, 400)):
            assert blas_threads() == before


def test_a_path_leaves_the_threads_as_they_were():
    seen = []
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        convexhc.solve_path(K, [0.1, 1.0], on_check=lambda point: seen.append(blas_threads()))
        assert blas_threads() == before
    assert seen == [{1}, {1}]
