"""Figures 3 and 4: whether repeated scans of one subject have similar representations.

Five subjects, ten scans each. The convex path and four linkages are computed for every scan; the
distances between the 70 regions are compared between scans by Kendall's rank correlation and by the
graphs of five nearest neighbours. The paper does not say how counts become similarities, so three
variants are shown; the figures are those of the first.

Scans are independent, so they may run on any backend of joblib, such as a Dask cluster::

    from dask.distributed import Client
    from joblib import parallel_config
    from experiments.paper import EXPERIMENTS

    with Client(processes=True), parallel_config(backend="dask"):
        EXPERIMENTS["connectomes"](out, data=data, quick=False, n_jobs=-1, progress=progress)

The numbers are the same as without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from convexhc._types import IntArray
from experiments.data import Scans, connectomes, require_folder
from experiments.paper import connectome_figures as draw
from experiments.paper.connectome_scores import (
    Setting,
    compare,
    cross,
    represent,
    session_draws,
    summary,
)
from experiments.paper.reported import CONNECTOME_LAMBDAS
from experiments.results import (
    Progress,
    Row,
    Unit,
    between,
    compute_units,
    markdown_table,
    write_table,
    write_text,
)

Name = tuple[str, float]
SETTINGS = (
    Setting("log counts"),
    Setting("log counts, 10 strongest", strongest=10),
    Setting("counts", logarithm=False),
)


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    n_subjects: int = 5
    n_sessions: int = 10
    settings: tuple[Setting, ...] = SETTINGS
    grid: tuple[float, ...] = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    neighbors: int = 5
    n_draws: int = 1000


FULL = Size()
QUICK = Size(n_subjects=3, n_sessions=3, settings=SETTINGS[:1], grid=(0.0, 0.01, 0.1), n_draws=200)


def run(out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress) -> None:
    """Represent every scan, compare them all, and draw figures 3 and 4."""
    size = QUICK if quick else FULL
    folder = out / "connectomes"
    scans = _chosen(connectomes(require_folder(data, "connectomes")), size)
    found = _represented(folder, scans, size, n_jobs, between(progress, 0.0, 0.6))
    ranks = {setting.name: _by_name(found[setting.name]) for setting in size.settings}
    compared = _compared(folder, ranks, size, n_jobs, between(progress, 0.6, 0.95))
    times = session_draws(scans.subject, size.n_draws)
    rows = [
        {"setting": setting, "method": method, "lam": lam}
        | summary(matrices, compared[setting]["single", 0.0], scans.subject, times)
        for setting, every in compared.items()
        for (method, lam), matrices in every.items()
    ]
    first = size.settings[0].name
    tables = {
        "scans": _scan_rows(scans, found),
        "representations": rows,
        "pairs": _pair_rows(scans, compared[first]),
    }
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    crossed = _crossed(folder, ranks[first], n_jobs, between(progress, 0.95, 1.0))
    draw.figure_three(folder / "figure3", compared[first], crossed, scans.subject)
    draw.figure_four(folder / "figure4", compared[first], scans.subject, size.neighbors)
    draw.told_apart(folder / "discriminability", rows, [s.name for s in size.settings])
    write_text(folder / "results.md", _text(size, rows, tables["scans"]))
    progress(1.0, "written")


def _chosen(scans: Scans, size: Size) -> Scans:
    """The first scans of the first subjects."""
    subjects = np.unique(scans.subject)[: size.n_subjects]
    place = np.concatenate(
        [np.flatnonzero(scans.subject == one)[: size.n_sessions] for one in subjects]
    )
    return Scans(scans.weights[place], scans.subject[place], scans.session[place])


def _represented(
    folder: Path, scans: Scans, size: Size, n_jobs: int, progress: Progress
) -> dict[str, list[Any]]:
    """Representations of every scan, by setting."""
    units = [
        Unit(
            f"scan-{_plain(setting.name)}-{subject}-{session}",
            {key: value for key, value in asdict(setting).items() if key != "name"}
            | {"lambdas": list(size.grid)},
            {"counts": counts},
        )
        for setting in size.settings
        for counts, subject, session in zip(*scans, strict=True)
    ]
    found = compute_units(folder / "parts", units, represent, n_jobs=n_jobs, progress=progress)
    m = len(scans.subject)
    return {s.name: found[i * m : (i + 1) * m] for i, s in enumerate(size.settings)}


def _by_name(found: Sequence[Any]) -> dict[Name, IntArray]:
    """Ranks of all scans, one row each, for every representation."""
    names = [(one["method"], one["lam"]) for one in found[0]]
    return {
        name: np.array([scan[place]["ranks"] for scan in found], dtype=np.int64)
        for place, name in enumerate(names)
    }


def _compared(
    folder: Path,
    ranks: dict[str, dict[Name, IntArray]],
    size: Size,
    n_jobs: int,
    progress: Progress,
) -> dict[str, dict[Name, Any]]:
    """Matrices of scans against scans, for every setting and representation."""
    names = [(setting, name) for setting, every in ranks.items() for name in every]
    units = [
        Unit(
            f"compare-{_plain(setting)}-{name[0]}-{name[1]:g}",
            {"k": size.neighbors},
            {"ranks": ranks[setting][name]},
        )
        for setting, name in names
    ]
    found = compute_units(folder / "parts", units, compare, n_jobs=n_jobs, progress=progress)
    every: dict[str, dict[Name, Any]] = {setting: {} for setting in ranks}
    for (setting, name), matrices in zip(names, found, strict=True):
        every[setting][name] = {key: np.array(value) for key, value in matrices.items()}
    return every


def _crossed(
    folder: Path, ranks: dict[Name, IntArray], n_jobs: int, progress: Progress
) -> dict[float, Any]:
    """Correlations between convex representations and single linkage, at the paper's lam."""
    units = [
        Unit(
            f"cross-{lam:g}",
            {},
            {"first": ranks["convex", lam], "second": ranks["single", 0.0]},
        )
        for lam in CONNECTOME_LAMBDAS
    ]
    found = compute_units(folder / "parts", units, cross, n_jobs=n_jobs, progress=progress)
    return dict(zip(CONNECTOME_LAMBDAS, map(np.array, found), strict=True))


