"""Similarities between the nodes of a graph, from its weights.

A is the symmetric matrix of the graph, self-loops on its diagonal, and ``S = D^-1/2 A D^-1/2``
with D the diagonal matrix of its row sums. The eigenvalues of S lie in [-1, 1], which makes the
similarities below positive semidefinite, except :func:`self_loops` with too small a shift. An
isolated node is similar only to itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._checks import checked_count, checked_number
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.result import Shift, Similarity, make_similarity


def two_hop(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Number of shared neighbours, normalised by row sums: the similarity of the paper.

    ``K = D^-1/2 A^2 D^-1/2 + shift I`` with ``D = diag(A^2 1)``; positive semidefinite and close
    to singular: a positive shift makes the minimiser unique.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph, with nonnegative weights.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        ``K_ii = 1 + shift`` for an isolated node. One sparse product: time and memory grow with
        the number of pairs that share a neighbour.

    Notes
    -----
    Two steps return to the same side of a bipartite graph, such as a path or a tree: K is then
    disconnected, and :func:`normalized` or :func:`diffusion` is the better choice.

    Examples
    --------
    >>> two_hop([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).dense()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    graph = as_graph(A)
    square = _square(graph)
    scaled = _scaled(square, np.asarray(square.sum(axis=1), dtype=np.float64), isolated=1.0)
    return make_similarity("two_hop", _as_graph(scaled, graph), shift, lower_bound=0.0)


def two_hop_diagonal(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Cosine similarity of the rows of A.

    ``K_ij = (A^2)_ij / sqrt((A^2)_ii (A^2)_jj)``, plus ``shift`` on the diagonal; positive
    semidefinite, with unit diagonal before the shift.

    Parameters
    ----------
    A, shift
        As for :func:`two_hop`.

    Returns
    -------
    Similarity
        As sparse and as costly as :func:`two_hop`, and disconnected on the same graphs.

    Examples
    --------
    >>> two_hop_diagonal([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).dense()
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    graph = as_graph(A)
    square = _square(graph)
    scaled = _scaled(square, square.diagonal(), isolated=1.0)
    return make_similarity("two_hop_diagonal", _as_graph(scaled, graph), shift, lower_bound=0.0)


def normalized(A: Any, *, shift: Shift = 0.05) -> Similarity:
    """Symmetrically normalised adjacency matrix plus the identity.

    ``K = D^-1/2 A D^-1/2 + (1 + shift) I``; positive semidefinite, positive definite for
    ``shift > 0``. Its edges are those of the graph.

    Parameters
    ----------
    A, shift
        As for :func:`two_hop`; ``shift`` is besides the identity.

    Returns
    -------
    Similarity
        As sparse as the graph; O(n + edges).

    Examples
    --------
    >>> normalized([[0, 2], [2, 0]], shift=0.0).dense()
    array([[1., 1.],
           [1., 1.]])
    """
    graph = as_graph(A)
    S = _as_graph(normalized_weights(graph), graph)
    K = S.with_diagonal(S.diagonal + 1.0)
    return make_similarity("normalized", K, shift, lower_bound=0.0)


def laplacian(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Signless Laplacian.

    ``K = D + A + shift I``, with D the degrees, self-loops not counted; positive semidefinite
    because ``x'Kx = sum_ij A_ij (x_i + x_j)^2 + sum_i A_ii x_i^2`` over the edges. The usual
    Laplacian ``D - A`` is semidefinite too, but its entries are negative for adjacent nodes: it
    measures dissimilarity.

    Parameters
    ----------
    A, shift
        As for :func:`two_hop`.

    Returns
    -------
    Similarity
        In the unit of the weights, as sparse as the graph; O(n + edges).

    Examples
    --------
    >>> laplacian([[0, 2], [2, 0]]).dense()
    array([[2., 2.],
           [2., 2.]])
    """
    graph = as_graph(A)
    K = graph.with_diagonal(graph.diagonal + degrees(graph.without_diagonal()))
    return make_similarity("laplacian", K, shift, lower_bound=0.0)


def self_loops(A: Any, *, shift: Shift = "auto") -> Similarity:
    """Weights of the graph, plus self-loops that make the matrix positive definite.

    ``K = A + shift I``; the default is the least shift that makes K positive definite.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph, with nonnegative weights.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite. With too small a
        number an eigenvalue stays negative; see ``min_eigenvalue`` of the result.

    Returns
    -------
    Similarity
        As sparse as the graph. Costs one :func:`~convexhc.similarity.min_eigenvalue`.

    Examples
    --------
    >>> self_loops([[0, 1], [1, 0]], shift=2).min_eigenvalue
    1.0
    """
    return make_similarity("self_loops", as_graph(A), shift, lower_bound=None)


