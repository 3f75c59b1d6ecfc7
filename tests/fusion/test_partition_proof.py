"""Proofs of partitions: never wrong, tight where the bounds are, and kept with results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import naive
from convexhc.fusion.graph_proof import proven_apart
from convexhc.fusion.partition_proof import InnerFlow, Leaving, coarsest, proven_groups
from convexhc.fusion.points_proof import _error_of_differences, prove_points
from convexhc.fusion.routing import Boundary, _routing, routed_clusters
from convexhc.graph import Graph
from convexhc.kernels.dual_errors import ball_slack, dual_errors
from convexhc.kernels.edges import Edges
from convexhc.model.fidelity import Proximity
from convexhc.model.problem import points_problem
from convexhc.similarity import neighbor_weights
from convexhc.solvers.admm import ADMM
from convexhc.solvers.loop import run
from convexhc.solvers.newton import SemismoothNewton


def edges_of(tail, head, soft, block):
    tail, head = np.array(tail, np.int64), np.array(head, np.int64)
    ones = np.ones(tail.size)
    return Edges.of(tail, head, soft * ones, block * ones, ones)


def refines(fine, coarse):
    first = np.unique(fine, return_index=True)[1]
    return np.array_equal(coarse, coarse[first[fine]])


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
def test_the_exact_partition_is_between_the_bounds(l1_ratio, tol):
    proven = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(9, 2)) + 3.0 * rng.integers(0, 2, 9)[:, None]
        weights = neighbor_weights(X, n_neighbors=4)
        problem = points_problem(X, weights, float(10 ** rng.uniform(-1.5, 0.5)), l1_ratio=l1_ratio)
        proof = prove_points(problem, run(problem, ADMM(), tol=tol))
        truth = run(problem, SemismoothNewton(), tol=1e-12, check_every=1).labels
        assert refines(proof.finest, truth)
        assert refines(truth, proof.coarsest)
        proven += proof.is_proven
    assert proven >= (2 if tol < 1e-6 else 0)


def test_the_error_of_a_difference_is_that_of_two_rows_that_move_apart():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    problem = points_problem(X, Graph.from_matrix(1.0 - np.eye(2)), 0.0)
    moved = X + 0.1 * np.array([[-0.6, -0.8], [0.6, 0.8]])
    Y, nothing = np.zeros((1, 2)), np.zeros(2)
    bound = _error_of_differences(problem, moved, Y, X, nothing)
    error = np.linalg.norm((moved[1] - moved[0]) - (X[1] - X[0]))
    assert error == pytest.approx(0.2)
    assert error <= bound <= error * (1.0 + 1e-9)


def test_the_gap_of_the_edges_is_part_of_the_error():
    X = np.array([[0.0], [3.0]])
    problem = points_problem(X, Graph.from_matrix(1.0 - np.eye(2)), 1.0)
    best, Y = np.array([[1.0], [2.0]]), np.array([[-0.5]])
    pulled = X - np.array([[-0.5], [0.5]])
    bound = _error_of_differences(problem, pulled, Y, pulled, np.zeros(2))
    assert bound >= abs((pulled[1] - pulled[0]) - (best[1] - best[0])).item()


@pytest.mark.parametrize(("share", "expected"), [(0.999, False), (1.001, True)])
def test_rows_are_apart_beyond_the_error_of_two_rows(share, expected):
    e = np.array([[1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]])
    fidelity = Proximity(np.zeros((2, 3)))
    gap = 0.5 * float(np.square(e).sum())
    ends = np.array([0]), np.array([1])
    assert proven_apart(fidelity, share * e, *ends, gap, 0.0)[0] == expected


@pytest.mark.parametrize("l1_ratio", [0.0, 0.2])
def test_dual_errors_bound_every_subgradient_nearby(l1_ratio):
    rng, largest = np.random.default_rng(3), 0.0
    for _ in range(60):
        m, reach = 3, 0.3
        d = rng.normal(size=m)
        d[rng.integers(m)] = 0.0
        soft, block = l1_ratio, 1.0 - l1_ratio
        Y = naive.project_dual(rng.normal(size=(1, m)) * 2.0, [soft], [block])
        C, signs = np.stack([d, np.zeros(m)]), np.zeros((1 if soft else 0, m))
        edge = edges_of([0], [1], soft, block)
        length, error = dual_errors(C, Y, edge, reach, signs)
        assert length[0] == pytest.approx(np.linalg.norm(d))
        for _ in range(40):
            shift = rng.normal(size=m)
            there = d + reach * shift / np.linalg.norm(shift)
            y = block * there / np.linalg.norm(there) + soft * np.sign(there)
            off = np.abs(Y[0] - y)
            rest = np.maximum(off - (signs[0] if soft else 0.0), 0.0)
            assert np.linalg.norm(rest) <= error[0] * (1.0 + 1e-12)
            largest = max(largest, np.linalg.norm(rest) / error[0])
    assert largest > 0.8


def test_a_direction_turns_by_the_angle_of_the_tangent():
    C, reach = np.array([[2.0, 0.0], [0.0, 0.0]]), 1.0
    edge = edges_of([0], [1], 0.0, 1.0)
    _, error = dual_errors(C, np.array([[1.0, 0.0]]), edge, reach, np.zeros((0, 2)))
    touched = np.array([1.5, np.sqrt(0.75)])
    assert np.linalg.norm(C[0] - touched) == pytest.approx(reach)
    turned = touched / np.linalg.norm(touched)
    assert error[0] == pytest.approx(np.linalg.norm(turned - [1.0, 0.0]))


@pytest.mark.parametrize(("soft", "block"), [(0.0, 1.0), (0.3, 0.7), (1.0, 0.0)])
def test_slack_is_room_inside_the_ball_and_distance_outside(soft, block):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 3))
    slack = ball_slack(Y, np.full(40, soft), np.full(40, block))
    assert (slack > 0).any()
    assert (slack < 0).any()
    for y, room in zip(Y, slack, strict=True):
        inside = naive.project_dual(y[None], [soft], [block])[0]
        assert np.linalg.norm(y - inside) <= max(-room, 0.0) + 1e-12
        step = rng.normal(size=3)
        moved = y + max(room, 0.0) * step / np.linalg.norm(step)
        if room > 0:
            near = naive.project_dual(moved[None], [soft], [block])[0]
            np.testing.assert_allclose(near, moved, atol=1e-12)


CHAIN = edges_of([0, 1], [1, 2], 0.0, 1.0)


@pytest.mark.parametrize(("share", "expected"), [(0.99, [0, 0, 0]), (1.01, [0, 1, 1])])
def test_errors_fit_up_to_the_slack_of_the_tree(share, expected):
    # Of an error at the first node, two thirds pass along the first edge, one third along the next.
    flow = np.array([[0.4, 0.0], [0.0, 0.0]])
    errors = Leaving(share * 1.5 * 0.6 * np.array([1.0, 0.0, 0.0]), None)
    found = proven_groups(np.zeros(3, np.int64), InnerFlow(CHAIN, flow, np.zeros(3)), errors)
    # A part on its own has an edge to the other with any dual, which one edge cannot bear.
    if share < 1.0:
        np.testing.assert_array_equal(found, expected)
    else:
        assert len(set(found.tolist())) > 1


def test_the_dual_between_two_parts_may_be_anything():
    # The first edge has no room for the error, and the second none for any dual on the first.
    flow = np.array([[0.4, 0.0], [0.5, 0.0]])
    errors = Leaving(np.array([1.2, 0.0, 0.0]), None)
    found = proven_groups(np.zeros(3, np.int64), InnerFlow(CHAIN, flow, np.zeros(3)), errors)
    np.testing.assert_array_equal(found, [0, 1, 2])


def test_what_is_unmet_counts_like_errors():
    flow, none = np.zeros((2, 2)), Leaving(np.zeros(3), None)
    labels = np.zeros(3, np.int64)
    for end in (np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])):
        for unmet, whole in ((1.4, True), (1.6, False)):
            found = proven_groups(labels, InnerFlow(CHAIN, flow, unmet * end), none)
            assert (found.max() == 0) == whole


def test_a_flow_outside_its_ball_is_not_a_proof():
    triangle = edges_of([0, 1, 0], [1, 2, 2], 0.0, 1.0)
    flow = np.array([[0.0], [0.0], [9.0]])
    none = Leaving(np.zeros(3), None)
    found = proven_groups(np.zeros(3, np.int64), InnerFlow(triangle, flow, np.zeros(3)), none)
    assert found.max() > 0


def test_a_cluster_without_inner_edges_is_not_proven():
    one = edges_of([0], [1], 0.0, 1.0)
    none = Leaving(np.zeros(3), None)
    found = proven_groups(
        np.zeros(3, np.int64), InnerFlow(one, np.zeros((1, 1)), np.zeros(3)), none
    )
    np.testing.assert_array_equal(found, [0, 0, 1])


def test_unknown_signs_need_room_in_every_entry():
    chain = edges_of([0], [1], 0.5, 0.0)
    inner = InnerFlow(chain, np.array([[0.2, 0.0]]), np.zeros(2))
    for bound, whole in ((0.55, True), (0.65, False)):
        signs = np.array([[bound, 0.0], [0.0, 0.0]])
        found = proven_groups(np.zeros(2, np.int64), inner, Leaving(np.zeros(2), signs))
        assert (found.max() == 0) == whole


def test_a_part_is_proven_when_any_dual_to_the_rest_fits():
    # A strong triangle with a weak edge to a fourth node, whose flow fills its ball.
    ends = np.array([0, 1, 0, 2]), np.array([1, 2, 2, 3])
    block = np.array([9.0, 9.0, 9.0, 1.0])
    strong = Edges.of(*ends, np.zeros(4), block, np.ones(4))
    flow = np.array([[0.0], [0.0], [0.0], [1.0]])
    inner = InnerFlow(strong, flow, np.zeros(4))
    found = proven_groups(np.zeros(4, np.int64), inner, Leaving(np.zeros(4), None))
    np.testing.assert_array_equal(found, [0, 0, 0, 1])


def test_a_routing_matrix_meets_every_demand():
    rng = np.random.default_rng(1)
    tail, head = np.triu_indices(5, 1)
    route = _routing(5, tail, head, 10.0 ** rng.uniform(-3, 0, tail.size))
    b = rng.normal(size=5)
    delivered = naive.incidence(5, tail, head).T @ (route @ b)
    np.testing.assert_allclose(delivered, b - b.mean(), atol=1e-9)
    cut = _routing(4, np.array([0, 2]), np.array([1, 3]), np.ones(2))
    assert np.isinf(cut).all()


def test_errors_are_spread_over_all_edges_and_added_up_where_they_are_common():
    labels = np.array([0, 0, 0, 1])
    triangle = edges_of([0, 1, 0], [1, 2, 2], 0.0, 1.0)
    inner = InnerFlow(triangle, np.zeros((3, 1)), np.zeros(4))
    at_one = csr_array(np.array([[1.0], [0.0], [0.0], [-1.0]]))
    equal = csr_array(np.array([[1.0], [1.0], [1.0], [-3.0]]))
    first, every = np.array([False, True]), np.ones(2, np.bool_)

    def proven(share, error):
        boundary = Boundary(
            np.array([0]), np.array([1]), share, np.array([error]), np.zeros((0, 1))
        )
        return routed_clusters(labels, inner, boundary, first, every)[0]

    # A third of a unit at one node passes along each of its two edges.
    assert proven(at_one, 2.9)
    assert not proven(at_one, 3.1)
    # The same error at all three nodes needs no flow at all.
    assert proven(equal, 1e6)


def test_errors_of_different_centroids_do_not_cancel():
    labels, share = np.array([0, 0, 0, 1]), csr_array(np.array([[1.0], [1.0], [1.0], [-3.0]]))
    triangle = edges_of([0, 1, 0], [1, 2, 2], 0.0, 1.0)
    inner = InnerFlow(triangle, np.zeros((3, 1)), np.zeros(4))
    ends, no_signs = (np.array([0]), np.array([1])), np.zeros((0, 1))
    for error, whole in ((1.4, True), (1.6, False)):
        boundary = Boundary(*ends, share, np.array([error]), no_signs)
        nothing, only_first = np.zeros(2, np.bool_), np.array([True, False])
        assert routed_clusters(labels, inner, boundary, nothing, only_first)[0] == whole


def test_clusters_that_are_not_apart_are_joined():
    labels = np.array([0, 1, 1, 2])
    joined = coarsest(labels, np.array([0, 1]), np.array([1, 2]), np.array([True, False]))
    np.testing.assert_array_equal(joined, [0, 1, 1, 1])
