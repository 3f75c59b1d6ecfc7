"""Attributes of the nodes from a CSV file, for the report."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from pathlib import Path as File

from convexhc._text import counted
from convexhc.commands.messages import Refusal


def read_attributes(file: str | None, names: Sequence[Hashable]) -> dict[str, list[str | None]]:
    """Columns of a CSV file with a title line, whose first column has the names of the nodes.

    Nodes that the file does not name have no value; without a file there are no attributes.

    Raises
    ------
    Refusal
        The file cannot be read, has no second column, names a node twice, or names none of them.
    """
    if file is None:
        return {}
    try:
        with File(file).open(newline="", encoding="utf-8-sig") as lines:
            title, *rows = [row for row in csv.reader(lines, strict=True) if row]
    except (OSError, UnicodeError, csv.Error) as error:
        raise Refusal(f"--attributes {file}: cannot be read as CSV: {error}.") from error
    except ValueError:
        raise Refusal(f"--attributes {file}: the file is empty.") from None
    if len(title) < 2:
        raise Refusal(
            f"--attributes {file}: one column only: the first names the nodes, each further one is "
            "an attribute with its name in line 1."
        )
    values: dict[str, list[str]] = {}
    for row in rows:
        if len(row) != len(title):
            raise Refusal(f"--attributes {file}: {len(row)} cells, not {len(title)}, in {row}.")
        if row[0] in values:
            raise Refusal(f"--attributes {file}: the node {row[0]!r} has two lines.")
        values[row[0]] = row
    if not any(str(name) in values for name in names):
        raise Refusal(
            f"--attributes {file}: none of its {counted(len(values), 'node')} is in the graph, "
            f"whose first is {str(names[0])!r}: the first column must have the names of the nodes."
        )
    lines_of = [values.get(str(name)) for name in names]
    return {
        column: [None if line is None else line[at] for line in lines_of]
        for at, column in enumerate(title)
        if at
    }
