"""Errors of a demand, routed by an electrical flow over all edges of a cluster.

A spanning tree concentrates what the errors add to a flow on few edges. The flow of least energy,
under conductances that grow with the slack, spreads it. It is linear in the demand, so bounds on
the entries of the demand give bounds on the entries of the flow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.fusion.conductances import LEAST_CONDUCTANCE
from convexhc.fusion.partition_proof import USABLE, InnerFlow
from convexhc.kernels.dual_errors import ball_slack
from convexhc.kernels.edges import Edges, adjoint

# Numbers of a routing matrix up to which it is formed.
_MAX_NUMBERS = 5_000_000


@dataclass(frozen=True, eq=False)
class Boundary:
    """Edges between clusters, all those between the same two as one."""

    # (P,): the two clusters.
    tail: IntArray
    head: IntArray
    share: csr_array  # (n, P): share of every node in the dual of a pair
    error: FloatArray  # (P,): bound on the norm of the error of the dual
    signs: FloatArray  # (P, m): bound on what unknown signs add, entry by entry; no rows if nothing


def routed_clusters(
    labels: Labels,
    inner: InnerFlow,
    boundary: Boundary,
    proven: BoolArray,
    tried: BoolArray,
    *,
    rounds: int = 3,
) -> BoolArray:
    """Clusters that are proven together: ``proven`` are known to be, and ``tried`` may be.

    Duals of the edges to one node, or to a cluster that is proven together, have one error in
    common: they all run to the same centroid. What they add to a flow is added up before absolute
    values are taken. A cluster that is proven may so help to prove its neighbours. Conductances
    follow what is left of the slack for some ``rounds``.
    """
    cluster = labels[inner.edges.tail]
    order = np.argsort(cluster, kind="stable")
    first = np.searchsorted(cluster[order], np.arange(proven.size + 1))
    nodes_by_cluster = np.argsort(labels, kind="stable")
    first_node = np.searchsorted(labels[nodes_by_cluster], np.arange(proven.size + 1))
    proven, helped = proven.copy(), np.full(proven.size, -1)
    while True:
        known = int(proven.sum())
        for a in np.flatnonzero(tried & ~proven).tolist():
            pairs = np.flatnonzero((boundary.tail == a) | (boundary.head == a))
            far = np.where(boundary.tail[pairs] == a, boundary.head[pairs], boundary.tail[pairs])
            if helped[a] == np.count_nonzero(proven[far]):
                continue
            helped[a] = np.count_nonzero(proven[far])
            nodes = nodes_by_cluster[first_node[a] : first_node[a + 1]]
            at = order[first[a] : first[a + 1]]
            proven[a] = _fits(nodes, at, inner, boundary, pairs, proven[far], rounds)
        if int(proven.sum()) == known:
            return proven


def _fits(
    nodes: IntArray,
    at: IntArray,
    inner: InnerFlow,
    boundary: Boundary,
    pairs: IntArray,
    common: BoolArray,
    rounds: int,
) -> bool:
    """Whether a cluster of these nodes and inner edges can carry every error.

    The far end of the ``pairs`` marked ``common`` is one centroid.
    """
    if at.size < nodes.size - 1 or at.size * nodes.size > _MAX_NUMBERS:
        return False
    chosen, flow = inner.edges.at(at), inner.flow[at]
    tail, head = (np.searchsorted(nodes, ends) for ends in (chosen.tail, chosen.head))
    slack = ball_slack(flow, chosen.soft, chosen.block)
    share = boundary.share[nodes][:, pairs].toarray()
    conductance = np.maximum(slack, 0.0)
    for _ in range(rounds):
        conductance = np.maximum(conductance, LEAST_CONDUCTANCE * conductance.max())
        if not conductance.max() > 0.0:
            return False
        route = _routing(nodes.size, tail, head, conductance)
        if not np.isfinite(route).all():
            return False
        per_pair = np.where(common, np.abs(route @ share), np.abs(route) @ np.abs(share))
        extra = np.abs(route) @ inner.unmet[nodes] + per_pair @ boundary.error[pairs]
        room = slack
        if len(boundary.signs):
            wider = np.abs(flow) + per_pair @ boundary.signs[pairs] / USABLE
            room = ball_slack(wider, chosen.soft, chosen.block)
        if (extra < USABLE * room).all():
            return True
        left = np.maximum(room - extra, 0.0) / np.maximum(slack, 1e-300)
        conductance = conductance * np.clip(left, 0.1, 1.0)
    return False


def _routing(n: int, tail: IntArray, head: IntArray, conductance: FloatArray) -> FloatArray:
    """Matrix from a demand, less its mean, to the flow along every edge that meets it.

    Infinite if the edges do not connect the nodes, or if round-off leaves more of the demand than
    the unused share of the slack covers.
    """
    row, column = np.concatenate([tail, head, tail, head]), np.concatenate([tail, head, head, tail])
    entries = np.concatenate([conductance, conductance, -conductance, -conductance])
    L = np.bincount(row * n + column, entries, n * n).reshape(n, n)
    ones = np.full((n, n), 1.0 / n)
    rest = np.eye(n) - ones
    try:
        potentials = np.linalg.solve(L + conductance.max() * ones, rest)
    except np.linalg.LinAlgError:
        return np.full((tail.size, n), np.inf)
    matrix: FloatArray = conductance[:, None] * (potentials[tail] - potentials[head])
    rest -= adjoint(matrix, Edges(tail, head, conductance, conductance, conductance), n)
    if not n * np.abs(rest).sum(axis=1).max() <= 0.1 * (1.0 - USABLE):
        matrix[:] = np.inf
    return matrix
