"""Penalties on differences of neighbouring centroids: mixed norms that fuse, and squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph
from convexhc.kernels import edges as edge_kernels
from convexhc.kernels.edges import Edges
from convexhc.model.elimination import elimination_order
from convexhc.model.factorization import DENSE_NODES
from convexhc.model.metric import EUCLIDEAN, InnerProduct
from convexhc.model.weighted_laplacian import laplacian


class Penalty(Protocol):
    """A convex function of the centroids with strength ``lam``."""

    @property
    def lam(self) -> float:
        """Strength of the penalty."""

    def value(self, C: FloatArray) -> float:
        """Penalty of C, including its strength."""

    def minorant(self, C: FloatArray, Y: FloatArray) -> tuple[float, FloatArray]:
        """Offset and slope of an affine function below the penalty; Y is a feasible dual."""


class LaplacianSpectrum(NamedTuple):
    """Basis orthonormal in the metric (columns), its inverse, and the eigenvalues of D'D."""

    basis: FloatArray
    inverse: FloatArray
    gamma: FloatArray


@dataclass(frozen=True, eq=False)
class Differences:
    """The edge-difference operator D of a graph: (D C)_e = C[tail_e] - C[head_e].

    The dual of an edge is as large as its weight, so solvers scale their steps by the weights:
    edge vectors have the squared norm sum_e r_e |z_e|^2 with the stiffness r = w / mean(w), and D'
    is the adjoint in that norm and in the metric. The largest eigenvalue and the spectrum of the
    Laplacian D'D are cached here and shared along a path.
    """

    graph: Graph
    metric: InnerProduct = EUCLIDEAN
    least_stiffness: float = 0.0

    @cached_property
    def _root(self) -> FloatArray:
        mass = self.metric.mass
        return np.ones(self.graph.n) if mass is None else np.sqrt(mass)

    @cached_property
    def stiffness(self) -> FloatArray:
        """Weight of every edge over the mean weight, or ``least_stiffness`` if that is more."""
        weight = self.graph.weight
        return np.maximum(weight / weight.mean(), self.least_stiffness) if weight.size else weight

    @cached_property
    def elimination(self) -> IntArray:
        """The nodes in an order of little fill, also for any part of the graph."""
        graph = self.graph
        return np.argsort(elimination_order(graph.n, graph.tail, graph.head))

    @cached_property
    def adjoint(self) -> csc_array:
        """D', from a dual to what it delivers to every node, before the metric."""
        return edge_kernels.incidence(self.graph.tail, self.graph.head, self.graph.n)

    @cached_property
    def laplacian(self) -> csr_array:
        """D'D, the Laplacian of the stiffness, in coordinates scaled by sqrt(mass)."""
        plain = laplacian(self.graph, self.stiffness).tocoo()
        row, column = plain.coords
        scaled = plain.data / (self._root[row] * self._root[column])
        return csr_array((scaled, (row, column)), shape=plain.shape)

    @cached_property
    def norm_squared(self) -> float:
        """|D|^2, the largest eigenvalue of D'D, rounded up."""
        n = self.graph.n
        if self.graph.n_edges == 0:
            return 0.0
        if n <= DENSE_NODES:
            return float(self.spectrum.gamma.max()) * (1.0 + 1e-12)
        from scipy.sparse.linalg import eigsh

        start = np.random.default_rng(0).standard_normal(n)
        largest = eigsh(self.laplacian, k=1, v0=start, return_eigenvectors=False, tol=1e-6)
        return float(largest[0]) * (1.0 + 1e-5)

    @cached_property
    def spectrum(self) -> LaplacianSpectrum:
        """Eigenbasis of D'D, the constant vector first. O(N^3), once.

        A disconnected graph has several zero eigenvalues and any basis of their eigenspace. Moving
        the constant vector to the top of the spectrum separates it from the others.
        """
        dense, root = self.laplacian.toarray(), self._root
        constant = root / np.linalg.norm(root)
        lift = 2.0 * dense.diagonal().max() + 1.0
        gamma, P = np.linalg.eigh(dense + lift * np.outer(constant, constant))
        P, gamma = np.roll(P, 1, axis=1), np.maximum(np.roll(gamma, 1), 0.0)
        P[:, 0], gamma[0] = constant, 0.0
        return LaplacianSpectrum(
            P / root[:, None], np.ascontiguousarray((P * root[:, None]).T), gamma
        )


