"""Tables as CSV, among them that of the nodes."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from convexhc._types import Labels

# First characters by which a spreadsheet takes a cell for a formula.
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def node_table(
    names: Sequence[Hashable], partitions: Mapping[str, Labels], *, escape: bool = False
) -> str:
    """One row per node, with the columns that Gephi expects: Id, Label, then the clusters.

    Examples
    --------
    >>> import numpy as np
    >>> print(node_table(["ann", "bob"], {"cluster": np.array([0, 1])}), end="")
    Id,Label,cluster
    ann,ann,0
    bob,bob,1
    """
    columns = [labels.tolist() for labels in partitions.values()]
    texts = [cell(name, escape=escape) for name in names]
    rows = zip(texts, texts, *columns, strict=True)
    return csv_text(["Id", "Label", *partitions], rows)


def cell(name: object, *, escape: bool) -> str:
    """A name as text; if asked for, with an apostrophe before what looks like a formula.

    Examples
    --------
    >>> cell("=1+1", escape=True), cell("a", escape=True)
    ("'=1+1", 'a')
    """
    text = str(name)
    return f"'{text}" if escape and text.startswith(_FORMULA_MARKS) else text


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    r"""A table as CSV, with line feeds as line ends.

    Examples
    --------
    >>> csv_text(["node"], [["a"], ["carriage\rreturn"]])
    'node\na\n"carriage\rreturn"\n'
    """
    stream = io.StringIO(newline="")
    # The writer quotes the characters of its own line end only, so that it has to be both.
    lines = SimpleNamespace(write=lambda line: stream.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