def _scan_rows(scans: Scans, found: dict[str, list[Any]]) -> list[Row]:
    keep = ("lam", "n_clusters", "effective_rank", "relative_gap")
    return [
        {"setting": setting, "subject": subject, "session": session} | {k: one[k] for k in keep}
        for setting, every in found.items()
        for subject, session, scan in zip(scans.subject, scans.session, every, strict=True)
        for one in scan
        if one["method"] == "convex"
    ]


def _pair_rows(scans: Scans, compared: dict[Name, Any]) -> list[Row]:
    upper = np.argwhere(np.triu(np.ones((len(scans.subject),) * 2, dtype=bool), 1))
    return [
        {
            "method": method,
            "lam": lam,
            "first": i,
            "second": j,
            "same_subject": bool(scans.subject[i] == scans.subject[j]),
            "tau": matrices["tau"][i, j],
            "differ": matrices["differ"][i, j],
        }
        for (method, lam), matrices in compared.items()
        for i, j in upper.tolist()
    ]


def _plain(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-")


def _text(size: Size, rows: Sequence[Row], scans: Sequence[Row]) -> str:
    gap = max(row["relative_gap"] for row in scans)
    lines = [
        "# Connectomes: figures 3 and 4",
        "",
        f"{size.n_subjects} subjects, {size.n_sessions} scans each, {len(size.grid)} values of "
        f"lam, {len(size.settings)} similarities; largest relative gap {gap:.1e}.",
        "",
        "Intervals of 95 % are over scans drawn again within each subject: they speak of these "
        "subjects, not of others.",
    ]
    if size is not FULL:
        lines += ["", "Quick run: a few of the scans."]
    for title, columns in (
        ("Kendall correlation", ("tau_within", "tau_between", "discriminability")),
        (f"Share of {size.neighbors} neighbours that differ", ("differ_within", "differ_between")),
    ):
        lines += ["", f"## {title}", ""]
        shown = [
            {key: row[key] for key in ("setting", "method", "lam")}
            | {name: _with_interval(row, name) for name in columns}
            | {f"{columns[-1]}, less single": _with_interval(row, f"{columns[-1]}_minus_single")}
            for row in rows
        ]
        lines.append(markdown_table(shown))
    return "\n".join(lines) + "\n"


def _with_interval(row: Row, name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return "" if np.isnan(value) else f"{value:.3f} ({low:.3f} to {high:.3f})"
