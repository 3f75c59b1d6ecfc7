"""Matrix Market files: checked, then read by scipy.

scipy's reader crashes on a last line without its end and on a NUL inside a line, and allocates
whatever the header declares.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import scipy

from convexhc.io.border import check_nodes, check_numbers

# Characters of numbers, also of inf and nan in any case, and blanks.
_OF_NUMBERS = b"0123456789+-.eEinfaINFA \t\r\n"
_COMMENT = b"%"
# Bytes of the shortest entry: two indices in a list of entries, one number in an array.
_SHORTEST_ENTRY = {2: 2, 3: 4}


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
        if line and not line.startswith(_COMMENT):
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
