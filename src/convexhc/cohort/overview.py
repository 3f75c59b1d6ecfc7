"""A cohort at once: everything that is compared between its subjects, and one row for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convexhc.cohort.consensus import CommonNodes, common_nodes, majority_tree, nodes_of
from convexhc.cohort.distances import MIN_COMMON_NODES, SubjectDistances, subject_distances
from convexhc.cohort.groups import GroupComparison, Groups, checked_groups, compare_groups
from convexhc.path.path import Path
from convexhc.solvers.solution import Status
from convexhc.tree.clades import Consensus

# Name of the whole cohort among the names of groups.
ALL = "all"
# Status of a subject without an error.
SOLVED = "solved"
# Metrics that need no lam.
_ALWAYS = ("cophenetic", "neighbors", "information")


@dataclass(frozen=True, eq=False)
class Overview:
    """Distances, tests and consensus trees of a cohort.

    Attributes
    ----------
    nodes : CommonNodes
        Common and missing nodes.
    groups : tuple or None
        The group of every subject.
    distances : tuple of SubjectDistances
        By cophenetic distance, neighbours and information; by centroids and their neighbours at
        every lam asked for.
    comparisons : tuple of GroupComparison
        One for each of them; empty without two groups, one of them of two subjects.
    consensus : mapping from group to Consensus
        The majority-rule tree of all subjects, under `ALL`, and of every group of two or more.
    """

    nodes: CommonNodes
    groups: tuple[Hashable, ...] | None
    distances: tuple[SubjectDistances, ...]
    comparisons: tuple[GroupComparison, ...]
    consensus: Mapping[str, Consensus]


def overview(
    paths: Mapping[Hashable, Path],
    groups: Groups | None = None,
    *,
    lams: Sequence[float] = (),
    n_permutations: int = 999,
    n_draws: int = 1000,
    seed: int = 0,
) -> Overview:
    """Compare the subjects of a cohort in every way.

    Centroids are compared at ``lams``, of which the paths must have kept them; the numbers and the
    seed are those of `compare_groups`. Without distances and consensus trees if fewer than two
    subjects, or three common nodes.
    """
    known = None if groups is None else checked_groups(groups, list(paths))
    nodes = nodes_of(paths)
    if len(paths) < 2 or len(nodes.names) < MIN_COMMON_NODES:
        return Overview(nodes, known, (), (), {})
    distances = [subject_distances(paths, metric) for metric in _ALWAYS]
    for lam in lams:
        distances += [subject_distances(paths, m, lam=lam) for m in ("centroid", "neighbors")]
    comparisons: list[GroupComparison] = []
    if known is not None and has_pairs(known):
        comparisons = [
            compare_groups(each, known, n_permutations=n_permutations, n_draws=n_draws, seed=seed)
            for each in distances
        ]
    consensus = {
        name: majority_tree({subject: paths[subject] for subject in subjects}, nodes=nodes)
        for name, subjects in members(list(paths), known).items()
    }
    return Overview(nodes, known, tuple(distances), tuple(comparisons), consensus)


def has_pairs(groups: Sequence[Hashable]) -> bool:
    """Whether there are two groups or more, one of them of two subjects or more."""
    counts = Counter(groups)
    return len(counts) > 1 and max(counts.values()) > 1


def members(
    subjects: Sequence[Hashable], groups: Sequence[Hashable] | None
) -> dict[str, list[Hashable]]:
    """All subjects, and those of every group of two or more, by name.

    Examples
    --------
    >>> members([1, 2, 3], ["a", "b", "a"])
    {'all': [1, 2, 3], 'group a': [1, 3]}
    """
    found: dict[str, list[Hashable]] = {ALL: list(subjects)}
    counts = Counter(groups or ())
    for subject, group in zip(subjects, groups or (), strict=False):
        if len(counts) > 1 and counts[group] > 1:
            found.setdefault(f"group {group}", []).append(subject)
    return found


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
