"""Laws checked by several tests, and random problems for them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import naive
from convexhc._types import FloatArray
from convexhc.graph import Graph
from convexhc.kernels.edges import Edges
from convexhc.model.constraint import Constraint, DoublyStochastic, RowSimplex
from convexhc.model.fidelity import Proximity
from convexhc.model.penalty import Differences, Fusion
from convexhc.model.problem import FusionProblem, Problem, graph_problem, points_problem
from convexhc.solvers.choose import choose_method
from convexhc.solvers.loop import Solution, run

METHODS = ("dual_fista", "admm", "primal_dual")
CONSTRAINTS: dict[str, Constraint] = {
    "doubly_stochastic": DoublyStochastic(),
    "simplex": RowSimplex(),
}
L1_RATIOS = (0.0, 0.05, 0.5, 1.0)

seeds = st.integers(0, 2**32 - 1)
l1_ratios = st.sampled_from(L1_RATIOS)


def random_weights(rng: np.random.Generator, n: int, *, parts: int = 1, density: float = 0.5):
    """A symmetric matrix of weights with zero diagonal, in ``parts`` connected components.

    A ring through the nodes of every piece keeps it connected; other pairs are drawn.
    """
    piece = np.sort(np.arange(n) % parts)
    drawn = rng.uniform(0.2, 1.0, (n, n)) * (rng.random((n, n)) < density)
    for part in range(parts):
        members = np.flatnonzero(piece == part)
        for i, j in zip(members, np.roll(members, 1), strict=True):
            drawn[min(i, j), max(i, j)] = rng.uniform(0.2, 1.0)
    upper = np.triu(np.where(piece[:, None] == piece, drawn, 0.0), 1)
    return upper + upper.T


def random_kernel(
    rng: np.random.Generator, n: int, *, parts: int = 1, floor: float = 0.5, density: float = 0.5
) -> Graph:
    """A similarity of n nodes whose smallest eigenvalue is ``floor``."""
    W = random_weights(rng, n, parts=parts, density=density)
    lowest = float(np.linalg.eigvalsh(W)[0])
    return Graph.from_matrix(W + (floor - lowest) * np.eye(n))


def random_doubly_stochastic(rng: np.random.Generator, n: int):
    """A mean of permutation matrices: often on the boundary of the set, never outside."""
    share = rng.dirichlet(np.ones(rng.integers(1, 2 * n + 1)))
    return sum(s * np.eye(n)[rng.permutation(n)] for s in share)


def random_feasible(rng: np.random.Generator, problem: Problem):
    """Centroids in the constraint set of the problem, some of them on its boundary."""
    n, m = problem.shape
    if problem.constraint.unit_column_sums:
        return random_doubly_stochastic(rng, n)
    if problem.constraint.unit_row_sums:
        return rng.dirichlet(np.full(m, 0.3), size=n)
    return problem.fidelity.target + rng.normal(size=(n, m))


def denoising_problem(
    B: FloatArray,
    weights: Graph,
    lam: float,
    *,
    l1_ratio: float = 0.05,
    constraint: Constraint | None = None,
) -> FusionProblem:
    """Denoising of the rows of B (eq. 5), doubly stochastic by default."""
    fusion = Fusion(Differences(weights), lam, l1_ratio)
    return FusionProblem(Proximity(B), fusion, constraint or DoublyStochastic())


def random_problem(rng: np.random.Generator, model: str, lam: float, l1_ratio: float) -> Problem:
    """A problem of three to eight nodes, of any of the models."""
    n = int(rng.integers(3, 9))
    parts = int(rng.integers(1, 3)) if n > 4 else 1
    weights = Graph.from_matrix(random_weights(rng, n, parts=parts))
    if model == "points":
        return points_problem(rng.normal(size=(n, 3)), weights, lam, l1_ratio=l1_ratio)
    if model == "denoising":
        return denoising_problem(rng.normal(size=(n, n)), weights, lam, l1_ratio=l1_ratio)
    kernel = random_kernel(rng, n, parts=parts)
    constraint = CONSTRAINTS["simplex" if model == "simplex" else "doubly_stochastic"]
    return graph_problem(kernel, lam, l1_ratio=l1_ratio, constraint=constraint)


models = st.sampled_from(["graph", "simplex", "denoising", "points"])


def solved(problem: Problem, method: str = "admm", **options) -> Solution:
    """The solution by the method of that name."""
    return run(problem, choose_method(problem, method), **options)


def first_occurrence(labels) -> np.ndarray:
    """The same classes, numbered by first occurrence."""
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in np.asarray(labels).tolist()])


def classes_of_equal_rows(C) -> np.ndarray:
    """Classes of rows that are equal bit for bit, numbered by first occurrence."""
    return first_occurrence([row.tobytes() for row in np.ascontiguousarray(C)])


def assert_convex_between(function, A, B, *, atol: float = 1e-10) -> None:
    """The function lies below its chord from A to B."""
    at_a, at_b = function(A), function(B)
    for t in (0.1, 0.5, 0.8):
        assert function((1 - t) * A + t * B) <= (1 - t) * at_a + t * at_b + atol


def assert_gradient(function, gradient, C, rng: np.random.Generator, *, rtol: float = 1e-6) -> None:
    """Check directional derivatives of a quadratic by central differences."""
    for _ in range(3):
        direction = rng.normal(size=C.shape)
        rise = function(C + 0.5 * direction) - function(C - 0.5 * direction)
        expected = float(np.vdot(gradient, direction))
        size = np.linalg.norm(gradient) * np.linalg.norm(direction) + abs(function(C)) + 1.0
        assert abs(rise - expected) <= rtol * size


def assert_nonexpansive(function, A, B, *, rtol: float = 1e-9) -> None:
    """The distance of the images is at most that of the points."""
    apart = np.linalg.norm(np.asarray(A) - B)
    size = max(1.0, np.abs(A).max(), np.abs(B).max())
    assert np.linalg.norm(function(A) - function(B)) <= apart + rtol * size


def node_ends(nodes):
    """Ends of edges as stored in a graph: read-only, so that no second signature is compiled."""
    nodes = nodes.astype(np.int64)
    nodes.setflags(write=False)
    return nodes


@st.composite
def edge_cases(draw):
    """Edges with thresholds (some zero), the incidence matrix, centroids and a dual."""
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(seeds))
    tail, head = np.triu_indices(n, 1)
    kept = rng.random(tail.size) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    tail, head = node_ends(tail[kept]), node_ends(head[kept])
    scale = draw(st.sampled_from([0.0, 0.3, 10.0]))
    share = draw(st.sampled_from([0.0, 0.05, 1.0]))
    radius = scale * rng.random(tail.size)
    stiffness = 10.0 ** rng.uniform(-2.0, 1.0, tail.size)
    edges = Edges(tail, head, share * radius, (1 - share) * radius, stiffness)
    C = rng.normal(size=(n, m))
    if n > 2 and draw(st.booleans()):
        C[1] = C[0]
    Y = naive.project_dual(rng.normal(size=(tail.size, m)), edges.soft, edges.block)
    return edges, naive.incidence(n, tail, head), C, Y, rng
