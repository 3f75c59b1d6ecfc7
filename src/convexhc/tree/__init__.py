"""From the partitions of a path to a tree: fusions, splits, linkage, cuts, exports.

Read in this order: ``records`` (what a tree reports), ``nodes`` (a tree as arrays), ``meet``
(partitions to fusions and splits), ``build`` (fusions to nodes), ``cut``, ``scale`` (which one to
take), ``layout``, ``export``, and ``tree``, the class that offers all of it. ``ward``, ``binary``,
``pruning`` and ``reading`` read a tree with the features of its leaves: exactly k clusters. Nothing
in here recurses: a chain of 50 000 leaves is as welcome as a balanced tree.
"""

from convexhc.tree.cut import cut_linkage
from convexhc.tree.layout import dendrogram_layout
from convexhc.tree.records import Layout, Merge, Plateau, Split
from convexhc.tree.tree import Tree

__all__ = ["Layout", "Merge", "Plateau", "Split", "Tree", "cut_linkage", "dendrogram_layout"]
