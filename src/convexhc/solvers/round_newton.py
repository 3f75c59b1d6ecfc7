"""Newton directions for round dual balls and many columns: preconditioned by groups of nodes.

For round dual balls the Newton matrix is mass + sigma sum_e c_e d_e d_e' (x) (I - p_e p_e'), where
d_e is the difference along edge e, c_e is one if the edge is fused, and p_e is the direction of its
dual, zero if it is fused. Without the p_e it is (mass + sigma L_c) (x) I: one matrix for all
columns. What slows conjugate gradients down are stiff edges, and nodes joined by stiff edges form
small groups. The preconditioner inverts that matrix inside every group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexhc._types import FloatArray, IntArray, Labels
from convexhc.kernels.components import components
from convexhc.kernels.edges import Edges
from convexhc.kernels.newton import Response
from convexhc.kernels.round_newton import RoundSystem, advance, curvature_product, round_system


@dataclass(frozen=True)
class GroupSettings:
    """Which nodes form a group."""

    # Stiffness of an edge that joins its ends, relative to the smaller of their two sums: with the
    # first, groups are as good as the whole matrix; the others divide what is too large.
    stiff_shares: tuple[float, ...] = (0.03, 0.1, 0.3)
    # Nodes of a group at most: larger groups take longer to invert than they save.
    max_size: int = 256
    # Added to the diagonal, relative: masses can be lost in double precision beside stiff edges.
    ridge: float = 1e-12
    # Edges with a smaller share of the stiffness at both ends are left out of the matrix: on
    # multiscale weights two thirds of the edges, which have 0.3 % of the stiffness.
    light_share: float = 1e-3


SETTINGS = GroupSettings()


def round_direction(
    G: FloatArray,
    sigma: float,
    mass: FloatArray,
    edges: Edges,
    at: Response,
    *,
    tol: float,
    max_plain: int,
    max_iter: int,
) -> tuple[FloatArray, bool]:
    """Solve (mass + sigma D'J D) X = -G by conjugate gradients.

    With the diagonal as preconditioner for ``max_plain`` iterations, then with groups. Light edges
    are left out of D'J D (`round_system`). Returns X and whether there were groups. To a relative
    residual of ``tol`` in the norm of the diagonal; any number of iterations gives a descent
    direction. O(E m) per iteration.
    """
    system, diagonal = round_system(sigma, mass, edges, at, SETTINGS.light_share)
    X, R = np.zeros_like(G), -G
    target = tol * tol * float(np.vdot(R, R / diagonal))
    if _iterate(system, diagonal, None, X, R, target, max_plain):
        return X, False
    groups = Groups.of(system)
    _iterate(system, diagonal, groups, X, R, target, max_iter)
    return X, groups.found


def _iterate(
    system: RoundSystem,
    diagonal: FloatArray,
    groups: Groups | None,
    X: FloatArray,
    R: FloatArray,
    target: float,
    max_iter: int,
) -> bool:
    """Conjugate gradients from X with residual R, in place; whether the target was reached."""
    if max_iter == 0:
        return False
    Z, Q, P = np.empty_like(R), np.zeros_like(R), np.zeros_like(R)
    square, rho = advance(0.0, P, Q, X, R, Z, diagonal), 0.0
    for _ in range(max_iter):
        if square <= target:
            break
        if groups is not None:
            groups.divide(R, Z)
        last, rho = rho, square if groups is None else float(np.vdot(R, Z))
        P *= rho / last if last > 0.0 else 0.0
        P += Z
        curvature = curvature_product(system, P, Q)
        if not curvature > 0.0:
            break
        square = advance(rho / curvature, P, Q, X, R, Z, diagonal)
    return square <= target


@dataclass(frozen=True, eq=False)
class Groups:
    """Inverse of mass + sigma L_c inside groups of nodes.

    Attributes
    ----------
    parts : list of (count, k) int arrays and (count, k, k) arrays
        Nodes and inverses of all groups of k nodes, for every k > 1.
    """

    parts: list[tuple[IntArray, FloatArray]]

    @property
    def found(self) -> bool:
        """Whether there is a group of two nodes or more."""
        return bool(self.parts)

    @classmethod
    def of(cls, system: RoundSystem) -> Groups:
        """Groups of nodes joined by stiff edges. O(E), and the cubes of the sizes."""
        n, tail, head, stiffness = system.mass.size, system.tail, system.head, system.stiffness
        total = system.mass + np.bincount(tail, stiffness, n) + np.bincount(head, stiffness, n)
        labels = stiff_groups(tail, head, stiffness / np.minimum(total[tail], total[head]), n)
        size = np.bincount(labels)
        order = np.argsort(labels, kind="stable")
        first = np.cumsum(size) - size
        place = np.empty(n, np.int64)
        place[order] = np.arange(n) - np.repeat(first, size)
        inside = np.flatnonzero(labels[tail] == labels[head])
        of_edge = labels[tail[inside]]
        parts = []
        for k in np.unique(size[size > 1]):
            groups = np.flatnonzero(size == k)
            number = np.full(size.size, -1)
            number[groups] = np.arange(groups.size)
            nodes = order[first[groups][:, None] + np.arange(k)]
            here = inside[number[of_edge] >= 0]
            at, i, j = number[labels[tail[here]]], place[tail[here]], place[head[here]]
            matrix = np.zeros((groups.size, k, k))
            matrix[at, i, j] = -stiffness[here]
            matrix[at, j, i] = -stiffness[here]
            matrix[:, np.arange(k), np.arange(k)] = total[nodes] * (1.0 + SETTINGS.ridge)
            root = np.linalg.inv(np.linalg.cholesky(matrix))
            # As a product, it stays positive semidefinite however stiff the edges are.
            parts.append((nodes, root.transpose(0, 2, 1) @ root))
        return cls(parts)

    def divide(self, R: FloatArray, Z: FloatArray) -> None:
        """Write the inverse times R to the rows of Z in groups; other rows stay."""
        for nodes, inverse in self.parts:
            Z[nodes] = inverse @ R[nodes]


def stiff_groups(tail: IntArray, head: IntArray, share: FloatArray, n: int) -> Labels:
    """Components of n nodes under edges of large ``share``, of at most `GroupSettings.max_size`.

    Examples
    --------
    >>> stiff_groups(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0.5, 0.01, 0.2]), 4)
    array([0, 0, 1, 1])
    """
    joined = share >= SETTINGS.stiff_shares[0]
    for stricter in (*SETTINGS.stiff_shares[1:], np.inf):
        labels = components(n, tail, head, joined)
        large = np.bincount(labels) > SETTINGS.max_size
        if not large.any():
            return labels
        joined &= ~large[labels[tail]] | (share >= stricter)
    return components(n, tail, head, joined)
