"""The tables, trees and record of a cohort."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Any

from convexhc._files import write_text
from convexhc.cohort.distances import SubjectDistances
from convexhc.cohort.overview import ALL, Overview
from convexhc.cohort.table import SOLVED
from convexhc.commands.subjects import folder_names
from convexhc.export.csv_table import cell, csv_text
from convexhc.version import __version__


def write_tables(
    root: File, rows: Sequence[Mapping[str, Any]], compared: Overview | None, *, escape: bool
) -> None:
    """Write cohort.csv, and what was compared: distances, tests, consensus trees."""
    header = list(rows[0])
    table = ([_text(value, escape=escape) for value in row.values()] for row in rows)
    write_text(root / "cohort.csv", csv_text(header, table))
    if compared is None:
        return
    for each in compared.distances:
        write_text(root / f"distances_{each.label}.csv", distances_csv(each, escape=escape))
    if compared.comparisons:
        tests = [each.row() for each in compared.comparisons]
        numbers = ([_text(value, escape=escape) for value in row.values()] for row in tests)
        write_text(root / "tests.csv", csv_text(list(tests[0]), numbers))
    files = folder_names([name.removeprefix("group ") for name in compared.consensus])
    for (name, consensus), file in zip(compared.consensus.items(), files, strict=True):
        target = "consensus.nwk" if name == ALL else f"consensus_{file}.nwk"
        write_text(root / target, consensus.tree.to_newick(consensus.share) + "\n")


def distances_csv(distances: SubjectDistances, *, escape: bool = False) -> str:
    """A matrix of distances, subjects as rows and columns."""
    names = [cell(name, escape=escape) for name in distances.subjects]
    rows = (
        [name, *(_text(value, escape=escape) for value in row)]
        for name, row in zip(names, distances.matrix.tolist(), strict=True)
    )
    return csv_text(["subject", *names], rows)


def cohort_record(
    options: Namespace,
    rows: Sequence[Mapping[str, Any]],
    compared: Overview | None,
    seconds: float,
) -> dict[str, Any]:
    """The content of cohort.json: version, arguments, counts, tests."""
    return {
        "convexhc": __version__,
        "arguments": [word for word in options.given if word not in ("--resume", "--force")],
        "seconds": seconds,
        "n_subjects": len(rows),
        "failed": {str(r["subject"]): r["status"] for r in rows if r["status"] != SOLVED},
        "n_nodes": 0 if compared is None else len(compared.nodes.union),
        "n_common_nodes": 0 if compared is None else len(compared.nodes.names),
        "distances": {} if compared is None else {d.label: d.meaning for d in compared.distances},
        "tests": []
        if compared is None
        else [
            {name: None if value != value else value for name, value in each.row().items()}
            for each in compared.comparisons
        ],
    }


def _text(value: Any, *, escape: bool) -> str:
    """A cell: empty for None and NaN, all digits of a number."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else cell(value, escape=escape)
