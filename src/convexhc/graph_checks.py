"""Validation of graphs: sizes, names, entries and symmetry.

Each function returns valid values or raises an error that says what was wrong, what was received
and what to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from convexhc._checks import LARGEST, checked_count, named
from convexhc._types import FloatArray, IntArray

Symmetrize = Literal["mean", "max", "min"]

BROKEN_SPARSE = "the sparse matrix is broken:"
HOW_TO_SYMMETRIZE = "Pass symmetrize='mean', 'max' or 'min'"
# Asymmetry that counts as round-off, relative to the largest entry.
SYMMETRY_TOLERANCE = 1e-10


def checked_size(n: Any) -> int:
    """Return the number of nodes, at least one."""
    size = checked_count("the number of nodes", n, lower=0)
    if size == 0:
        raise ValueError("the graph is empty: it needs at least one node, got n = 0")
    return size


def listed_names(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the names as a tuple of plain Python values."""
    if isinstance(names, str | set | frozenset):
        raise TypeError(f"names must be a sequence with one name per node, got {names!r}")
    # tolist turns numpy scalars into plain Python values.
    tolist = getattr(names, "tolist", None)
    return tuple(names if tolist is None else tolist())


def checked_names(names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...]:
    """Return one distinct hashable name per node."""
    if names is None:
        return tuple(range(n))
    result = listed_names(names)
    if len(result) != n:
        raise ValueError(f"names must have one name per node: got {len(result)} for {n} nodes")
    try:
        distinct = len(set(result)) == n
    except TypeError as error:
        bad = next(name for name in result if not _is_hashable(name))
        raise TypeError(
            f"node names must be hashable (text, numbers, tuples ...), got {bad!r}"
        ) from error
    _check_text(result)
    if not distinct:
        twice = Counter(result).most_common(1)[0][0]
        raise ValueError(f"the node name {twice!r} is used twice: make the names distinct")
    return result


def _check_text(names: tuple[Hashable, ...]) -> None:
    """Raise an error if a name cannot be written to a text file."""
    # Few types, many names: those of a hundred thousand nodes are mostly numbers.
    if not any(issubclass(kind, str) for kind in set(map(type, names))):
        return
    texts = [name for name in names if isinstance(name, str)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        bad = next(text for text in texts if any("\ud800" <= sign <= "\udfff" for sign in text))
        raise ValueError(
            f"the node name {bad!r} holds half a character (a lone surrogate), which no text file "
            "can hold: rename the node"
        ) from None


def _is_hashable(name: object) -> bool:
    """Whether ``name`` and everything in it can be hashed; isinstance misses nested lists."""
    try:
        hash(name)
    except TypeError:
        return False
    return True


def check_symmetrize(symmetrize: object) -> None:
    """Raise an error unless ``symmetrize`` is a known rule."""
    named("symmetrize", symmetrize, dict.fromkeys((None, "mean", "max", "min")))


def check_structure(graph: Any) -> None:
    """Raise an error unless the arrays satisfy the invariants of the class Graph."""
    lengths = graph.tail.shape, graph.head.shape, graph.weight.shape
    if len(set(lengths)) != 1 or graph.weight.ndim != 1:
        raise ValueError(f"tail, head and weight must have one length, got shapes {lengths}")
    if graph.diagonal.shape != (graph.n,):
        raise ValueError(f"diagonal must have shape ({graph.n},), got {graph.diagonal.shape}")
    if not (np.isfinite(graph.weight).all() and np.isfinite(graph.diagonal).all()):
        raise ValueError("weights must be finite: NaN or infinity found (or an overflowed sum)")
    if graph.largest > LARGEST:
        raise ValueError(
            f"weights must be at most {LARGEST:g}, the largest is {graph.largest:.4g}: divide them "
            "by it, which changes no clusters"
        )
    if not graph.weight.all():
        raise ValueError("edges must not have weight zero: leave them out")
    inside = (graph.tail >= 0) & (graph.tail < graph.head) & (graph.head < graph.n)
    if not inside.all():
        raise ValueError(f"edges must satisfy 0 <= tail < head < {graph.n}: use Graph.from_edges")
    step, within = np.diff(graph.tail), np.diff(graph.head)
    if not ((step > 0) | ((step == 0) & (within > 0))).all():
        raise ValueError("edges must be sorted and listed once: use Graph.from_edges")


def real_array(values: Any, what: str) -> Any:
    """Return an array of real numbers, or a sparse matrix as it is."""
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


def node_indices(nodes: ArrayLike, n: int, what: str) -> IntArray:
    """Return node indices as int64, each between 0 and n - 1."""
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
    if sparse.issparse(array):
        array = checked_sparse(array)
    rounding = 16 * float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
    return array.astype(np.float64), max(SYMMETRY_TOLERANCE, rounding)


def checked_sparse(matrix: Any) -> Any:
    """Return the matrix in a format whose indices are known to lie inside it.

    scipy checks indices when it builds a matrix, if at all, and its compiled loops follow them
    anywhere.
    """
    if matrix.format in ("lil", "dok"):
        # Lists and dictionaries, which scipy converts with checks.
        matrix = matrix.tocoo()
    if matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix)
    elif matrix.format == "coo":
        for axis, size in zip(matrix.coords, matrix.shape, strict=True):
            _check_inside("coords", axis, size)
            if axis.shape != matrix.data.shape:
                raise ValueError(f"{BROKEN_SPARSE} coords and data differ in length")
    elif matrix.data.ndim != 2 or matrix.offsets.shape != matrix.data.shape[:1]:
        raise ValueError(f"{BROKEN_SPARSE} offsets and data differ in length")
    return matrix


