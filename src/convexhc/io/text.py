"""Reader of edge lists and matrices in text files.

It does not need pandas: splitting lines is as fast for the few columns of an edge list, and errors
give the line number.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.io.reading import (
    DEFAULT_WEIGHT,
    Reading,
    column_named,
    find_columns,
    number_ends,
    places_of,
)

_COMMENT_MARKS = "#%"
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)")
# Words that head the two columns of edges, in pairs; neither case nor order matters.
_TITLES = {
    ("a", "b"),
    ("child", "parent"),
    ("citing", "cited"),
    ("end", "start"),
    ("destination", "origin"),
    ("destination", "source"),
    ("follower", "followee"),
    ("head", "tail"),
    ("interactor_a", "interactor_b"),
    ("sender", "receiver"),
    ("x", "y"),
}
# A word and the mark that tells its two columns apart: protein1, gene_a, id.x.
_MARKED = re.compile(r"(?P<stem>[^\W\d_].*?)(?P<mark>[ _.-]?(?:[0-9]|[ABXYIJabxyij]))")
_MARKS = {("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"), ("i", "j")}


@dataclass(frozen=True)
class _Table:
    """Cells of the data lines of a file, and their line numbers.

    The cells below the first line are one flat list: a list per line would dominate the time.
    """

    header: list[str]
    body: list[str]
    width: int
    lines: list[str]
    numbers: list[int]

    @property
    def height(self) -> int:
        return len(self.lines)

    def fault(self, row: int, what: str) -> ValueError:
        return ValueError(f"line {self.numbers[row]}: {what}: {self.lines[row]!r}")

    def column(self, place: int, *, start: int) -> list[str]:
        below = self.body[place :: self.width]
        return below if start else [self.header[place], *below]

    def values(self, *, start: int, first: int) -> FloatArray:
        """Return the numbers in the rows from ``start`` on, columns from ``first`` on."""
        cells = self.body if start else self.header + self.body
        kept = np.array(cells, dtype=object).reshape(-1, self.width)[:, first:]
        flat = self.numbers_in(kept.ravel().tolist(), start=start, per_row=self.width - first)
        return flat.reshape(kept.shape)

    def numbers_in(self, cells: list[str], *, start: int, per_row: int) -> FloatArray:
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            k = next(k for k, cell in enumerate(cells) if not _is_number(cell))
            raise self.fault(start + k // per_row, f"{cells[k]!r} is not a number") from None


def read_text(text: str, reading: Reading, *, may_be_matrix: bool = True) -> Graph:
    """Read the text of a file by the rules of :func:`convexhc.io.as_graph`, in this order.

    A matrix with row and column names; a table of edges with known column names; a square of
    numbers, for up to three columns only if symmetric and not starting with integers; two or three
    columns of edges; a matrix with row names only. ``may_be_matrix`` is false for a file of edges.
    """
    table = _read_table(text)
    width, height = table.width, table.height
    if reading.columns is not None:
        titled = isinstance(reading.columns[0], str)
        chosen = places_of(reading.columns, table.header if titled else range(1, width + 1))
        return _read_edges(table, *chosen, start=int(titled), reading=reading)
    if may_be_matrix and _has_row_and_column_names(table):
        return reading.matrix(table.values(start=1, first=1), _typed(table.column(0, start=1)))
    if len(table.header) != width:
        raise table.fault(0, f"{width} cells expected, {len(table.header)} found")
    places = find_columns(table.header, reading.weight)
    if places is not None:
        return _read_edges(table, *places, start=1, reading=reading)
    if may_be_matrix and height == width and _is_matrix(table, start=0):
        return reading.matrix(table.values(start=0, first=0))
    if may_be_matrix and height == width + 1 and _is_matrix(table, start=1):
        return reading.matrix(table.values(start=1, first=0), _typed(table.header))
    if width in (2, 3):
        start = 1 if _has_title(table) else 0
        weight = None if reading.weight is None or width == 2 else 2
        if reading.weight not in (None, DEFAULT_WEIGHT):
            weight = column_named(reading.weight, table.header if start else [])
        return _read_edges(table, 0, 1, weight, start=start, reading=reading)
    if height == width - 1:
        return reading.matrix(table.values(start=0, first=1), _typed(table.column(0, start=0)))
    raise ValueError(
        f"{height} lines of {width} cells are neither an edge list (two or three columns, or "
        "columns named source, target, weight) nor a square matrix; name the columns of the two "
        f"ends with columns=..., of {table.header[:8]}; for points in space use similarity.knn"
    )


def _read_table(text: str) -> _Table:
    every = text.split("\n")
    numbers = [
        k for k, line in enumerate(every, 1) if line.strip() and line[0] not in _COMMENT_MARKS
    ]
    lines = [every[k - 1] for k in numbers]
    if not lines:
        raise ValueError("the file holds no data lines")
    delimiter = next((mark for mark in "\t;," if mark in lines[0]), None)
    if delimiter is None or '"' in text:
        rows = [_cells(line, delimiter) for line in lines]
        widths, header, body = [len(row) for row in rows], rows[0], list(chain(*rows[1:]))
    else:
        widths = [1 + marks for marks in map(str.count, lines, repeat(delimiter))]
        header = _cells(lines[0], delimiter)
        body = delimiter.join(lines[1:]).split(delimiter) if lines[1:] else []
        if " " in text:
            body = [cell.strip() for cell in body]
    width = Counter(widths).most_common(1)[0][0]
    table = _Table(header, body, width, lines, numbers)
    for row, found in enumerate(widths):
        # The first line may lack the corner cell above the row names.
        if found != width and row > 0:
            raise table.fault(row, f"{width} cells expected, {found} found")
    return table


def _cells(line: str, delimiter: str | None) -> list[str]:
    if '"' in line:
        quoted = csv.reader([line], delimiter=delimiter or " ", skipinitialspace=True)
        return [cell.strip() for cell in next(quoted)]
    return [cell.strip() for cell in line.split(delimiter)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _has_row_and_column_names(table: _Table) -> bool:
    """Whether the first line repeats the first column, as in a matrix with names."""
    header, names = table.header, table.column(0, start=1)
    if table.height != table.width or not names:
        return False
    # Two edges, a b and b c, also repeat a name in these positions.
    if table.width == 2 and not _is_number(table.body[-1]):
        return False
    # A symmetric matrix of numbers also has equal first row and column, but a number as corner.
    return header == names or (header[1:] == names and not _is_number(header[0]))


def _is_matrix(table: _Table, *, start: int) -> bool:
    """Whether a square block is a matrix, not edges; ValueError if it can be either."""
    cells = table.body if start else table.header + table.body
    width = table.width
    if width > 3:
        return True
    if not all(map(_is_number, cells)):
        return False
    block = np.array(cells, dtype=np.float64).reshape(width, width)
    if not np.array_equal(block, block.T):
        return False
    if _whole(cells[0::width] + cells[1::width]):
        raise ValueError(
            f"{width} lines of {width} numbers can be a matrix as well as edges between numbered "
            "nodes: put the line source,target,weight above edges, row and column names on a matrix"
        )
    return True


def _has_title(table: _Table) -> bool:
    """Whether the first line of two or three columns of edges is a title."""
    if table.width == 3:
        # A cell that starts like a number but is not one is an error, not a title.
        return not _is_number(table.header[2]) and table.header[2][:1].isalpha()
    if not table.body or _whole(table.body):
        return bool(table.body) and not _whole(table.header)
    return _is_title(table.header, table.body)


def _whole(cells: list[str]) -> bool:
    return all(map(_WHOLE_NUMBER.fullmatch, cells))


def _typed(cells: list[str]) -> list[int] | list[str]:
    """Return integers if all names are integers in Python's notation (007 stays text)."""
    return [int(cell) for cell in cells] if _whole(cells) else cells


