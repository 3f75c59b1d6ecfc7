"""Run every method on every data set, in stored units of work, and write the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import convexhc
from experiments.data import data_folder
from experiments.quality.collection import Known, collect, noise_graphs
from experiments.quality.figures import draw
from experiments.quality.methods import (
    LOSS_METHODS,
    METHODS,
    NOISE_METHODS,
    OF_PACKAGE,
    Given,
)
from experiments.quality.scores import judge_noise, lose_edges, score_set, warm
from experiments.quality.summary import summarise
from experiments.results import (
    Progress,
    Row,
    Unit,
    between,
    compute_units,
    write_table,
    write_text,
)

# Modules of the package that do not affect results.
BESIDE = ("commands", "layout", "plots", "report", "cli.py", "tl.py")


@dataclass(frozen=True)
class Size:
    """How much is computed.

    Attributes
    ----------
    names : tuple of str or None
        Data sets; None for all of them.
    shares : tuple of float
        Fractions of the edges to remove.
    draws : int
        Random draws per fraction.
    loss_nodes : int
        Largest data set from which edges are removed.
    noise_seeds : int
        Random draws of each of the four kinds of graphs without groups.
    """

    names: tuple[str, ...] | None = None
    shares: tuple[float, ...] = (0.05, 0.1)
    draws: int = 1
    loss_nodes: int = 600
    noise_seeds: int = 4


FULL = Size()
# Only data sets of the choosing half: those used often to choose defaults must not confirm them.
# Every check is computed, on few data sets.
QUICK = Size(
    names=(
        *("LFR 250 mixing 0.2 seed 0", "LFR 250 mixing 0.3 seed 0", "LFR 250 mixing 0.4 seed 0"),
        *("blocks strong seed 0", "blocks medium spread seed 0", "unequal seed 0"),
        *("football", "polbooks", "authors synthetic"),
        *("nested blobs seed 0", "moons seed 0", "iris"),
    ),
    shares=(0.1,),
    draws=1,
    loss_nodes=245,
    noise_seeds=1,
)


def run(
    out: Path,
    *,
    data: Path | None,
    size: Size,
    seeds: int,
    large: bool,
    n_jobs: int,
    progress: Progress,
) -> None:
    """Run the benchmark; write the tables, the summary and the figure to ``out``."""
    sets = collect(data_folder(data), seeds=seeds, large=large)
    if size.names is not None:
        sets = [known for known in sets if known.name in size.names]
    left_out = {name: why for name, method in METHODS.items() if (why := method.missing())}
    methods = [name for name in METHODS if name not in left_out]
    # Compile here once instead of in several processes at the same time.
    for points in (False, True):
        warm("convexhc", points)
    scores, cost = _scores(out, sets, methods, n_jobs, between(progress, 0.0, 0.35))
    lossy = [known for known in sets if known.n <= size.loss_nodes]
    losing = [name for name in LOSS_METHODS if name in methods]
    loss = _loss(out, lossy, losing, size, n_jobs, between(progress, 0.35, 0.97))
    judges = [name for name in NOISE_METHODS if name in methods]
    noise = _noise(out, noise_graphs(size.noise_seeds), judges, n_jobs, between(progress, 0.97, 1))
    for name, rows in (("scores", scores), ("loss", loss), ("cost", cost), ("noise", noise)):
        write_table(out / f"{name}.csv", rows)
    write_text(out / "summary.md", summarise(out, left_out))
    draw(out)
    progress(1.0, "written")


def _scores(
    out: Path, sets: Sequence[Known], methods: Sequence[str], n_jobs: int, progress: Progress
) -> tuple[list[Row], list[Row]]:
    """Scores per set, level and method; and costs per set and method."""
    pairs = [
        (known, name)
        for known in sets
        for name in methods
        if METHODS[name].applies(Given(known.adjacency, known.points))
    ]
    arrays = {known.name: _arrays(known) for known in sets}
    units = [
        Unit(_file(known.name, name), {"method": name, "code": _code(name)}, arrays[known.name])
        for known, name in pairs
    ]
    found = compute_units(out / "parts", units, score_set, n_jobs=n_jobs, progress=progress)
    scores, cost = [], []
    for (known, name), result in zip(pairs, found, strict=True):
        levels, failed = result.pop("levels"), result["failed"]
        for level, row in zip(known.levels, levels, strict=True):
            scores.append(
                {**_named(known), "level": level, "method": name, **row} | {"failed": failed}
            )
        cost.append({**_named(known), "method": name, **result})
    return scores, cost


def _loss(
    out: Path,
    sets: Sequence[Known],
    methods: Sequence[str],
    size: Size,
    n_jobs: int,
    progress: Progress,
) -> list[Row]:
    """One row per set, method, fraction, draw and level. Points are replaced by their graph."""
    pairs = [(known, name) for known in sets for name in methods]
    arrays = {known.name: _arrays(known) for known in sets}
    for inputs in arrays.values():
        inputs.pop("points", None)
    options = {"shares": list(size.shares), "draws": size.draws}
    units = [
        Unit(
            _file(known.name, name, "loss"),
            {"method": name, "code": _code(name), **options},
            arrays[known.name],
        )
        for known, name in pairs
    ]
    found = compute_units(out / "parts", units, lose_edges, n_jobs=n_jobs, progress=progress)
    return [
        {**_named(known), "method": name, **row, "level": list(known.levels)[row["level"]]}
        for (known, name), rows in zip(pairs, found, strict=True)
        for row in rows
    ]


def _noise(
    out: Path, graphs: Sequence[Known], methods: Sequence[str], n_jobs: int, progress: Progress
) -> list[Row]:
    """One row per graph without groups and method."""
    pairs = [(graph, name) for graph in graphs for name in methods]
    units = [
        Unit(
            _file(graph.name, name, "noise"),
            {"method": name, "code": _code(name)},
            {"adjacency": graph.adjacency.toarray()},
        )
        for graph, name in pairs
    ]
    found = compute_units(out / "parts", units, judge_noise, n_jobs=n_jobs, progress=progress)
    return [
        {"graph": graph.name, "n": graph.n, "method": name, **row}
        for (graph, name), row in zip(pairs, found, strict=True)
    ]


def _named(known: Known) -> Row:
    return {"family": known.family, "set": known.name, "half": known.half, "n": known.n}


def _arrays(known: Known) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "adjacency": known.adjacency.toarray(),
        "groups": np.stack(list(known.levels.values())),
    }
    return inputs if known.points is None else inputs | {"points": known.points}


def _file(*words: str) -> str:
    """File name of some words."""
    return " ".join(words).replace(" ", "-")


@cache
def _code(method: str) -> str:
    """Digest of the code that a result of the method depends on.

    A stored part is reused only if the code of the method, of the scores and, for methods of this
    package, of the package is unchanged, so that results of different versions are never mixed.
    """
    here = Path(__file__).parent
    sources = [here / "methods.py", here / "scores.py", here.parent / "baselines.py"]
    if method in OF_PACKAGE:
        package = Path(convexhc.__file__).parent
        rooms = sorted(room for room in package.iterdir() if room.name not in BESIDE)
        for room in rooms:
            sources += sorted(room.rglob("*.py")) if room.is_dir() else [room]
    mark = hashlib.sha256()
    for source in sources:
        if source.suffix == ".py":
            mark.update(source.read_bytes())
    return mark.hexdigest()[:16]
