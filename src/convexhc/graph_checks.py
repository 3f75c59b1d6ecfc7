"""What may become a graph: the checks on sizes, names, entries and symmetry.

Only :mod:`convexhc.graph` calls these; each returns clean values or raises an error that says
what was wrong, what was received and what to do.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Symmetrize = Literal["mean", "max", "min"]

# Two halves of a matrix computed in floating point may differ by round-off and no more;
# the measure is relative to the largest entry.
SYMMETRY_TOLERANCE = 1e-10


def checked_size(n: Any) -> int:
    """Return the number of nodes, at least one."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise TypeError(f"the number of nodes must be an integer, got {n!r}")
    if n < 1:
        raise ValueError(f"the graph is empty: it needs at least one node, got n = {n}")
    return int(n)


def listed_names(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the names in the order given, as plain Python values."""
    if isinstance(names, str | set | frozenset):
        raise TypeError(f"names must be a sequence with one name per node, got {names!r}")
    # tolist turns numpy scalars into the plain Python values that users look nodes up by.
    tolist = getattr(names, "tolist", None)
    return tuple(names if tolist is None else tolist())


def checked_names(names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...]:
    """Return one distinct hashable name per node."""
    if names is None:
        return tuple(range(n))
    result = listed_names(names)
    if len(result) != n:
        raise ValueError(f"names must have one name per node: got {len(result)} for {n} nodes")
    if _are_distinct(result):
        return result
    seen: set[Hashable] = set()
    for name in result:
        try:
            repeated = name in seen
        except TypeError as error:
            raise TypeError(
                f"node names must be hashable (text, numbers, tuples ...), got {name!r}"
            ) from error
        if repeated:
            raise ValueError(f"the node name {name!r} is used twice: make the names distinct")
        seen.add(name)
    return result


def _are_distinct(names: tuple[Hashable, ...]) -> bool:
    """Tell in one go, for large graphs; names that cannot be hashed are not."""
    try:
        return len(set(names)) == len(names)
    except TypeError:
        return False


def check_symmetrize(symmetrize: object) -> None:
    """Refuse an unknown way of combining two directions."""
    if symmetrize not in (None, "mean", "max", "min"):
        raise ValueError(f"symmetrize must be None, 'mean', 'max' or 'min', got {symmetrize!r}")


def check_structure(graph: Any) -> None:
    """Refuse arrays that break a promise of the class Graph."""
    lengths = graph.tail.shape, graph.head.shape, graph.weight.shape
    if len(set(lengths)) != 1 or graph.weight.ndim != 1:
        raise ValueError(f"tail, head and weight must have one length, got shapes {lengths}")
    if graph.diagonal.shape != (graph.n,):
        raise ValueError(f"diagonal must have shape ({graph.n},), got {graph.diagonal.shape}")
    if not (np.isfinite(graph.weight).all() and np.isfinite(graph.diagonal).all()):
        raise ValueError("weights must be finite: NaN or infinity found (or an overflowed sum)")
    if not graph.weight.all():
        raise ValueError("edges must not have weight zero: leave them out")
    inside = (graph.tail >= 0) & (graph.tail < graph.head) & (graph.head < graph.n)
    if not inside.all():
        raise ValueError(f"edges must satisfy 0 <= tail < head < {graph.n}: use Graph.from_edges")
    step, within = np.diff(graph.tail), np.diff(graph.head)
    if not ((step > 0) | ((step == 0) & (within > 0))).all():
        raise ValueError("edges must be sorted and listed once: use Graph.from_edges")


def real_array(values: Any, what: str) -> Any:
    """Return an array, refusing what does not hold real numbers only."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"the {what} has masked entries: fill them with zero or drop their nodes")
    if not sparse.issparse(values):
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise ValueError(
                f"the {what} must be a rectangular array of numbers, got rows of unequal length"
            ) from error
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"the {what} must hold real numbers, got dtype {values.dtype}: convert it, for "
            "instance with .astype(float), or take the modulus of complex values"
        )
    return values


