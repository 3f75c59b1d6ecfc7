"""The tree of a regularisation path, with everything that can be asked of it."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from convexhc._checks import check_one_of, checked_count, checked_number
from convexhc.kernels.labels import numbered_by_first
from convexhc.tree import cut, export, layout, plateau_ranking
from convexhc.tree.build import (
    checked_labels,
    checked_lambdas,
    nodes_from_linkage,
    nodes_from_partitions,
)
from convexhc.tree.nodes import Nodes
from convexhc.tree.records import Layout, Merge, Plateau, Split


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Tree of a path: which nodes fuse, and from which lam on they stay together.

    Nodes i and j join at the smallest computed lam from which on they share a cluster at every
    larger computed lam: the meet of the partitions from lam upwards. That is nested by
    construction, and it is the path itself when no cluster ever splits. What is still apart at
    the last lam is joined at the top, at 1.1 times that lam (1.0 if it is zero), and flagged.
    Build it with :meth:`from_partitions` or :meth:`from_linkage`.

    Parameters
    ----------
    nodes : Nodes
        The tree as arrays: any number of children per node.
    lambdas : (L,) float64 array
        Values of lam at which the path is known.
    names : tuple of n hashable values
        Names of the leaves.
    splits : tuple of Split
        Every cluster that did not stay together.

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
    lambdas: NDArray[np.float64]
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
            Row l holds the cluster of each node at ``lambdas[l]``, labelled from 0 up.
        names : iterable of n hashable values, optional
            Names of the nodes; by default ``0 .. n - 1``.
        components : (n,) integer array, optional
            Connected components of the graph. If the path stops early, the clusters of each
            component are then joined first and the components above them.

        Returns
        -------
        Tree
            O(n L + n log n) time; O(n) memory beside the input, and the splits.

        Raises
        ------
        ValueError
            Shapes that do not fit, lam out of order, negative labels, or a cluster that reaches
            over two components.
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
        """Build the tree of a linkage; rows that meet at one height become one node.

        The heights, and zero for the leaves, take the place of the computed lam. ``tree.Z`` may
        order rows of equal height and the two nodes of a row differently than ``Z``.

        Parameters
        ----------
        Z : (n - 1, 4) array
            Linkage in scipy's form whose heights never fall. Leaf counts are not read.
        names : iterable of n hashable values, optional
            Names of the leaves; by default ``0 .. n - 1``.
        root_joins : int
            How many of the last rows only close the tree and are no fusions of the path.

        Returns
        -------
        Tree
            O(n log n) time.

        Raises
        ------
        ValueError
            Not such a linkage, or closing rows that are not above all others.

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
        """Whether no cluster of the path ever splits."""
        return not self.splits

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """The fusions, in the order of lam, then of the first leaf."""
        n, n_real = self.nodes.n_leaves, self.nodes.n_real
        lams = self.nodes.height[n:].tolist()
        return tuple(
            Merge(lam, tuple(children), n + at, at >= n_real)
            for at, (lam, children) in enumerate(zip(lams, self.nodes.children, strict=True))
        )

    @cached_property
    def Z(self) -> NDArray[np.float64]:  # noqa: N802, scipy's name for a linkage
        """Linkage in scipy's form, (n - 1, 4): finite, monotone, several children as ties."""
        Z = layout.linkage(self.nodes)
        Z.setflags(write=False)
        return Z

    @property
    def root_joins(self) -> int:
        """Number of rows of ``Z``, the last ones, that only close the tree."""
        return int((self.nodes.n_children[self.nodes.n_real :] - 1).sum())

    @property
    def joined_at_root(self) -> NDArray[np.bool_]:
        """Whether each row of ``Z`` only closes the tree, (n - 1,)."""
        return np.arange(self.n_leaves - 1) >= self.n_leaves - 1 - self.root_joins

    @property
    def available_n_clusters(self) -> tuple[int, ...]:
        """Numbers of clusters that a cut can give, from n down to 1.

        n is there through the leaves and 1 through the root, even if the path showed neither.
        """
        return tuple(self.nodes.level_counts.tolist())

    def labels(
        self,
        *,
        lam: float | None = None,
        n_clusters: SupportsIndex | None = None,
        min_cluster_size: SupportsIndex = 1,
        small: cut.Small = "nearest",
    ) -> NDArray[np.int64]:
        """Flat clusters at one lam, or at most so many of them.

        At lam: the clusters of the tree at the largest computed lam up to it; below the first,
        every node alone; above the last, the clusters at the last (the joins that close the tree
        are at no lam). By number: the finest level with at most ``n_clusters`` clusters.

        With ``min_cluster_size`` above 1, smaller clusters do not count. The level is the coarsest
        with ``n_clusters`` large ones, or with the largest number below it that occurs; if the
        path ends with more than that, the clusters joined at the top. On real graphs boundary
        nodes join last, and this looks past them.

        Parameters
        ----------
        lam : float, optional
            Nonnegative; may be infinite.
        n_clusters : int, optional
            At least 1. Give either this or ``lam``.
        min_cluster_size : int
            Members that make a cluster count.
        small : {"nearest", "noise"}
            Smaller clusters join the large one they meet first going up the tree (of several met
            at once the largest, then the one with the smallest node), or are labelled -1.

        Returns
        -------
        (n,) int64 array
            Labels 0, 1, ... in the order in which they first occur, and -1 for noise. O(n log n).

        Raises
        ------
        ValueError
            Both or none of lam and n_clusters, a value out of range, or ``"nearest"`` at a lam
            where no cluster is large.
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
        least = checked_count("min_cluster_size", min_cluster_size)
        if small not in ("nearest", "noise"):
            raise ValueError(f'small must be "nearest" or "noise"; got {small!r}.')
        if n_clusters is None:
            merges = cut.merges_up_to(self.nodes, checked_number("lam", lam, finite=False))
        elif least == 1:
            merges = cut.merges_for(self.nodes, checked_count("n_clusters", n_clusters))
        else:
            most = checked_count("n_clusters", n_clusters)
            merges = cut.merges_for_large(self.nodes, most, least)
        if least == 1:
            return numbered_by_first(cut.roots_after(self.nodes, merges))
        return cut.large_labels(self.nodes, merges, least, small)

    def plateaus(self) -> tuple[Plateau, ...]:
        """Every range of lam over which the partition does not change, from fine to coarse.

        A plateau runs from the lam at which its partition appears to the next change; the last
        one ends with the path. Only what was computed is listed: neither the joins that close
        the tree nor, if something is fused at the first lam already, the leaves.
        """
        return cut.plateaus(self.nodes, self.lambdas)

    def suggest(self, *, min_cluster_size: SupportsIndex = 1) -> tuple[Plateau, NDArray[np.int64]]:
        """The scale to take when none is asked for: one that lasts and says something.

        Of the plateaus with 1 < n_clusters < n, the one with the largest product of its width in
        log lam and the share of the nodes that it places: those that are neither alone nor in the
        largest cluster. Of equal ones (up to rounding) the coarsest.

        One that is there at the first lam already has no known beginning, and is taken only if no
        other has one. If none places anybody, the widest; if there is none, because everything
        fuses at once or nothing does, the coarsest plateau of all.

        Parameters
        ----------
        min_cluster_size : int
            Smaller clusters do not count: a plateau lasts while the number of the others does,
            and its clusters are those of its coarse end, as `labels` gives them.

        Returns
        -------
        Plateau, (n,) int64 array
            The scale and its labels. O(n log n); above a ``min_cluster_size`` of 1, as often as
            the number of clusters changes.

        Examples
        --------
        >>> path = [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
        >>> plateau, labels = Tree.from_partitions([1.0, 2.0, 3.0, 30.0], path).suggest()
        >>> plateau
        Plateau(n_clusters=2, lam_from=3.0, lam_to=30.0, log_width=2.302...)
        >>> labels
        array([0, 0, 1, 1])
        """
        least = checked_count("min_cluster_size", min_cluster_size)
        return plateau_ranking.suggest(self.nodes, self.lambdas, least)

    def notable_plateaus(self, count: int = 3) -> tuple[Plateau, ...]:
        """The scales most worth looking at, from fine to coarse, by the rule of `suggest`.

        At most so many, without those that score less than half of the first; empty when none
        lasts and says something.

        Examples
        --------
        >>> path = [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
        >>> tree = Tree.from_partitions([1.0, 2.0, 3.0, 30.0], path)
        >>> [plateau.n_clusters for plateau in tree.notable_plateaus()]
        [2]
        """
        return plateau_ranking.notable_plateaus(self.nodes, self.lambdas, count)

    def leaf_order(self) -> NDArray[np.int64]:
        """Leaves from left to right, every cluster contiguous, children by their first leaf."""
        return layout.leaf_order(self.nodes)

    def layout(self) -> Layout:
        """Coordinates of the dendrogram of ``Z``; see :func:`dendrogram_layout`."""
        return layout.dendrogram_layout(self.Z)

    def cophenetic(self) -> NDArray[np.float64]:
        """Height at which each pair of leaves joins, condensed, as scipy's ``cophenet(Z)``.

        n (n - 1) / 2 numbers and as much time: for up to some thousand leaves.
        """
        return layout.cophenetic(self.nodes)

    def to_newick(self) -> str:
        """Newick text: branch length = height of parent - height of child, leaves at zero.

        Nodes with several children stay as they are; names are quoted where Newick asks for it.
        """
        return export.newick(self.nodes, self.names)

    def to_networkx(self) -> Any:
        """``networkx.DiGraph`` from parents to children; needs networkx.

        Nodes are numbered as in ``merges`` and carry ``height``, ``size``, ``name`` (empty for
        inner nodes) and ``artificial``.
        """
        return export.networkx_digraph(self.nodes, self.names)


def _checked_names(names: Iterable[Hashable] | None, n: int) -> tuple[Hashable, ...]:
    """Verify that there is one name per leaf."""
    listed = tuple(range(n)) if names is None else tuple(names)
    if len(listed) != n:
        raise ValueError(f"names must hold one name for each of the {n} nodes; got {len(listed)}.")
    return listed
