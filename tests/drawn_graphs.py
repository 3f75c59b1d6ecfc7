"""Hypothesis strategies for graphs, and equality of graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from convexhc.graph import Graph


@st.composite
def adjacencies(draw, max_n: int = 8, *, loops: bool = True) -> NDArray[np.float64]:
    """A symmetric nonnegative matrix, about half of its entries zero."""
    n = draw(st.integers(1, max_n))
    weights = st.one_of(st.just(0.0), st.floats(0.0625, 8.0, width=32))
    entries = draw(st.lists(weights, min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(entries).reshape(n, n), 0 if loops else 1)
    return upper + np.triu(upper, 1).T


@st.composite
def relabelled(draw, max_n: int = 8) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A symmetric matrix and an order of its nodes."""
    matrix = draw(adjacencies(max_n))
    return matrix, np.array(draw(st.permutations(range(len(matrix)))))


def assert_same(found: Graph, expected: Graph, *, rtol: float = 0.0) -> None:
    assert found.n == expected.n
    assert found.names == expected.names
    assert [type(name) for name in found.names] == [type(name) for name in expected.names]
    np.testing.assert_array_equal(found.tail, expected.tail)
    np.testing.assert_array_equal(found.head, expected.head)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=rtol, atol=0)
    np.testing.assert_allclose(found.diagonal, expected.diagonal, rtol=rtol, atol=0)


def planted(
    seed: int,
    sizes: tuple[int, ...] = (8, 8, 8),
    *,
    inside: float = 0.7,
    across: float = 0.1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A graph with groups and distinct edge weights, and its groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    share = np.where(group[:, None] == group, inside, across)
    drawn = np.triu(rng.random(share.shape) < share, 1) * rng.uniform(0.5, 1.5, share.shape)
    return drawn + drawn.T, group


def wired_at_random(seed: int, n: int = 100) -> NDArray[np.float64]:
    """A random graph with varying expected degrees and no other structure."""
    rng = np.random.default_rng(seed)
    ends = rng.permutation(np.repeat(np.arange(n), 2 * rng.integers(1, 6, n)))
    A = np.zeros((n, n))
    A[ends[::2], ends[1::2]] = 1.0
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0.0)
    return A
