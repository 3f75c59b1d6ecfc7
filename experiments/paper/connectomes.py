"""Figures 3 and 4: whether repeated scans of one subject have similar representations.

Five subjects, ten scans each. The convex path and four linkages are computed for every scan; the
distances between the 70 regions are compared between scans by Kendall's rank correlation and by the
graphs of five nearest neighbours, as `convexhc cohort` does. The paper does not say how counts
become similarities, so three variants are shown; the figures are those of the first.

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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from convexhc import Cohort, solve_paths
from convexhc.api.outcomes import Outcome
from convexhc.metrics.repeated import resampled_counts
from convexhc.similarity import Similarity
from experiments.data import Scans, connectomes, require_folder
from experiments.paper import connectome_figures as draw
from experiments.paper.connectome_scores import (
    Compared,
    Name,
    Setting,
    compare_linkages,
    compare_paths,
    cross,
    summary,
)
from experiments.paper.reported import CONNECTOME_LAMBDAS
from experiments.results import (
    FINE_GAP,
    Progress,
    Row,
    UncertifiedError,
    between,
    markdown_table,
    require_certified,
    write_table,
    write_text,
)

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
    cohorts: dict[str, Cohort] = {}
    compared: dict[str, dict[Name, Compared]] = {}
    made: dict[str, list[Similarity]] = {}
    for at, setting in enumerate(size.settings):
        name = setting.name
        made[name] = [setting.similarity(counts) for counts in scans.weights]
        cohorts[name] = _solved(
            folder, scans, made[name], setting, size, n_jobs, _part(progress, at, size)
        )
        compared[name] = compare_paths(cohorts[name], size.grid, size.neighbors)
        compared[name] |= compare_linkages(made[name], size.neighbors)
    times = resampled_counts(scans.subject, size.n_draws)
    rows = [
        {"setting": setting, "method": method, "lam": lam}
        | summary(matrices, compared[setting]["single", 0.0], scans.subject, times)
        for setting, every in compared.items()
        for (method, lam), matrices in every.items()
    ]
    first = size.settings[0].name
    tables = {
        "scans": _scan_rows(scans, cohorts),
        "representations": rows,
        "pairs": _pair_rows(scans, compared[first]),
    }
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    crossed = {lam: cross(cohorts[first], lam, made[first]) for lam in CONNECTOME_LAMBDAS}
    draw.figure_three(folder / "figure3", compared[first], crossed, scans.subject)
    draw.figure_four(folder / "figure4", compared[first], scans.subject, size.neighbors)
    draw.told_apart(folder / "discriminability", rows, [s.name for s in size.settings])
    write_text(folder / "results.md", _text(size, rows, tables["scans"]))
    progress(1.0, "written")


def _part(progress: Progress, at: int, size: Size) -> Progress:
    """Progress of one of the settings."""
    return between(progress, at / len(size.settings), (at + 1) / len(size.settings))


def _chosen(scans: Scans, size: Size) -> Scans:
    """The first scans of the first subjects."""
    subjects = np.unique(scans.subject)[: size.n_subjects]
    place = np.concatenate(
        [np.flatnonzero(scans.subject == one)[: size.n_sessions] for one in subjects]
    )
    return Scans(scans.weights[place], scans.subject[place], scans.session[place])


def _solved(
    folder: Path,
    scans: Scans,
    similarities: Sequence[Similarity],
    setting: Setting,
    size: Size,
    n_jobs: int,
    progress: Progress,
) -> Cohort:
    """The paths of every scan in one setting; those solved before are read."""
    names = [f"{s}-{k}" for s, k in zip(scans.subject, scans.session, strict=True)]

    def say(done: int, outcome: Outcome) -> None:
        progress(done / len(names), f"{setting.name}, scan {outcome.name}")

    cohort = solve_paths(
        dict(zip(names, similarities, strict=True)),
        lambdas=size.grid,
        similarity="precomputed",
        weights=setting.strongest or None,
        tol=FINE_GAP,
        keep="all",
        n_jobs=n_jobs,
        folder=folder / "paths" / _plain(setting.name),
        on_result=say,
    )
    for name, error in cohort.failed.items():
        raise UncertifiedError(f"scan {name}: {error}")
    for name, path in cohort.paths.items():
        require_certified(path, f"scan {name}", tol=FINE_GAP)
    return cohort


def _scan_rows(scans: Scans, cohorts: dict[str, Cohort]) -> list[Row]:
    return [
        {
            "setting": setting,
            "subject": subject,
            "session": session,
            "lam": level.lam,
            "n_clusters": level.n_clusters,
            "effective_rank": level.effective_rank,
            "relative_gap": level.relative_gap,
        }
        for setting, cohort in cohorts.items()
        for subject, session, path in zip(
            scans.subject, scans.session, cohort.paths.values(), strict=True
        )
        for level in path.levels
    ]


def _pair_rows(scans: Scans, compared: dict[Name, Compared]) -> list[Row]:
    upper = np.argwhere(np.triu(np.ones((len(scans.subject),) * 2, dtype=bool), 1))
    return [
        {
            "method": method,
            "lam": lam,
            "first": i,
            "second": j,
            "same_subject": bool(scans.subject[i] == scans.subject[j]),
            "tau": matrices.tau[i, j],
            "differ": matrices.differ[i, j],
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
