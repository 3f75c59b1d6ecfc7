"""Edge cases: no edges, one node, several components, identical nodes, dtypes, scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage

import convexhc
from convexhc import Status, as_graph, solve, solve_path
from convexhc._text import on_page

# Two triangles and an isolated node.
APART = np.eye(7)
APART[:3, :3] += 1.0
APART[3:6, 3:6] += 1.0
TRIANGLES = [0, 0, 0, 1, 1, 1, 2]

CHAIN = np.diag(np.full(30, 2.1)) + np.diag(np.ones(29), 1) + np.diag(np.ones(29), -1)
STAR = np.eye(6) * 3.0
STAR[0, 1:] = STAR[1:, 0] = 1.0
TWINS = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])


@dataclass(frozen=True)
class Case:
    """A similarity, edge weights if given separately, and its connected components."""

    K: Any
    components: list[int]
    weights: Any = None


def with_wide_indices(K):
    matrix = sparse.csr_array(K)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


CASES = {
    "three components, one of them a node": Case(APART, TRIANGLES),
    "one node": Case([[2.0]], [0]),
    "one node, similar to nothing": Case([[0.0]], [0]),
    "two nodes": Case([[1.0, 0.5], [0.5, 1.0]], [0, 0]),
    "two nodes apart": Case([[1.0, 0.0], [0.0, 2.0]], [0, 1]),
    "two identical nodes and nothing else": Case(np.ones((2, 2)), [0, 0]),
    "no edges": Case(np.eye(5), [0, 1, 2, 3, 4]),
    "nothing at all": Case(np.zeros((4, 4)), [0, 1, 2, 3]),
    "edges, but no similarity": Case(np.zeros((4, 4)), [0, 0, 0, 0], np.ones((4, 4))),
    "edges on an identity": Case(np.eye(4), [0, 0, 0, 0], np.ones((4, 4))),
    "two identical nodes among three": Case(TWINS, [0, 0, 0]),
    "all nodes identical": Case(np.ones((5, 5)), [0, 0, 0, 0, 0]),
    "a chain": Case(CHAIN, [0] * 30),
    "a star": Case(STAR, [0] * 6),
    "equal weights between all": Case(np.eye(6) + 1.0, [0] * 6),
    "64-bit indices": Case(with_wide_indices(APART), TRIANGLES),
    "old sparse matrix": Case(sparse.coo_matrix(APART), TRIANGLES),
    "float32": Case(APART.astype(np.float32), TRIANGLES),
    "integers": Case(APART.astype(np.int8), TRIANGLES),
    "truth values": Case(APART[:3, :3] > 0, [0, 0, 0]),
    "columns first": Case(np.asfortranarray(APART), TRIANGLES),
    "read-only": Case(np.broadcast_to(1.0, (3, 3)) + np.diag([1.0, 2.0, 3.0]), [0, 0, 0]),
    "names that are text": Case(as_graph(APART, names=list("gfedcba")), TRIANGLES),
    "names that are tuples": Case(as_graph(APART, names=[(0, i) for i in range(7)]), TRIANGLES),
    "1e-6 of everything": Case(1e-6 * APART, TRIANGLES),
    "1e6 of everything": Case(1e6 * APART, TRIANGLES),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())

# Limit on the number of levels: a longer path would not end.
ENOUGH = 200


def whole_path(case: Case, **options):
    seen = []
    path = solve_path(
        case.K,
        weights=case.weights,
        on_check=lambda point: seen.append(point) or len(seen) == ENOUGH,
        **options,
    )
    assert len(seen) < ENOUGH, f"still marching at lam = {seen[-1].lam}"
    return path


@each_case
def test_a_path_ends_in_the_components_certified_at_every_lam(case):
    path = whole_path(case)
    assert path.complete
    np.testing.assert_array_equal(path.components, case.components)
    np.testing.assert_array_equal(path.partitions[-1], case.components)
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert path.relative_gap.max() <= 1e-4
    assert max(point.residual for point in path.levels) <= 1e-8


@each_case
def test_the_tree_is_finite_valid_and_can_be_cut_and_printed(case):
    path = whole_path(case)
    n, count = len(case.components), max(case.components) + 1
    assert path.linkage.shape == (n - 1, 4)
    assert np.isfinite(path.linkage).all()
    if n > 1:
        assert is_valid_linkage(path.linkage)
        assert is_monotonic(path.linkage)
    assert path.tree.root_joins == count - 1
    np.testing.assert_array_equal(path.labels(n_clusters=count), case.components)
    np.testing.assert_array_equal(path.labels(n_clusters=n), np.arange(n))
    assert path.labels(n_clusters=1).max() == 0
    assert on_page(path.summary()) in path._repr_html_()
    assert len(path.to_frame()) == len(path.levels)
    assert path.to_networkx().number_of_nodes() >= n
    assert path.to_newick().endswith(";")
    assert repr(path)


@each_case
@pytest.mark.parametrize("constraint", ["doubly_stochastic", "simplex"])
def test_a_strong_penalty_gives_the_mean_of_every_component(case, constraint):
    solution = solve(case.K, 50.0, weights=case.weights, constraint=constraint)
    assert solution.status is Status.SOLVED
    np.testing.assert_array_equal(solution.labels, case.components)
    np.testing.assert_allclose(solution.pi.sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_array_equal(len(np.unique(solution.centroids, axis=0)), solution.n_clusters)


@each_case
def test_without_penalty_nothing_is_fused(case):
    solution = solve(case.K, 0.0, weights=case.weights)
    assert solution.status is Status.SOLVED
    n = len(case.components)
    np.testing.assert_array_equal(solution.labels, np.arange(n))
    np.testing.assert_allclose(solution.pi, np.eye(n), atol=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        with_wide_indices(APART),
        sparse.csc_array(APART),
        APART.astype(np.float32),
        APART.astype(np.int64),
        APART.tolist(),
        as_graph(APART, names=list("abcdefg")),
    ],
    ids=["wide", "csc", "float32", "integer", "list", "named"],
)
def test_the_same_values_give_identical_bits_in_every_format(other):
    expected, found = solve_path(APART), solve_path(other)
    np.testing.assert_array_equal(found.lambdas, expected.lambdas)
    np.testing.assert_array_equal(found.partitions, expected.partitions)
    np.testing.assert_array_equal(found.objective, expected.objective)


@pytest.mark.parametrize("names", [list("abcdefg"), [("x", i) for i in range(7)], range(10, 17)])
def test_names_are_kept_in_every_result(names):
    graph = as_graph(APART, names=names)
    path = solve_path(graph, [0.1, 1.0])
    assert path.names == tuple(names)
    assert solve(graph, 1.0).names == tuple(names)
    assert path.tree.names == tuple(names)
    leaves = path.to_networkx().nodes(data="name")
    assert [name for node, name in leaves if node < 7] == list(names)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
@pytest.mark.parametrize("method", ["admm", "primal_dual", "dual_fista"])
def test_a_scaled_similarity_has_the_same_clusters_at_the_same_lam(scale, method):
    """Kernel and weights scale together, so lam keeps its meaning."""
    for lam in (0.05, 1.0):
        once = solve(APART, lam, method=method)
        scaled = solve(scale * APART, lam, method=method, max_iter=2000)
        assert scaled.status is Status.SOLVED
        np.testing.assert_array_equal(scaled.labels, once.labels)
        assert scaled.objective == pytest.approx(scale * once.objective, rel=1e-4)


def test_identical_nodes_are_fused_under_any_penalty():
    path = whole_path(CASES["two identical nodes among three"])
    np.testing.assert_array_equal(path.labels(n_clusters=2), [0, 0, 1])
    together = path.partitions[1:, 0] == path.partitions[1:, 1]
    assert together.all()


def test_components_do_not_affect_each_other():
    """A component has the same clusters alone and among the others."""
    whole = solve_path(APART, [0.1, 0.3, 0.6])
    for part in ([0, 1, 2], [3, 4, 5]):
        alone = solve_path(APART[np.ix_(part, part)], [0.1, 0.3, 0.6])
        for one, all_of_them in zip(alone.partitions, whole.partitions, strict=True):
            np.testing.assert_array_equal(one, all_of_them[part] - all_of_them[part[0]])


def test_a_chain_of_many_nodes_has_a_deep_tree():
    """Links become weaker along the chain, so the nodes merge one by one."""
    weights = 0.9 ** np.arange(39)
    K = np.diag(np.full(40, 2.0)) + np.diag(weights, 1) + np.diag(weights, -1)
    path = solve_path(K, np.geomspace(0.01, 1000.0, 40))
    assert is_valid_linkage(path.linkage)
    assert {point.status for point in path.levels} == {Status.SOLVED}
    assert len(path.available_n_clusters) > 5


def test_an_edge_list_may_declare_isolated_nodes():
    """The weights are the edges; the similarity is the identity."""
    graph = as_graph([("a", "b", 1.0), ("b", "c", 1.0), ("d", "d", 0.0)])
    K = convexhc.similarity.normalized(graph)
    path = solve_path(K)
    assert path.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(path.partitions[-1], [0, 0, 0, 1])
