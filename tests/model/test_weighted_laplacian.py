"""Potentials of layers: dense, sparse and without a factor, they give the same flow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from convexhc.kernels.components import components
from convexhc.model import weighted_laplacian
from convexhc.model.weighted_laplacian import Layer
from laws import seeds


@given(seeds, st.sampled_from([0.0, 3.0, 7.0]))
def test_every_way_to_solve_a_layer_gives_the_same_flow(seed, orders):
    rng = np.random.default_rng(seed)
    n, m = 14, 5
    tail, head = np.triu_indices(n, 1)
    kept = rng.random(tail.size) < 0.2
    # Parallel edges, which contraction makes, and several components.
    ends = np.stack([np.r_[tail[kept], tail[kept][:2]], np.r_[head[kept], head[kept][:2]]])
    conductance = 10.0 ** rng.uniform(-orders, 0.0, ends.shape[1])
    component = components(n, *ends, np.ones(ends.shape[1], np.bool_))
    R = rng.normal(size=(n, m))
    for g in range(component.max() + 1):
        R[component == g] -= R[component == g].mean(axis=0)
    (layer,) = Layer.all_of(n, ends, conductance)
    found = [layer.flow(layer.potentials(R, factored=factored)) for factored in (True, False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_laplacian, "DENSE_FACTOR_NODES", 0)
        found.append(layer.flow(layer.potentials(R, factored=False)))
    for flow in found:
        delivered = np.zeros((n, m))
        np.add.at(delivered, ends[0], flow)
        np.subtract.at(delivered, ends[1], flow)
        assert_allclose(delivered, R, atol=1e-7)
    assert_allclose(found[1], found[0], atol=1e-6)
    assert_allclose(found[2], found[0], atol=1e-6)


@given(seeds, st.sampled_from([0, 3000]))
def test_without_a_factor_only_the_consistent_part_of_every_component_is_solved(seed, dense):
    rng = np.random.default_rng(seed)
    n, m = 12, 3
    # Two paths with a chord each; the second is weaker by twelve orders of magnitude.
    tail = np.r_[0:5, 0, 6:11, 6]
    head = np.r_[1:6, 3, 7:12, 9]
    conductance = rng.uniform(0.5, 1.0, tail.size) * np.where(tail < 6, 1.0, 1e-12)
    R = rng.normal(size=(n, m))
    halves = R.reshape(2, 6, m)
    consistent = (halves - halves.mean(axis=1, keepdims=True)).reshape(n, m)
    (layer,) = Layer.all_of(n, np.stack([tail, head]), conductance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_laplacian, "DENSE_FACTOR_NODES", dense)
        flow = layer.flow(layer.potentials(R, factored=False))
    delivered = np.zeros((n, m))
    np.add.at(delivered, tail, flow)
    np.subtract.at(delivered, head, flow)
    assert_allclose(delivered, consistent, atol=1e-7)