def diffusion(A: Any, *, time: int = 6, shift: Shift = 0.0) -> Similarity:
    """Diffusion kernel: transition probabilities of a lazy random walk, symmetrised.

    ``K_ij = M_ij / sqrt(M_ii M_jj)`` with ``M = ((I + S) / 2)^time``, plus ``shift`` on the
    diagonal; positive semidefinite because a lazy walk has no negative eigenvalue, with unit
    diagonal before the shift.

    Parameters
    ----------
    A, shift
        As for :func:`two_hop`.
    time : int
        Number of steps, at least one: nodes further apart have similarity zero. With few steps
        K is close to the identity, and on dense graphs all nodes fuse at about the same lam.

    Returns
    -------
    Similarity
        ``time - 1`` sparse products; dense once ``time`` reaches the diameter of the graph.

    Examples
    --------
    >>> diffusion([[0, 1], [1, 0]], time=1).dense()
    array([[1., 1.],
           [1., 1.]])
    """
    time = checked_count("time", time)
    graph = as_graph(A)
    lazy: Any = 0.5 * (normalized_weights(graph) + sparse.eye_array(graph.n, format="csr"))
    steps = lazy
    for _ in range(time - 1):
        steps = steps @ lazy
    scaled = _scaled(steps, steps.diagonal(), isolated=1.0)
    K = _as_graph(scaled, graph)
    return make_similarity("diffusion", K, shift, lower_bound=0.0, parameters={"time": time})


def heat(A: Any, *, time: float = 1.0, shift: Shift = 0.0) -> Similarity:
    """Heat kernel of the normalised Laplacian.

    ``K = exp(-time L) + shift I`` with ``L = I - S``, and ``L_ii = 0`` for an isolated node;
    positive definite, with eigenvalues of at least ``exp(-2 time)``.

    Parameters
    ----------
    A, shift
        As for :func:`two_hop`.
    time : float
        Diffusion time, positive; the larger, the wider the kernel.

    Returns
    -------
    Similarity
        **Dense** inside each connected component: peak memory about 40 bytes per pair of nodes.
        A few dozen products with the sparse A, and ``log2(time / 8)`` dense ones.

    Examples
    --------
    >>> heat([[0, 1], [1, 0]], time=1.0).dense()
    array([[0.568, 0.432],
           [0.432, 0.568]])
    """
    time = checked_number("time", time, positive=True)
    graph = as_graph(A)
    K = _as_graph(_exponential(normalized_weights(graph, isolated=1.0), time), graph)
    bound = math.exp(-2.0 * time)
    return make_similarity("heat", K, shift, lower_bound=bound, parameters={"time": time})


def degrees(graph: Graph) -> FloatArray:
    """Row sums of the matrix, self-loops counted once."""
    from_tail = np.bincount(graph.tail, graph.weight, graph.n)
    return graph.diagonal + from_tail + np.bincount(graph.head, graph.weight, graph.n)


def _square(graph: Graph) -> sparse.csr_array:
    matrix = graph.matrix()
    return sparse.csr_array(matrix @ matrix)


def normalized_weights(graph: Graph, *, isolated: float = 0.0) -> sparse.csr_array:
    """``S = D^-1/2 A D^-1/2``, with ``isolated`` on the diagonal of isolated nodes."""
    return _scaled(graph.matrix(), degrees(graph), isolated=isolated)


def _scaled(matrix: sparse.csr_array, size: FloatArray, *, isolated: float) -> sparse.csr_array:
    """``matrix_ij / sqrt(size_i size_j)``, with ``isolated`` on the diagonal where size is 0."""
    empty = size == 0
    factor = 1.0 / np.sqrt(np.where(empty, 1.0, size))
    entries = matrix.tocoo()
    row, column = entries.coords
    # Multiplying the two factors first rounds (i, j) and (j, i) alike.
    values = entries.data * (factor[row] * factor[column])
    scaled = sparse.coo_array((values, (row, column)), shape=matrix.shape).tocsr()
    if isolated and empty.any():
        scaled = scaled + sparse.diags_array(isolated * empty).tocsr()
    return sparse.csr_array(scaled)


def _as_graph(matrix: Any, graph: Graph) -> Graph:
    """Symmetric matrix as a Graph with the names of ``graph``."""
    # The two halves of a matrix product differ by the order of summation only.
    return Graph.from_matrix(matrix, names=graph.names, symmetrize="mean")


def _exponential(walk: sparse.csr_array, time: float) -> FloatArray:
    """``exp(time (walk - I))`` by its Taylor series, for a matrix with nonnegative entries.

    No term is negative, hence no cancellation: small entries keep their relative accuracy, and
    entries between components are exactly zero, which an eigendecomposition does not give.
    """
    halvings = max(0, math.ceil(math.log2(time / 8.0)))
    step = time / 2**halvings
    # The Poisson weights of the omitted terms add up to less than 1e-17.
    n_terms = 20 + math.ceil(4 * step)
    n = walk.shape[0]
    total = np.eye(n)
    for k in range(n_terms, 0, -1):
        total = walk @ total
        total *= step / k
        total.flat[:: n + 1] += 1.0
    total *= math.exp(-step)
    for _ in range(halvings):
        total = total @ total
    return total
