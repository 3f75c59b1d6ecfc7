"""Results as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from convexhc.path import Path
from convexhc.path.suggestion import suggest

# First characters by which a spreadsheet takes a cell for a formula.
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def labels_csv(path: Path, min_cluster_size: int | None = None, *, escape: bool = False) -> str:
    """One row per node: suggested cluster, then the cluster at each horizontal cut of the tree.

    The columns of the cuts are named ``k<clusters>``, coarse to fine.
    """
    counts = sorted(path.level_n_clusters)
    levels = [path.labels(n_clusters=k, by="lam") for k in counts]
    columns = np.stack([suggest(path, min_cluster_size).labels, *levels], axis=1)
    rows = (
        [cell(name, escape=escape), *row]
        for name, row in zip(path.names, columns.tolist(), strict=True)
    )
    return csv_text(["node", "suggested", *(f"k{k}" for k in counts)], rows)


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