@dataclass(frozen=True, eq=False)
class Fusion:
    """Mixed total variation over the edges (eq. 4): exact fusions of neighbouring centroids.

    lam sum_e w_e ((1 - l1_ratio) |C_i - C_j|_2 + l1_ratio |C_i - C_j|_1), each edge once.

    The dual has one row per edge, in the ball lam w_e ((1 - l1_ratio) Ball_2 + l1_ratio Ball_inf).
    It replaces the paper's p and q.
    """

    differences: Differences  # the operator of the graph whose weights are used
    lam: float
    l1_ratio: float  # share of the l1 norm, between 0 and 1 (the paper's 1 - alpha)

    @cached_property
    def edges(self) -> Edges:
        """Edge ends, thresholds and stiffness, as arguments of the kernels."""
        g = self.differences.graph
        radius = self.lam * g.weight
        soft, block = self.l1_ratio * radius, (1.0 - self.l1_ratio) * radius
        return Edges.of(g.tail, g.head, soft, block, self.differences.stiffness)

    @property
    def graph(self) -> Graph:
        """The edges and their weights."""
        return self.differences.graph

    @property
    def n_edges(self) -> int:
        """Number of edges: rows of the dual."""
        return self.graph.n_edges

    def value(self, C: FloatArray) -> float:
        """Penalty of C. O(E m)."""
        return float(edge_kernels.penalty_value(C, self.edges))

    @property
    def metric(self) -> InnerProduct:
        """Inner product of the centroids."""
        return self.differences.metric

    def pull(self, Y: FloatArray) -> FloatArray:
        """D'Y, as a gradient in the metric. O(E m)."""
        return self.metric.represent(np.asarray(self.differences.adjoint @ Y))

    def minorant(self, C: FloatArray, Y: FloatArray) -> tuple[float, FloatArray]:
        """The linear function <D'Y, .>: below the penalty for any Y in the dual balls."""
        return 0.0, self.pull(Y)

    def feasible_dual(self, Y: NDArray[Any], out: FloatArray | None = None) -> FloatArray:
        """Project Y, of any precision, on the dual balls; into a new array if none is given."""
        out = np.empty(Y.shape) if out is None else out
        edge_kernels.project_dual(np.ascontiguousarray(Y), self.edges, out)
        return out


@dataclass(frozen=True, eq=False)
class SquaredFusion:
    """Squared differences in the feature space of the kernel (appendix D): smooth, without fusions.

    lam sum_e w_e (C_i - C_j) K (C_i - C_j)' = lam Tr(C' L C K), L the weighted Laplacian.
    """

    laplacian: csr_array  # L, of the edge weights
    K: FloatArray  # the kernel, dense
    lam: float

    def value(self, C: FloatArray) -> float:
        """Penalty of C, from its gradient: the term is homogeneous of degree two."""
        return 0.5 * float(np.vdot(C, self.gradient(C)))

    def gradient(self, C: FloatArray) -> FloatArray:
        """2 lam L C K. O(nnz(L) N + N^3)."""
        return 2.0 * self.lam * np.asarray((self.laplacian @ C) @ self.K)

    def minorant(self, C: FloatArray, Y: FloatArray) -> tuple[float, FloatArray]:
        """The tangent at C; the dual is not used."""
        slope = self.gradient(C)
        return -0.5 * float(np.vdot(C, slope)), slope
