"""Warnings about a path: levels that were not solved, fewer clusters than asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexhc._text import counted
from convexhc._types import Labels
from convexhc._warnings import warn_unsolved, warn_user
from convexhc.solvers.solution import Status

if TYPE_CHECKING:
    from convexhc.path.path import Path


class FewerClustersWarning(UserWarning):
    """A partition has fewer clusters than were asked for."""


def warned_if_unsolved(path: Path, tol: float) -> Path:
    """The path itself, after a warning if some lam were not solved to ``tol``."""
    missed = [level.status for level in path.levels if level.status is not Status.SOLVED]
    if missed:
        only_round_off = set(missed) == {Status.ROUND_OFF}
        advice = Status.ROUND_OFF.value if only_round_off else "raise max_iter or loosen tol."
        warn_unsolved(
            f"{len(missed)} of {len(path.levels)} lam were not solved to tol={tol:g} (largest "
            f"relative gap {path.relative_gap.max():.1e}): {advice}"
        )
    return path


def warned_if_fewer(labels: Labels, n_clusters: int | None, finest: int) -> Labels:
    """The labels themselves, after a warning if they are fewer clusters than asked for.

    ``finest`` is the number of clusters of the finest level of the tree with at most that many.
    """
    found = int(labels.max()) + 1
    if n_clusters is not None and found < n_clusters:
        why = (
            f"no level of the tree has {n_clusters}. by='pruning' gives exactly as many."
            if finest < n_clusters
            else "those below min_cluster_size do not count."
        )
        warn_user(
            f"{counted(found, 'cluster')}, {n_clusters} were asked for: {why}",
            FewerClustersWarning,
        )
    return labels
