"""One row per subject: sizes, scales, certificate, failure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from convexhc.cohort.common import common_nodes
from convexhc.cohort.groups import Groups, checked_groups
from convexhc.path.path import Path
from convexhc.solvers.solution import Status

SOLVED = "solved"


def cohort_rows(
    subjects: Sequence[Hashable],
    paths: Mapping[Hashable, Path],
    failed: Mapping[Hashable, str],
    seconds: Mapping[Hashable, float],
    groups: Groups | None = None,
) -> list[dict[str, Any]]:
    """One row per subject, in their order; None where a failed subject has no value.

    ``nodes`` and ``missing`` count the nodes of the subject, and those of other subjects that it
    lacks. ``suggested`` is the suggested number of clusters, ``scales`` are the numbers of clusters
    of `Path.scales` and ``scale_ranges`` their ranges of lam, in the same order. ``largest_gap`` is
    the largest certified relative gap of its lam, ``unsolved`` the number of lam above the
    tolerance and ``proven`` that of lam whose partition is proven. ``status`` is "solved" or the
    error.
    """
    known = (None,) * len(subjects) if groups is None else checked_groups(groups, subjects)
    missing = common_nodes({name: path.names for name, path in paths.items()}).missing
    rows = []
    for subject, group in zip(subjects, known, strict=True):
        row: dict[str, Any] = {"subject": subject, "group": group}
        path = paths.get(subject)
        row["seconds"] = None if path is None else round(seconds.get(subject, 0.0), 3)
        row |= dict.fromkeys(("nodes", "missing", "suggested", "scales", "scale_ranges"))
        row |= dict.fromkeys(("confident", "levels", "largest_gap", "unsolved", "proven"))
        if path is not None:
            row |= _described(path) | {"missing": len(missing[subject])}
        row["status"] = SOLVED if path is not None else failed[subject]
        rows.append(row)
    return rows


def _described(path: Path) -> dict[str, Any]:
    return {
        "nodes": len(path.names),
        "suggested": path.suggestion.n_clusters,
        "scales": " ".join(str(scale.n_clusters) for scale in path.scales),
        "scale_ranges": " ".join(f"{s.lam_from:.4g}:{s.lam_to:.4g}" for s in path.scales),
        "confident": path.suggestion.confident,
        "levels": len(path.levels),
        "largest_gap": float(path.relative_gap.max()),
        "unsolved": sum(level.status is not Status.SOLVED for level in path.levels),
        "proven": path.proof.n_proven,
    }
