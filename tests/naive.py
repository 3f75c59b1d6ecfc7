"""Naive reference implementations of the fast code, directly from the formulas."""

from __future__ import annotations

import itertools

import numpy as np


def soft(x, threshold):
    """Soft threshold of every entry."""
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0.0)


def prox(x, soft_by, block_by):
    """argmin_z 1/2 |z - x|^2 + soft_by |z|_1 + block_by |z|_2."""
    shrunk = soft(x, soft_by)
    norm = np.linalg.norm(shrunk)
    return shrunk * max(0.0, 1.0 - block_by / norm) if norm > 0 else shrunk


def nearest_in_sum_of_balls(x, box, radius, rounds=4000):
    """Nearest point to x in box Ball_inf + radius Ball_2, by alternating minimisation."""
    b = np.zeros_like(x)
    for _ in range(rounds):
        a = np.clip(x - b, -box, box)
        rest = x - a
        norm = np.linalg.norm(rest)
        b = rest if norm <= radius else rest * (radius / norm)
    return a + b


def mixed_norm(x, l1_ratio):
    return (1.0 - l1_ratio) * np.sqrt(np.sum(x * x)) + l1_ratio * np.sum(np.abs(x))


def incidence(n, tail, head):
    """D as a matrix: one row per edge, +1 at its tail and -1 at its head."""
    D = np.zeros((len(tail), n))
    for e, (i, j) in enumerate(zip(tail, head, strict=True)):
        D[e, i] += 1.0
        D[e, j] -= 1.0
    return D


def project_dual(Y, soft_by, block_by):
    """Every row minus its prox, with thresholds per row."""
    rows = zip(Y, soft_by, block_by, strict=True)
    return np.array([y - prox(y, s, b) for y, s, b in rows]).reshape(Y.shape)


def ascend(D, C, Y, step, edges):
    """One step of projected dual ascent: new dual, its adjoint image, squared step length."""
    R = np.diag(edges.stiffness)
    new = project_dual(Y + step * R @ D @ C, edges.soft, edges.block)
    return new, D.T @ new, np.sum((new - Y) ** 2 / edges.stiffness[:, None])


def z_and_dual_update(D, C, Y, Z, rho, relax, edges):
    """ADMM edge updates: dual, Z, right-hand side, squared residual, squared step length."""
    R = np.diag(edges.stiffness)
    X = Y + rho * R @ (relax * (D @ C) + (1.0 - relax) * Z)
    dual = project_dual(X, edges.soft, edges.block)
    copy = np.linalg.solve(R, X - dual) / rho
    right = D.T @ (rho * R @ copy - dual)
    return dual, copy, right, np.sum(R @ (D @ C - copy) ** 2), np.sum(R @ (copy - Z) ** 2)


def newton_matrix(n, sigma, mass, edges, at):
    """Dense mass + sigma D'J D, with J from its formula: one row per node and column."""
    m = at.kept.shape[1]
    D = np.kron(incidence(n, edges.tail, edges.head), np.eye(m))
    J = np.zeros((m * len(edges.tail), m * len(edges.tail)))
    for e, s in enumerate(at.kept):
        here = slice(m * e, m * (e + 1))
        lost = at.shrink[e] * np.diag(s != 0.0) + at.bend[e] * np.outer(s, s)
        J[here, here] = np.eye(m) if at.fused[e] else np.eye(m) - lost
    return np.kron(np.diag(mass), np.eye(m)) + sigma * D.T @ J @ D


def paper_objective(pi, K, W, lam, l1_ratio):
    """F(pi) of eq. 4: the sum runs over ordered pairs, pi_i is a column."""
    n = len(K)
    fidelity = np.trace(pi.T @ K @ pi - 2.0 * K @ pi)
    pairs = itertools.product(range(n), repeat=2)
    penalty = sum(W[i, j] * mixed_norm(pi[:, i] - pi[:, j], l1_ratio) for i, j in pairs if i != j)
    return fidelity + lam * penalty


def paper_smooth_objective(pi, K, lam):
    """The objective of appendix D, distances taken in the feature space K = Phi'Phi."""
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    Phi = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    pairs = itertools.product(range(n), repeat=2)
    penalty = sum(K[i, j] * np.sum((Phi @ (pi[:, i] - pi[:, j])) ** 2) for i, j in pairs if i != j)
    return np.trace(pi.T @ K @ pi - 2.0 * K @ pi) + lam * penalty


def components(n, tail, head):
    """Connected components by graph traversal."""
    neighbours = {i: set() for i in range(n)}
    for i, j in zip(tail, head, strict=True):
        neighbours[int(i)].add(int(j))
        neighbours[int(j)].add(int(i))
    labels = -np.ones(n, dtype=int)
    for root in range(n):
        if labels[root] >= 0:
            continue
        number, waiting = labels.max() + 1, [root]
        while waiting:
            node = waiting.pop()
            if labels[node] < 0:
                labels[node] = number
                waiting.extend(neighbours[node])
    return labels


def transfer_distance(clade, clades, everything):
    """Fewest leaves to add to a clade or remove from it to make it one of these, by their sets."""
    trivial = [frozenset([leaf]) for leaf in everything] + [frozenset(everything)]
    return min(len(clade ^ other) for other in [*clades, *trivial])


def clade_support(clade, trees, everything):
    """Share of the trees, sets of clades each, with a clade, and its mean transfer support."""
    most = min(len(clade) - 1, len(everything) - len(clade))
    shares = [clade in clades for clades in trees]
    moved = [transfer_distance(clade, clades, everything) for clades in trees]
    transfer = [1 - d / most if most else 1.0 for d in moved]
    return sum(shares) / len(trees), sum(transfer) / len(trees)


def majority_clades(trees, threshold):
    """The clades of more than half of the trees, and of at least a share of them, by counting."""
    counts = {clade: sum(clade in other for other in trees) for tree in trees for clade in tree}
    n = len(trees)
    return {c: k / n for c, k in counts.items() if k > n / 2 and k >= threshold * n}


def node_recovery(node, clades, others, everything):
    """Mean over the clades of a node of the best Jaccard index with another tree's clade of it."""
    own = [clade for clade in clades if node in clade and len(clade) < len(everything)]
    theirs = [clade for clade in others if node in clade]
    best = [max(len(a & b) / len(a | b) for b in theirs) for a in own]
    return sum(best) / len(best) if best else float("nan")
