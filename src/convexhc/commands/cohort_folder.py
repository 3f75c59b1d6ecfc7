"""The folder of a cohort: one folder per subject, tables, consensus trees, a page, a record."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from convexhc._files import remove_partial, write_text
from convexhc.cohort.distances import SubjectDistances
from convexhc.cohort.overview import ALL, SOLVED, Overview
from convexhc.commands.folder import FILES, Folder, RunFolder, read_record
from convexhc.commands.inputs import folder_names
from convexhc.commands.messages import Refusal
from convexhc.export.csv_table import cell, csv_text
from convexhc.path import Path
from convexhc.version import __version__

RECORD = "cohort.json"
# Files of a cohort whose names depend on its groups and options.
_PATTERNS = ("distances_*.csv", "consensus*.nwk", "cohort.csv", "tests.csv", "cohort.html", RECORD)


@dataclass(frozen=True)
class CohortFolder(RunFolder):
    """Files of one cohort.

    ``subjects/NAME`` holds what ``convexhc fit`` writes, for every subject, and
    ``consensus/GROUP`` the same for the mean graph of all subjects (``all``) and of every group.
    Until the run is finished, ``begun.json`` holds its arguments.
    """

    record_name = RECORD

    @property
    def page(self) -> File:
        """The page that compares the subjects."""
        return self.root / "cohort.html"

    def subject(self, name: str) -> Folder:
        """The folder of a subject."""
        return Folder(self.root / "subjects" / name)

    def mean(self, name: str) -> Folder:
        """The folder of a mean graph."""
        return Folder(self.root / "consensus" / name)

    @contextmanager
    def opened(self, given: Sequence[str], *, resume: bool, force: bool) -> Iterator[None]:
        """Make the folder, keep other runs out of it, and record how this one was begun."""
        with self.held(resume=resume):
            self._prepare(resume=resume, force=force)
            self.record_beginning(given)
            self.record.unlink(missing_ok=True)
            yield

    def _prepare(self, *, resume: bool, force: bool) -> None:
        unfinished = self.begun.exists()
        if resume and not (self.finished() or unfinished):
            raise Refusal(f"{self.root} holds no run of a cohort: leave --resume out.")
        if not resume and not force:
            existing = sorted(entry.name for entry in self.root.iterdir() if entry.name[0] != ".")
            self.refuse_results(existing[:4], unfinished=unfinished)
        for folder in (self.root, *self._folders()):
            remove_partial(folder)
        if force:
            self._remove_results()

    def _folders(self) -> list[File]:
        """The folders of subjects and of mean graphs that exist."""
        return [
            entry
            for name in ("subjects", "consensus")
            for entry in sorted((self.root / name).glob("*"))
            if entry.is_dir()
        ]

    def _remove_results(self) -> None:
        """Remove what an earlier run wrote, and nothing else."""
        for pattern in _PATTERNS:
            for file in self.root.glob(pattern):
                file.unlink(missing_ok=True)
        for folder in self._folders():
            # The record first: without it, what is left counts as unfinished.
            for name in reversed(FILES):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()

    def saved(self, folder: Folder, asked: Mapping[str, Any]) -> tuple[Path, dict[str, Any]] | None:
        """Path and record of an earlier run, if it is finished and was asked for the same."""
        if not folder.finished():
            return None
        try:
            run = read_record(folder.record, {"asked": (dict,)})
            same = run["asked"] == json.loads(json.dumps(asked))
            return (Path.load(folder.root / "path.npz"), run) if same else None
        except (ValueError, OSError):
            return None


def write_tables(
    root: File, rows: Sequence[Mapping[str, Any]], compared: Overview | None, *, escape: bool
) -> None:
    """Write cohort.csv, and what was compared: distances, tests, consensus trees."""
    write_text(root / "cohort.csv", _csv_of(rows, escape=escape))
    if compared is None:
        return
    for each in compared.distances:
        write_text(root / f"distances_{each.label}.csv", distances_csv(each, escape=escape))
    if compared.comparisons:
        tests = [each.row() for each in compared.comparisons]
        write_text(root / "tests.csv", _csv_of(tests, escape=escape))
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


def _csv_of(rows: Sequence[Mapping[str, Any]], *, escape: bool) -> str:
    """Rows of the same columns as CSV."""
    cells = ([_text(value, escape=escape) for value in row.values()] for row in rows)
    return csv_text(rows[0], cells)


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
        "n_nodes": len(compared.nodes.union) if compared else 0,
        "n_common_nodes": len(compared.nodes.names) if compared else 0,
        "distances": {d.label: d.meaning for d in compared.distances} if compared else {},
        "tests": [
            {name: None if value != value else value for name, value in each.row().items()}
            for each in (compared.comparisons if compared else ())
        ],
    }


def _text(value: Any, *, escape: bool) -> str:
    """A cell: empty for None and NaN, all digits of a number."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else cell(value, escape=escape)
