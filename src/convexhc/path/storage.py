"""Points and checkpoints as arrays: what is written to disk of a path, and of one under way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc.io.archive import read_npz, write_npz
from convexhc.path.point import Point
from convexhc.problem import Certificate
from convexhc.solvers.loop import Solution, Status

Arrays = Mapping[str, NDArray[Any]]

_COLUMNS = ("lam", "objective", "relative_gap", "residual", "n_iter", "effective_rank")


@dataclass
class Progress:
    """How far a march has come: points solved, the solution on the left, those ahead of it."""

    points: list[Point] = field(default_factory=list)
    left: Solution | None = None
    ahead: list[Solution] = field(default_factory=list)


@dataclass(frozen=True)
class Checkpoint:
    """A file that always holds the whole progress of one run."""

    file: str | os.PathLike[str]
    digest: str

    def load(self) -> Progress | None:
        """Progress of an interrupted run; None without a file; ValueError for a foreign one."""
        if not FilePath(self.file).exists():
            return None
        text, arrays = read_npz(self.file, "checkpoint")
        if text.get("digest") != self.digest:
            raise ValueError(
                f"{self.file} is the checkpoint of another run (other data, options or version): "
                "name another file, or delete this one to start anew."
            )
        solutions = [_unpack_solution(i, text, arrays) for i in range(len(text["solutions"]))]
        left = solutions.pop(0) if text["has_left"] else None
        return Progress(unpack_points(arrays), left, solutions)

    def write(self, progress: Progress) -> None:
        """Replace the file by the present state, in one move."""
        solutions = ([progress.left] if progress.left else []) + progress.ahead
        text = {
            "kind": "checkpoint",
            "digest": self.digest,
            "has_left": progress.left is not None,
            "solutions": [_solution_text(solution) for solution in solutions],
        }
        arrays = dict(pack_points(progress.points))
        for i, solution in enumerate(solutions):
            arrays[f"centroids_{i}"] = solution.centroids
            arrays[f"dual_{i}"] = solution.dual
            arrays[f"labels_{i}"] = solution.labels
        write_npz(self.file, text, arrays)


def pack_points(points: list[Point] | tuple[Point, ...]) -> dict[str, NDArray[Any]]:
    """Points as arrays: one column a quantity, one row a lam."""
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(point, name) for point in points]) for name in _COLUMNS
    }
    arrays["partitions"] = np.array([point.labels for point in points])
    arrays["status"] = np.array([point.status for point in points])
    for i, point in enumerate(points):
        if point.distinct is not None:
            arrays[f"distinct_{i}"] = point.distinct
    return arrays


def unpack_points(arrays: Arrays) -> list[Point]:
    """The points that `pack_points` stored."""
    columns = [arrays[name].tolist() for name in _COLUMNS]
    points = []
    for i, (lam, objective, gap, residual, n_iter, rank) in enumerate(zip(*columns, strict=True)):
        labels, status = arrays["partitions"][i], str(arrays["status"][i])
        distinct = arrays.get(f"distinct_{i}")
        points.append(Point(lam, labels, objective, gap, residual, n_iter, status, rank, distinct))
    return points


def _solution_text(solution: Solution) -> dict[str, Any]:
    return {
        "certificate": list(solution.certificate),
        "status": solution.status.name,
        "n_iter": solution.n_iter,
        "lam": solution.lam,
        "method": solution.method,
    }


def _unpack_solution(i: int, text: Mapping[str, Any], arrays: Arrays) -> Solution:
    said = text["solutions"][i]
    return Solution(
        arrays[f"centroids_{i}"],
        arrays[f"dual_{i}"],
        arrays[f"labels_{i}"],
        Certificate(*said["certificate"]),
        Status[said["status"]],
        said["n_iter"],
        said["lam"],
        said["method"],
    )
