"""Positive definiteness: the smallest eigenvalue of a similarity, and the shift that raises it.

The problem is convex if K is positive semidefinite, and its minimiser unique if K is positive
definite; ``K + shift I`` raises every eigenvalue by ``shift``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from convexhc._checks import TIE
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.kernels.threads import threads_for


@dataclass(frozen=True)
class EigenvalueSettings:
    """Sizes and tolerances of the eigenvalue computations."""

    dense_eigenvalues: int = 1500  # largest n for a dense eigensolver: under a second
    dense_cholesky: int = 6000  # largest n for a dense Cholesky factorisation: bounded by memory
    lanczos_steps: int = 1000  # most products with K
    lanczos_check: int = 50  # steps between two evaluations of the residual
    round_off: float = 1e-12  # eigenvalues below this share of the norm are round-off
    floor: float = 1e-6  # smallest eigenvalue that shift="auto" aims for, as a share of the norm


SETTINGS = EigenvalueSettings()


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
        products with K: never below the true value, and within 1e-9 of the norm of an
        eigenvalue unless the lower end of the spectrum is clustered.

    Examples
    --------
    >>> round(min_eigenvalue([[2.0, 1.0], [1.0, 2.0]]), 6)
    1.0
    """
    return smallest_eigenvalue(as_graph(K, signed=True))[0]


class NotPositiveSemidefiniteError(ValueError):
    """A similarity with a negative eigenvalue; ``shift`` is the least that raises it to zero."""

    def __init__(self, shift: float, *, zero_diagonal: bool) -> None:
        self.shift, self.zero_diagonal = shift, zero_diagonal
        advice = (
            "Its diagonal is zero, as that of a graph: give the graph to convexhc.cluster, or make "
            "a similarity of it with similarity.from_graph"
            if zero_diagonal
            else f"Add shift >= {shift:.6g} to its diagonal, which similarity.shift_to_positive "
            "does; if it is a graph, give it to convexhc.cluster instead"
        )
        super().__init__(f"{self.finding}. {advice}")

    @property
    def finding(self) -> str:
        """What is wrong, without advice."""
        return (
            "the similarity is not positive semidefinite: its smallest eigenvalue is "
            f"{-self.shift:.6g}"
        )


def require_psd(K: Any, tol: float = 1e-8) -> None:
    """Raise an error if a matrix is not positive semidefinite.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Negative entries are allowed.
    tol : float
        How far below zero the smallest eigenvalue may lie, as a share of the largest absolute
        row sum of K; 2-hop similarities are singular to about this accuracy.

    Raises
    ------
    NotPositiveSemidefiniteError
        A ValueError: an eigenvalue is negative. The message gives it, and the shift that raises it
        to zero; or, if the diagonal is zero, how to cluster a graph.

    Notes
    -----
    Diagonal dominance is tested first, O(n + edges). Otherwise one Cholesky factorisation,
    O(n^3 / 3), up to 6000 nodes, and :func:`min_eigenvalue` above.

    Examples
    --------
    >>> require_psd([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ...
    convexhc.similarity.definite.NotPositiveSemidefiniteError: the similarity is not positive
    semidefinite: its smallest eigenvalue is -1. Add shift >= 1 to its diagonal, which
    similarity.shift_to_positive does; if it is a graph, give it to convexhc.cluster instead
    """
    graph = as_graph(K, signed=True)
    margin = tol * norm_bound(graph)
    if (graph.diagonal - _off_diagonal_sums(graph)).min() >= -margin:
        return
    if graph.n <= SETTINGS.dense_cholesky and _has_cholesky(graph, margin):
        return
    value, _ = smallest_eigenvalue(graph)
    if value < -margin:
        raise NotPositiveSemidefiniteError(-value, zero_diagonal=not graph.diagonal.any())


def required_shift(graph: Graph, floor: float) -> tuple[float, float]:
    """Return the smallest eigenvalue, and the shift that raises it to ``floor * norm_bound``."""
    value, error = smallest_eigenvalue(graph)
    return value, max(0.0, floor * norm_bound(graph) - (value - error))


def norm_bound(graph: Graph) -> float:
    """Return the largest absolute row sum, an upper bound on the norm; one for a zero matrix."""
    return float((np.abs(graph.diagonal) + _off_diagonal_sums(graph)).max()) or 1.0


def _off_diagonal_sums(graph: Graph) -> FloatArray:
    """Absolute row sums without the diagonal."""
    size = np.abs(graph.weight)
    total = np.bincount(graph.tail, size, graph.n) + np.bincount(graph.head, size, graph.n)
    return total.astype(np.float64)


def smallest_eigenvalue(graph: Graph) -> tuple[float, float]:
    """Return the smallest eigenvalue, and a bound on its overestimation."""
    if graph.n <= SETTINGS.dense_eigenvalues:
        with threads_for((graph.n, graph.n), dense=True):
            lowest = linalg.eigh(graph.dense(), eigvals_only=True, subset_by_index=(0, 0))
        return float(lowest[0]), 0.0
    return _lanczos(graph)


def _has_cholesky(graph: Graph, margin: float) -> bool:
    """Whether K + margin I has a Cholesky factor, which proves it positive definite."""
    shifted = graph.dense()
    np.fill_diagonal(shifted, graph.diagonal + margin)
    try:
        with threads_for((graph.n, graph.n), dense=True):
            linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _lanczos(graph: Graph) -> tuple[float, float]:
    """The lowest Ritz value and its residual norm, by Lanczos without reorthogonalisation.

    Lost orthogonality repeats converged eigenvalues and leaves the extreme ones correct. The number
    of products is bounded even where hundreds of eigenvalues lie at zero, as for 2-hop
    similarities.
    """
    # A dense product is faster than a sparse one well before the matrix is full.
    full = graph.n_edges > graph.n**2 // 10
    K: Any = graph.dense() if full else graph.matrix()
    scale = norm_bound(graph)
    # A random start has a component along every eigenvector; the seed makes the result repeatable.
    vector = np.random.default_rng(0).standard_normal(graph.n)
    vector /= linalg.norm(vector)
    previous, beta = np.zeros(graph.n), 0.0
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    while True:
        residual = K @ vector - beta * previous
        diagonal.append(float(vector @ residual))
        residual -= diagonal[-1] * vector
        beta = float(linalg.norm(residual))
        steps = len(diagonal)
        last = steps == SETTINGS.lanczos_steps or beta <= SETTINGS.round_off * scale
        if last or steps % SETTINGS.lanczos_check == 0:
            values, vectors = linalg.eigh_tridiagonal(
                diagonal, off_diagonal, select="i", select_range=(0, 0)
            )
            error = beta * abs(float(vectors[-1, 0]))
            if last or error <= TIE * scale:
                return float(values[0]), error
        off_diagonal.append(beta)
        previous, vector = vector, residual / beta
