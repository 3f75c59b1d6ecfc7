"""Metrics of centroids, partitions, distance matrices and hierarchies.

``centroids``: effective rank, distances between centroids, k-means on them. ``partition``:
agreement of two partitions. ``comparison``: agreement of distance matrices or of their neighbour
graphs, two or many. ``repeated``: distances within groups against distances between them.
``hierarchy``: quality of a tree, given distances or a graph.
"""

from convexhc.metrics.centroids import (
    centroid_distances,
    distances_of,
    effective_rank,
    effective_rank_of,
    fuse_rows,
    kmeans_labels,
    kmeans_scores,
)
from convexhc.metrics.comparison import (
    hamming,
    information_matrix,
    kendall,
    kendall_matrix,
    knn_graph,
    neighbor_matrix,
)
from convexhc.metrics.hierarchy import (
    cophenetic_correlation,
    cophenetic_distances,
    dasgupta_cost,
    dasgupta_score,
    tree_sampling_divergence,
)
from convexhc.metrics.partition import (
    PartitionScores,
    matched_accuracy,
    partition_scores,
    variation_of_information,
)
from convexhc.metrics.repeated import discriminability, discriminability_test

__all__ = [
    "PartitionScores",
    "centroid_distances",
    "cophenetic_correlation",
    "cophenetic_distances",
    "dasgupta_cost",
    "dasgupta_score",
    "discriminability",
    "discriminability_test",
    "distances_of",
    "effective_rank",
    "effective_rank_of",
    "fuse_rows",
    "hamming",
    "information_matrix",
    "kendall",
    "kendall_matrix",
    "kmeans_labels",
    "kmeans_scores",
    "knn_graph",
    "matched_accuracy",
    "neighbor_matrix",
    "partition_scores",
    "tree_sampling_divergence",
    "variation_of_information",
]