def _check_compressed(matrix: Any) -> None:
    """Check indptr and indices of a csr, csc or bsr matrix."""
    block = matrix.data.shape[1:] if matrix.format == "bsr" else (1, 1)
    rows, columns = (size // width for size, width in zip(matrix.shape, block, strict=True))
    major, minor = (columns, rows) if matrix.format == "csc" else (rows, columns)
    pointers, indices = matrix.indptr, matrix.indices
    stored = min(len(indices), len(matrix.data))
    _check_inside("indptr", pointers, stored + 1)
    if pointers.shape != (major + 1,) or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise ValueError(
            f"{BROKEN_SPARSE} indptr must rise from 0 in {major + 1} steps, one per row or column"
        )
    _check_inside("indices", indices[: pointers[-1]], minor)


def _check_inside(what: str, indices: NDArray[Any], size: int) -> None:
    """Raise an error unless the indices are integers between 0 and size - 1."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"{BROKEN_SPARSE} {what} must be one-dimensional and hold integers")
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < size:
        outside = int(indices.min()) if indices.min() < 0 else int(indices.max())
        raise ValueError(f"{BROKEN_SPARSE} {what} holds {outside}, outside 0 to {size - 1}")


def is_valid_dense(matrix: Any, *, signed: bool) -> bool:
    """Whether a dense matrix is finite, exactly symmetric and, unless signed, nonnegative."""
    return (
        isinstance(matrix, np.ndarray)
        and bool(np.isfinite(matrix).all())
        and (signed or bool((matrix >= 0).all()))
        and np.array_equal(matrix, matrix.T)
    )


def check_values(
    values: FloatArray,
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    names: tuple[Hashable, ...],
    *,
    signed: bool,
) -> None:
    """Raise an error for NaN, infinite and, unless signed, negative weights; it names the pair."""
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
    """Combine (i, j) and (j, i); raise an error if they differ and ``symmetrize`` is None."""
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
            f"{entries[i, j]:.12g}, back it is {entries[j, i]:.12g}. {HOW_TO_SYMMETRIZE} to "
            "combine the two directions"
        )
    return sparse.csr_array(0.5 * (entries + mirrored))


def add_missing_mirrors(
    n: int, rows: IntArray, columns: IntArray, values: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Sum repeated entries, and mirror the pairs that are listed in one direction only."""
    codes, inverse = np.unique(rows * n + columns, return_inverse=True)
    totals = np.bincount(inverse, weights=values, minlength=len(codes))
    rows, columns = np.divmod(codes, n)
    one_way = ~np.isin(columns * n + rows, codes, assume_unique=True)
    return (
        np.concatenate([rows, columns[one_way]]),
        np.concatenate([columns, rows[one_way]]),
        np.concatenate([totals, totals[one_way]]),
    )
