"""Results on disk: tables, texts, and the stored results of finished units of work.

An experiment is a list of units of work, such as one graph or one scan. The result of a unit is
stored as JSON with a fingerprint of its options, its input arrays and the version of the package; a
later run with the same fingerprint reads it instead of computing it again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from convexhc import _files
from convexhc.commands.messages import Failure
from convexhc.path import Path as SolutionPath
from convexhc.solvers.loop import Solution, Status
from convexhc.version import __version__


class UncertifiedError(Failure, RuntimeError):
    """A solve of an experiment missed its tolerance."""


Row = dict[str, Any]
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Unit:
    """One unit of work: ``compute(**inputs, **options)``, with a name used as file name.

    Parameters
    ----------
    name : str
        Name, unique in the experiment.
    options : mapping
        Plain values: numbers, strings, lists of them.
    inputs : mapping
        Arrays, identified by their content.
    """

    name: str
    options: Mapping[str, Any]
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def fingerprint(self, compute: Callable[..., Any]) -> str:
        """Digest of everything the result depends on, except the code itself."""
        mark = hashlib.sha256()
        said = [__version__, compute.__module__, compute.__qualname__, dict(self.options)]
        mark.update(json.dumps(said, sort_keys=True).encode())
        for key in sorted(self.inputs):
            array = np.ascontiguousarray(self.inputs[key])
            mark.update(f"{key} {array.dtype} {array.shape}".encode())
            mark.update(array.tobytes())
        return mark.hexdigest()


def compute_units(
    folder: Path,
    units: Sequence[Unit],
    compute: Callable[..., Any],
    *,
    n_jobs: int,
    progress: Progress,
) -> list[Any]:
    """Result of every unit, in order; computes only those not stored in ``folder``.

    Every result is stored at once, so an interrupted run loses at most the units in progress. Units
    run through joblib, on the backend chosen by the caller.
    """
    found: dict[int, Any] = {}
    marks = [unit.fingerprint(compute) for unit in units]
    for place, (unit, mark) in enumerate(zip(units, marks, strict=True)):
        stored = _read_part(folder / f"{unit.name}.json", mark)
        if stored is not None:
            found[place] = stored["result"]
    missing = [place for place in range(len(units)) if place not in found]
    tasks = (delayed(_placed)(place, compute, units[place]) for place in missing)
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    progress(len(found) / max(len(units), 1), "start")
    for place, result in workers(tasks):
        plain = _plain(result)
        part = {"fingerprint": marks[place], "result": plain}
        write_text(folder / f"{units[place].name}.json", json.dumps(part, allow_nan=False))
        # Converted back, so that a resumed run has exactly the same values.
        found[place] = _restored(plain)
        progress(len(found) / len(units), units[place].name)
    return [found[place] for place in range(len(units))]


def between(progress: Progress, start: float, stop: float) -> Progress:
    """Progress callback for the part of a progress bar from ``start`` to ``stop``.

    Examples
    --------
    >>> seen = []
    >>> between(lambda share, text: seen.append(share), 0.5, 1.0)(0.5, "half of the second half")
    >>> seen
    [0.75]
    """
    return lambda share, text: progress(start + (stop - start) * share, text)


# Relative gap of solutions whose centroids are compared: k-means scores and ranks of distances
# still change below the default of 1e-4, which is sufficient for the clusters.
FINE_GAP = 1e-5


def require_certified(found: Solution | SolutionPath, what: str, *, tol: float = 1e-4) -> None:
    """Raise an error if a certificate missed the tolerance at some lam."""
    points: Iterable[tuple[float, str, float]]
    if isinstance(found, SolutionPath):
        points = [(point.lam, point.status.name, point.relative_gap) for point in found.levels]
    else:
        points = [(found.lam, found.status.name, found.relative_gap)]
    for lam, status, gap in points:
        if status != Status.SOLVED.name or gap > tol:
            raise UncertifiedError(
                f"{what}: lam = {lam:g} ended with status {status} and a relative gap of {gap:.1e},"
                f" above {tol:g}; raise max_iter."
            )


def write_text(file: Path, text: str) -> None:
    """Write a text file atomically."""
    write_bytes(file, text.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """Write a file atomically, creating its parent folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    _files.write_bytes(file, content)


def write_table(file: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV with the keys of the first row as header and numbers to six digits."""
    if not rows:
        raise ValueError(f"no rows to write into {file.name}.")
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: shown(value) for key, value in row.items()} for row in rows)
    write_text(file, text.getvalue())


def markdown_table(rows: Sequence[Row], digits: int = 3) -> str:
    """Rows as a Markdown table.

    Examples
    --------
    >>> print(markdown_table([{"lam": 0.5, "clusters": 28}]))
    | lam | clusters |
    |---|---|
    | 0.5 | 28 |
    """
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(shown(v, digits) for v in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def shown(value: Any, digits: int = 6) -> str:
    """A value as text: numbers to ``digits`` digits, NaN as an empty string.

    Examples
    --------
    >>> shown(1 / 3, 2), shown(7), shown(float("nan"))
    ('0.33', '7', '')
    """
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else format(float(value), f".{digits}g")
    return str(value)


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard deviation (n - 1) of the values, ignoring NaN; NaN without any.

    Examples
    --------
    >>> mean_and_spread([1.0, 3.0, float("nan")])
    (2.0, 1.414)
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not known.size:
        return math.nan, math.nan
    return float(known.mean()), float(known.std(ddof=1)) if known.size > 1 else 0.0


def _placed(place: int, compute: Callable[..., Any], unit: Unit) -> tuple[int, Any]:
    return place, compute(**unit.inputs, **unit.options)


def _read_part(file: Path, mark: str) -> dict[str, Any] | None:
    """The stored result with this fingerprint, or None."""
    if not file.exists():
        return None
    try:
        part = json.loads(file.read_text())
    except json.JSONDecodeError:
        # Not written by this program, which writes atomically: computed again.
        return None
    if not isinstance(part, dict) or part.get("fingerprint") != mark:
        return None
    return {"result": _restored(part["result"])}


def _plain(value: Any) -> Any:
    """Value as JSON types, NaN as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def _restored(value: Any) -> Any:
    """Inverse of `_plain`, except that arrays stay lists."""
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return math.nan if value is None else value
