"""Points and checkpoints as arrays: what is written to disk of a path, and of one under way."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.fusion.conductances import Conductances
from convexhc.fusion.contracted_solve import ContractedSolution
from convexhc.fusion.contraction import contract
from convexhc.graph import Graph
from convexhc.io.archive import read_npz, write_npz
from convexhc.model.problem import FusionProblem
from convexhc.path.level import Level
from convexhc.solvers.solution import ARRAYS, pack_solution, unpack_solution

Arrays = Mapping[str, NDArray[Any]]

_PLAIN = ("lam", "objective", "relative_gap", "residual", "n_iter", "seconds")
_COLUMNS = (*_PLAIN, "effective_rank")
# What a graph is made of, beside its size and names.
_GRAPH = ("tail", "head", "weight", "diagonal")
# Checkpoints up to this many bytes are written after every lam.
_AT_ONCE = 10_000_000
# Larger ones wait this many times as long as the last took to write.
_PATIENCE = 20.0


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a march has come: levels solved, solutions ahead of it, and the last two behind.

    Never altered, only replaced: an interrupt finds it whole at any moment.
    """

    levels: tuple[Level, ...] = ()
    before: ContractedSolution | None = None
    behind: ContractedSolution | None = None
    ahead: tuple[ContractedSolution, ...] = ()
    # The last lam downwards that would have needed too many groups.
    too_far: float = 0.0

    def solved(self, level: Level, found: ContractedSolution) -> Progress:
        """One more lam, ahead of the march."""
        return replace(self, levels=(*self.levels, level), ahead=(*self.ahead, found))

    def advanced(self) -> Progress:
        """The next solution ahead is now behind."""
        *ahead, behind = self.ahead
        return replace(self, before=self.behind, behind=behind, ahead=tuple(ahead))


class Checkpoint:
    """A file that holds the progress of one run, always a whole one, if not always the last.

    Parameters
    ----------
    file : path
        Where it is.
    digest : str
        Of the data and options, which a run that goes on must share.
    """

    def __init__(self, file: str | os.PathLike[str], digest: str) -> None:
        self.file, self.digest = file, digest
        self._held: Progress | None = None
        self._size, self._took, self._ended = 0, 0.0, 0.0

    def load(self, problem: FusionProblem) -> Progress | None:
        """Progress of an interrupted run; None without a file; ValueError for a foreign one."""
        if not FilePath(self.file).exists():
            return None
        text, arrays = read_npz(self.file, "checkpoint", lambda text, arrays: (text, arrays))
        if text.get("digest") != self.digest:
            raise ValueError(
                f"{self.file} is the checkpoint of another run (other data, options or version): "
                "name another file, or delete this one to start anew."
            )
        solutions = [
            ContractedSolution(
                contract(problem, arrays[f"groups_{i}"]),
                unpack_solution(
                    said,
                    {name: arrays[f"{name}_{i}"] for name in ARRAYS if f"{name}_{i}" in arrays},
                ),
                Conductances.unpack(arrays[f"ways_{i}"]) if f"ways_{i}" in arrays else None,
            )
            for i, said in enumerate(text["solutions"])
        ]
        before = solutions.pop(0) if text["has_before"] else None
        behind = solutions.pop(0) if text["has_behind"] else None
        self._held = Progress(
            tuple(unpack_levels(arrays)), before, behind, tuple(solutions), text["too_far"]
        )
        return self._held

    def keep(self, progress: Progress) -> None:
        """Write, unless a large file was written only just now: `finish` may still write it."""
        if self._size <= _AT_ONCE or perf_counter() - self._ended >= _PATIENCE * self._took:
            self.write(progress)

    def finish(self, progress: Progress) -> None:
        """Write what the file does not hold yet: at the end, or when interrupted."""
        if progress is not self._held and progress.levels:
            self.write(progress)

    def write(self, progress: Progress) -> None:
        """Replace the file by the present state, in one move."""
        began = perf_counter()
        passed = [one for one in (progress.before, progress.behind) if one is not None]
        solutions = [*passed, *progress.ahead]
        said, arrays = [], pack_levels(progress.levels)
        for i, solution in enumerate(solutions):
            text, held = pack_solution(solution.small)
            said.append(text)
            arrays[f"groups_{i}"] = solution.groups
            if solution.ways is not None:
                arrays[f"ways_{i}"] = solution.ways.pack()
            arrays |= {f"{name}_{i}": array for name, array in held.items()}
        text = {
            "kind": "checkpoint",
            "digest": self.digest,
            "too_far": progress.too_far,
            "has_before": progress.before is not None,
            "has_behind": progress.behind is not None,
            "solutions": said,
        }
        write_npz(self.file, text, arrays)
        self._held, self._ended = progress, perf_counter()
        self._took = self._ended - began
        self._size = sum(array.nbytes for array in arrays.values())


def solved_so_far(file: str | os.PathLike[str]) -> tuple[Level, ...]:
    """The levels in a checkpoint, in increasing order of lam, whatever run it belongs to."""
    levels = read_npz(file, "checkpoint", lambda _, arrays: unpack_levels(arrays))
    return tuple(sorted(levels, key=lambda level: level.lam))


def pack_levels(levels: Iterable[Level]) -> dict[str, NDArray[Any]]:
    """Points as arrays: one column a quantity, one row a lam."""
    levels = tuple(levels)
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(level, name) for level in levels]) for name in _COLUMNS
    }
    arrays["partitions"] = np.array([level.labels for level in levels])
    arrays["status"] = np.array([level.status for level in levels])
    for i, level in enumerate(levels):
        if level.distinct is not None:
            arrays[f"distinct_{i}"] = level.distinct
    return arrays


def unpack_levels(arrays: Arrays) -> list[Level]:
    """The levels that `pack_levels` stored."""
    rows = zip(*(arrays[name].tolist() for name in _COLUMNS), strict=True)
    return [
        Level(
            labels=arrays["partitions"][i],
            status=str(arrays["status"][i]),
            rank=rank,
            distinct=arrays.get(f"distinct_{i}"),
            **dict(zip(_PLAIN, row, strict=True)),
        )
        for i, (*row, rank) in enumerate(rows)
    ]


def pack_graph(graph: Graph | None) -> dict[str, NDArray[Any]]:
    """A graph as arrays, without its names; nothing for none."""
    return {} if graph is None else {f"graph_{name}": getattr(graph, name) for name in _GRAPH}


def unpack_graph(arrays: Arrays, names: tuple[Hashable, ...]) -> Graph | None:
    """The graph that `pack_graph` stored, if there was one."""
    if "graph_tail" not in arrays:
        return None
    return Graph(n=len(names), names=names, **{name: arrays[f"graph_{name}"] for name in _GRAPH})
