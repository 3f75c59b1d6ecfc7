"""Groups of subjects: distances within them against distances between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._checks import checked_count
from convexhc.cohort.distances import SubjectDistances
from convexhc.kernels.labels import numbered
from convexhc.metrics.repeated import (
    Draws,
    discriminability_draws,
    discriminability_test,
    mean_draws,
    resampled_counts,
)

Groups = Mapping[Hashable, Hashable] | Sequence[Hashable]
Interval = tuple[float, float]


@dataclass(frozen=True)
class GroupComparison:
    """Distances within groups against distances between them.

    Intervals of 95 % are percentiles over subjects resampled within their groups: they speak of
    these groups, not of others.

    Attributes
    ----------
    metric, meaning : str
        Which distances.
    n_subjects, n_groups : int
        Their numbers.
    within, between, difference : float
        Mean distance within groups, between groups, and the latter less the former.
    discriminability : float
        Share of comparisons in which the distance within the group is the smaller
        (`metrics.discriminability`).
    within_interval, between_interval, difference_interval, discriminability_interval : tuple
        Their intervals.
    p_value : float
        Of the discriminability, by permutation of the groups: (1 + b) / (1 + B).
    n_permutations, n_draws : int
        Numbers of permutations and of resamples.
    """

    metric: str
    meaning: str
    n_subjects: int
    n_groups: int
    within: float
    within_interval: Interval
    between: float
    between_interval: Interval
    difference: float
    difference_interval: Interval
    discriminability: float
    discriminability_interval: Interval
    p_value: float
    n_permutations: int
    n_draws: int

    def __str__(self) -> str:
        low, high = self.discriminability_interval
        return (
            f"{self.metric}: {self.within:.3f} within {self.n_groups} groups, {self.between:.3f} "
            f"between; discriminability {self.discriminability:.3f} ({low:.3f} to {high:.3f}), "
            f"p = {self.p_value:.3g}"
        )

    def row(self) -> dict[str, Any]:
        """The numbers as one row of a table, intervals as two columns."""
        row: dict[str, Any] = {
            "metric": self.metric,
            "subjects": self.n_subjects,
            "groups": self.n_groups,
        }
        for name in ("within", "between", "difference", "discriminability"):
            row[name] = getattr(self, name)
            row[f"{name}_low"], row[f"{name}_high"] = getattr(self, f"{name}_interval")
        return row | {
            "p_value": self.p_value,
            "permutations": self.n_permutations,
            "resamples": self.n_draws,
            "meaning": self.meaning,
        }


def checked_groups(groups: Groups, subjects: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The group of every subject, from a mapping by name or a sequence in their order.

    Examples
    --------
    >>> checked_groups({"a": "young", "b": "old", "c": "old"}, ["a", "c"])
    ('young', 'old')
    """
    if isinstance(groups, Mapping):
        without = [subject for subject in subjects if subject not in groups]
        if without:
            more = f" and {len(without) - 1} more" if len(without) > 1 else ""
            raise ValueError(f"groups names no group of the subject {without[0]!r}{more}.")
        return tuple(groups[subject] for subject in subjects)
    found = tuple(groups)
    if len(found) != len(subjects):
        raise ValueError(
            f"groups must name one group for each of the {len(subjects)} subjects, received "
            f"{len(found)}."
        )
    return found


def compare_groups(
    distances: SubjectDistances,
    groups: Groups,
    *,
    n_permutations: int = 999,
    n_draws: int = 1000,
    seed: int = 0,
) -> GroupComparison:
    """Compare distances within groups with those between groups.

    Parameters
    ----------
    distances : SubjectDistances
        Distances between the subjects.
    groups : mapping from subject to group, or sequence
        The group of each subject; a mapping may name others, too.
    n_permutations : int
        Permutations of the groups, for the p-value.
    n_draws : int
        Resamples of the subjects, for the intervals.
    seed : int
        Seed of both.

    Returns
    -------
    GroupComparison
        O(s^2 n_draws) for s subjects. All numbers are NaN if a distance is.

    Raises
    ------
    ValueError
        A subject without a group, a single group, or no group of two subjects.

    Examples
    --------
    >>> points = np.array([0.0, 0.1, 0.3, 5.0, 5.1, 5.4])
    >>> matrix = np.abs(points[:, None] - points)
    >>> distances = SubjectDistances("cophenetic", tuple("abcdef"), matrix, 3)
    >>> compare_groups(distances, [1, 1, 1, 2, 2, 2], n_permutations=99).discriminability
    1.0
    """
    checked_count("n_permutations", n_permutations)
    checked_count("n_draws", n_draws)
    known = checked_groups(groups, distances.subjects)
    # Numbered by name: groups need not be sortable.
    first = {group: at for at, group in enumerate(dict.fromkeys(known))}
    label = numbered(np.array([first[group] for group in known], dtype=np.int64))
    matrix = distances.matrix
    counts = np.bincount(label)
    if counts.size < 2 or counts.max() < 2:
        raise ValueError(
            "a comparison needs two groups or more, one of them with two subjects; received "
            f"{counts.size} groups of {len(known)} subjects."
        )
    times = resampled_counts(label, n_draws, seed)
    same = label[:, None] == label[None, :]
    within, between = mean_draws(matrix, same, times), mean_draws(matrix, ~same, times)
    found = {
        "within": within,
        "between": between,
        "difference": Draws(between.value - within.value, between.draws - within.draws),
        "discriminability": discriminability_draws(matrix, label, times),
    }
    numbers: dict[str, Any] = {name: each.value for name, each in found.items()}
    numbers |= {f"{name}_interval": each.interval() for name, each in found.items()}
    p_value = float("nan")
    if not np.isnan(matrix).any():
        options = {"n_permutations": n_permutations, "seed": seed}
        p_value = discriminability_test(matrix, label, **options).p_value
    return GroupComparison(
        metric=distances.label,
        meaning=distances.meaning,
        n_subjects=len(known),
        n_groups=int(counts.size),
        p_value=p_value,
        n_permutations=n_permutations,
        n_draws=n_draws,
        **numbers,
    )
