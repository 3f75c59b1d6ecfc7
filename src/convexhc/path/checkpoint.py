"""Checkpoints: the progress of a path in a file, from which an interrupted run continues."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from convexhc.fusion.conductances import Conductances
from convexhc.fusion.contraction import contract
from convexhc.fusion.graph_solve import ContractedSolution
from convexhc.io.archive import read_npz, write_npz
from convexhc.model.problem import FusionProblem
from convexhc.path.level import Level, pack_levels, unpack_levels
from convexhc.path.packing import is_labels
from convexhc.path.progress import Progress
from convexhc.solvers.solution import ARRAYS, pack_solution, unpack_solution

# Checkpoints up to this many bytes are written after every lam.
_SMALL_BYTES = 10_000_000
# Larger ones are written at intervals of at least this many times the duration of the last write.
_WRITE_INTERVAL = 20.0


class Checkpoint:
    """A file with the progress of one run: always complete, not always the latest.

    A resumed run must have the same ``digest``, that of data and options.
    """

    def __init__(self, file: str | os.PathLike[str], digest: str, problem: FusionProblem) -> None:
        self.file, self.digest, self.problem = file, digest, problem
        self._written: Progress[ContractedSolution] | None = None
        self._size, self._duration, self._ended = 0, 0.0, 0.0

    def load(self) -> Progress[ContractedSolution] | None:
        """Progress of an interrupted run; None without a file; ValueError for a foreign one."""
        if not FilePath(self.file).exists():
            return None
        digest, progress = read_npz(self.file, "checkpoint", self._unpack)
        if digest != self.digest:
            raise ValueError(
                f"{self.file} is the checkpoint of another run (other data, options or version): "
                "name another file, or delete this one to start anew."
            )
        self._written = progress
        return progress

    def _unpack(
        self, text: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> tuple[str, Progress[ContractedSolution] | None]:
        """The digest and, if it is that of this run, the progress."""
        if text["digest"] != self.digest:
            return str(text["digest"]), None
        solutions = [
            _unpack_solution(self.problem, fields, arrays, i)
            for i, fields in enumerate(text["solutions"])
        ]
        previous = solutions.pop(0) if text["has_previous"] else None
        current = solutions.pop(0) if text["has_current"] else None
        levels = tuple(unpack_levels(arrays))
        n = self.problem.shape[0]
        if not all(is_labels(level.labels, n) for level in levels):
            raise ValueError("its labels are not numbered")
        crowded = float(text["crowded_lam"])
        return self.digest, Progress(levels, previous, current, tuple(solutions), crowded)

    def keep(self, progress: Progress[ContractedSolution]) -> None:
        """Write, unless the file is large and was written recently; `finish` will write it."""
        elapsed = perf_counter() - self._ended
        if self._size <= _SMALL_BYTES or elapsed >= _WRITE_INTERVAL * self._duration:
            self.write(progress)

    def finish(self, progress: Progress[ContractedSolution]) -> None:
        """Write what the file does not hold yet: at the end, or when interrupted."""
        if progress is not self._written and progress.levels:
            self.write(progress)

    def write(self, progress: Progress[ContractedSolution]) -> None:
        """Replace the file atomically."""
        began = perf_counter()
        accepted = [one for one in (progress.previous, progress.current) if one is not None]
        solutions, arrays = [], pack_levels(progress.levels)
        for i, solution in enumerate([*accepted, *progress.ahead]):
            fields, own = pack_solution(solution.small)
            solutions.append(fields)
            arrays[f"groups_{i}"] = solution.groups
            if solution.conductances is not None:
                arrays[f"conductances_{i}"] = solution.conductances.pack()
            arrays |= {f"{name}_{i}": array for name, array in own.items()}
        text = {
            "kind": "checkpoint",
            "digest": self.digest,
            "crowded_lam": progress.crowded_lam,
            "has_previous": progress.previous is not None,
            "has_current": progress.current is not None,
            "solutions": solutions,
        }
        write_npz(self.file, text, arrays)
        self._written, self._ended = progress, perf_counter()
        self._duration = self._ended - began
        self._size = sum(array.nbytes for array in arrays.values())


def _unpack_solution(
    problem: FusionProblem, fields: dict[str, Any], arrays: dict[str, NDArray[Any]], i: int
) -> ContractedSolution:
    """The i-th solution; ValueError if its arrays do not fit the problem."""
    groups = arrays[f"groups_{i}"]
    if not is_labels(groups, problem.shape[0]):
        raise ValueError("its groups are not numbered")
    contraction = contract(problem, groups)
    own = {name: arrays[f"{name}_{i}"] for name in ARRAYS if f"{name}_{i}" in arrays}
    small = unpack_solution(fields, own)
    rows, columns = contraction.problem.shape
    edges, all_edges = contraction.problem.penalty.n_edges, problem.penalty.n_edges
    expected = {
        "centroids": (rows, columns),
        "nonneg_dual": (rows, columns),
        "dual": (edges, columns),
        "labels": (rows,),
    }
    if any(array.shape != expected[name] for name, array in own.items()):
        raise ValueError("its solutions do not fit the problem")
    if not is_labels(small.labels, rows):
        raise ValueError("its labels are not numbered")
    stored = arrays.get(f"conductances_{i}")
    if stored is not None and stored.shape != (5, all_edges):
        raise ValueError("its conductances do not fit the problem")
    known = None if stored is None else Conductances.unpack(stored)
    return ContractedSolution(contraction, small, known)


def solved_so_far(file: str | os.PathLike[str]) -> tuple[Level, ...]:
    """The levels in a checkpoint of any run, in increasing order of lam."""

    def unpack(_: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[Level]:
        levels = unpack_levels(arrays)
        if not levels or not all(is_labels(level.labels, level.labels.size) for level in levels):
            raise ValueError("it has no levels, or their labels are not numbered")
        return levels

    levels = read_npz(file, "checkpoint", unpack)
    return tuple(sorted(levels, key=lambda level: level.lam))
