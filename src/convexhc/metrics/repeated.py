"""Repeated measurements: distances within groups against distances between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from convexhc._checks import TIE
from convexhc._types import BoolArray, FloatArray, IntArray
from convexhc.kernels.labels import numbered
from convexhc.metrics.comparison import checked_distance


class Draws(NamedTuple):
    """A statistic of the measurements, and of resampled measurements."""

    value: float
    draws: FloatArray

    def interval(self) -> tuple[float, float]:
        """Percentile interval of 95 %; NaN without values."""
        if self.draws.size == 0 or np.isnan(self.draws).any():
            return float("nan"), float("nan")
        low, high = np.quantile(self.draws, [0.025, 0.975])
        return float(low), float(high)


class PermutationTest(NamedTuple):
    """A statistic, and how often random labels reach it.

    ``p_value`` is (1 + b) / (1 + B), b the number of the B permutations that reach the value.
    """

    value: float
    p_value: float
    n_permutations: int


def discriminability(distance: ArrayLike, subject: ArrayLike) -> float:
    """Probability that measurements of one subject are closer than those of two subjects.

    The mean, over all ordered pairs (i, j) of measurements of one subject, of the fraction of
    measurements k of other subjects with ``d_ij < d_ik``, ties counting half (Bridgeford et al.,
    2021). It is 1 if subjects are separated perfectly and 1/2 if measurements are exchangeable.

    Parameters
    ----------
    distance : (m, m) array
        Distances between the measurements.
    subject : (m,) array
        Subject of each measurement, as labels of any sortable type.

    Returns
    -------
    float
        Between 0 and 1. O(m^2 log m) time.

    Raises
    ------
    ValueError
        Not a square matrix, NaN, labels of another length, a single subject, or no subject
        measured twice.

    Examples
    --------
    >>> discriminability([[0, 1, 5, 5], [1, 0, 5, 5], [5, 5, 0, 6], [5, 5, 6, 0]], list("aabb"))
    0.5
    """
    matrix, subjects = _checked_groups(distance, subject)
    return _discriminability(_share_closer(matrix), subjects)


def discriminability_test(
    distance: ArrayLike, subject: ArrayLike, *, n_permutations: int = 999, seed: int = 0
) -> PermutationTest:
    """Permutation test of `discriminability`, whether labels are exchangeable.

    Parameters
    ----------
    distance, subject
        As in `discriminability`, which raises the same errors.
    n_permutations : int
        Number of random permutations of the labels.
    seed : int
        Seed of the permutations.

    Returns
    -------
    PermutationTest
        O(m^2 (log m + n_permutations)) time.

    Examples
    --------
    >>> points = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    >>> discriminability_test(np.abs(points[:, None] - points), list("aaabbb")).value
    1.0
    """
    matrix, subjects = _checked_groups(distance, subject)
    share = _share_closer(matrix)
    value = _discriminability(share, subjects)
    rng = np.random.default_rng(seed)
    reached = sum(
        _discriminability(share, rng.permutation(subjects)) >= value - TIE
        for _ in range(n_permutations)
    )
    return PermutationTest(value, (1 + reached) / (1 + n_permutations), n_permutations)


def resampled_counts(subject: ArrayLike, n_draws: int, seed: int = 0) -> IntArray:
    """Counts (n_draws, m) of each measurement, those of every subject resampled with replacement.

    A subject with copies of a single measurement has no pairs and is resampled.
    """
    subjects = np.asarray(subject)
    rng = np.random.default_rng(seed)
    times = np.zeros((n_draws, subjects.size), dtype=np.int64)
    for one in np.unique(subjects):
        mine = np.flatnonzero(subjects == one)
        share = np.full(mine.size, 1 / mine.size)
        drawn = rng.multinomial(mine.size, share, n_draws)
        while mine.size > 1 and (copies := (drawn > 0).sum(axis=1) == 1).any():
            drawn[copies] = rng.multinomial(mine.size, share, int(copies.sum()))
        times[:, mine] = drawn
    return times


def discriminability_draws(distance: ArrayLike, subject: ArrayLike, times: IntArray) -> Draws:
    """Discriminability, and the same with every measurement counted ``times`` times.

    Two copies of one measurement are not a pair, for any method. NaN if a distance is.
    """
    matrix = np.asarray(distance, dtype=np.float64)
    if np.isnan(matrix).any():
        return Draws(float("nan"), np.full(len(times), np.nan))
    subjects = np.asarray(subject)
    weight = times.astype(np.float64)
    wins, total = np.zeros(len(times)), np.zeros(len(times))
    for i, row in enumerate(matrix):
        mine = subjects == subjects[i]
        others = ~mine
        mine[i] = False
        within, between = row[mine, None], row[None, others]
        won = (within < between) + 0.5 * (within == between)
        own = weight[:, mine]
        share = ((own @ won) * weight[:, others]).sum(axis=1) / weight[:, others].sum(axis=1)
        wins += weight[:, i] * share
        total += weight[:, i] * own.sum(axis=1)
    return Draws(discriminability(matrix, subjects), wins / total)


def mean_draws(value: FloatArray, chosen: BoolArray, times: IntArray) -> Draws:
    """Mean over the chosen pairs of measurements, and the same with ``times`` copies of each."""
    pairs = chosen & ~np.eye(len(value), dtype=bool)
    weight = times.astype(np.float64)
    total = ((weight @ pairs) * weight).sum(axis=1)
    sums = ((weight @ np.where(pairs, value, 0.0)) * weight).sum(axis=1)
    return Draws(float(value[pairs].mean()), sums / total)


def _checked_groups(distance: ArrayLike, subject: ArrayLike) -> tuple[FloatArray, IntArray]:
    """Verify distances, and subjects that can be told apart; the subjects numbered from 0."""
    matrix = checked_distance(distance, "distance")
    subjects = np.asarray(subject)
    if subjects.shape != (len(matrix),):
        raise ValueError(
            f"subject must name one subject for each of the {len(matrix)} measurements; got shape "
            f"{subjects.shape}"
        )
    found = numbered(subjects)
    counts = np.bincount(found)
    if counts.size == 1 or counts.max() == 1:
        raise ValueError(
            "discriminability needs two subjects or more, one of them measured twice; got "
            f"{counts.size} subjects in {len(matrix)} measurements"
        )
    return matrix, found


def _share_closer(matrix: FloatArray) -> FloatArray:
    """Entry (i, j): how many k are farther from i than j is, ties counting half; 0 for i = j."""
    # Imported here because scipy.stats takes long to import.
    from scipy.stats import rankdata

    m = len(matrix)
    others = matrix[~np.eye(m, dtype=bool)].reshape(m, m - 1)
    farther = np.zeros((m, m))
    farther[~np.eye(m, dtype=bool)] = (m - 1 - rankdata(others, axis=1)).ravel()
    return farther


def _discriminability(farther: FloatArray, subjects: IntArray) -> float:
    """Discriminability from `_share_closer`.

    Measurements of the subject of i farther than j are subtracted: each two of them count once.
    """
    m = len(subjects)
    same = subjects[:, None] == subjects[None, :]
    within = same.sum(axis=1) - 1.0
    sums = np.where(same, farther, 0.0).sum(axis=1) - within * (within - 1.0) / 2.0
    return float((sums / (m - 1.0 - within)).sum() / within.sum())
