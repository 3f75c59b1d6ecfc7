"""The tree of a regularisation path."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from convexhc._checks import check_one_of, checked_count, checked_number
from convexhc._types import FloatArray, IntArray
from convexhc.tree import cut, plateaus
from convexhc.tree.linkage import linkage_from_nodes, nodes_from_linkage
from convexhc.tree.nested_partitions import (
    Split,
    checked_labels,
    checked_lambdas,
    nodes_from_partitions,
)
from convexhc.tree.nodes import Merge, Nodes, networkx_digraph, newick
from convexhc.tree.plateaus import Plateau


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Tree of a path: which nodes merge, and from which lam on they stay together.

    Nodes i and j merge at the smallest computed lam such that they share a cluster there and at
    every larger computed lam. The clusters at lam are thus the meet of the partitions from lam
    upwards. They are nested by construction, and equal the path if no cluster ever splits. Clusters
    left at the last lam are merged at 1.1 times that lam (at 1.0 if it is zero) and flagged as
    artificial. Build a tree with :meth:`from_partitions` or :meth:`from_linkage`.

    Parameters
    ----------
    nodes : Nodes
        The tree as arrays, with any number of children per node.
    lambdas : (L,) float64 array
        Computed values of lam.
    names : tuple of n hashable values
        Names of the leaves.
    splits : tuple of Split
        Every cluster that splits as lam grows.

    Examples
    --------
    >>> tree = Tree.from_partitions([0.1, 1.0, 5.0], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> tree
    Tree(n_leaves=4, n_merges=3, lam=0.1..5, splits=0, root_joins=0)
    >>> tree.labels(n_clusters=2)
    array([0, 0, 1, 1])
    >>> tree.to_newick()
    '((0:1.0,1:1.0):4.0,(2:1.0,3:1.0):4.0);'
    """

    nodes: Nodes
    lambdas: FloatArray
    names: tuple[Hashable, ...]
    splits: tuple[Split, ...] = ()

    @classmethod
    def from_partitions(
        cls,
        lambdas: ArrayLike,
        partitions: ArrayLike,
        *,
        names: Iterable[Hashable] | None = None,
        components: ArrayLike | None = None,
    ) -> Tree:
        """Build the tree of the partitions of a path.

        Parameters
        ----------
        lambdas : (L,) array
            Strictly increasing, nonnegative, finite.
        partitions : (L, n) integer array
            Row l holds the nonnegative labels of the nodes at ``lambdas[l]``.
        names : iterable of n hashable values, optional
            Names of the nodes; by default ``0 .. n - 1``.
        components : (n,) integer array, optional
            Connected components of the graph. If the path stops early, the clusters of each
            component are merged first, and the components above them.

        Returns
        -------
        Tree
            O(n L + n log n) time; O(n) memory besides the input and the splits.

        Raises
        ------
        ValueError
            Shapes that do not fit, lam out of order, negative labels, or a cluster with nodes of
            two components.
        TypeError
            Labels that are not integers.

        Examples
        --------
        >>> path = [[0, 0, 1], [0, 1, 1], [0, 0, 0]]
        >>> tree = Tree.from_partitions([1.0, 2.0, 3.0], path, names="abc")
        >>> tree.is_nested, tree.splits[0].parted
        (False, (1,))
        >>> tree.to_newick()
        '(a:3.0,(b:2.0,c:2.0):1.0);'
        """
        known = checked_lambdas(lambdas)
        rows = checked_labels(partitions, "partitions", (known.size, None))
        n = rows.shape[1]
        groups = None if components is None else checked_labels(components, "components", (n,))
        nodes, splits = nodes_from_partitions(known, rows, groups)
        return cls(nodes, known, _checked_names(names, n), splits)

    @classmethod
    def from_linkage(
        cls, Z: ArrayLike, *, names: Iterable[Hashable] | None = None, root_joins: int = 0
    ) -> Tree:
        """Build the tree of a linkage; adjacent rows of equal height become one merge.

        The heights, and zero for the leaves, take the place of the computed lam. ``tree.Z`` may
        order rows of equal height and the two nodes of a row differently from ``Z``.

        Parameters
        ----------
        Z : (n - 1, 4) array
            Linkage in scipy's form whose heights never fall. Leaf counts are not read.
        names : iterable of n hashable values, optional
            Names of the leaves; by default ``0 .. n - 1``.
        root_joins : int
            Number of last rows that only complete the tree and are no merges of the path.

        Returns
        -------
        Tree
            O(n log n) time.

        Raises
        ------
        ValueError
            Not such a linkage, or root joins that are not above all other rows.

        Examples
        --------
        >>> Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 1.0, 3]]).merges
        (Merge(lam=1.0, children=(0, 1, 2), parent=3, artificial=False),)
        """
        nodes, heights = nodes_from_linkage(Z, operator.index(root_joins))
        return cls(nodes, heights, _checked_names(names, nodes.n_leaves))

    def __repr__(self) -> str:
        return (
            f"Tree(n_leaves={self.n_leaves}, n_merges={self.nodes.n_merges}, "
            f"lam={self.lambdas[0]:g}..{self.lambdas[-1]:g}, splits={len(self.splits)}, "
            f"root_joins={self.root_joins})"
        )

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.nodes.n_leaves

    @property
    def is_nested(self) -> bool:
        """True if no cluster of the path ever splits."""
        return not self.splits

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """The merges, sorted by lam, then by smallest leaf."""
        n, n_real = self.nodes.n_leaves, self.nodes.n_real
        lams = self.nodes.height[n:].tolist()
        return tuple(
            Merge(lam, tuple(children), n + at, at >= n_real)
            for at, (lam, children) in enumerate(zip(lams, self.nodes.children, strict=True))
        )

    @cached_property
    def Z(self) -> FloatArray:  # noqa: N802, scipy's name for a linkage
        """Linkage in scipy's form, (n - 1, 4); polytomies become rows of equal height."""
        Z = linkage_from_nodes(self.nodes)
        Z.setflags(write=False)
        return Z

    @property
    def root_joins(self) -> int:
        """Number of rows of ``Z``, the last ones, that only complete the tree."""
        return int((self.nodes.n_children[self.nodes.n_real :] - 1).sum())

    @property
    def available_n_clusters(self) -> tuple[int, ...]:
        """Numbers of clusters of the horizontal cuts, from n down to 1.

        n (the leaves) and 1 (the root) are included even if the path has no such partition.
        """
        return tuple(self.nodes.level_counts.tolist())

    def labels(
        self,
        *,
        lam: float | None = None,
        n_clusters: SupportsIndex | None = None,
        min_cluster_size: SupportsIndex = 1,
        small: cut.Small = "nearest",
    ) -> IntArray:
        """Flat clusters by a horizontal cut, at ``lam`` or with at most ``n_clusters`` clusters.

        By lam: the clusters at the largest computed lam that is not larger. Below the first lam
        every node is a cluster; above the last, the clusters are those at the last, since
        artificial merges have no lam. By number: the finest level with at most ``n_clusters``
        clusters.

        With ``min_cluster_size`` above 1, smaller clusters do not count. The level is the coarsest
        with ``n_clusters`` large ones, or with the largest smaller number that occurs; if the path
        ends with more than ``n_clusters``, an artificial level. Boundary nodes of real graphs merge
        last; a minimum size ignores them.

        Parameters
        ----------
        lam : float, optional
            Nonnegative; may be infinite.
        n_clusters : int, optional
            At least 1. Give either this or ``lam``.
        min_cluster_size : int
            Members a cluster needs to count.
        small : {"nearest", "noise"}
            Smaller clusters join the large one they merge with first (of several the largest,
            then the one with the smallest node), or are labelled -1.

        Returns
        -------
        (n,) int64 array
            Labels 0, 1, ... in order of first occurrence, and -1 for noise. O(n log n).

        Raises
        ------
        ValueError
            Both or neither of lam and n_clusters, a value out of range, or ``"nearest"`` at a
            lam where no cluster is large.
        TypeError
            A count that is not an integer.

        Examples
        --------
        >>> path = [[0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0]]
        >>> tree = Tree.from_partitions([1.0, 2.0, 3.0], path)
        >>> tree.labels(n_clusters=2)
        array([0, 0, 0, 0, 0, 0, 1])
        >>> tree.labels(n_clusters=2, min_cluster_size=2, small="noise")
        array([ 0,  0,  0,  1,  1,  1, -1])
        """
        check_one_of("lam", lam, "n_clusters", n_clusters)
        min_size = checked_count("min_cluster_size", min_cluster_size)
        if small not in ("nearest", "noise"):
            raise ValueError(f'small must be "nearest" or "noise"; got {small!r}.')
        if n_clusters is None:
            merges = cut.merges_up_to(self.nodes, checked_number("lam", lam, finite=False))
        else:
            merges = cut.merges_for(self.nodes, checked_count("n_clusters", n_clusters), min_size)
        return cut.labels_after(self.nodes, merges, min_size, small)

    def plateaus(self) -> tuple[Plateau, ...]:
        """Every range of lam over which the partition does not change, from fine to coarse.

        A plateau runs from the lam at which its partition appears to the next change; the last
        one ends with the path. Only computed partitions are listed: no artificial merges, and not
        the leaves if some nodes are merged at the first lam already.
        """
        return plateaus.plateaus(self.nodes, self.lambdas)

    def suggest(self, *, min_cluster_size: SupportsIndex = 1) -> tuple[Plateau, IntArray]:
        """The plateau to use when no scale is given, and its labels.

        Among the plateaus with 1 < n_clusters < n, the one that maximises the width in log lam
        times the fraction of nodes that are neither singletons nor in the largest cluster. Ties (up
        to rounding) go to the coarsest.

        A plateau that exists at the first lam already has no known width and is chosen only if
        there is no other. If every product is zero, the widest plateau is chosen; if no plateau has
        1 < n_clusters < n, the coarsest of all.

        Parameters
        ----------
        min_cluster_size : int
            Smaller clusters do not count: a plateau lasts while the number of the others is
            constant, and its clusters are those of its coarse end, as given by `labels`.

        Returns
        -------
        Plateau, (n,) int64 array
            The plateau and its labels. O(n log n); with ``min_cluster_size`` above 1, that for
            every change of the number of clusters.

        Examples
        --------
        >>> path = [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
        >>> plateau, labels = Tree.from_partitions([1.0, 2.0, 3.0, 30.0], path).suggest()
        >>> plateau
        Plateau(n_clusters=2, lam_from=3.0, lam_to=30.0, log_width=2.302...)
        >>> labels
        array([0, 0, 1, 1])
        """
        min_size = checked_count("min_cluster_size", min_cluster_size)
        return plateaus.suggest(self.nodes, self.lambdas, min_size)

    def notable_plateaus(self, count: int = 3) -> tuple[Plateau, ...]:
        """The ``count`` best plateaus by the criterion of `suggest`, from fine to coarse.

        Plateaus with at most half the best score are left out; empty if every score is zero.

        Examples
        --------
        >>> path = [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
        >>> tree = Tree.from_partitions([1.0, 2.0, 3.0, 30.0], path)
        >>> [plateau.n_clusters for plateau in tree.notable_plateaus()]
        [2]
        """
        return plateaus.notable_plateaus(self.nodes, self.lambdas, count)

    def leaf_order(self) -> IntArray:
        """Leaves from left to right; clusters are contiguous, children sorted by smallest leaf."""
        return np.argsort(self.nodes.place[: self.n_leaves])

    def to_newick(self, support: ArrayLike | None = None) -> str:
        """Newick text: branch length = height of parent - height of child, leaves at zero.

        Polytomies are kept; names are quoted where Newick requires it. ``support``, one number per
        merge, labels the inner nodes but the root, as phylogenetics tools read it.

        Examples
        --------
        >>> Tree.from_linkage([[0, 1, 1.0, 2], [2, 3, 2.0, 3]]).to_newick(support=[0.95, 1.0])
        '((0:1.0,1:1.0)0.95:1.0,2:2.0);'
        """
        values = None if support is None else np.asarray(support, dtype=np.float64)
        if values is not None and values.shape != (self.nodes.n_merges,):
            raise ValueError(
                f"support must have one number for each of {self.nodes.n_merges} merges; got shape "
                f"{values.shape}."
            )
        return newick(self.nodes, self.names, values)

    def to_networkx(self) -> Any:
        """``networkx.DiGraph`` from parents to children; needs networkx.

        Nodes are numbered as in ``merges`` and carry ``height``, ``size``, ``name`` (empty for
        inner nodes) and ``artificial``.
        """
        return networkx_digraph(self.nodes, self.names)


def _checked_names(names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...]:
    """Verify that there is one name per leaf."""
    checked = tuple(range(n)) if names is None else tuple(names)
    if len(checked) != n:
        raise ValueError(f"names must hold one name for each of the {n} nodes; got {len(checked)}.")
    return checked
