"""The edge copies of ADMM agree with separate copies and duals, in both precisions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from convexhc.kernels.admm import EdgeCopies, edge_update, rescale_edges
from laws import edge_cases


def begun(edges, C, Y, rho, precision=np.float64, runs=0):
    """Copies after a first pass, with its parts Y and Z; ``runs`` arrays of partial sums."""
    copies = EdgeCopies.of(Y, edges, len(C), precision)
    sums = np.full((runs, *C.shape), np.nan, precision)
    copies = copies._replace(partial_sums=sums)
    edge_update(C.astype(precision), copies, rho, 1.0, edges.stiffness)
    return copies, *parts(copies, edges, rho)


def parts(copies, edges, rho):
    X = copies.X.astype(np.float64)
    dual = naive.project_dual(X, edges.soft, edges.block)
    return dual, (X - dual) / (rho * edges.stiffness[:, None])


@given(edge_cases(), st.floats(0.05, 5.0), st.floats(1.0, 1.9), st.sampled_from([0, 1, 3]))
def test_an_update_agrees_with_its_naive_version(case, rho, relax, runs):
    edges, D, C, Y, rng = case
    copies, Y, Z = begun(edges, C, Y, rho, runs=runs)
    C = C + rng.normal(size=C.shape)
    twin = naive.z_and_dual_update(D, C, Y, Z, rho, relax, edges)
    step = edge_update(C, copies, rho, relax, edges.stiffness)
    for found, expected in zip((*parts(copies, edges, rho), copies.total), twin, strict=False):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    root = np.sqrt(edges.stiffness)[:, None]
    expected = (*twin[3:], np.sum((twin[0] / root) ** 2), np.sum((twin[1] * root) ** 2))
    np.testing.assert_allclose(step, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(copies.fused, copies.kept == 0.0)
    assert np.abs(twin[1][copies.fused]).max(initial=0.0) <= 1e-12
    assert (np.abs(twin[1][~copies.fused]).max(axis=1, initial=0.0) > 0.0).all()


@given(edge_cases(), st.floats(0.05, 5.0), st.floats(0.1, 10.0))
def test_another_rho_keeps_both_parts(case, rho, factor):
    edges, D, C, Y, _ = case
    copies, Y, Z = begun(edges, C, Y, rho)
    rescale_edges(copies, factor)
    dual, copy = parts(copies, edges, factor * rho)
    np.testing.assert_allclose(dual, Y, atol=1e-11)
    np.testing.assert_allclose(copy, Z, atol=1e-9)
    right = D.T @ (factor * rho * edges.stiffness[:, None] * Z - Y)
    np.testing.assert_allclose(copies.total, right, atol=1e-9)
    again = EdgeCopies.of(Y, edges, len(C), np.float64)
    edge_update(C, again, rho, 1.0, edges.stiffness)
    # The share that is kept belongs to the new rho: the next pass starts from the same parts.
    twin = naive.z_and_dual_update(D, C, Y, Z, factor * rho, 1.6, edges)
    edge_update(C, copies, factor * rho, 1.6, edges.stiffness)
    np.testing.assert_allclose(parts(copies, edges, factor * rho)[0], twin[0], atol=1e-9)


@given(edge_cases(), st.floats(0.05, 5.0))
def test_single_precision_agrees_with_double(case, rho):
    edges, _, C, Y, _ = case
    single, _, _ = begun(edges, C, Y, rho, np.float32)
    double, _, _ = begun(edges, C, Y, rho)
    size = 1.0 + np.abs(double.X).max(initial=0.0)
    assert single.X.dtype == single.total.dtype == single.kept.dtype == np.float32
    np.testing.assert_allclose(single.X, double.X, atol=1e-5 * size)
    np.testing.assert_allclose(single.total, double.total, atol=1e-4 * size)
    assert single.astype(np.float64).X.dtype == np.float64
