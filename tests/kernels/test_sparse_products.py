"""Products with a sparse symmetric matrix are correct for factors of any density."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from convexhc.kernels import sparse_products
from laws import seeds


def drawn(rng, rows, n, share):
    """A sparse symmetric K, and C with about this share of nonzero entries."""
    K = np.where(rng.random((n, n)) < 0.2, rng.normal(size=(n, n)), 0.0)
    C = np.where(rng.random((rows, n)) < share, rng.normal(size=(rows, n)), 0.0)
    return csr_array(K + K.T), C


@given(seeds, st.integers(1, 150), st.integers(1, 40), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_the_product_agrees_with_dense_matrices(seed, rows, n, share):
    K, C = drawn(np.random.default_rng(seed), rows, n, share)
    found = sparse_products.times_sparse(C, K.indptr, K.indices, K.data)
    np.testing.assert_allclose(found, C @ K.toarray(), atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_dense_and_sparse_products_agree(share):
    K, C = drawn(np.random.default_rng(0), 130, 50, share)
    one, other = (
        way(C, K.indptr, K.indices, K.data)
        for way in (sparse_products._times_few, sparse_products._times_full)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_threads_change_no_entry_and_no_precision(precision, monkeypatch):
    rng = np.random.default_rng(0)
    K = csr_array(np.where(rng.random((70, 70)) < 0.2, rng.normal(size=(70, 70)), 0.0))
    K = csr_array(K + K.T).astype(precision)
    C, found = rng.normal(size=(130, 70)).astype(precision), []
    for threads in (1, 2):
        monkeypatch.setattr(sparse_products, "runs_for", lambda _, threads=threads: threads)
        found.append(sparse_products.times_sparse(C, K.indptr, K.indices, K.data))
    np.testing.assert_array_equal(*found)
    assert found[0].dtype == precision
    np.testing.assert_allclose(found[0], C @ K.toarray(), atol=1e-4)
