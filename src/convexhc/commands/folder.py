"""The folder of a fit: its files, and how they are written and read."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import numpy as np
from scipy import sparse

from convexhc._checks import LARGEST, checked_number, named
from convexhc._files import InUse, atomic_write, locked, remove_partial, write_text
from convexhc.api.clustering import SIMILARITIES
from convexhc.commands.messages import Refusal
from convexhc.export.csv_table import cell, csv_text, node_table
from convexhc.graph import Graph
from convexhc.io.arrays import read_members, sparse_from
from convexhc.io.border import border
from convexhc.path import Path
from convexhc.path.exports import suggested_partitions
from convexhc.path.suggestion import suggest
from convexhc.resampling.support import Support
from convexhc.version import __version__

# The last file marks the run as finished.
FILES = (
    "nodes.csv",
    "labels.csv",
    "linkage.csv",
    "tree.nwk",
    "path.npz",
    "graph.npz",
    "report.html",
    "run.json",
)
# Written only if resamples were asked for.
SUPPORT_FILES = ("support.csv", "support_nodes.csv", "support_levels.csv", "support.npz")
_RECORD = "record of a run (fit again with --force)"
# Entries of run.json and begun.json that the commands use, and their types.
RUN: Mapping[str, tuple[type, ...]] = {
    "convexhc": (str,),
    "input": (str,),
    "seconds": (int, float),
    "similarity": (str,),
    "shift": (int, float, str, type(None)),
    "weights": (str,),
    "space": (str,),
    "options": (dict,),
}
BEGUN: Mapping[str, tuple[type, ...]] = {
    "convexhc": (str,),
    "arguments": (list,),
    "directory": (str,),
}


@dataclass(frozen=True)
class RunFolder:
    """A folder that one run at a time writes in, with a record of how an unfinished run began."""

    root: File

    @property
    def begun(self) -> File:
        """Version, arguments and working directory of an unfinished run."""
        return self.root / "begun.json"

    @contextmanager
    def held(self, *, resume: bool) -> Iterator[None]:
        """Make the folder and hold its lock; remove it if nothing was written."""
        if self.root.exists() and not self.root.is_dir():
            raise Refusal(f"{self.root} is a file: name a folder with -o.")
        if resume and not self.root.exists():
            raise Refusal(f"{self.root} holds no unfinished run: leave --resume out.")
        self.root.mkdir(parents=True, exist_ok=True)
        try:
            with locked(self.root / ".lock"):
                yield
        except InUse as error:
            raise Refusal(
                f"{self.root} is in use by another fit ({error}): wait for it, or name another "
                "folder."
            ) from None
        finally:
            with suppress(OSError):
                self.root.rmdir()

    def refuse_results(self, existing: Sequence[str], *, unfinished: bool) -> None:
        """Refuse to restart an unfinished run, or to overwrite results."""
        if unfinished:
            raise Refusal(
                f"{self.root} holds an unfinished run: go on with --resume, or start anew with "
                "--force."
            )
        if existing:
            raise Refusal(
                f"{self.root} already holds {', '.join(existing)}: name another folder, or "
                "overwrite with --force."
            )

    def record_beginning(self, given: Sequence[str]) -> None:
        """Write how the run was begun."""
        begun = {"convexhc": __version__, "arguments": list(given), "directory": os.getcwd()}
        write_text(self.begun, json.dumps(begun, indent=2) + "\n")


@dataclass(frozen=True)
class Folder(RunFolder):
    """Files of one fit.

    ``nodes.csv`` (one row per node: Id, Label and the clusters of the scales that last),
    ``labels.csv`` (one row per node, one column per level), ``linkage.csv`` (scipy's form),
    ``tree.nwk``, ``path.npz`` (the whole path, for `Path.load`), ``graph.npz`` (the input graph),
    ``report.html`` and ``run.json`` (versions, options, fingerprints, certificates); with resamples
    ``support*.csv`` and ``support.npz`` (for `Support.load`). Until the run is finished,
    ``checkpoint.npz`` (its progress), ``begun.json`` (its arguments) and ``resamples/``.
    """

    @property
    def checkpoint(self) -> File:
        """Progress of an unfinished run."""
        return self.root / "checkpoint.npz"

    @property
    def resamples(self) -> File:
        """Folder of the paths of resamples of an unfinished run."""
        return self.root / "resamples"

    @property
    def report(self) -> File:
        """The report."""
        return self.root / "report.html"

    @contextmanager
    def opened(self, *, resume: bool, force: bool) -> Iterator[None]:
        """Make the folder and keep other fits out of it; remove it if nothing was written."""
        with self.held(resume=resume):
            self._prepare(resume=resume, force=force)
            yield

    def _prepare(self, *, resume: bool, force: bool) -> None:
        """Refuse to overwrite results or to restart an unfinished run."""
        if resume and not self.checkpoint.exists():
            raise Refusal(f"{self.root} holds no unfinished run: leave --resume out.")
        if force:
            self._remove_checkpoint()
        elif not resume:
            existing = [name for name in (*FILES, *SUPPORT_FILES) if (self.root / name).exists()]
            self.refuse_results(existing, unfinished=self.checkpoint.exists())
        remove_partial(self.root)

    def begin(self, given: Sequence[str]) -> None:
        """Record how the run was begun, and mark an earlier run in the folder as incomplete."""
        (self.root / FILES[-1]).unlink(missing_ok=True)
        if not self.begun.exists():
            self.record_beginning(given)

    def write(
        self,
        path: Path,
        graph: Graph,
        min_cluster_size: int | None = None,
        *,
        escape: bool = False,
    ) -> None:
        """Write every result but the report and the record."""
        path.save(self.root / "path.npz")
        with atomic_write(self.root / "graph.npz") as stream:
            sparse.save_npz(stream, graph.matrix())
        nodes = nodes_csv(path, min_cluster_size, escape=escape)
        write_text(self.root / "nodes.csv", nodes)
        table = labels_csv(path, min_cluster_size, escape=escape)
        write_text(self.root / "labels.csv", table)
        rows = ([int(a), int(b), repr(float(h)), int(k)] for a, b, h, k in path.linkage)
        header = ["left", "right", "lam", "size"]
        write_text(self.root / "linkage.csv", csv_text(header, rows))
        write_text(self.root / "tree.nwk", path.to_newick() + "\n")

    def finish(self, run: Mapping[str, Any]) -> None:
        """Write the record, which marks the run as finished."""
        write_text(self.root / FILES[-1], json.dumps(run, indent=2) + "\n")
        self._remove_checkpoint()

    def _remove_checkpoint(self) -> None:
        self.checkpoint.unlink(missing_ok=True)
        self.begun.unlink(missing_ok=True)
        if self.resamples.is_dir():
            for file in self.resamples.glob("*.npz"):
                file.unlink()
            with suppress(OSError):
                self.resamples.rmdir()

    def remove_support(self) -> None:
        """Remove the support of an earlier run."""
        for name in SUPPORT_FILES:
            (self.root / name).unlink(missing_ok=True)

    def support(self) -> Support | None:
        """The saved support; None without resamples."""
        file = self.root / SUPPORT_FILES[-1]
        return Support.load(file) if file.exists() else None

    def finished(self) -> bool:
        """Whether the folder holds a finished run."""
        return (self.root / FILES[-1]).exists()

    def run(self) -> dict[str, Any]:
        """The record of the finished run; `Refusal` without one."""
        file = self.root / FILES[-1]
        if not self.finished():
            raise Refusal(
                f"{self.root} holds no finished run: make one with "
                f"convexhc fit GRAPH -o {self.root}."
            )
        run = read_record(file, RUN)
        with border(file, _RECORD):
            named("similarity", run["similarity"], dict.fromkeys(SIMILARITIES))
            if run["shift"] not in (None, "auto"):
                checked_number("shift", run["shift"], upper=LARGEST)
        return run

    def beginning(self) -> dict[str, Any]:
        """How the unfinished run was begun."""
        return read_record(self.begun, BEGUN)

    def path(self) -> Path:
        """The saved path."""
        self.run()
        return Path.load(self.root / "path.npz")

    def graph(self, names: tuple[Hashable, ...]) -> Graph:
        """The saved graph, with the names of the path."""
        file = self.root / "graph.npz"
        with border(file, "graph of a fit"):
            matrix = sparse_from(read_members(file))
            return Graph.from_matrix(matrix, names=names, signed=True)


def resume_command(given: Sequence[str]) -> str:
    """The command that resumes a run begun with these arguments.

    Examples
    --------
    >>> resume_command(["fit", "my edges.csv", "-o", "out", "--force"])
    "convexhc fit 'my edges.csv' -o out --resume"
    """
    kept = [word for word in given if word not in ("--force", "--resume")]
    return shlex.join(["convexhc", *kept, "--resume"])


def refuse_to_overwrite(file: File, *, force: bool) -> None:
    """Refuse a file that exists, unless ``force``."""
    if file.exists() and not force:
        raise Refusal(f"{file} exists: name another file, or overwrite it with --force.")


def read_record(file: File, expected: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Read a record; ValueError unless it has the expected entries."""
    with border(file, _RECORD):
        record = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it holds no entries")
        for name, types in expected.items():
            if not isinstance(record[name], types):
                raise ValueError(f"{name} is {record[name]!r}")
        return record


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


def nodes_csv(path: Path, min_cluster_size: int | None = None, *, escape: bool = False) -> str:
    """One row per node: Id, Label, the suggested cluster and those of the few scales that last."""
    suggested = suggest(path, min_cluster_size).labels
    partitions = suggested_partitions(path, min_cluster_size, suggested)
    return node_table(path.names, partitions, escape=escape)
