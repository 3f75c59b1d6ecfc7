"""The graph model: which clusters of a solution are those of the exact minimiser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.fusion.conductances import Conductances, initial_conductances
from convexhc.fusion.contraction import Contraction, contract
from convexhc.fusion.demand import Demand
from convexhc.fusion.graph_flows import SETTINGS as FLOWS
from convexhc.fusion.graph_flows import find_slack
from convexhc.fusion.graph_solve import Chooser, ContractedSolution, solve_graph, transfer
from convexhc.fusion.partition_proof import InnerFlow, Leaving, coarsest, proven_groups
from convexhc.fusion.routing import Boundary, routed_clusters
from convexhc.kernels.compile import blocks
from convexhc.kernels.dual_errors import dual_errors
from convexhc.kernels.labels import numbered_by_first
from convexhc.model.factorization import DENSE_NODES
from convexhc.model.fidelity import Fidelity, Kernel
from convexhc.model.problem import Certificate, FusionProblem
from convexhc.model.proof import Proof

_EPS = float(np.finfo(float).eps)
# Factor on the tolerance where a partition is not proven.
TIGHTER = 1e-2
# Least tolerance: below, round-off decides.
LEAST_TOL = 1e-10
# Relative gap below which clusters with numerically equal centroids are tried as one.
_TRY_MERGES = 1e-7
# Round-off of a gap, relative to the objective (sums of products and an assignment), and of
# demands and flows, relative to the data and the dual at a node.
_ROUND_OFF = 1e-12
# Numbers of a demand, and of a flow inside some clusters, up to which they are formed.
_MAX_NUMBERS = 20_000_000


def prove_graph(
    problem: FusionProblem, solution: ContractedSolution, *, thorough: bool = False
) -> Proof:
    """Bound the clusters of the minimiser by a contracted solution with a certificate.

    The cost is that of one proof of the certificate: a factor and a solve per column inside every
    cluster. That is spent only if all clusters are proven apart, or with ``thorough``, which also
    adapts flows to keep away from their balls. Where the demand or a flow has too many numbers, the
    clusters stay unproven.
    """
    labels = solution.labels
    n, m = problem.shape
    contraction = contract(problem, labels)
    small = transfer(problem, solution, contraction)
    C, Y = small.centroids, small.dual
    gap, moved = _gap_of_feasible(problem, contraction, C, small.certificate)
    pairs = contraction.problem.at(problem.lam).penalty.edges
    apart = proven_apart(problem.fidelity, C, pairs.tail, pairs.head, gap, moved)
    joined = coarsest(labels, pairs.tail, pairs.head, apart)
    isolated = np.bincount(labels)[labels] == np.bincount(joined)[joined]
    hopeful = isolated & (np.bincount(labels)[labels] > 1)
    worthwhile = hopeful.any() and (thorough or bool(isolated.all()))
    if n * m > _MAX_NUMBERS or pairs.tail.size * m > _MAX_NUMBERS or not worthwhile:
        return Proof(np.arange(n), joined)
    least = least_eigenvalue(problem.fidelity)
    distance = np.sqrt(2.0 * gap / least) if least > 0.0 else np.inf
    reach = float(np.sqrt(2.0) * (distance + moved) + 8.0 * _EPS * m)
    signs = np.zeros((pairs.tail.size if pairs.soft.any() else 0, m))
    _, error = dual_errors(C, Y, pairs, reach, signs)
    boundary = Boundary(pairs.tail, pairs.head, contraction.between, error, signs)
    demand = Demand.of(problem, labels, contraction.between, Y)
    known = solution.conductances
    finest = _finest(problem, demand, boundary, hopeful, known, attempts=2 if thorough else 1)
    return Proof(finest, joined)


def prove_tighter(
    problem: FusionProblem,
    found: ContractedSolution,
    choose: Chooser,
    *,
    tol: float,
    max_iter: int,
) -> ContractedSolution:
    """Solve more and more accurately until the partition is proven, or to the least tolerance.

    Once the gap is small, a solve starts from the coarsest partition that is still possible:
    clusters whose centroids are numerically equal are tried as one, and split if no flow proves it.
    """
    while found.proof is not None and not found.proof.is_proven and tol > LEAST_TOL:
        tol = max(tol * TIGHTER, LEAST_TOL)
        merging = found.small.relative_gap <= _TRY_MERGES
        groups = found.proof.coarsest if merging else found.labels
        solved = solve_graph(problem, groups, choose, start=found, tol=tol, max_iter=max_iter)
        if solved is None or solved.small.certificate.gap > found.small.certificate.gap:
            break
        if solved.small.status is not found.small.status:
            # It is within the tolerance that was asked for, if not within the lower one.
            solved = replace(solved, small=replace(solved.small, status=found.small.status))
        found = replace(solved, proof=prove_graph(problem, solved, thorough=True))
    return found


def _finest(
    problem: FusionProblem,
    demand: Demand,
    boundary: Boundary,
    hopeful: BoolArray,
    conductances: Conductances | None,
    attempts: int,
) -> Labels:
    """The finest partition at the minimiser, of the clusters of the ``hopeful`` nodes."""
    labels, n = demand.labels, demand.labels.size
    of = Conductances.of(problem) if conductances is None else conductances.copy()
    absolute, signs = abs(boundary.share), boundary.signs
    leaving = Leaving(absolute @ boundary.error, absolute @ signs if len(signs) else None)
    tried = np.zeros(int(labels.max()) + 1, np.bool_)
    tried[labels[hopeful]] = True
    whole, finest = ~tried, np.arange(n)
    for attempt in range(attempts):
        if attempt:
            smaller = problem.at((1.0 - FLOWS.margin) * problem.lam).penalty.edges
            find_slack(smaller, demand, of, initial_conductances(problem), tried & ~whole)
        inner = _inner_flow(problem, demand, of)
        finest = proven_groups(labels, inner, leaving)
        whole = routed_clusters(
            labels, inner, boundary, _whole(labels, finest), tried, rounds=2 * attempts - 1
        )
        finest = numbered_by_first(np.where(whole[labels], labels, finest + n))
        if whole[tried].all():
            break
    return finest


def _whole(labels: Labels, finest: Labels) -> BoolArray:
    """Clusters that a finer partition does not divide."""
    first = np.unique(labels, return_index=True)[1]
    whole = np.ones(first.size, np.bool_)
    whole[labels[finest != finest[first[labels]]]] = False
    return whole


def least_eigenvalue(fidelity: Fidelity) -> float:
    """A lower bound of the strong convexity: the smallest eigenvalue, if it is cheap to have."""
    if isinstance(fidelity, Kernel) and fidelity.matrix.n > DENSE_NODES:
        return 0.0
    values = fidelity.spectrum[1]
    round_off = _EPS * values.size * float(values.max())
    return max(float(values.min()) - round_off, 0.0)


def _gap_of_feasible(
    problem: FusionProblem, contraction: Contraction, C: FloatArray, certificate: Certificate
) -> tuple[float, float]:
    """The gap of a feasible point near C, and a bound on its distance to C.

    Sums that are off by at most the residual are corrected by changes of three times n residuals in
    all, negative entries by n times as many. The objective changes by its Lipschitz constant there.
    """
    n, m = problem.shape
    sums = certificate.residual
    if problem.constraint.nonnegative and C.min(initial=0.0) < 0.0:
        sums *= n
    moved = 3.0 * n * sums if np.isfinite(sums) else np.inf
    edges, fidelity = problem.penalty.edges, problem.fidelity
    root_sizes = np.sqrt(np.bincount(contraction.labels))[:, None]
    slope = np.linalg.norm(contraction.problem.fidelity.gradient(C) * root_sizes)
    slope += float(np.sqrt(2.0) * (edges.block + edges.soft * m**0.5).sum())
    slope += fidelity.lipschitz * moved
    scale = max(abs(certificate.objective), fidelity.scale)
    gap = max(certificate.gap, 0.0) + _ROUND_OFF * scale + float(slope) * moved
    return gap, moved


def proven_apart(
    fidelity: Fidelity,
    C: FloatArray,
    tail: IntArray,
    head: IntArray,
    gap: float,
    moved: float = 0.0,
) -> BoolArray:
    """Pairs of rows that differ at the minimiser, by their distance in the norm of the kernel.

    There |C - C*|_K^2 <= 2 gap, whatever the smallest eigenvalue, and |d - d*|_K^2 <= 4 gap for the
    difference d of two rows. ``moved`` is the distance of C to a feasible point with that gap.
    """
    product = fidelity.matrix.right_multiply(C) if isinstance(fidelity, Kernel) else C
    found = np.empty(tail.size, np.bool_)
    error = 2.0 * np.sqrt(gap) + 2.0 * np.sqrt(fidelity.lipschitz) * moved
    for some in blocks((tail.size, C.shape[1])):
        i, j = tail[some], head[some]
        d = C[i] - C[j]
        square = np.einsum("pk,pk->p", d, product[i] - product[j])
        square -= _ROUND_OFF * fidelity.lipschitz * np.einsum("pk,pk->p", d, d)
        found[some] = np.sqrt(np.maximum(square, 0.0)) > error
    return found


def _inner_flow(problem: FusionProblem, demand: Demand, conductances: Conductances) -> InnerFlow:
    """Flows of least energy inside all clusters, and what round-off leaves of the demand."""
    edges, (n, m) = problem.penalty.edges, problem.shape
    wanted, unmet = demand.columns(slice(None)), np.zeros(n)
    at, found = [], []
    for flow in conductances.flows(edges, demand.labels):
        if flow.at.size * m > _MAX_NUMBERS:
            continue
        Z, rest = flow.formed(wanted[flow.nodes])
        unmet[flow.nodes] = np.linalg.norm(rest, axis=1)
        at.append(flow.at)
        found.append(Z)
    # No row of a positive semidefinite kernel is longer than its largest eigenvalue.
    size = np.full(n, problem.fidelity.lipschitz)
    for end in (edges.tail, edges.head):
        size += np.bincount(end, edges.block + edges.soft * m**0.5, n)
    unmet += _ROUND_OFF * size
    if not at:
        nothing = np.zeros(0, np.int64)
        return InnerFlow(edges.at(nothing), np.zeros((0, m)), unmet)
    return InnerFlow(edges.at(np.concatenate(at)), np.concatenate(found), unmet)
