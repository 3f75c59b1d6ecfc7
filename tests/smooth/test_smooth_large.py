"""What the smooth model does only on large graphs, shown on small ones: order, single precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import Status
from convexhc.datasets import nested_blocks
from convexhc.graph import Graph
from convexhc.kernels import diffusion as kernels
from convexhc.kernels.threads import limited_threads
from convexhc.smooth import diffusion as diffusion_module
from convexhc.smooth import labels as labels_module
from convexhc.smooth.diffusion import Diffusion, fits_single, local_order
from convexhc.smooth.spectrum import leading_modes


def as_kernel(adjacency: sparse.csr_array) -> Graph:
    return Graph.from_matrix(adjacency).with_diagonal(np.asarray(adjacency.sum(axis=1)).ravel())


@pytest.fixture(scope="module")
def planted():
    """1200 nodes in 3 x 4 nested groups, shuffled, and two isolated nodes."""
    drawn = nested_blocks((3, 4, 100), (0.0005, 0.006, 0.15), random_state=0)
    order = np.random.default_rng(0).permutation(1202)
    listed = sparse.csr_array(sparse.block_diag([drawn.adjacency, sparse.csr_array((2, 2))]))
    return as_kernel(listed[order][:, order]), order


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(diffusion_module, "LARGE_NODES", 0)


def laplacian(kernel: Graph) -> np.ndarray:
    W = kernel.without_diagonal().dense()
    return np.diag(W.sum(axis=1)) - W


@pytest.mark.parametrize("lam", [0.1, 3.0, 1e3])
def test_single_precision_with_refinement_solves_to_the_same_tolerance(
    planted, small_is_large, lam
):
    kernel, _ = planted
    model = convexhc.SmoothModel.of(kernel, form="sparse")
    assert fits_single(model.diffusion, 2.0 * lam)
    found = model.columns(lam, [0, 7, 600], tol=1e-10)
    exact = np.linalg.inv(np.eye(kernel.n) + 2.0 * lam * laplacian(kernel))[:, [0, 7, 600]]
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found.values, exact, atol=1e-9)
    np.testing.assert_allclose(found.values.sum(axis=0), 1.0, atol=1e-12)


def test_where_single_precision_fails_double_takes_over(small_is_large):
    # A chain with weights from 1e-3 to 1e3: single precision does not converge.
    weight = 10.0 ** np.random.default_rng(0).uniform(-3.0, 3.0, 59)
    chain = Graph.from_edges(60, np.arange(59), np.arange(1, 60), weight).with_diagonal(1e7)
    found = convexhc.SmoothModel.of(chain, form="sparse").columns(1e6, [0, 30])
    assert found.status is Status.SOLVED
    assert found.n_iter > diffusion_module.SINGLE_ITERATIONS


@pytest.mark.parametrize("size", [1e-44, 1e36])
def test_weights_beyond_single_precision_are_solved_in_double(small_is_large, size):
    pair = Graph.from_edges(2, [0], [1], [size]).with_diagonal(size)
    lam = 1.0 / size
    model = convexhc.SmoothModel.of(pair, form="sparse")
    assert not fits_single(model.diffusion, 2.0 * lam)
    np.testing.assert_allclose(model.columns(lam, [0]).values.ravel(), [0.6, 0.4], atol=1e-8)


def test_modes_in_single_precision_are_the_first_eigenvectors(planted, small_is_large):
    kernel, _ = planted
    modes = leading_modes(Diffusion.of(kernel), 14)
    L = laplacian(kernel)
    exact = np.linalg.eigvalsh(L)[3:17]
    first = int(np.argmax(modes.sizes))
    found = modes.eigenvalues[first]
    np.testing.assert_allclose(found, exact, rtol=1e-4)
    np.testing.assert_allclose(modes.vectors.T @ modes.vectors, np.eye(14), atol=1e-10)
    left = np.linalg.norm(L @ modes.vectors - modes.vectors * found, axis=0)
    np.testing.assert_allclose(left, found * modes.residual[first], rtol=1e-6, atol=1e-10)
    assert (modes.residual <= 1e-3).all()


def test_tiny_eigenvalues_are_found_in_double_precision(small_is_large):
    # Two dense groups joined by one weak edge: its mode is below the round-off of single precision.
    rng = np.random.default_rng(0)
    parts = [sparse.random_array((1100, 1100), density=0.02, rng=rng) for _ in range(2)]
    W = sparse.lil_array(sparse.block_diag(parts))
    W[0, 1100] = 1e-6
    kernel = as_kernel(sparse.csr_array(W + W.T))
    modes = leading_modes(Diffusion.of(kernel), 3)
    exact = np.linalg.eigvalsh(laplacian(kernel))[1]
    assert modes.eigenvalues[0, 0] == pytest.approx(exact, rel=1e-3)
    assert modes.residual[0, 0] <= 1e-3


def test_the_order_lists_every_node_once_and_brings_neighbours_together(planted):
    kernel, _ = planted
    W = kernel.without_diagonal().matrix()
    order = local_order(W)
    np.testing.assert_array_equal(np.sort(order), np.arange(kernel.n))
    place = np.argsort(order)

    def near(position):
        return np.mean(np.abs(position[kernel.tail] - position[kernel.head]) < 100)

    assert near(place) > 3.0 * near(np.arange(kernel.n))


def test_representatives_from_a_sample_give_the_same_clusters(planted, monkeypatch):
    kernel, _ = planted
    model = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=14)
    every = {count: model.labels(n_clusters=count) for count in (5, 14)}
    monkeypatch.setattr(labels_module, "MIN_CANDIDATES", 1)
    monkeypatch.setattr(labels_module, "CANDIDATES", 10)
    for count, labels in every.items():
        assert adjusted_rand_score(model.labels(n_clusters=count), labels) == pytest.approx(1.0)


def test_two_threads_give_the_same_numbers_to_the_last_bit(planted, monkeypatch):
    kernel, _ = planted
    monkeypatch.setattr(kernels, "_ROWS", 100)
    model = convexhc.SmoothModel.of(kernel, form="sparse")
    answers = []
    for count in (1, 2):
        with limited_threads(count):
            answers.append(model.columns(2.0, [3, 4]).values)
    np.testing.assert_array_equal(*answers)
