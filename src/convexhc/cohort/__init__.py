"""Many paths compared: common nodes, distances between subjects, consensus, groups.

``distances``: how different two hierarchies are.
``groups``: distances within groups against distances between them. ``consensus``: what subjects
share: nodes, a majority-rule tree and a mean graph.
"""

from convexhc.cohort.consensus import CommonNodes, common_nodes, majority_tree, mean_graph
from convexhc.cohort.distances import METRICS, SubjectDistances, matched_counts, subject_distances
from convexhc.cohort.groups import GroupComparison, checked_groups, compare_groups

__all__ = [
    "METRICS",
    "CommonNodes",
    "GroupComparison",
    "SubjectDistances",
    "checked_groups",
    "common_nodes",
    "compare_groups",
    "majority_tree",
    "matched_counts",
    "mean_graph",
    "subject_distances",
]
