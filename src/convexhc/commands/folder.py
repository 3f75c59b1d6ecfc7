"""The folder a fit writes: what is in it, and how each file is written whole."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import numpy as np
from scipy import sparse

from convexhc.commands.speech import Refusal
from convexhc.graph import Graph
from convexhc.path import Path

# Columns of labels.csv stay readable: at most so many levels, the widest plateaus first.
_LEVELS = 30


@dataclass(frozen=True)
class Folder:
    """Files of one fit.

    ``labels.csv`` (a row a node, a column a level), ``linkage.csv`` (scipy's form), ``tree.nwk``,
    ``path.npz`` (everything, for `Path.load`), ``graph.npz`` (the similarity), ``run.json``
    (versions, options, fingerprints, certificates), ``report.html``; ``checkpoint.npz`` while the
    run is not finished.
    """

    root: File

    @property
    def checkpoint(self) -> File:
        """Progress of an unfinished run."""
        return self.root / "checkpoint.npz"

    def prepare(self, *, resume: bool, force: bool) -> None:
        """Make the folder; refuse to overwrite a finished run or to restart an unfinished one."""
        if self.root.exists() and not self.root.is_dir():
            raise Refusal(f"{self.root} is a file: name a folder with -o.")
        if force:
            self.checkpoint.unlink(missing_ok=True)
        elif (self.root / "run.json").exists():
            raise Refusal(
                f"{self.root} holds a finished run: name another folder, or overwrite it with "
                "--force."
            )
        elif self.checkpoint.exists() and not resume:
            raise Refusal(
                f"{self.root} holds an unfinished run: go on with --resume, or start anew with "
                "--force."
            )
        if resume and not self.checkpoint.exists():
            raise Refusal(f"{self.root} holds no unfinished run: leave --resume out.")
        self.root.mkdir(parents=True, exist_ok=True)

    def write(self, path: Path, kernel: Graph, run: Mapping[str, Any]) -> None:
        """Write every result; ``run.json`` last, since it marks the run as finished."""
        path.save(self.root / "path.npz")
        self._write_graph(kernel)
        write_text(self.root / "labels.csv", labels_csv(path))
        rows = ([int(a), int(b), repr(float(h)), int(k)] for a, b, h, k in path.linkage)
        header = ["left", "right", "lam", "size"]
        write_text(self.root / "linkage.csv", csv_text(header, rows))
        write_text(self.root / "tree.nwk", path.to_newick() + "\n")
        write_text(self.root / "run.json", json.dumps(run, indent=2) + "\n")

    def _write_graph(self, kernel: Graph) -> None:
        target = self.root / "graph.npz"
        partial = self.root / ".graph.part.npz"
        sparse.save_npz(partial, kernel.matrix())
        partial.replace(target)

    def path(self) -> Path:
        """The saved path."""
        file = self.root / "path.npz"
        if not file.exists():
            raise Refusal(
                f"{self.root} holds no finished run: make one with "
                f"convexhc fit GRAPH -o {self.root}."
            )
        return Path.load(file)

    def graph(self, path: Path) -> Graph:
        """The saved similarity, with the names of the path."""
        matrix = sparse.csr_array(sparse.load_npz(self.root / "graph.npz"))
        return Graph.from_matrix(matrix, names=path.names, signed=True)


def labels_csv(path: Path) -> str:
    """One row a node, one column a level of the tree (the widest plateaus), coarse to fine."""
    widest = sorted(path.plateaus, key=lambda p: -p.log_width)
    counts = list(dict.fromkeys(p.n_clusters for p in widest))[:_LEVELS]
    levels = {k: path.labels(n_clusters=k) for k in sorted(counts)}
    header = ["node", *(f"k{k}" for k in levels)]
    columns = np.stack(list(levels.values()), axis=1)
    rows = ([_name(name), *row.tolist()] for name, row in zip(path.names, columns, strict=True))
    return csv_text(header, rows)


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def write_text(file: File, text: str) -> None:
    """Write a file whole: a temporary neighbour first, then one rename."""
    partial = file.with_name(f".{file.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


def _name(name: object) -> Any:
    return name if isinstance(name, str | int | float) else str(name)
