"""The smooth model without a matrix of size n x n: solves, modes, clusters, against the dense."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import Status
from convexhc.datasets import nested_blocks
from convexhc.graph import Graph
from convexhc.smooth import spectrum
from convexhc.smooth.diffusion import Diffusion
from convexhc.smooth.spectrum import leading_modes
from convexhc.solvers import memory
from laws import random_kernel, random_weights, seeds

strengths = st.sampled_from([0.0, 0.01, 0.3, 5.0, 1e3, 1e9])


def dominant(adjacency) -> Graph:
    """A graph as a similarity: the diagonal, which the smooth model ignores, made dominant."""
    graph = convexhc.as_graph(adjacency)
    return graph.with_diagonal(np.asarray(graph.without_diagonal().matrix().sum(axis=1)).ravel())


def planted(seed: int = 0, *, extra: int = 0) -> tuple[Graph, np.ndarray, np.ndarray]:
    """1200 nodes in 3 x 4 nested groups, too many for a dense component, and isolated nodes."""
    drawn = nested_blocks((3, 4, 100), (0.0005, 0.006, 0.15), random_state=seed)
    listed = sparse.block_diag([drawn.adjacency, sparse.csr_array((extra, extra))])
    return dominant(sparse.csr_array(listed)), *drawn.labels


def naive_pi(kernel: Graph, lam: float) -> np.ndarray:
    W = kernel.without_diagonal().dense()
    return np.linalg.inv(np.eye(kernel.n) + 2.0 * lam * (np.diag(W.sum(axis=1)) - W))


@given(seeds, st.integers(1, 9), strengths, st.integers(1, 3))
def test_columns_are_those_of_the_inverse(seed, n, lam, parts):
    kernel = random_kernel(np.random.default_rng(seed), n, parts=min(parts, n))
    found = convexhc.SmoothModel.of(kernel, form="sparse").columns(lam, np.arange(n), tol=1e-11)
    assert found.status is Status.SOLVED
    if lam <= 1e3:
        # The inverse itself is right to its condition number.
        np.testing.assert_allclose(found.values, naive_pi(kernel, lam), atol=1e-9)
    np.testing.assert_allclose(found.values, found.values.T, atol=1e-10)
    np.testing.assert_allclose(found.values.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0, atol=1e-9)
    assert found.values.min() >= -1e-10


@given(seeds, st.sampled_from([0.1, 3.0, 100.0]), st.sampled_from([1e-2, 1e-5, 1e-8]))
@settings(max_examples=15)
def test_the_residual_bounds_the_error_and_meets_the_tolerance(seed, lam, tol):
    rng = np.random.default_rng(seed)
    kernel = Graph.from_matrix(random_weights(rng, 60, parts=2, density=0.05)).with_diagonal(60.0)
    B = rng.normal(size=(60, 5))
    found = convexhc.SmoothModel.of(kernel, form="sparse").apply(lam, B, tol=tol)
    error = np.linalg.norm(found.values - naive_pi(kernel, lam) @ B, axis=0)
    assert (error <= found.residual * np.linalg.norm(B, axis=0) + 1e-12).all()
    assert (found.residual <= tol).all()


def test_a_budget_too_small_is_said():
    kernel, *_ = planted()
    path = convexhc.SmoothModel.of(kernel, form="sparse")
    found = path.columns(10.0, [0, 5], max_iter=2)
    assert found.status is Status.MAX_ITER
    assert found.n_iter == 2
    assert (found.residual > 1e-8).all()
    # What the residual claims is the truth.
    W = kernel.without_diagonal().matrix()
    A = sparse.eye_array(kernel.n) + 20.0 * (sparse.diags_array(W.sum(axis=1)) - W)
    units = np.eye(kernel.n)[:, [0, 5]]
    true = np.linalg.norm(units - A @ found.values, axis=0)
    np.testing.assert_allclose(found.residual, true, rtol=1e-8)


@given(seeds, st.sampled_from([0.2, 50.0, 1e9]))
@settings(max_examples=10)
def test_zero_columns_isolated_nodes_and_constants_are_their_own_images(seed, lam):
    rng = np.random.default_rng(seed)
    W = np.zeros((12, 12))
    W[:6, :6] = random_weights(rng, 6)
    path = convexhc.SmoothModel.of(Graph.from_matrix(W + 8.0 * np.eye(12)), form="sparse")
    constant = np.ones((12, 1))
    np.testing.assert_allclose(path.apply(lam, constant).values, constant, atol=1e-14)
    np.testing.assert_array_equal(path.apply(lam, 0.0 * constant).values, 0.0)
    alone = path.columns(lam, [7, 11]).values
    np.testing.assert_array_equal(alone, np.eye(12)[:, [7, 11]])


def test_a_recurrence_that_drifted_is_taken_up_again():
    # A chain with weights from 1e-3 to 1e3: the residual that the recurrence carries is wrong here.
    weight = 10.0 ** np.random.default_rng(0).uniform(-3.0, 3.0, 59)
    chain = Graph.from_edges(60, np.arange(59), np.arange(1, 60), weight).with_diagonal(1e7)
    found = convexhc.SmoothModel.of(chain, form="sparse").columns(1e6, [0, 30])
    assert found.status is Status.SOLVED
    assert (found.residual <= 1e-8).all()


def test_more_strength_takes_no_more_steps_once_the_graph_decides():
    kernel, *_ = planted()
    path = convexhc.SmoothModel.of(kernel, form="sparse")
    steps = [path.columns(lam, [3]).n_iter for lam in (1e4, 1e8, 1e12)]
    assert max(steps) <= 1.1 * min(steps)


def test_blocks_are_the_columns_in_turn():
    kernel = random_kernel(np.random.default_rng(1), 9)
    path = convexhc.SmoothModel.of(kernel, form="sparse")
    blocks = list(path.blocks(0.4, size=4))
    assert [block.nodes.tolist() for block in blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8]]
    joined = np.concatenate([block.columns.values for block in blocks], axis=1)
    np.testing.assert_allclose(joined, naive_pi(kernel, 0.4), atol=1e-8)
    np.testing.assert_allclose(path.pi(0.4), naive_pi(kernel, 0.4), atol=1e-8)
    (few,) = path.blocks(0.4, [8, 2])
    np.testing.assert_allclose(few.columns.values, joined[:, [8, 2]], atol=1e-8)


@pytest.mark.parametrize("extra", [0, 3])
def test_modes_of_a_large_component_are_its_first_eigenvectors(extra):
    kernel, *_ = planted(extra=extra)
    modes = leading_modes(Diffusion.of(kernel), 14)
    W = kernel.without_diagonal().dense()
    exact = np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)[extra + 1 :][:14]
    found = modes.eigenvalues[0]
    assert modes.vectors.shape == (kernel.n, 14)
    # Ritz values lie above, by the square of the residual over the gap.
    assert (found >= exact - 1e-9).all()
    np.testing.assert_allclose(found, exact, rtol=1e-4)
    np.testing.assert_allclose(modes.vectors.T @ modes.vectors, np.eye(14), atol=1e-10)
    np.testing.assert_allclose(modes.vectors.sum(axis=0), 0.0, atol=1e-9)
    left = np.diag(W.sum(axis=1)) @ modes.vectors - W @ modes.vectors - modes.vectors * found
    np.testing.assert_allclose(
        np.linalg.norm(left, axis=0), found * modes.residual[0], rtol=1e-6, atol=1e-10
    )
    assert (modes.residual <= spectrum.SETTINGS.tol).all()
    assert not modes.vectors[1200:].any()


def test_a_residual_bounds_what_pi_does_to_a_mode():
    kernel, *_ = planted()
    path = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=14)
    modes = path.modes
    for lam in (0.05, 2.0, 1e6):
        image = path.apply(lam, modes.vectors, tol=1e-12).values
        error = np.linalg.norm(image - path.coordinates(lam), axis=0)
        assert (error <= modes.residual[0] + 1e-9).all()


def test_modes_that_the_budget_did_not_reach_are_left_out(monkeypatch):
    limited = replace(spectrum.SETTINGS, max_products=20)
    monkeypatch.setattr(spectrum, "SETTINGS", limited)
    kernel, *_ = planted()
    path = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=40)
    assert 3 <= path.modes.counts[0] <= 40
    assert (path.modes.residual <= spectrum.SETTINGS.tol).all()
    with pytest.raises(ValueError, match="more dimensions"):
        path.labels(n_clusters=41)


@given(seeds, st.integers(2, 9), st.sampled_from([0.0, 0.3, 20.0]), st.integers(1, 3))
def test_coordinates_have_the_distances_of_the_centroids(seed, n, lam, parts):
    kernel = random_kernel(np.random.default_rng(seed), n, parts=min(parts, n))
    path = convexhc.SmoothModel.of(kernel)
    x, pi = path.coordinates(lam), naive_pi(kernel, lam)
    component, size = path.components, np.bincount(path.components)
    for i in range(n):
        for j in range(i):
            if component[i] == component[j]:
                square = ((x[i] - x[j]) ** 2).sum()
            else:
                square = (x[i] ** 2).sum() + (x[j] ** 2).sum()
                square += 1.0 / size[component[i]] + 1.0 / size[component[j]]
            assert square == pytest.approx(((pi[:, i] - pi[:, j]) ** 2).sum(), abs=1e-9)


def test_fewer_coordinates_are_short_by_the_bound_at_most():
    kernel = random_kernel(np.random.default_rng(4), 30, density=0.2)
    path = convexhc.SmoothModel.of(kernel)
    full = path.coordinates(0.3)
    for d in (1, 5, 20):
        few = path.coordinates(0.3, d)
        np.testing.assert_array_equal(few, full[:, :d])
        short = np.linalg.norm(full[:, None] - full, axis=2) - np.linalg.norm(
            few[:, None] - few, axis=2
        )
        assert short.min() >= -1e-12
        assert short.max() <= np.sqrt(2.0) / (1.0 + 0.6 * path.modes.eigenvalues[0, d]) + 1e-12


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_nested_groups_are_found_at_both_levels(form):
    kernel, coarse, fine = planted()
    path = convexhc.SmoothModel.of(kernel, form=form, dimensions=16)
    for count, truth in ((3, coarse), (12, fine)):
        assert adjusted_rand_score(truth, path.labels(n_clusters=count)) > 0.99
        mu = np.concatenate([[0.0], path.modes.eigenvalues[0]])
        lam = 0.5 / np.sqrt(mu[count - 1] * mu[count])
        assert path.n_clusters(lam) == count
        np.testing.assert_array_equal(path.labels(lam=lam), path.labels(n_clusters=count))


def test_labels_follow_the_nodes_when_these_are_renumbered():
    kernel, *_ = planted(1)
    order = np.random.default_rng(2).permutation(kernel.n)
    here = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=14)
    there = convexhc.SmoothModel.of(kernel.permuted(order), form="sparse", dimensions=14)
    np.testing.assert_allclose(here.modes.eigenvalues, there.modes.eigenvalues, rtol=1e-5)
    for count in (3, 12):
        assert adjusted_rand_score(
            here.labels(n_clusters=count)[order], there.labels(n_clusters=count)
        ) == pytest.approx(1.0)
    columns = here.columns(0.7, order[:3]).values
    np.testing.assert_allclose(there.columns(0.7, [0, 1, 2]).values, columns[order], atol=1e-7)


@given(seeds, st.integers(1, 9), st.integers(1, 3))
def test_labels_run_from_single_nodes_to_components(seed, n, parts):
    kernel = random_kernel(np.random.default_rng(seed), n, parts=min(parts, n))
    path = convexhc.SmoothModel.of(kernel)
    np.testing.assert_array_equal(path.labels(lam=0.0), np.arange(n))
    np.testing.assert_array_equal(path.labels(n_clusters=n), np.arange(n))
    count, component = kernel.components()
    np.testing.assert_array_equal(path.labels(lam=1e9), component)
    np.testing.assert_array_equal(path.labels(n_clusters=count), component)
    for k in range(count, n + 1):
        labels = path.labels(n_clusters=k)
        assert labels.max() + 1 <= k
        assert np.unique(np.stack([labels, component]), axis=1).shape[1] == labels.max() + 1
    counts = [path.n_clusters(lam) for lam in np.geomspace(1e-4, 1e4, 30)]
    assert counts == sorted(counts, reverse=True)


def test_more_clusters_go_to_the_component_that_has_the_smoother_mode():
    # A chain of four falls apart before a clique of four does.
    chain = np.diag(np.ones(3), 1)
    W = sparse.block_diag([np.ones((4, 4)) - np.eye(4), chain + chain.T]).toarray()
    labels = convexhc.SmoothModel.of(Graph.from_matrix(W + 4.0 * np.eye(8))).labels(n_clusters=3)
    np.testing.assert_array_equal(labels, [0, 0, 0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("extra", [0, 5])
def test_effective_rank_by_quadrature_is_that_of_the_spectrum(extra):
    kernel, *_ = planted(extra=extra)
    lambdas = [0.0, 0.02, 0.5, 10.0]
    dense = convexhc.SmoothModel.of(kernel, form="dense")
    sparse_ = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=13)
    exact, no_error = dense.effective_rank(lambdas)
    estimate, error = sparse_.effective_rank(lambdas)
    np.testing.assert_array_equal(no_error, 0.0)
    assert exact[0] == pytest.approx(kernel.n)
    pi = dense.pi(0.5)
    expected = convexhc.metrics.centroids.effective_rank_of(pi @ pi)
    assert exact[2] == pytest.approx(expected, rel=1e-8)
    assert (np.abs(estimate - exact) <= 4.0 * error + 1e-6 * exact).all()
    assert (error <= 0.02 * exact).all()


@pytest.mark.parametrize("extra", [0, 5])
def test_the_quadrature_sees_nothing_of_the_modes_that_are_known(extra):
    kernel, *_ = planted(extra=extra)
    diffusion = Diffusion.of(kernel)
    full = leading_modes(diffusion)
    known = replace(
        full,
        eigenvalues=full.eigenvalues[:, :11].copy(),
        vectors=full.vectors[:, :11].copy(),
        residual=full.residual[:, :11].copy(),
    )
    *_, rules = spectrum._quadratures(diffusion, known)
    for nodes, shares in rules:
        assert shares.sum() == pytest.approx(1.0)
        assert nodes[shares > 1e-10].min() >= full.eigenvalues[0, 11] - 1e-8


def test_what_cannot_be_answered_is_refused_with_what_to_do():
    kernel, *_ = planted(extra=1)
    path = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=5)
    with pytest.raises(ValueError, match="received neither"):
        path.labels()
    with pytest.raises(ValueError, match=r"resolves more than the 5 modes .* more dimensions"):
        path.labels(lam=1e-6)
    with pytest.raises(ValueError, match=r"12 clusters need more .* more dimensions"):
        path.labels(n_clusters=12)
    with pytest.raises(ValueError, match="between 2, the number of connected components"):
        path.labels(n_clusters=1)
    with pytest.raises(ValueError, match="6, and 5 modes are computed"):
        path.coordinates(0.1, 6)
    with pytest.raises(ValueError, match="1201 rows"):
        path.apply(0.1, np.zeros((3, 1)))
    with pytest.raises(ValueError, match="1201"):
        path.columns(0.1, [1201])
    with pytest.raises(ValueError, match="form must be one of"):
        convexhc.SmoothModel.of(kernel, form="full")
    with pytest.raises(ValueError, match="dimensions must be at least 1"):
        convexhc.SmoothModel.of(kernel, dimensions=0)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_estimate_is_what_the_modes_take(form):
    kernel, *_ = planted()
    convexhc.SmoothModel.of(kernel, form=form, dimensions=20).modes.counts.sum()
    tracemalloc.start()
    try:
        path = convexhc.SmoothModel.of(kernel.with_diagonal(1e3), form=form, dimensions=20)
        path.modes.counts.sum()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n, edges = kernel.n, kernel.n_edges
    needed = {"dense": memory.smooth_dense(n), "sparse": memory.smooth_sparse(n, edges, 20)}
    assert peak / 1.5 <= needed[form] <= 1.5 * peak


def test_many_columns_are_refused_where_blocks_fit(monkeypatch):
    kernel, *_ = planted()
    path = convexhc.SmoothModel.of(kernel, form="sparse")
    monkeypatch.setattr(memory, "available", lambda: 64 * kernel.n * 20)
    with pytest.raises(MemoryError, match=r"21 columns needs .* blocks\(lam, nodes\)"):
        path.columns(0.1, np.arange(21))
    assert sum(block.nodes.size for block in path.blocks(0.1, np.arange(21))) == 21


def test_the_dense_form_is_refused_where_the_sparse_one_fits(monkeypatch):
    kernel, *_ = planted()
    sparse_bytes = memory.smooth_sparse(kernel.n, kernel.n_edges, 32)
    assert sparse_bytes < memory.smooth_dense(kernel.n)
    monkeypatch.setattr(memory, "available", lambda: sparse_bytes)
    with pytest.raises(MemoryError, match=r"dense form on 1200 nodes .* use form='sparse'"):
        convexhc.SmoothModel.of(kernel, form="dense")
    convexhc.SmoothModel.of(kernel, form="sparse")
    monkeypatch.setattr(memory, "available", lambda: sparse_bytes - 1)
    with pytest.raises(MemoryError, match="fewer dimensions"):
        convexhc.SmoothModel.of(kernel, form="sparse")
    monkeypatch.setattr(memory, "available", lambda: 8 * kernel.n**2 - 1)
    path = convexhc.SmoothModel.of(kernel, form="sparse", dimensions=1)
    with pytest.raises(MemoryError, match=r"full pi of 1200 nodes .* columns\(lam, nodes\)"):
        path.pi(1.0)
