"""Paths and checkpoints on disk: one npz file each, arrays beside a JSON text, never pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        if not File(self.file).exists():
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


def write_npz(file: str | os.PathLike[str], text: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a file whole: to a temporary neighbour first, then renamed over the old one."""
    target = File(file)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as stream:
            np.savez(stream, text=np.array(json.dumps(text)), **arrays)  # type: ignore[arg-type]
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def read_npz(
    file: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read such a file back, or say that it is not one."""
    try:
        # Opened here, since numpy leaves a damaged file open.
        with File(file).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        text = json.loads(str(arrays.pop("text")))
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, TypeError) as error:
        raise ValueError(
            f"{file} is not a readable {kind} of convexhc ({error}): it may be cut short or of "
            "another program. It was left as it is; name another file, or delete this one."
        ) from error
    if not isinstance(text, dict) or text.get("kind") != kind:
        raise ValueError(f"{file} is not a {kind} of convexhc; name another file.")
    return text, arrays


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


def encode_names(names: tuple[Hashable, ...]) -> list[Any]:
    """Node names as JSON: numbers and text as they are, tuples marked, anything else as text."""
    return [_encode(name) for name in names]


def decode_names(names: list[Any]) -> tuple[Hashable, ...]:
    """The names that `encode_names` stored."""
    return tuple(_decode(name) for name in names)


def _encode(name: object) -> Any:
    if isinstance(name, tuple):
        return {"tuple": [_encode(part) for part in name]}
    if isinstance(name, np.generic):
        name = name.item()
    return name if isinstance(name, str | int | float | bool | None) else str(name)


def _decode(name: Any) -> Any:
    return tuple(_decode(part) for part in name["tuple"]) if isinstance(name, dict) else name


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
