"""Similarities between the nodes of a graph, from its weights.

Throughout, A is the symmetric matrix of the graph, self-loops on its diagonal, and S is
``D^-1/2 A D^-1/2`` with D the diagonal matrix of its row sums. The eigenvalues of S lie between
-1 and 1, so the formulas below are positive semidefinite for every graph. A node without
edges is similar to itself only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.result import Shift, Similarity, finished


def two_hop(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Similarity by shared neighbours, scaled by its row sums: the paper's choice.

    ``K = D^-1/2 A^2 D^-1/2 + shift I`` with ``D = diag(A^2 1)``; positive semidefinite, and
    close to singular, so a positive shift is needed for a unique minimiser.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        ``K_ii = 1 + shift`` for a node without edges. One sparse product: time and memory grow
        with the number of pairs that share a neighbour.

    Notes
    -----
    Two steps never cross between the two sides of a bipartite graph, a path or a tree: there
    K falls apart, and :func:`normalized` or :func:`diffusion` is the better choice.

    Examples
    --------
    >>> two_hop([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).dense()
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    graph = as_graph(A)
    paths = _square(graph)
    scaled = _scaled(paths, np.asarray(paths.sum(axis=1), dtype=np.float64), isolated=1.0)
    return finished("two_hop", _named(scaled, graph), shift, bound=0.0)


def two_hop_diagonal(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Cosine between the neighbourhoods of two nodes.

    ``K_ij = (A^2)_ij / sqrt((A^2)_ii (A^2)_jj)``, plus shift on the diagonal; positive
    semidefinite, with unit diagonal before shift.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        As sparse, and as costly, as :func:`two_hop`, and it falls apart on the same graphs.

    Examples
    --------
    >>> two_hop_diagonal([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).dense()
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    graph = as_graph(A)
    paths = _square(graph)
    scaled = _scaled(paths, paths.diagonal(), isolated=1.0)
    return finished("two_hop_diagonal", _named(scaled, graph), shift, bound=0.0)


def normalized(A: Any, *, shift: Shift = 0.05) -> Similarity:
    """Weights scaled by the degrees of both ends, on an identity.

    ``K = D^-1/2 A D^-1/2 + (1 + shift) I``; positive semidefinite, positive definite for
    ``shift > 0``. Its edges are those of the graph.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    shift : float or "auto"
        Added to the diagonal beyond the identity; "auto" adds what makes K positive definite.

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
    similar = _named(normalized_weights(graph), graph)
    similar = similar.with_diagonal(similar.diagonal + 1.0)
    return finished("normalized", similar, shift, bound=0.0)


