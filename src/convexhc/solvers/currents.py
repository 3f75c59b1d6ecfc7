"""The flow of least energy inside clusters: what it has to bring, and one Laplacian system.

Under conductances c_e the flow Y_e = c_e (X_i - X_j) with L_c X = R brings R to the nodes, and
among all that do it has the least sum_e |Y_e|^2 / c_e. Its columns are solved for a block at a
time, and of each block only measures are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, tril
from scipy.sparse.linalg import splu

from convexhc.kernels import flows as flow_kernels
from convexhc.problem import Labels, Problem
from convexhc.solvers.contraction import Contraction
from convexhc.solvers.start import fusion_of
from convexhc.terms.metric import averaging

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Columns of a flow that are held in memory together.
_COLUMNS = 256


@dataclass(frozen=True, eq=False)
class Demand:
    """What the flow must bring to every row: (I - J)(T - B), B the pull of the edges between.

    Parameters
    ----------
    problem : Problem
        Whose target T is.
    dual : (E_c, m) ndarray
        Dual between the clusters.
    between : (N, E_c) csr_array
        Takes it to the nodes: B = between @ dual.
    mean : (c, N) csr_array
        Means of clusters.
    labels : (N,) ndarray of int
        Cluster of every node.
    shift : (N,) ndarray
        Mean of every row of T - B, which a fixed row sum makes free.
    """

    problem: Problem
    dual: Array
    between: csr_array
    mean: csr_array
    labels: Labels
    shift: Array

    @classmethod
    def of(cls, problem: Problem, contraction: Contraction, dual: Array) -> Demand:
        """What the dual of a contracted solution leaves to the flow. O(N m) with fixed row sums."""
        graph = fusion_of(problem).differences.graph
        edges = np.arange(graph.n_edges)
        ends = np.concatenate([graph.tail, graph.head])
        sign = np.concatenate([contraction.share, -contraction.share])
        spread = csr_array((sign, (ends, np.tile(edges, 2))), shape=(graph.n, graph.n_edges))
        labels, shift = contraction.labels, np.zeros(graph.n)
        between = csr_array(spread @ contraction.sums.T)
        demand = cls(problem, dual, between, averaging(labels), labels, shift)
        if problem.constraint.row_sums:
            m = problem.shape[1]
            shift[:] = sum(demand.columns(block).sum(axis=1) for block in blocks(m)) / m
        return demand

    def columns(self, block: slice) -> Array:
        """Some columns of the demand, one row a node."""
        T = self.problem.fidelity.target_columns(block) - self.between @ self.dual[:, block]
        T = T - (self.mean @ T)[self.labels]
        return np.asarray(T - self.shift[:, None])


class Currents:
    """The flow of least energy along some edges, which join all of ``nodes`` of every cluster.

    Parameters
    ----------
    problem : Problem
        Whose edges and dual balls are meant.
    demand : Demand
        What the flow has to bring.
    at : ndarray of int
        The edges, inside clusters.
    conductance : ndarray
        Of those edges, above zero.
    nodes : ndarray of int
        All nodes of the clusters concerned.

    Notes
    -----
    One sparse factorisation; then a triangular solve a column, every time it is asked for a flow.
    """

    def __init__(
        self,
        problem: Problem,
        demand: Demand,
        at: NDArray[np.int64],
        conductance: Array,
        nodes: Labels,
    ) -> None:
        edges, n = fusion_of(problem).edges, nodes.size
        self.m, self.demand, self.conductance = problem.shape[1], demand, conductance
        self.soft, self.block = edges.soft[at], edges.block[at]
        place = np.full(problem.shape[0], -1)
        place[nodes] = np.arange(n)
        tail, head = place[edges.tail[at]], place[edges.head[at]]
        ends = np.concatenate([tail, head]), np.concatenate([head, tail])
        off = csr_array((np.tile(conductance, 2), ends), shape=(n, n))
        # One grounded node a cluster makes the system definite and leaves the flow what it was.
        degree: Array = np.asarray(off.sum(axis=1))
        _, first = np.unique(demand.labels[nodes], return_index=True)
        degree[first] += np.maximum(degree[first], 1e-300)
        diagonal = csr_array((degree, (np.arange(n), np.arange(n))), shape=(n, n))
        # Diagonally dominant: no pivoting, so that the factors stay symmetric and sparse.
        factor = splu(
            (diagonal - off).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        self.pivot = factor.U.diagonal()
        self.lower = csc_array(tril(factor.L, -1))
        # Everything below is in the order of the elimination.
        self.nodes = nodes[np.argsort(factor.perm_c)]
        self.tail, self.head = (
            factor.perm_c[tail].astype(np.int64),
            factor.perm_c[head].astype(np.int64),
        )

    def potentials(self) -> Iterator[tuple[slice, Array]]:
        """X with L X = demand, a block of columns at a time."""
        L = self.lower
        for columns in blocks(self.m):
            X = np.ascontiguousarray(self.demand.columns(columns)[self.nodes])
            flow_kernels.substitute(X, L.indptr, L.indices, L.data, self.pivot)
            yield columns, X

    def load(self) -> Array:
        """How full the balls of the edges are under the flow of least energy; full is one."""
        excess, most = np.zeros(self.tail.size), np.zeros(self.tail.size)
        for _, X in self.potentials():
            flow_kernels.measure(X, self.tail, self.head, self.conductance, self.soft, excess, most)
        # Without the Euclidean part of the ball, only the largest entry counts.
        radius = self.soft + self.block
        largest = np.divide(most, radius, out=np.zeros_like(most), where=radius > 0.0)
        norm = np.sqrt(excess)
        round_ = np.divide(norm, self.block, out=np.zeros_like(norm), where=self.block > 0.0)
        return np.maximum(round_, largest)

    def flow(self, chosen: Flags) -> Array:
        """The flow of least energy along some of the edges."""
        tail, head = self.tail[chosen], self.head[chosen]
        out = np.empty((tail.size, self.m))
        for columns, X in self.potentials():
            out[:, columns] = self.conductance[chosen, None] * (X[tail] - X[head])
        return out


def blocks(m: int) -> list[slice]:
    """Columns 0 to m, a few at a time."""
    return [slice(k, min(k + _COLUMNS, m)) for k in range(0, m, _COLUMNS)]
