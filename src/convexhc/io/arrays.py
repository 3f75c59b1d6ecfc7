"""Arrays in npy, npz and Matrix Market files; sizes are checked before memory is taken.

numpy's own reader allocates what a header declares, and advises to load unsafely what it refuses.
scipy's reader of Matrix Market crashes on a last line without its end and on a NUL inside a line,
and allocates what the header declares.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from convexhc._types import BLOCK_ENTRIES
from convexhc.io.border import check_nodes, check_numbers

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# Compression that numpy writes: none, and deflate.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Characters of numbers, also of inf and nan in any case, and blanks.
_OF_NUMBERS = b"0123456789+-.eEinfaINFA \t\r\n"
# Bytes of the shortest entry: two indices in a list of entries, one number in an array.
_SHORTEST_ENTRY = {2: 2, 3: 4}


def read_npy(file: str | os.PathLike[str]) -> NDArray[Any]:
    """Read the array of an npy file."""
    with Path(file).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        return _read_array(stream, size, size)


def read_members(file: str | os.PathLike[str], only: str | None = None) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file by name, all of them or one."""
    with Path(file).open("rb") as stream, zipfile.ZipFile(stream) as archive:
        size = os.fstat(stream.fileno()).st_size
        members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names):
            raise ValueError("two of its arrays have one name")
        if any(member.compress_type not in _METHODS for member in members):
            raise ValueError("it is compressed in a way that numpy does not write")
        # Members that overlap could unpack to any size.
        if sum(member.compress_size for member in members) > size:
            raise ValueError("it declares more bytes than it has")
        check_numbers(sum(member.file_size for member in members) // 8, size)
        arrays = {}
        for name, member in zip(names, members, strict=True):
            if only in (None, name):
                with archive.open(member) as packed:
                    arrays[name] = _read_array(packed, member.file_size, size)
        return arrays


def _read_array(stream: IO[bytes], length: int, size: int) -> NDArray[Any]:
    """Read an array from a stream of ``length`` bytes, in a file of ``size`` bytes."""
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"an array has the unknown version {version}")
    shape, in_columns, dtype = _HEADERS[version](stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects: save plain numbers")
    count, left = math.prod(shape), length - stream.tell()
    if min(shape, default=1) < 0 or count * dtype.itemsize != left:
        raise ValueError(f"an array of shape {shape} and type {dtype} does not fill {left} bytes")
    check_numbers(count, size)
    array = np.empty(count, dtype)
    # As bytes, since not every type has a buffer.
    view = array.view(np.uint8) if count else np.empty(0, np.uint8)
    # In pieces: a member of an archive is read through a copy.
    for start in range(0, left, BLOCK_ENTRIES):
        end = min(start + BLOCK_ENTRIES, left)
        view[start:end] = np.frombuffer(stream.read(end - start), np.uint8)
    # Reading on to the end makes the archive compare the checksum.
    if stream.read(1):
        raise ValueError("an array is longer than declared")
    return array.reshape(shape, order="F" if in_columns else "C")


def sparse_from(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The matrix whose arrays `scipy.sparse.save_npz` wrote."""
    kind = arrays["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    rows, columns = (int(size) for size in arrays["shape"])
    places: tuple[Any, ...]
    if kind in ("csr", "csc", "bsr"):
        places = arrays["indices"], arrays["indptr"]
    elif kind == "coo":
        ends = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
        places = (tuple(ends),)
    elif kind == "dia":
        places = (arrays["offsets"],)
    else:
        raise ValueError(f"it has the unknown sparse format {kind!r}")
    check_nodes(max(rows, columns), sum(array.nbytes for array in arrays.values()))
    return getattr(sparse, f"{kind}_array")((arrays["data"], *places), shape=(rows, columns))


def read_mtx(path: Path) -> Any:
    """Read the matrix of a Matrix Market file, sparse or dense."""
    content = path.read_bytes()
    ended = content.endswith(b"\n")
    if not ended:
        content += b"\n"
    sizes, start = _sizes(content)
    _check_sizes(sizes, len(content) - start)
    _check_signs(content, start)
    # scipy reads a file faster than a stream.
    return scipy.io.mmread(path if ended else io.BytesIO(content))


def _sizes(content: bytes) -> tuple[list[int], int]:
    """The numbers of the first line that is no comment, and where the next line starts."""
    start = 0
    while start < len(content):
        end = content.index(b"\n", start) + 1
        line = content[start:end].strip()
        start = end
        if line and not line.startswith(b"%"):
            return [int(word) for word in line.split()], start
    raise ValueError("it declares no size")


def _check_sizes(sizes: list[int], n_bytes: int) -> None:
    """Refuse sizes that this many bytes cannot hold."""
    if len(sizes) not in _SHORTEST_ENTRY or min(sizes) < 0:
        raise ValueError(f"its size line holds {sizes}, not rows, columns and entries")
    if len(sizes) == 2:
        # Of a symmetric array only one half is listed.
        declared = sizes[0] * sizes[1] // 2 - max(sizes)
        check_numbers(sizes[0] * sizes[1], n_bytes)
    else:
        declared = sizes[2]
        check_nodes(max(sizes[:2]), n_bytes)
    if declared > n_bytes // _SHORTEST_ENTRY[len(sizes)]:
        raise ValueError(f"it declares {declared} entries, but {n_bytes} bytes follow")


def _check_signs(content: bytes, start: int) -> None:
    """Refuse what is no sign of a number."""
    strange = content[start:].translate(None, _OF_NUMBERS)
    if strange:
        line = 1 + content.count(b"\n", 0, content.index(strange[:1], start))
        raise ValueError(f"line {line}: {strange[:1]!r} where a number must stand")
