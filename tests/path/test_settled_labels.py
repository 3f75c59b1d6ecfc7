"""Labels of default solves: when they are settled, and that they are those of accurate solves."""

from __future__ import annotations

import numpy as np
import pytest

import convexhc
from convexhc.fusion.settled_labels import SETTINGS, Settling, Unsteady, clear
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem
from convexhc.similarity import two_hop
from convexhc.solvers.admm import ADMM
from convexhc.solvers.loop import Candidate, run


def block_model(seed):
    """A graph of three dense blocks."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    group = rng.integers(0, 3, n)
    shares = np.where(group[:, None] == group, 0.6, 0.06)
    A = np.triu(rng.random((n, n)) < shares, 1).astype(float)
    return A + A.T


# A gap of 1e-4, or of 1e-6 at all lam alike, gives other labels at one lam at least. With seed 49
# clusters are merged of which the minimiser has two: what is merged has to be settled, too.
@pytest.mark.parametrize("seed", [9, 25, 49])
def test_labels_of_a_default_path_are_those_of_an_accurate_one(seed):
    K = two_hop(block_model(seed), shift=0.1)
    path = convexhc.solve_path(K)
    accurate = convexhc.solve_path(K, path.lambdas, tol=1e-9, max_iter=5000)
    np.testing.assert_array_equal(path.partitions, accurate.partitions)


# Above a hundred nodes labels are settled within the run.
def test_labels_of_a_larger_graph_are_those_of_an_accurate_path():
    points = np.random.default_rng(0).normal(size=(105, 2))
    K = convexhc.similarity.knn(points, n_neighbors=6, shift="auto")
    lambdas = np.geomspace(0.3, 2.0, 6)
    path = convexhc.solve_path(K, lambdas)
    accurate = convexhc.solve_path(K, lambdas, tol=1e-7, max_iter=5000)
    np.testing.assert_array_equal(path.partitions, accurate.partitions)
    assert len(set(path.level_n_clusters)) > 4


@pytest.mark.parametrize("seed", [9, 25])
def test_labels_of_a_single_lam_are_settled_as_those_of_a_path(seed):
    K = two_hop(block_model(seed), shift=0.1)
    path = convexhc.solve_path(K)
    for level in path.levels:
        np.testing.assert_array_equal(convexhc.solve(K, level.lam).labels, level.labels)


# Where the two nodes fuse: with C = 11'/2 + d/2 (1, -1)'(1, -1), the objective of the pair is
# d^2/2 - d + lam d (0.95 sqrt(2) + 0.05 * 2), but for a constant.
FUSION = 1.0 / (0.95 * 2.0**0.5 + 0.05 * 2.0)


@pytest.fixture(scope="module")
def pair():
    """Two nodes, as a function of lam."""
    problem = graph_problem(Graph.from_matrix(np.array([[2.0, 1.0], [1.0, 2.0]])), 1.0)
    return lambda lam: problem.at(lam)


def solved(problem, tol):
    found = run(problem, ADMM(), tol=tol, max_iter=2000)
    point = Candidate(found.centroids, found.dual, found.labels)
    return point, found.certificate


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, True), (0.9999, False), (1.0001, False), (2, True)]
)
def test_labels_are_in_doubt_near_the_lam_of_a_fusion(pair, share, expected):
    lam = share * FUSION
    point, certificate = solved(pair(lam), 1e-10)
    certificate = certificate._replace(gap=1e-5 * certificate.scale)
    assert clear(pair(lam), *point[:3], certificate) is expected


def test_labels_that_changed_are_settled_once_the_gap_has_fallen(pair):
    problem = pair(0.1)
    point, certificate = solved(problem, 1e-8)
    assert clear(problem, *point[:3], certificate)
    rule = Settling(np.zeros(2, int), tol=1e-4)
    assert not rule(problem, point, certificate)
    assert not rule(problem, point, certificate._replace(gap=0.5 * certificate.gap))
    assert rule(problem, point, certificate._replace(gap=0.05 * certificate.gap))


def test_labels_are_not_settled_above_the_tolerance(pair):
    problem = pair(0.1)
    point, certificate = solved(problem, 1e-8)
    assert Settling(point.labels, tol=1e-4)(problem, point, certificate)
    assert not Settling(point.labels, tol=1e-12)(
        problem, point, certificate._replace(gap=1e-9 * certificate.scale)
    )


def test_a_cluster_without_a_penalty_is_in_doubt(pair):
    fused = Candidate(np.full((2, 2), 0.5), np.zeros((1, 2)), np.zeros(2, int))
    certificate = pair(0.0).certify(fused.C, fused.Y)._replace(gap=1e-5)
    assert not clear(pair(0.0), *fused[:3], certificate)


ONE, OTHER = np.array([0, 0, 1]), np.array([0, 1, 1])


def watched(*steps, n_splits=0):
    """Doubt after iterations with these labels and squared step lengths."""
    doubt = Unsteady(n_splits)
    for labels, move in steps:
        doubt.observe(labels, move)
    return doubt


def test_doubt_remains_until_steps_have_shrunk_since_the_labels_changed():
    assert watched().remains(0, 0.0)
    assert watched((ONE, 1.0)).remains(1, 1.0)
    assert not watched((ONE, 1.0), (ONE, 1e-3)).remains(2, 1e-3)
    assert watched((ONE, 1.0), (OTHER, 1e-3)).remains(2, 1e-3)
    assert watched((ONE, 1e-3), (ONE, 1.0), (ONE, 0.5)).remains(3, 0.5)
    # At a solution nothing moves.
    assert not watched((ONE, 0.0)).remains(1, 0.0)


@pytest.mark.parametrize("n_splits", [0, 1, 2])
def test_doubt_ends_after_a_number_of_iterations_in_any_case(n_splits):
    doubt = watched((ONE, 1.0), n_splits=n_splits)
    most = SETTINGS.iterations / 2**n_splits + SETTINGS.share * 40
    assert doubt.remains(40, 1.0)
    assert doubt.remains(int(40 + most) - 1, 1.0)
    assert not doubt.remains(int(40 + most) + 1, 1.0)