def _read_edges(
    table: _Table, source: int, target: int, weight: int | None, *, start: int, reading: Reading
) -> Graph:
    ends = table.column(source, start=start), table.column(target, start=start)
    values = None
    if weight is not None:
        values = table.numbers_in(table.column(weight, start=start), start=start, per_row=1)
    distinct, tail, head = number_ends(*ends)
    if "" in distinct:
        row = next(k for k, pair in enumerate(zip(*ends, strict=True)) if "" in pair)
        raise table.fault(start + row, "an end of the edge is blank")
    return reading.numbered_edges(_typed([str(name) for name in distinct]), tail, head, values)


def _is_title(first: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the first line of edges is a title: a warning says so, and doubt is an error.

    ``first`` are its two cells, ``others`` those of all other lines. A title that is read as an
    edge would become two more nodes.
    """
    known = set(others)
    if any(name in known or not name[:1].isalpha() for name in first):
        return False
    one, other = first
    if not _heads_columns(one, other, known):
        raise ValueError(
            f"line 1: is it a title or an edge? {one!r} and {other!r} occur on no other line. If "
            f"it is a title, pass columns=({one!r}, {other!r}); if it is an edge, columns=(1, 2)"
        )
    warnings.warn(
        f"line 1 is taken as the title of the columns {one!r} and {other!r}, which occur on no "
        "other line; if it is an edge, pass columns=(1, 2)",
        UserWarning,
        stacklevel=2,
    )
    return True


def _heads_columns(one: str, other: str, names: set[str]) -> bool:
    """Whether two words look like the names of the two columns of edges, not like two nodes."""
    pair = one.lower(), other.lower()
    if pair in _TITLES or pair[::-1] in _TITLES:
        return True
    left, right = _MARKED.fullmatch(one), _MARKED.fullmatch(other)
    if left is None or right is None or left["stem"].lower() != right["stem"].lower():
        return False
    marks = tuple(found["mark"].lower().lstrip(" _.-") for found in (left, right))
    # Nodes named n1, n2, n3 are no title.
    alike = (_MARKED.fullmatch(name) for name in names)
    return marks in _MARKS and not any(
        found is not None and found["stem"].lower() == left["stem"].lower() for found in alike
    )
