"""Which clusters of a solution are those of the exact minimiser: the arguments of all models.

Let C be within a known distance of a minimiser C*. Two rows further apart than their errors are
apart in C*. A group A is together in C* if, with the duals of the edges that leave it replaced by
any subgradient y at the minimiser averaged over A, a flow inside the dual balls of A meets the
demand: averaging C* over A would otherwise lower the objective. Such y are not known, but within a
bound of the computed dual (`dual_errors`). What this bound adds to the demand is routed along a
spanning tree of the edges with most slack, and has to fit. See docs/theory/proof.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.kernels.components import components, spanning_forest, sums_beyond
from convexhc.kernels.dual_errors import ball_slack
from convexhc.kernels.edges import Edges
from convexhc.kernels.labels import numbered_by_first

# Share of the slack that may be used: the rest is for round-off of the sums.
USABLE = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class InnerFlow:
    """A flow inside the clusters of a solution, and what it leaves undelivered."""

    edges: Edges  # edges inside clusters, with the radii of their balls
    flow: FloatArray  # (E, m): flow along them
    # (n,): bound on the norm of the demand that is not met at every node, round-off included.
    unmet: FloatArray


@dataclass(frozen=True, eq=False)
class Leaving:
    """Errors of the duals of the edges that leave a cluster, added up at every node."""

    error: FloatArray  # (n,): bound on the norm of the error of the demand
    # (n, m): bound on the absolute error of every entry beyond that; None if there is none.
    signs: FloatArray | None

    def plus(self, tail: IntArray, head: IntArray, error: FloatArray, signs: FloatArray) -> Leaving:
        """With the errors of further edges, at both of their ends."""
        total = self.error.copy()
        both = None if self.signs is None else self.signs.copy()
        for end in (tail, head):
            total += np.bincount(end, error, total.size)
            if both is not None and signs.shape[1]:
                np.add.at(both, end, signs)
        return Leaving(total, both)


def proven_groups(labels: Labels, inner: InnerFlow, leaving: Leaving) -> Labels:
    """The finest partition at the minimiser: clusters or parts of them that are proven together.

    Clusters that are not proven are cut where the spanning tree lacks slack, and their parts tried
    in turn, with any dual along the edges between parts. Other nodes are single. O(E m + E log E).
    """
    edges, n = inner.edges, labels.size
    if not edges.tail.size:
        return np.arange(n)
    slack = ball_slack(inner.flow, edges.soft, edges.block)
    outside, nothing = np.maximum(-slack, 0.0), np.zeros((slack.size, 0))
    leaving = leaving.plus(edges.tail, edges.head, outside, nothing)
    tree = widest_tree(n, edges, slack)
    fits = _fitting(n, tree, inner, leaving, slack)
    kept_edges = np.zeros(edges.tail.size, np.bool_)
    kept_edges[tree[fits]] = True
    part = components(n, edges.tail, edges.head, kept_edges)
    first = np.unique(labels, return_index=True)[1]
    broken = np.zeros(first.size, np.bool_)
    broken[labels[part != part[first[labels]]]] = True
    if not broken.any():
        return labels
    cut = np.flatnonzero(part[edges.tail] != part[edges.head])
    flow, soft, block = inner.flow[cut], edges.soft[cut, None], edges.block[cut]
    bent = np.linalg.norm(np.maximum(np.abs(flow) - soft, 0.0), axis=1)
    signs = soft + np.minimum(np.abs(flow), soft)
    further = leaving.plus(edges.tail[cut], edges.head[cut], block + bent, signs)
    again = _fitting(n, tree[fits], inner, further, slack)
    broken_part = np.zeros(n, np.bool_)
    broken_part[part[edges.tail[tree[fits][~again]]]] = True
    alone = broken[labels] & broken_part[part]
    kept = np.where(broken[labels], n + part, labels)
    kept[alone] = 2 * n + np.flatnonzero(alone)
    return numbered_by_first(kept)


def widest_tree(n: int, edges: Edges, slack: FloatArray) -> IntArray:
    """Edges of the spanning forest with the largest slacks."""
    return spanning_forest(n, edges.tail, edges.head, np.argsort(-slack))


def _fitting(
    n: int, tree: IntArray, inner: InnerFlow, leaving: Leaving, slack: FloatArray
) -> BoolArray:
    """Whether what the errors add to the flow along every edge of a forest fits in its ball.

    With S the nodes beyond an edge, of a group A with N nodes, a demand b adds the flow
    (1 - |S|/N) sum_S b - |S|/N sum_(A less S) b.
    """
    edges = inner.edges
    tail, head = edges.tail[tree], edges.head[tree]
    size, whole_size = sums_beyond(tail, head, np.ones(n))
    share = size / whole_size

    def added(bound: FloatArray) -> FloatArray:
        here, whole = sums_beyond(tail, head, bound)
        return np.asarray((1.0 - 2.0 * share) * here + share * whole)

    extra, room = added(leaving.error + inner.unmet), slack[tree]
    if leaving.signs is not None:
        signs = np.stack([added(bound) for bound in leaving.signs.T], axis=1)
        wider = np.abs(inner.flow[tree]) + signs / USABLE
        room = ball_slack(wider, edges.soft[tree], edges.block[tree])
    return np.asarray(extra < USABLE * room)


def coarsest(labels: Labels, tail: IntArray, head: IntArray, apart: BoolArray) -> Labels:
    """Clusters joined along every edge whose ends are not proven apart; edges between clusters."""
    joined = components(int(labels.max()) + 1, tail, head, ~apart)
    return numbered_by_first(joined[labels])
