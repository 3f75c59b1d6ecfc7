"""Agreement of two partitions: matched accuracy, standard indices, variation of information."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from convexhc._types import IntArray
from convexhc.kernels.labels import numbered


@dataclass(frozen=True)
class PartitionScores:
    """Agreement of predicted clusters with known classes; 1 is perfect in every field.

    Parameters
    ----------
    accuracy : float
        Fraction of nodes labelled correctly under the best matching of clusters and classes.
    homogeneity, completeness, v_measure : float
        Each cluster contains one class; each class is in one cluster; their harmonic mean.
    ari, ami : float
        Rand index and mutual information, adjusted for chance.
    silhouette : float
        Mean silhouette coefficient, between -1 and 1; NaN without a feature space, for fewer than
        two clusters, or for as many as nodes.
    """

    accuracy: float
    homogeneity: float
    completeness: float
    v_measure: float
    ari: float
    ami: float
    silhouette: float = float("nan")


def matched_accuracy(true: ArrayLike, predicted: ArrayLike) -> float:
    """Fraction of nodes labelled correctly under the best matching of clusters and classes.

    ``max_s sum_k #{i : true_i = s(k), predicted_i = k} / n`` over one-to-one maps s, a linear
    assignment problem. Unmatched clusters count as wrong.

    Parameters
    ----------
    true, predicted : (n,) arrays
        Labels of any sortable type; only their equality matters.

    Returns
    -------
    float
        Between 0 and 1. One pass over the nodes and one assignment problem.

    Raises
    ------
    ValueError
        No nodes, or arrays of different length.

    Examples
    --------
    >>> matched_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    classes, clusters = _numbered_pair(true, predicted)
    table = np.zeros((classes.max() + 1, clusters.max() + 1))
    np.add.at(table, (classes, clusters), 1.0)
    return float(
        table[scipy.optimize.linear_sum_assignment(table, maximize=True)].sum() / classes.size
    )


def partition_scores(true: ArrayLike, predicted: ArrayLike) -> PartitionScores:
    """All indices of agreement between known classes and predicted clusters.

    Parameters
    ----------
    true, predicted
        As in :func:`matched_accuracy`, which raises the same errors.

    Returns
    -------
    PartitionScores
        The silhouette is NaN, since labels alone have no geometry.

    Examples
    --------
    >>> scores = partition_scores([0, 0, 1, 1], [0, 0, 1, 2])
    >>> scores.accuracy, scores.homogeneity, round(scores.completeness, 3)
    (0.75, 1.0, 0.667)
    """
    classes, clusters = _numbered_pair(true, predicted)
    # Imported here because scikit-learn takes longer to import than the rest of the package.
    from sklearn.metrics import (
        adjusted_mutual_info_score,
        adjusted_rand_score,
        homogeneity_completeness_v_measure,
    )

    homogeneity, completeness, v_measure = homogeneity_completeness_v_measure(classes, clusters)
    return PartitionScores(
        accuracy=matched_accuracy(classes, clusters),
        homogeneity=float(homogeneity),
        completeness=float(completeness),
        v_measure=float(v_measure),
        ari=float(adjusted_rand_score(classes, clusters)),
        ami=float(adjusted_mutual_info_score(classes, clusters)),
    )


def variation_of_information(a: ArrayLike, b: ArrayLike) -> float:
    """Variation of information between two partitions, in nats.

    ``H(a | b) + H(b | a)``, a metric on partitions, at most ``log n``. Computed as one sum of
    nonnegative terms, so equal partitions have distance exactly 0.

    Parameters
    ----------
    a, b : (n,) arrays
        As in :func:`matched_accuracy`, which raises the same errors.

    Returns
    -------
    float
        O(n log n) time, O(n) memory.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 2, 3]), 4)
    0.6931
    """
    first, second = _numbered_pair(a, b)
    width = int(second.max()) + 1
    cell, joint = np.unique(first * width + second, return_counts=True)
    first_size = np.bincount(first)[cell // width]
    second_size = np.bincount(second)[cell % width]
    terms = joint * (np.log(first_size / joint) + np.log(second_size / joint))
    return float(terms.sum() / first.size)


def _numbered_pair(a: ArrayLike, b: ArrayLike) -> tuple[IntArray, IntArray]:
    """Two label arrays of one length, numbered from 0."""
    first, second = np.asarray(a), np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(
            "two partitions must label the same nodes, at least one, in two arrays of one length; "
            f"got shapes {first.shape} and {second.shape}"
        )
    return numbered(first), numbered(second)
