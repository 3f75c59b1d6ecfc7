"""The class Similarity: a matrix K, how it was made, and whether it is positive definite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from convexhc._checks import LARGEST, checked_number
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.io import as_graph
from convexhc.similarity.definite import SETTINGS, norm_bound, required_shift, smallest_eigenvalue

Shift = float | Literal["auto"]


@dataclass(frozen=True, eq=False)
class Similarity:
    """Symmetric similarity matrix K, how it was made, and whether it is positive definite.

    Every function that takes a graph also takes a Similarity.

    Parameters
    ----------
    graph : Graph
        The matrix: off-diagonal entries as edges, self-similarities as ``graph.diagonal``.
    kind : str
        Name of the function that made it.
    shift : float
        Amount added to the diagonal; ``graph`` includes it.
    min_eigenvalue : float or None
        Smallest eigenvalue, shift included, if it had to be computed.
    positive_definite : bool
        Whether K is known to be positive definite, by its formula or by ``min_eigenvalue``.
        False means not known, not indefinite.
    parameters : mapping
        Values of the other options, including those chosen automatically.

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
        """All attributes except the matrix, as a dict of plain values."""
        known = {
            "kind": self.kind,
            "shift": self.shift,
            "positive_definite": self.positive_definite,
            "min_eigenvalue": self.min_eigenvalue,
        }
        return {k: v for k, v in known.items() if v is not None} | dict(self.parameters)

    @property
    def matrix(self) -> sparse.csr_array:
        """The (n, n) matrix, sparse."""
        return self.graph.matrix()

    def dense(self) -> FloatArray:
        """Return the (n, n) matrix, dense."""
        return self.graph.dense()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a Similarity is stored sparse: its dense array cannot be had without a copy"
            )
        return np.asarray(self.dense(), dtype=dtype)


def make_similarity(
    kind: str,
    graph: Graph,
    shift: Shift,
    *,
    lower_bound: float | None,
    parameters: Mapping[str, Any] | None = None,
) -> Similarity:
    """Add ``shift`` to the diagonal of a matrix and record what is known of its eigenvalues.

    Without ``lower_bound``, a proven bound on the eigenvalues, the smallest one is computed.
    """
    value: float | None = None
    if shift == "auto":
        value, added = required_shift(graph, SETTINGS.floor)
    else:
        added = checked_number("shift, unless 'auto',", shift, upper=LARGEST)
        if lower_bound is None:
            value, _ = smallest_eigenvalue(graph)
    known = lower_bound if value is None else value
    definite = known is not None and known + added > SETTINGS.round_off * norm_bound(graph)
    return Similarity(
        graph.with_diagonal(graph.diagonal + added),
        kind,
        added,
        None if value is None else value + added,
        definite,
        parameters or {},
    )


def shift_to_positive(K: Any, *, floor: float = SETTINGS.floor) -> Similarity:
    """Add the smallest shift to the diagonal that makes a matrix positive definite.

    ``K + shift I`` with the least ``shift >= 0`` for which the smallest eigenvalue is at least
    ``floor`` times the largest absolute row sum of K.

    Parameters
    ----------
    K : anything :func:`convexhc.io.as_graph` reads
        Negative entries are allowed. A Similarity keeps its kind and parameters; its earlier
        shift is included in the one recorded.
    floor : float
        Smallest eigenvalue of the result, relative to the largest absolute row sum; positive.

    Returns
    -------
    Similarity
        With the shift that was added. Costs one :func:`~convexhc.similarity.min_eigenvalue`.

    Examples
    --------
    >>> round(shift_to_positive([[0.0, 1.0], [1.0, 0.0]]).shift, 3)
    1.0
    """
    floor = checked_number("floor", floor, positive=True)
    graph = as_graph(K, signed=True)
    value, added = required_shift(graph, floor)
    shifted = graph.with_diagonal(graph.diagonal + added)
    if isinstance(K, Similarity):
        return Similarity(
            shifted, K.kind, K.shift + added, value + added, True, parameters=K.parameters
        )
    return Similarity(shifted, "given", added, value + added, True)
