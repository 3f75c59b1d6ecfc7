"""The similarity as a result: the matrix, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.definite import (
    ROUND_OFF,
    gamma_needed,
    norm_bound,
    smallest_eigenvalue,
)

Shift = float | Literal["auto"]

# Smallest eigenvalue that "auto" aims for, as a share of the largest absolute row sum.
FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class Similarity:
    """Symmetric similarity matrix K, with how it was made and whether it is definite.

    Anything that takes a graph takes it as it is.

    Parameters
    ----------
    graph : Graph
        The matrix: off-diagonal entries as edges, self-similarities as ``graph.diagonal``.
    kind : str
        Name of the function that made it.
    shift : float
        What was added to the diagonal; ``graph`` includes it.
    min_eigenvalue : float or None
        Smallest eigenvalue, shift included, if it had to be computed.
    positive_definite : bool
        K is known to be positive definite, by its formula or by ``min_eigenvalue``. False
        leaves open whether it is; a positive shift settles it.
    parameters : mapping
        Values of the other options, those found automatically included.

    Examples
    --------
    >>> from convexhc import similarity
    >>> K = similarity.normalized([[0, 1], [1, 0]], shift=0.5)
    >>> K
    Similarity(normalized, n=2, n_edges=1, shift=0.5, positive_definite=True)
    >>> K.dense()
    array([[1.5, 1. ],
           [1. , 1.5]])
    """

    graph: Graph
    kind: str
    shift: float
    min_eigenvalue: float | None
    positive_definite: bool
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __repr__(self) -> str:
        return (
            f"Similarity({self.kind}, n={self.graph.n}, n_edges={self.graph.n_edges}, "
            f"shift={self.shift:g}, positive_definite={self.positive_definite})"
        )

    @property
    def record(self) -> dict[str, Any]:
        """How K was made and what is known of it, in plain values; the entries are left out."""
        known: dict[str, Any] = {"kind": self.kind, "shift": self.shift}
        known["positive_definite"] = self.positive_definite
        if self.min_eigenvalue is not None:
            known["min_eigenvalue"] = self.min_eigenvalue
        return {**known, **self.parameters}

    @property
    def matrix(self) -> sparse.csr_array:
        """The (n, n) matrix, sparse."""
        return self.graph.matrix()

    def dense(self) -> NDArray[np.float64]:
        """Return the (n, n) matrix, dense."""
        return self.graph.dense()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a Similarity holds no dense array: it cannot be had without a copy")
        return np.asarray(self.dense(), dtype=dtype)


def finished(
    kind: str,
    graph: Graph,
    shift: Shift,
    *,
    bound: float | None,
    parameters: Mapping[str, Any] | None = None,
) -> Similarity:
    """Add shift to the diagonal, and record what is known of the eigenvalues.

    ``bound`` is a proven lower bound on those of ``graph``, or None, in which case the
    smallest one is computed.
    """
    value: float | None = None
    if shift == "auto":
        value, added = gamma_needed(graph, FLOOR)
    else:
        added = checked_gamma(shift)
        if bound is None:
            value, _ = smallest_eigenvalue(graph)
    known = bound if value is None else value
    least = None if known is None else known + added
    return Similarity(
        graph.with_diagonal(graph.diagonal + added),
        kind,
        added,
        None if value is None else value + added,
        least is not None and least > ROUND_OFF * norm_bound(graph),
        parameters or {},
    )


def checked_gamma(shift: Any) -> float:
    """Return a finite amount, zero or more."""
    number = isinstance(shift, int | float | np.integer | np.floating)
    if not number or isinstance(shift, bool) or not 0 <= shift < np.inf:
        raise ValueError(f"shift must be 'auto' or a finite number, zero or more, got {shift!r}")
    return float(shift)


def shift_to_positive(K: Any, *, floor: float = FLOOR) -> Similarity:
    """Add to the diagonal what makes a matrix positive definite, and no more.

    ``K + shift I`` with the least ``shift >= 0`` for which the smallest eigenvalue is at least
    ``floor`` times the largest absolute row sum of K.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Negative entries are allowed. A Similarity keeps its kind and parameters, and the shift
        recorded is the sum of both.
    floor : float
        See above; positive.

    Returns
    -------
    Similarity
        With the shift that was added. Costs one :func:`~convexhc.similarity.min_eigenvalue`.

    Examples
    --------
    >>> round(shift_to_positive([[0.0, 1.0], [1.0, 0.0]]).shift, 3)
    1.0
    """
    if not 0 < floor < np.inf:
        raise ValueError(f"floor must be a finite positive number, got {floor!r}")
    graph = as_graph(K, signed=True)
    value, added = gamma_needed(graph, floor)
    before = K if isinstance(K, Similarity) else None
    return Similarity(
        graph.with_diagonal(graph.diagonal + added),
        "given" if before is None else before.kind,
        added + (0.0 if before is None else before.shift),
        value + added,
        True,
        {} if before is None else before.parameters,
    )
