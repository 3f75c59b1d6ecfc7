"""Positive definiteness: the smallest eigenvalue of a similarity, and what to add to raise it.

With K positive semidefinite the problem is convex, with K positive definite its minimiser is
unique; ``K + shift I`` moves every eigenvalue up by shift.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.threads import threads_for

# Up to this size all eigenvalues of a dense copy cost less than a second; above, Lanczos.
DENSE_EIGENVALUES = 1500
# A Cholesky factorisation, the cheapest proof, is four times lighter and bounded by memory.
DENSE_CHOLESKY = 6000
LANCZOS_STEPS = 1000
# Below this share of the norm an eigenvalue cannot be told from round-off.
ROUND_OFF = 1e-12


def min_eigenvalue(K: Any) -> float:
    """Return the smallest eigenvalue of a symmetric matrix.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Negative entries are allowed.

    Returns
    -------
    float
        Exact to rounding up to 1500 nodes, O(n^3). Above that, by Lanczos, in at most 1000
        products with K: then never below the true value, and within 1e-9 of the norm of an
        eigenvalue unless the bottom of the spectrum is crowded.

    Examples
    --------
    >>> round(min_eigenvalue([[2.0, 1.0], [1.0, 2.0]]), 6)
    1.0
    """
    return smallest_eigenvalue(as_graph(K, signed=True))[0]


def require_psd(K: Any, tol: float = 1e-8) -> None:
    """Refuse a matrix that is not positive semidefinite.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Negative entries are allowed.
    tol : float
        How far below zero the smallest eigenvalue may lie, as a share of the largest absolute
        row sum of K; 2-hop similarities are singular to about this much.

    Raises
    ------
    ValueError
        An eigenvalue is negative; the message gives it, and the shift that cures it.

    Notes
    -----
    Where every diagonal entry is at least the sum of the others in its row, O(n + entries) proves
    it. Else one Cholesky factorisation, O(n^3 / 3), up to 6000 nodes, and :func:`min_eigenvalue`
    above.

    Examples
    --------
    >>> require_psd([[0.0, 1.0], [1.0, 0.0]])
    Traceback (most recent call last):
    ...
    ValueError: the similarity is not positive semidefinite: its smallest eigenvalue is -1. Add
    shift >= 1 to its diagonal, which similarity.shift_to_positive does
    """
    graph = as_graph(K, signed=True)
    margin = tol * norm_bound(graph)
    if (graph.diagonal - _off_diagonal_sums(graph)).min() >= -margin:
        return
    if graph.n <= DENSE_CHOLESKY and _has_cholesky(graph, margin):
        return
    value, _ = smallest_eigenvalue(graph)
    if value < -margin:
        raise ValueError(
            "the similarity is not positive semidefinite: its smallest eigenvalue is "
            f"{value:.6g}. Add shift >= {-value:.6g} to its diagonal, which "
            "similarity.shift_to_positive does"
        )


def gamma_needed(graph: Graph, floor: float) -> tuple[float, float]:
    """Return the smallest eigenvalue, and what raises it to ``floor`` times the norm bound."""
    value, error = smallest_eigenvalue(graph)
    return value, max(0.0, floor * norm_bound(graph) - (value - error))


def norm_bound(graph: Graph) -> float:
    """Return the largest absolute row sum, at least the largest absolute eigenvalue; or one."""
    return float((np.abs(graph.diagonal) + _off_diagonal_sums(graph)).max()) or 1.0


def _off_diagonal_sums(graph: Graph) -> NDArray[np.float64]:
    size = np.abs(graph.weight)
    total = np.bincount(graph.tail, size, graph.n) + np.bincount(graph.head, size, graph.n)
    return total.astype(np.float64)


def smallest_eigenvalue(graph: Graph) -> tuple[float, float]:
    """Return the smallest eigenvalue, and by how much it may have been overestimated."""
    if graph.n <= DENSE_EIGENVALUES:
        with threads_for((graph.n, graph.n), dense=True):
            lowest = linalg.eigh(graph.dense(), eigvals_only=True, subset_by_index=(0, 0))
        return float(lowest[0]), 0.0
    return _lanczos(graph)


def _has_cholesky(graph: Graph, margin: float) -> bool:
    shifted = graph.dense()
    np.fill_diagonal(shifted, graph.diagonal + margin)
    try:
        with threads_for((graph.n, graph.n), dense=True):
            linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _lanczos(graph: Graph) -> tuple[float, float]:
    """Return the lowest Ritz value and its residual norm.

    Without reorthogonalisation: lost orthogonality repeats eigenvalues that have been found,
    and leaves the extreme ones right. The cost is known beforehand, which a method that waits
    for convergence cannot promise when hundreds of eigenvalues lie at zero, as those of 2-hop
    similarities do.
    """
    # A dense product is faster than a sparse one well before the matrix is full.
    full = graph.n_edges > graph.n**2 // 10
    K: Any = graph.dense() if full else graph.matrix()
    scale = norm_bound(graph)
    # Random, so that no eigenvector is missed; seeded, so that the answer is always the same.
    vector = np.random.default_rng(0).standard_normal(graph.n)
    vector /= linalg.norm(vector)
    previous, beta = np.zeros(graph.n), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        residual = K @ vector - beta * previous
        diagonal.append(float(vector @ residual))
        residual -= diagonal[-1] * vector
        beta = float(linalg.norm(residual))
        last = len(diagonal) == LANCZOS_STEPS or beta <= ROUND_OFF * scale
        if last or len(diagonal) % 50 == 0:
            value, error = _lowest_ritz(diagonal, beside, beta)
            if last or error <= 1e-9 * scale:
                return value, error
        beside.append(beta)
        previous, vector = vector, residual / beta


def _lowest_ritz(diagonal: list[float], beside: list[float], beta: float) -> tuple[float, float]:
    values, vectors = linalg.eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))
    return float(values[0]), beta * abs(float(vectors[-1, 0]))