def laplacian(A: Any, *, shift: Shift = 0.0) -> Similarity:
    """Weights on their own degrees: the signless Laplacian.

    ``K = D + A + shift I``, with D the degrees, self-loops not counted; positive semidefinite
    because ``x'Kx = sum_ij A_ij (x_i + x_j)^2 + sum_i A_ii x_i^2`` over the edges. The usual
    Laplacian ``D - A`` has the same eigenvalue bound but negative entries where nodes are
    linked, so it measures dissimilarity.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

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
    similar = graph.with_diagonal(graph.diagonal + degrees(graph.without_diagonal()))
    return finished("laplacian", similar, shift, bound=0.0)


def self_loops(A: Any, *, shift: Shift = "auto") -> Similarity:
    """The weights as they are, with self-loops added until the matrix is definite.

    ``K = A + shift I``; by default shift is the least that makes K positive definite.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite. Too small a number
        leaves a negative eigenvalue, which ``min_eigenvalue`` shows.

    Returns
    -------
    Similarity
        As sparse as the graph. Costs one :func:`~convexhc.similarity.min_eigenvalue`.

    Examples
    --------
    >>> self_loops([[0, 1], [1, 0]], shift=2).min_eigenvalue
    1.0
    """
    return finished("self_loops", as_graph(A), shift, bound=None)


def diffusion(A: Any, *, time: int = 6, shift: Shift = 0.0) -> Similarity:
    """How easily a lazy random walk goes from one node to the other.

    ``M = ((I + S) / 2)^time``, the symmetric form of a walk that stays where it is every other
    step, and ``K_ij = M_ij / sqrt(M_ii M_jj)``, plus shift on the diagonal; positive
    semidefinite because the lazy walk has no negative eigenvalue, with unit diagonal before
    shift.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    time : int
        Number of steps, one or more: nodes further apart are not similar. With few steps K is
        close to the identity, and on dense graphs everything fuses at one lam.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        ``time - 1`` sparse products; dense as soon as ``time`` reaches across the graph.

    Examples
    --------
    >>> diffusion([[0, 1], [1, 0]], time=1).dense()
    array([[1., 1.],
           [1., 1.]])
    """
    time = checked_steps(time)
    graph = as_graph(A)
    lazy: Any = 0.5 * (normalized_weights(graph) + sparse.eye_array(graph.n, format="csr"))
    steps = lazy
    for _ in range(time - 1):
        steps = steps @ lazy
    scaled = _scaled(steps, steps.diagonal(), isolated=1.0)
    parameters = {"time": time}
    return finished("diffusion", _named(scaled, graph), shift, bound=0.0, parameters=parameters)


def heat(A: Any, *, time: float = 1.0, shift: Shift = 0.0) -> Similarity:
    """How much heat flows from one node to the other in a given time.

    ``K = exp(-time L) + shift I`` with ``L = I - S``, zero for a node without edges; positive
    definite, its eigenvalues being at least ``exp(-2 time)``.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    time : float
        Time of diffusion, positive; the larger, the wider the similarity reaches.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        **Dense** inside each connected component: about 40 bytes per pair of nodes at the
        peak. A few dozen of products with the sparse A, and ``log2(time / 8)`` dense ones.

    Examples
    --------
    >>> heat([[0, 1], [1, 0]], time=1.0).dense()
    array([[0.568, 0.432],
           [0.432, 0.568]])
    """
    number = isinstance(time, int | float | np.integer | np.floating)
    if not number or isinstance(time, bool) or not 0 < time < math.inf:
        raise ValueError(f"time must be a finite positive number, got {time!r}")
    graph = as_graph(A)
    walk = normalized_weights(graph)
    # Heat stays where it is on a node without edges: L_ii = 0, hence S_ii = 1.
    alone = degrees(graph) == 0
    walk = sparse.csr_array(walk + sparse.diags_array(alone.astype(np.float64)))
    kernel = _named(_exponential(walk, float(time)), graph)
    bound = math.exp(-2.0 * time)
    return finished("heat", kernel, shift, bound=bound, parameters={"time": float(time)})


def checked_steps(time: Any) -> int:
    """Return a whole number of steps, one or more."""
    if isinstance(time, bool) or not isinstance(time, int | np.integer) or time < 1:
        raise ValueError(f"time must be a whole number of steps, one or more, got {time!r}")
    return int(time)


def degrees(graph: Graph) -> NDArray[np.float64]:
    """Return the row sums of the matrix, self-loops counted once."""
    from_tail = np.bincount(graph.tail, graph.weight, graph.n)
    return graph.diagonal + from_tail + np.bincount(graph.head, graph.weight, graph.n)


def _square(graph: Graph) -> sparse.csr_array:
    matrix = graph.matrix()
    return sparse.csr_array(matrix @ matrix)


def normalized_weights(graph: Graph) -> sparse.csr_array:
    """Return ``S = D^-1/2 A D^-1/2``; rows of nodes without edges are zero."""
    return _scaled(graph.matrix(), degrees(graph), isolated=0.0)


def _scaled(
    matrix: sparse.csr_array, size: NDArray[np.float64], *, isolated: float
) -> sparse.csr_array:
    """Return ``matrix_ij / sqrt(size_i size_j)``, with ``isolated`` on the diagonal of size 0."""
    empty = size == 0
    shrink = 1.0 / np.sqrt(np.where(empty, 1.0, size))
    entries = matrix.tocoo()
    row, column = entries.coords
    # The product of the two factors first, so that (i, j) and (j, i) round alike.
    values = entries.data * (shrink[row] * shrink[column])
    scaled = sparse.coo_array((values, (row, column)), shape=matrix.shape).tocsr()
    if isolated and empty.any():
        scaled = scaled + sparse.diags_array(isolated * empty).tocsr()
    return sparse.csr_array(scaled)


def _named(matrix: Any, graph: Graph) -> Graph:
    """Return the symmetric matrix as a graph with the names of another."""
    # The halves of a product differ by the order of its sums, and by nothing else.
    return Graph.from_matrix(matrix, names=graph.names, symmetrize="mean")


def _exponential(walk: sparse.csr_array, time: float) -> NDArray[np.float64]:
    """Return ``exp(time (walk - I))`` by its series, for a matrix without negative entries.

    No term is negative, so nothing cancels: small entries keep their relative accuracy, and
    those between components are exactly zero, which an eigendecomposition cannot promise.
    """
    halvings = max(0, math.ceil(math.log2(time / 8.0)))
    share = time / 2**halvings
    # The Poisson weights of the terms left out add up to less than 1e-17.
    n_terms = 20 + math.ceil(4 * share)
    n = walk.shape[0]
    total = np.eye(n)
    for k in range(n_terms, 0, -1):
        total = walk @ total
        total *= share / k
        total.flat[:: n + 1] += 1.0
    total *= math.exp(-share)
    for _ in range(halvings):
        total = total @ total
    return total