def node_indices(nodes: ArrayLike, n: int, what: str) -> NDArray[np.int64]:
    """Return node numbers as int64, each between 0 and n - 1."""
    array = np.asarray(nodes)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} must hold integers between 0 and {n - 1}, got {array.dtype}")
    outside = (array < 0) | (array >= n)
    if outside.any():
        raise ValueError(f"{what} holds node {array[outside][0]}: nodes go from 0 to {n - 1}")
    return array.astype(np.int64)


def square_matrix(matrix: Any) -> tuple[Any, float]:
    """Return the matrix in float64, and the relative asymmetry that counts as round-off."""
    array = real_array(matrix, "matrix")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            f"the matrix must be square, one row and one column per node, got shape "
            f"{array.shape}; for points in space use similarity.knn or similarity.rbf, for an "
            "edge list pass (u, v, weight) tuples"
        )
    rounding = 16 * float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
    return array.astype(np.float64), max(SYMMETRY_TOLERANCE, rounding)


def is_plainly_symmetric(matrix: Any, *, signed: bool) -> bool:
    """Tell whether a dense matrix needs no repair and no complaint; cheap, unlike the latter."""
    return (
        isinstance(matrix, np.ndarray)
        and bool(np.isfinite(matrix).all())
        and (signed or bool((matrix >= 0).all()))
        and np.array_equal(matrix, matrix.T)
    )


def check_values(
    values: NDArray[np.float64],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    names: tuple[Hashable, ...],
    *,
    signed: bool,
) -> None:
    """Refuse NaN, infinite and, unless signed, negative weights, naming the pair."""
    bad = ~np.isfinite(values)
    if bad.any():
        e = int(np.argmax(bad))
        raise ValueError(
            f"the weight between {names[rows[e]]!r} and {names[columns[e]]!r} is {values[e]}: "
            "weights must be finite; replace it, with 0 where there is no edge"
        )
    if not signed and (values < 0).any():
        e = int(np.argmin(values))
        raise ValueError(
            f"the weight between {names[rows[e]]!r} and {names[columns[e]]!r} is negative, "
            f"{values[e]:g}: set negative weights to 0, or pass signed=True if they are meant"
        )


def symmetric_part(
    entries: Any, symmetrize: Symmetrize | None, tolerance: float, names: tuple[Hashable, ...]
) -> Any:
    """Return the symmetric matrix, refusing two halves that differ unless told how to combine."""
    mirrored = entries.T.tocsr()
    if symmetrize == "max":
        return sparse.csr_array(entries.maximum(mirrored))
    if symmetrize == "min":
        return sparse.csr_array(entries.minimum(mirrored))
    difference = sparse.coo_array(mirrored - entries)
    if difference.nnz == 0:
        return entries
    e = int(np.argmax(np.abs(difference.data)))
    if symmetrize is None and abs(difference.data[e]) > tolerance * np.abs(entries.data).max():
        i, j = (int(axis[e]) for axis in difference.coords)
        raise ValueError(
            f"the weights are not symmetric: from {names[i]!r} to {names[j]!r} it is "
            f"{entries[i, j]:.12g}, back it is {entries[j, i]:.12g}. Pass symmetrize='mean', "
            "'max' or 'min' to combine the two directions"
        )
    return sparse.csr_array(0.5 * (entries + mirrored))


def mirrored_where_alone(
    n: int, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return each listed entry once, plus the mirror image of a pair listed one way only."""
    codes, inverse = np.unique(rows * n + columns, return_inverse=True)
    totals = np.bincount(inverse, weights=values, minlength=len(codes))
    rows, columns = np.divmod(codes, n)
    alone = ~np.isin(columns * n + rows, codes, assume_unique=True)
    return (
        np.concatenate([rows, columns[alone]]),
        np.concatenate([columns, rows[alone]]),
        np.concatenate([totals, totals[alone]]),
    )
