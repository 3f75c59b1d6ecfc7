"""The points model: complete the dual of a solution by a flow inside every cluster, or split it.

With the dual between clusters fixed, a flow inside every cluster must carry the rest of the data to
the centroid and stay in the dual balls. In most clusters the flow of least energy, under
conductances that favour edges with slack, is feasible after a round or two. The others are solved
as points problems of their own, which end with the flow or with the parts of the cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.fusion.electrical_flow import ROUND_OFF, LayeredFlow
from convexhc.graph import Graph
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges
from convexhc.kernels.labels import numbered
from convexhc.kernels.newton import well_inside
from convexhc.model.constraint import Free
from convexhc.model.factorization import SPATIAL
from convexhc.model.fidelity import Proximity
from convexhc.model.penalty import Differences
from convexhc.model.problem import FusionProblem, fuse
from convexhc.solvers.loop import OnCheck, Solution, run
from convexhc.solvers.newton import SemismoothNewton

# Load of an edge that keeps some slack: below, a fusion is settled; first flows are reduced to it.
SETTLED_LOAD = 0.99


@dataclass(frozen=True)
class PointFlowSettings:
    """Settings of the search for flows inside clusters of points."""

    # Conductance updates before a cluster is solved as a problem of its own.
    max_rounds: int = 4
    # Gap to which a cluster is solved, in allowances: it must not hide a small distance.
    gap: float = 0.01


SETTINGS = PointFlowSettings()


def complete_point_dual(
    problem: FusionProblem,
    solution: Solution,
    *,
    allowance: float,
    max_iter: int,
    on_check: OnCheck | None = None,
) -> Solution:
    """Complete the dual inside the clusters of ``solution``, or split clusters without a flow.

    The dual between the clusters is kept, that inside them is a warm start. Clusters without a flow
    are solved as problems of their own, until ``on_check`` stops the run at the latest; parts that
    cost at most ``allowance`` to merge differ by round-off. ``n_clusters`` of the result is larger
    if clusters were split; the centroids of their parts are then a warm start.
    """
    penalty, labels = problem.penalty, solution.labels
    edges = penalty.edges
    inside = np.flatnonzero(labels[edges.tail] == labels[edges.head])
    dual = penalty.feasible_dual(solution.dual)
    if not inside.size:
        return replace(solution, dual=dual, n_iter=0)
    between = dual.copy()
    between[inside] = 0.0
    data = problem.fidelity.target - penalty.pull(between)
    demand = data - fuse(data, labels)
    # Sparse factors have their rows in the order of elimination; conjugate gradients in any.
    factored = problem.shape[1] <= SPATIAL
    order = penalty.differences.elimination if factored else np.arange(labels.size)
    unproven = _find_flows(dual, demand, edges, inside, labels, order)
    if not unproven.any():
        return replace(solution, dual=dual, n_iter=0)
    at = inside[unproven[labels[edges.tail[inside]]]]
    nodes = np.flatnonzero(unproven[labels])
    small = FusionProblem(
        Proximity(data[nodes]),
        replace(penalty, differences=Differences(_subgraph(penalty.graph, nodes, at))),
        Free(),
    )
    start = replace(
        solution,
        centroids=solution.centroids[nodes],
        dual=dual[at],
        labels=numbered(labels[nodes]),
    )
    newton = SemismoothNewton(allowance=allowance)
    found = run(
        small,
        newton,
        start=start,
        tol=0.0,
        gap_tol=SETTINGS.gap * allowance,
        max_iter=max_iter,
        on_check=on_check,
        check_every=1,
    )
    dual[at] = found.dual
    centroids, part = solution.centroids.copy(), np.zeros(labels.size, np.int64)
    centroids[nodes], part[nodes] = found.centroids, found.labels
    kept = np.zeros(edges.tail.size, np.bool_)
    kept[inside] = part[edges.tail[inside]] == part[edges.head[inside]]
    finer = components(labels.size, edges.tail, edges.head, kept)
    return replace(solution, centroids=centroids, dual=dual, labels=finer, n_iter=found.n_iter)


def _find_flows(
    dual: FloatArray,
    demand: FloatArray,
    edges: Edges,
    inside: IntArray,
    labels: Labels,
    order: IntArray,
) -> BoolArray:
    """Write flows inside clusters that meet ``demand`` into ``dual``, by systems in this ``order``.

    Returns the clusters without a feasible flow. Their dual is feasible and meets a part of it.
    """
    unproven = np.bincount(labels) > 1
    for _ in range(SETTINGS.max_rounds):
        nodes = order[unproven[labels[order]]]
        at = inside[unproven[labels[edges.tail[inside]]]]
        place = np.empty(labels.size, np.int64)
        place[nodes] = np.arange(nodes.size)
        chosen = edges.at(at)._replace(tail=place[edges.tail[at]], head=place[edges.head[at]])
        cluster = numbered(labels[nodes])
        dual[at], failed = _improved_flow(dual[at], demand[nodes], Edges.of(*chosen), cluster)
        unproven[np.flatnonzero(unproven)] = failed
        if not failed.any():
            return unproven
    edge_kernels.project_dual(dual, edges, dual)
    return unproven


def _improved_flow(
    Y: FloatArray, demand: FloatArray, edges: Edges, labels: Labels
) -> tuple[FloatArray, BoolArray]:
    """Correct a flow inside clusters of all nodes to meet ``demand``.

    By a flow that favours edges with slack under Y. Returned with the clusters in which it leaves a
    ball, or misses the demand.
    """
    radius, limit = np.maximum(edges.soft + edges.block, 1e-300), SETTLED_LOAD
    load = np.sqrt(np.einsum("ek,ek->e", Y, Y)) / radius
    Y *= np.minimum(1.0, limit / np.maximum(load, limit))[:, None]
    slack = 1.0 - np.square(np.minimum(load, limit))
    net = edge_kernels.incidence(edges.tail, edges.head, labels.size)
    residual = demand - net @ Y
    residual -= fuse(residual, labels)
    Y += _electrical_flow(edges, radius * slack, residual)
    outside = ~well_inside(Y, edges, 1.0)
    unmet, asked = (_squared_norms(X, labels) for X in (demand - net @ Y, demand))
    failed = unmet > ROUND_OFF**2 * asked
    failed[labels[edges.tail[outside]]] = True
    return Y, failed


def _squared_norms(X: FloatArray, labels: Labels) -> FloatArray:
    """Squared Frobenius norm of the rows of every cluster."""
    return np.asarray(np.bincount(labels, np.einsum("ik,ik->i", X, X)), np.float64)


def _electrical_flow(edges: Edges, conductance: FloatArray, demand: FloatArray) -> FloatArray:
    """Flow of least energy that meets ``demand``, nodes in elimination order.

    Neighbour graphs in up to three dimensions have sparse factors. In more dimensions factors fill
    in, and conjugate gradients need few iterations.
    """
    factored = demand.shape[1] <= SPATIAL
    flow = LayeredFlow(edges, conductance, demand.shape[0], ordered=True)
    return flow.flow(demand, factored=factored)


def _subgraph(graph: Graph, nodes: IntArray, kept: IntArray) -> Graph:
    """Graph on ``nodes`` with the edges ``kept``, in this order."""
    position = np.full(graph.n, -1)
    position[nodes] = np.arange(nodes.size)
    return Graph(
        nodes.size,
        position[graph.tail[kept]],
        position[graph.head[kept]],
        graph.weight[kept],
        np.zeros(nodes.size),
        tuple(range(nodes.size)),
    )
