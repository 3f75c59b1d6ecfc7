"""The points model: flows that hold the clusters of a solution together, or where they part.

With the dual between clusters held fixed, what is left is a flow inside every cluster that carries
the rest of the data to the centroid and stays in the dual balls. Most clusters have room to spare:
the flow of least energy, under conductances that favour the room each edge has left, fits after a
round or two. The few that are full to the brim are solved as points problems of their own, which
end with the flow, or with the parts into which the cluster falls.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.fusion.electrical_flow import Cascade
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
from convexhc.solvers.loop import Solution, run
from convexhc.solvers.newton import SemismoothNewton

# Conductance updates.
_ROUNDS = 4
# Largest initial load of an edge.
_FULL = 0.99
# The conductance of an edge is this power of the room it has left.
_POWER = 2.0
# A flow that lacks no more than this share of what it should bring is the whole flow.
_LACKING = 1e-9
# Flows have all their edges fused: a large sigma makes a step of theirs a Laplacian system.
_BOLDNESS = 3.0
# Parts that cost no more than so many gaps to join are apart by round-off: they stay one.
_MEET = 100.0


def complete(problem: FusionProblem, found: Solution, *, gap_tol: float, max_iter: int) -> Solution:
    """Complete the dual inside the clusters of ``found``, or part the clusters that have none.

    Parameters
    ----------
    problem : FusionProblem
        A points problem.
    found : Solution
        Its clusters and the dual between them; the dual inside is where the search starts.
    gap_tol : float
        Gap to which clusters that do not fit at once are solved.
    max_iter : int
        Budget of iterations for that.

    Returns
    -------
    Solution
        With the completed dual; ``n_clusters`` has grown where clusters have come apart, and their
        parts have the centroids from which to start anew.
    """
    penalty, labels = problem.penalty, found.labels
    edges = penalty.edges
    inside = np.flatnonzero(labels[edges.tail] == labels[edges.head])
    dual = penalty.feasible_dual(found.dual)
    if not inside.size:
        return replace(found, dual=dual, n_iter=0)
    outer = dual.copy()
    outer[inside] = 0.0
    data = problem.fidelity.target - penalty.pull(outer)
    torn = _flow(dual, data - fuse(data, labels), edges, inside, labels)
    if not torn.any():
        return replace(found, dual=dual, n_iter=0)
    at = inside[torn[labels[edges.tail[inside]]]]
    nodes = np.flatnonzero(torn[labels])
    small = FusionProblem(
        Proximity(data[nodes]),
        replace(penalty, differences=Differences(_subgraph(penalty.differences.graph, nodes, at))),
        Free(),
    )
    start = replace(
        found,
        centroids=found.centroids[nodes],
        dual=dual[at],
        labels=numbered(labels[nodes]),
    )
    newton = SemismoothNewton(boldness=_BOLDNESS, allowance=_MEET * gap_tol)
    flows = run(
        small, newton, start=start, tol=0.0, gap_tol=gap_tol, max_iter=max_iter, check_every=1
    )
    dual[at] = flows.dual
    centroids, part = found.centroids.copy(), np.zeros(labels.size, np.int64)
    centroids[nodes], part[nodes] = flows.centroids, flows.labels
    whole = np.zeros(edges.tail.size, np.bool_)
    whole[inside] = part[edges.tail[inside]] == part[edges.head[inside]]
    finer = components(labels.size, edges.tail, edges.head, whole)
    return replace(found, centroids=centroids, dual=dual, labels=finer, n_iter=flows.n_iter)


def _flow(
    dual: FloatArray, wanted: FloatArray, edges: Edges, inside: IntArray, labels: Labels
) -> BoolArray:
    """Write flows that bring ``wanted`` into ``dual``, and tell for which clusters none was found.

    What these get is in the balls, too, and brings a part of it.
    """
    torn = np.bincount(labels) > 1
    for _ in range(_ROUNDS):
        at = inside[torn[labels[edges.tail[inside]]]]
        nodes = np.flatnonzero(torn[labels])
        some = edges.at(at)
        Y, radius = dual[at], some.soft + some.block
        full = np.linalg.norm(Y, axis=1) / np.maximum(radius, 1e-300)
        Y *= np.minimum(1.0, _FULL / np.maximum(full, _FULL))[:, None]
        room = 1.0 - np.square(np.minimum(full, _FULL))
        lacking = wanted - edge_kernels.adjoint(Y, some, labels.size)
        lacking -= fuse(lacking, labels)
        Y += _currents(some, np.maximum(radius, 1e-300) * room**_POWER, lacking)
        over = ~well_inside(Y, some, 1.0)
        left = (wanted - edge_kernels.adjoint(Y, some, labels.size))[nodes]
        size = torn.size
        short = np.bincount(labels[nodes], np.einsum("ik,ik->i", left, left), size)
        whole = np.bincount(
            labels[nodes], np.einsum("ik,ik->i", wanted[nodes], wanted[nodes]), size
        )
        torn = torn & (short > _LACKING**2 * whole)
        torn[labels[some.tail[over]]] = True
        dual[at] = Y
        if not torn.any():
            return torn
    edge_kernels.project_dual(dual, edges, dual)
    return torn


def _currents(some: Edges, conductance: FloatArray, lacking: FloatArray) -> FloatArray:
    """The flow of least energy that brings ``lacking``, along ``some`` edges.

    Graphs of points in the plane or in space have sparse factors; in more dimensions factors fill
    up, and conjugate gradients need few steps.
    """
    factored = lacking.shape[1] <= SPATIAL
    return Cascade(some, conductance, lacking.shape[0]).carry(lacking, factored=factored)


def _subgraph(graph: Graph, nodes: IntArray, kept: IntArray) -> Graph:
    """Some nodes and some of the edges among them."""
    place = np.full(graph.n, -1)
    place[nodes] = np.arange(nodes.size)
    return Graph(
        nodes.size,
        place[graph.tail[kept]],
        place[graph.head[kept]],
        graph.weight[kept],
        np.zeros(nodes.size),
        tuple(range(nodes.size)),
    )
