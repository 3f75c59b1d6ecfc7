"""Newton systems of few columns: blocks and groups agree with the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array

import naive
from convexhc.graph import Graph
from convexhc.kernels.block_newton import block_direction, blocks, entries, no_groups, stiff_groups
from convexhc.kernels.newton import allocate_response, dual_response
from convexhc.model.problem import points_problem
from laws import l1_ratios, random_weights, seeds

columns = st.integers(1, 4)


def system(seed, m, l1_ratio, sigma=3.0):
    """A Newton system with fused and unfused edges, its blocks, and the dense matrix."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    X = rng.normal(size=(n, m))
    problem = points_problem(X, Graph.from_matrix(random_weights(rng, n)), 0.4, l1_ratio=l1_ratio)
    edges, mass = problem.penalty.edges, rng.uniform(0.5, 4.0, size=n)
    at = allocate_response(edges.tail.size, n, m)
    Y = problem.penalty.feasible_dual(rng.normal(size=(edges.tail.size, m)))
    dual_response(0.1 * X, Y, sigma, edges, at)
    here = blocks(sigma, mass, edges, at)
    return (
        rng.normal(size=(n, m)),
        mass,
        edges,
        at,
        here,
        naive.newton_matrix(n, sigma, mass, edges, at),
    )


@given(seeds, columns, l1_ratios)
def test_blocks_and_entries_are_those_of_the_matrix(seed, m, l1_ratio):
    _, _, edges, _, here, H = system(seed, m, l1_ratio)
    row, column, value = entries(edges, here)
    assert_allclose(coo_array((value, (row, column)), shape=H.shape).toarray(), H, atol=1e-11)
    for i, block in enumerate(here.node):
        place = slice(m * i, m * (i + 1))
        assert_allclose(block, H[place, place], atol=1e-11)
        assert_allclose(block @ here.inverse[i], np.eye(m), atol=1e-9)


@given(seeds, columns, l1_ratios)
def test_groups_are_joined_by_stiff_edges_and_have_the_block_of_a_common_translation(
    seed, m, l1_ratio
):
    _, mass, edges, at, here, H = system(seed, m, l1_ratio)
    groups = stiff_groups(mass, edges, at, here)
    left = np.where(at.fused, 1.0, 1.0 - at.shrink)
    members = [set(groups.node[groups.group == g].tolist()) for g in range(len(groups.inverse))]
    expected = []
    for joined in (at.fused, left >= 0.1, left >= 0.01, left >= 0.001):
        labels = naive.components(len(mass), edges.tail[joined], edges.head[joined])
        found = [set(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)]
        expected += [group for group in found if len(group) > 1]
    assert sorted(map(sorted, members)) == sorted(map(sorted, expected))
    for group, inverse in zip(members, groups.inverse, strict=True):
        S = np.kron(np.isin(np.arange(len(mass)), list(group))[:, None], np.eye(m))
        assert_allclose(S.T @ H @ S @ inverse, np.eye(m), atol=1e-8)


@given(seeds, columns, l1_ratios, st.sampled_from([0.5, 30.0, 1e4]), st.booleans())
def test_the_direction_solves_the_system_with_and_without_groups(seed, m, l1_ratio, sigma, grouped):
    G, mass, edges, at, here, H = system(seed, m, l1_ratio, sigma)
    groups = stiff_groups(mass, edges, at, here) if grouped else no_groups(m)
    X, accurate = block_direction(G, mass, edges, here, groups, 1e-12, 2000)
    assert accurate
    assert_allclose(X.ravel(), -np.linalg.solve(H, G.ravel()), atol=1e-7)
    # It is a descent direction after any number of iterations.
    early, _ = block_direction(G, mass, edges, here, groups, 1e-12, 1)
    assert np.vdot(early, G) < 0.0


@given(seeds, columns, l1_ratios)
def test_the_direction_does_not_depend_on_the_order_of_the_edges(seed, m, l1_ratio):
    G, mass, edges, _, here, _ = system(seed, m, l1_ratio)
    order = np.random.default_rng(seed).permutation(edges.tail.size)
    shuffled = edges.at(order), here._replace(edge=here.edge[order])
    one, other = (
        block_direction(G, mass, *ordered, no_groups(m), 1e-12, 2000)[0]
        for ordered in ((edges, here), shuffled)
    )
    assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_without_edges_only_the_mass_remains(m):
    nodes = np.arange(4)
    problem = points_problem(np.ones((4, m)), Graph.from_matrix(np.eye(4)), 0.3)
    edges, mass, at = problem.penalty.edges, nodes + 1.0, allocate_response(0, 4, m)
    here, G = blocks(2.0, mass, edges, at), np.ones((4, m))
    assert_array_equal(stiff_groups(mass, edges, at, here).node, [])
    X, accurate = block_direction(G, mass, edges, here, no_groups(m), 1e-12, 10)
    assert accurate
    assert_allclose(X, -G / mass[:, None])
