"""The tree of a path: merges, splits, linkage, cuts, flat clusters, exports.

``tree`` has the public class. ``nodes`` stores a multiway tree as arrays and writes it;
``nested_partitions`` builds it from the partitions of a path and ``linkage`` from scipy's form.
``cut`` and ``plateaus`` are horizontal cuts and the choice among them.

``flat_clusters`` uses the features of the leaves to form exactly k clusters: ``binary`` resolves
the tree, and ``pruning`` moves small branches and finds the best k. Nothing recurses, so a chain of
50 000 leaves is no problem.
"""

from convexhc.tree.nested_partitions import Split
from convexhc.tree.nodes import Merge
from convexhc.tree.plateaus import Plateau
from convexhc.tree.tree import Tree

__all__ = ["Merge", "Plateau", "Split", "Tree"]
