"""The first lam of a path: only identical nodes are fused, and lam is not much smaller."""

import numpy as np
import pytest

from convexhc import solve_path
from convexhc.fusion.lam_max import consensus_bound
from convexhc.io import as_graph
from convexhc.model.problem import graph_problem
from convexhc.solvers.solution import Status


def gaussian(X, noise=0.0):
    K = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2)) + 1e-3 * np.ones((len(X),) * 2)
    rough = noise * np.random.default_rng(1).normal(size=K.shape)
    return K + rough + rough.T


@pytest.mark.parametrize("noise", [0.0, 1e-14])
def test_identical_nodes_do_not_extend_the_path_downwards(noise):
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[5], X[9] = X[2], X[2]
    K = gaussian(X, noise)
    path = solve_path(K)
    first = path.levels[0]
    assert first.n_clusters == 10
    assert first.labels[2] == first.labels[5] == first.labels[9]
    bound = consensus_bound(graph_problem(as_graph(K), 1.0))
    assert first.lam == pytest.approx(1e-3 * bound)
    assert path.complete
    assert path.relative_gap.max() <= 1e-4


@pytest.mark.parametrize("apart", [1e-3, 2e-3])
def test_nearly_identical_nodes_split_at_smaller_lam(apart):
    """lam is lowered tenfold until they split or lowering it splits nothing."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[5] = X[2] + apart
    K = gaussian(X)
    path = solve_path(K)
    bound = consensus_bound(graph_problem(as_graph(K), 1.0))
    assert path.levels[0].lam < 0.5e-3 * bound
    assert path.levels[0].n_clusters >= 11
    assert {point.status for point in path.levels} == {Status.SOLVED}


@pytest.mark.parametrize("lam", np.geomspace(2e-5, 2e-4, 6))
def test_nodes_that_are_all_identical_are_fused_at_any_lam(lam):
    """The solvers alone need thousands of iterations here, or give up."""
    path = solve_path(np.ones((5, 5)), [lam])
    assert path.levels[0].n_clusters == 1
    assert path.levels[0].status is Status.SOLVED


def test_identical_rows_with_different_weights_are_not_fused_by_symmetry():
    """Twins are only a guess: the proof splits them where the weights pull them apart."""
    K = np.kron(np.eye(2), np.ones((2, 2))) + 0.1
    W = np.array([[0, 0.01, 5, 0], [0.01, 0, 0, 0], [5, 0, 0, 0.01], [0, 0, 0.01, 0]])
    path, twins = solve_path(K, [0.05], weights=W), [(0, 1), (2, 3)]
    assert path.levels[0].status is Status.SOLVED
    assert any(path.levels[0].labels[a] != path.levels[0].labels[b] for a, b in twins)
