"""Leaves of a large graph: small groups of like nodes that a path starts from.

The path of a graph of 10^5 nodes has more edge duals than fit in memory, and its levels of interest
have far fewer clusters than nodes. Above `LeafSettings.max_nodes` the nodes are therefore joined
into about a thousand leaves of equal size, and the graph between the leaves is clustered instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from convexhc._types import BLOCK_ENTRIES, FloatArray, IntArray, Labels
from convexhc.graph import Graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.kernels.rows import group_means
from convexhc.similarity.edge_weights import multiscale_weights
from convexhc.similarity.scales import Scales, hard_labels, memberships, refined_scales
from convexhc.similarity.spectral import N_FEATURES, diffusion_features, diffusion_time


@dataclass(frozen=True)
class LeafSettings:
    """Parameters of `leaves_of`."""

    # Largest graph whose nodes are leaves themselves: the time of a path grows with the square.
    max_nodes: int = 1500
    # Leaves of a larger graph.
    n_leaves: int = 1200
    # Groups that the block model refines before they are divided into leaves.
    n_groups: int = 200
    # Lloyd's steps that fit these groups to the features before: they start from equal sizes.
    lloyd_steps: int = 5
    # Power iterations for the direction in which a group is divided: a rough one will do.
    power_steps: int = 8


SETTINGS = LeafSettings()


@dataclass(frozen=True, eq=False)
class Leaves:
    """Groups of nodes, and the graph between them.

    Attributes
    ----------
    labels : (n,) int64 array
        Leaf of every node, numbered by first occurrence.
    adjacency : (c, c) sparse array
        Sum of the weights between two leaves; zero diagonal.
    features : (c, r) array
        Mean features of the leaves, of unit length.
    """

    labels: Labels
    adjacency: sparse.csr_array
    features: FloatArray

    @cached_property
    def linked(self) -> IntArray:
        """Leaves with edges to others; all of them if the leaves are the nodes."""
        if self.labels.size == len(self.features):
            return np.arange(self.labels.size)
        return np.flatnonzero(np.diff(self.adjacency.indptr))

    def scales(self, *, thorough: bool = True) -> Scales:
        """`refined_scales` of the leaves; a leaf without edges is in the first group of each."""
        part = self._linked_part
        found = refined_scales(part[0], part[1], thorough=thorough)
        if self.linked.size == len(self.features):
            return found
        place = np.zeros(len(self.features), np.int64)
        place[self.linked] = np.arange(self.linked.size)
        return Scales(found.n_groups, tuple(q[place] for q in found.memberships))

    def weights(self) -> Graph:
        """`multiscale_weights` between the leaves."""
        found = multiscale_weights(*self._linked_part)
        if self.linked.size == len(self.features):
            return found
        ends = self.linked[found.tail], self.linked[found.head]
        return Graph.from_edges(len(self.features), *ends, found.weight)

    @property
    def _linked_part(self) -> tuple[sparse.csr_array, FloatArray]:
        if self.linked.size == len(self.features):
            return self.adjacency, self.features
        rows = self.adjacency[self.linked]
        return sparse.csr_array(rows[:, self.linked]), self.features[self.linked]


def has_leaves(n: int) -> bool:
    """Whether a graph of n nodes is large enough to be clustered by leaves."""
    return n > SETTINGS.max_nodes


def node_features(
    graph: Graph, *, time: int | None = None, n_features: int = N_FEATURES
) -> FloatArray:
    """`diffusion_features`; of a large graph, those of its larger components, zero elsewhere.

    Every component has a leading eigenvalue of its own: hundreds of small ones, which are leaves
    anyway, would leave no features for the others.
    """
    if not has_leaves(graph.n):
        return diffusion_features(graph, time=time, n_features=n_features)
    component = graph.components()[1]
    size = np.bincount(component)
    nodes = np.flatnonzero(size[component] >= graph.n / SETTINGS.n_leaves)
    X = np.zeros((graph.n, min(n_features, max(nodes.size, 1))))
    steps = diffusion_time(graph) if time is None else time
    if nodes.size:
        part = graph if nodes.size == graph.n else graph.subgraph(nodes)
        X[nodes] = diffusion_features(part, time=steps, n_features=n_features)
    return X


def leaves_of(adjacency: sparse.csr_array, features: FloatArray) -> Leaves:
    """Join the nodes of a large graph into leaves of about equal size.

    The features are divided into 200 groups, by halving and a few steps of k-means, which the block
    model refines on the edges (`memberships`): a leaf is inside one such group and one component.
    Groups are divided along their principal direction into parts of equal size.

    Parameters
    ----------
    adjacency : (n, n) sparse array
        Symmetric, nonnegative.
    features : (n, r) array
        One row per node.

    Returns
    -------
    Leaves
        About ``SETTINGS.n_leaves``, and at least one per component; all nodes, up to
        ``SETTINGS.max_nodes`` of them. O(n (200 + r) + E) memory, O(E 200 + n r log n) time.

    Examples
    --------
    >>> pair = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> leaves_of(pair, np.ones((2, 1))).labels
    array([0, 1])
    """
    n = len(features)
    if not has_leaves(n):
        return Leaves(np.arange(n), adjacency, features)
    component = connected_components(adjacency, directed=False)[1].astype(np.int64)
    group = divided(features, np.zeros(n, np.int64), n / SETTINGS.n_groups)
    for _ in range(SETTINGS.lloyd_steps):
        group = nearest_means(features, group)
    refined = hard_labels(memberships(adjacency, group))
    inside = numbered_by_first(component * n + refined)
    labels = divided(features, inside, n / SETTINGS.n_leaves)
    count = int(labels.max()) + 1
    member = sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
    between = sparse.csr_array(member.T @ (adjacency @ member))
    between.setdiag(0.0)
    between.eliminate_zeros()
    mean = group_means(features, labels, np.ones(n))
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    return Leaves(labels, between, mean / np.where(length > 0.0, length, 1.0))


def divided(features: FloatArray, labels: Labels, size: float) -> Labels:
    """Divide groups into parts of about ``size`` nodes, numbered by first occurrence.

    A group is divided along its principal direction, into parts whose sizes are multiples of that
    of a leaf, and so on. O(n r log n).

    Examples
    --------
    >>> divided(np.array([[0.0], [5.0], [1.0], [6.0]]), np.zeros(4, np.int64), 2.0)
    array([0, 1, 0, 1])
    """
    order = np.argsort(labels, kind="stable")
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    waiting = [(part, max(1, round(part.size / size))) for part in np.split(order, bounds)]
    out, count = np.empty(labels.size, np.int64), 0
    while waiting:
        nodes, parts = waiting.pop()
        if parts == 1:
            out[nodes] = count
            count += 1
            continue
        first = parts // 2
        along = _principal_coordinate(features[nodes])
        here = np.argpartition(along, cut := nodes.size * first // parts)
        waiting += [(nodes[here[:cut]], first), (nodes[here[cut:]], parts - first)]
    return numbered_by_first(out)


def nearest_means(features: FloatArray, labels: Labels) -> Labels:
    """Lloyd's step: every node goes to the group with the nearest mean. O(n k r), in blocks.

    Examples
    --------
    >>> nearest_means(np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 0, 1]))
    array([0, 0, 1, 1])
    """
    mean = group_means(features, labels, np.ones(labels.size))
    half, out = 0.5 * np.square(mean).sum(axis=1), np.empty(labels.size, np.int64)
    step = max(1, BLOCK_ENTRIES // len(mean))
    for start in range(0, labels.size, step):
        rows = slice(start, start + step)
        out[rows] = (half - features[rows] @ mean.T).argmin(axis=1)
    return numbered_by_first(out)


def _principal_coordinate(X: FloatArray) -> FloatArray:
    """Coordinate of the rows along the direction of largest variance, by power iteration.

    It starts from the column of largest variance, so that no order of the rows matters.
    """
    X = X - X.mean(axis=0)
    direction: FloatArray = X.T @ X[:, np.square(X).sum(axis=0).argmax()]
    for _ in range(SETTINGS.power_steps):
        length = np.linalg.norm(direction)
        if length == 0.0:
            break
        direction = X.T @ (X @ (direction / length))
    return np.asarray(X @ direction)
