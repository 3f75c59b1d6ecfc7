"""The folder of a fit: its files, and how they are written and read."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any, ClassVar

from scipy import sparse

from convexhc._checks import LARGEST, checked_number, named
from convexhc._files import InUse, atomic_write, locked, remove_partial, write_text
from convexhc._types import FloatArray
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

# The last one is the record.
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
LINKAGE = ("left", "right", "lam", "size")
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
BEGUN = {"convexhc": (str,), "arguments": (list,), "directory": (str,)}


@dataclass(frozen=True)
class RunFolder:
    """A folder that one run at a time writes in, with a record of how an unfinished run began."""

    root: File
    # Name of the record; it is written last, and marks the run as finished.
    record_name: ClassVar[str]

    @property
    def record(self) -> File:
        """The record of the finished run."""
        return self.root / self.record_name

    def finished(self) -> bool:
        """Whether the folder holds a finished run."""
        return self.record.exists()

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

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record, and remove what an unfinished run needs."""
        write_text(self.record, json.dumps(record, indent=2) + "\n")
        self.forget()

    def forget(self) -> None:
        """Remove what an unfinished run needs to be resumed."""
        self.begun.unlink(missing_ok=True)


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

    record_name = FILES[-1]

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
            self.forget()
        elif not resume:
            existing = [name for name in (*FILES, *SUPPORT_FILES) if (self.root / name).exists()]
            self.refuse_results(existing, unfinished=self.checkpoint.exists())
        remove_partial(self.root)

    def begin(self, given: Sequence[str]) -> None:
        """Record how the run was begun, and mark an earlier run in the folder as incomplete."""
        self.record.unlink(missing_ok=True)
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
        suggested = suggest(path, min_cluster_size).labels
        partitions = suggested_partitions(path, min_cluster_size, suggested)
        nodes = node_table(path.names, partitions, escape=escape)
        write_text(self.root / "nodes.csv", nodes)
        write_text(self.root / "labels.csv", labels_csv(path, min_cluster_size, escape=escape))
        write_text(self.root / "linkage.csv", csv_text(LINKAGE, _joins(path.linkage)))
        write_text(self.root / "tree.nwk", path.to_newick() + "\n")

    def write_support(self, found: Support | None, *, escape: bool) -> None:
        """Write the support of the path over that of an earlier run, or remove it."""
        for name in SUPPORT_FILES:
            (self.root / name).unlink(missing_ok=True)
        if found is None:
            return
        nodes = found.table("nodes")
        nodes["node"] = [cell(name, escape=escape) for name in nodes["node"]]
        tables = (found.table("branches"), nodes, found.table("levels"))
        for name, table in zip(SUPPORT_FILES, tables, strict=False):
            write_text(self.root / name, csv_text(table, zip(*table.values(), strict=True)))
        # A row inside a merge of several clusters makes no branch: its cells are empty.
        shares = (["" if x != x else x for x in row] for row in found.linkage_support.tolist())
        rows = map(list.__add__, _joins(found.tree.Z), shares)
        text = csv_text([*LINKAGE, "share", "transfer"], rows)
        write_text(self.root / "linkage.csv", text)
        write_text(self.root / "tree.nwk", found.to_newick() + "\n")
        found.save(self.root / "support.npz")

    def forget(self) -> None:
        """Remove the checkpoint, the arguments and the resamples."""
        self.checkpoint.unlink(missing_ok=True)
        super().forget()
        if self.resamples.is_dir():
            for file in self.resamples.glob("*.npz"):
                file.unlink()
            with suppress(OSError):
                self.resamples.rmdir()

    def support(self) -> Support | None:
        """The saved support; None without resamples."""
        file = self.root / SUPPORT_FILES[-1]
        return Support.load(file) if file.exists() else None

    def run(self) -> dict[str, Any]:
        """The record of the finished run; `Refusal` without one."""
        if not self.finished():
            raise Refusal(
                f"{self.root} holds no finished run: make one with "
                f"convexhc fit GRAPH -o {self.root}."
            )
        run = read_record(self.record, RUN)
        with border(self.record, _RECORD):
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


def _joins(linkage: FloatArray) -> list[list[Any]]:
    """The rows of a linkage as cells of a table."""
    return [[int(a), int(b), repr(height), int(k)] for a, b, height, k in linkage.tolist()]


def resume_command(given: Sequence[str]) -> str:
    """The command that resumes a run begun with these arguments.

    Examples
    --------
    >>> resume_command(["fit", "my edges.csv", "-o", "out", "--force"])
    "convexhc fit 'my edges.csv' -o out --resume"
    """
    kept = [word for word in given if word not in ("--force", "--resume")]
    return shlex.join(["convexhc", *kept, "--resume"])


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
    cuts = [path.labels(n_clusters=k, by="lam").tolist() for k in counts]
    suggested = suggest(path, min_cluster_size).labels.tolist()
    names = [cell(name, escape=escape) for name in path.names]
    header = ["node", "suggested", *(f"k{k}" for k in counts)]
    return csv_text(header, zip(names, suggested, *cuts, strict=True))
