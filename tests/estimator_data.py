"""Small data with known groups, for the tests of the estimators."""

from __future__ import annotations

from functools import partial

import numpy as np

from convexhc.estimators import ConvexHierarchicalClustering

# The estimator for a precomputed similarity.
OfSimilarity = partial(ConvexHierarchicalClustering, similarity="precomputed")
# A loose tolerance, for tests of whether a fit works.
NEIGHBOURS = ConvexHierarchicalClustering(similarity="nearest_neighbors", tol=0.01)


def nested() -> np.ndarray:
    """Two pairs of groups of three: similar inside a group, less in its pair, least across."""
    pair = np.kron(np.eye(2), np.full((3, 3), 0.9)) + 0.1
    return np.kron(np.eye(2), pair) + 0.01 + np.eye(12)


GROUPS = np.repeat([0, 1, 2, 3], 3)
PAIRS = np.repeat([0, 1], 6)


def points() -> np.ndarray:
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    return np.repeat(centres, 6, axis=0) + np.random.default_rng(0).normal(size=(18, 2))


def same_partition(one, other) -> bool:
    pairs = len(set(zip(one, other, strict=True)))
    return pairs == len(set(one)) == len(set(other))


def indefinite() -> np.ndarray:
    return nested() * (1 - np.eye(12))
