"""How alike two partitions are: matched accuracy, the usual indices, variation of information."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from convexhc._types import IntArray
from convexhc.kernels.labels import numbered


@dataclass(frozen=True)
class PartitionScores:
    """How well predicted clusters agree with known ones; 1 is perfect in every field.

    Parameters
    ----------
    accuracy : float
        Share of nodes whose cluster is matched with their class, the best matching taken.
    homogeneity, completeness, v_measure : float
        Clusters hold one class; classes stay in one cluster; the harmonic mean of the two.
    ari, ami : float
        Rand index and mutual information, adjusted so that chance scores 0.
    silhouette : float
        How well the clusters are apart in the space they were found in, between -1 and 1; NaN
        where there is no such space, or fewer than two clusters, or as many as nodes.
    """

    accuracy: float
    homogeneity: float
    completeness: float
    v_measure: float
    ari: float
    ami: float
    silhouette: float = float("nan")


def matched_accuracy(true: ArrayLike, predicted: ArrayLike) -> float:
    """Share of nodes labelled right under the best one-to-one matching of clusters with classes.

    ``max_s sum_k #{i : true_i = s(k), predicted_i = k} / n``, a linear assignment. Clusters left
    over when there are more of them than classes, or fewer, count as wrong.

    Parameters
    ----------
    true, predicted : (n,) arrays
        Labels of any sortable kind; only which of them are equal matters.

    Returns
    -------
    float
        Between 0 and 1. One pass over the nodes and an assignment among the labels.

    Raises
    ------
    ValueError
        No nodes, or two different numbers of them.

    Examples
    --------
    >>> matched_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    classes, clusters = _numbered_pair(true, predicted)
    table = np.zeros((classes.max() + 1, clusters.max() + 1))
    np.add.at(table, (classes, clusters), 1.0)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / classes.size)


def partition_scores(true: ArrayLike, predicted: ArrayLike) -> PartitionScores:
    """Every index of agreement between known classes and predicted clusters.

    Parameters
    ----------
    true, predicted : (n,) arrays
        Labels of any sortable kind; only which of them are equal matters.

    Returns
    -------
    PartitionScores
        With a silhouette of NaN: labels alone have no geometry.

    Raises
    ------
    ValueError
        No nodes, or two different numbers of them.

    Examples
    --------
    >>> scores = partition_scores([0, 0, 1, 1], [0, 0, 1, 2])
    >>> scores.accuracy, scores.homogeneity, round(scores.completeness, 3)
    (0.75, 1.0, 0.667)
    """
    classes, clusters = _numbered_pair(true, predicted)
    # Here and not above: scikit-learn takes longer to load than the rest of the package.
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
    """Distance between two partitions: what each says that the other does not, in nats.

    ``H(a | b) + H(b | a)``, a metric on partitions, at most ``log n``. Written as one sum of
    nonnegative terms, so equal partitions are at distance exactly 0.

    Parameters
    ----------
    a, b : (n,) arrays
        Labels of any sortable kind; only which of them are equal matters.

    Returns
    -------
    float
        O(n log n) time, O(n) memory.

    Raises
    ------
    ValueError
        No nodes, or two different numbers of them.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 2, 3]), 4)
    0.6931
    """
    first, second = _numbered_pair(a, b)
    width = int(second.max()) + 1
    met, joint = np.unique(first * width + second, return_counts=True)
    in_first = np.bincount(first)[met // width]
    in_second = np.bincount(second)[met % width]
    terms = joint * (np.log(in_first / joint) + np.log(in_second / joint))
    return float(terms.sum() / first.size)


def n_singletons(labels: ArrayLike) -> int:
    """Number of clusters that hold a single node.

    Counted in a cut with few clusters, it tells how many nodes joined late and alone, as the
    boundary nodes of real graphs do.

    Parameters
    ----------
    labels : (n,) array
        Labels of any sortable kind.

    Returns
    -------
    int
        Between 0 and n.

    Examples
    --------
    >>> n_singletons([0, 1, 1, 2])
    2
    """
    _, sizes = np.unique(np.asarray(labels), return_counts=True)
    return int(np.count_nonzero(sizes == 1))


def _numbered_pair(a: ArrayLike, b: ArrayLike) -> tuple[IntArray, IntArray]:
    """Two label arrays of one length, numbered from 0."""
    first, second = np.asarray(a), np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(
            "two partitions must label the same nodes, at least one, in two arrays of one length; "
            f"got shapes {first.shape} and {second.shape}"
        )
    return numbered(first), numbered(second)
