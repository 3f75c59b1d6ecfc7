"""What is wrong without being an error is said once, at the line of the caller, with what to do."""

from __future__ import annotations

import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import convexhc
from convexhc.path.cautions import FewerClustersWarning
from convexhc.similarity.definite import NotPositiveSemidefiniteError

K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
X = np.random.default_rng(0).normal(size=(12, 2))
SPENT = {"tol": 1e-12, "max_iter": 1}
# Six nodes are too few for the test of structure, which is not what is tested here.
UNSOLVED = {
    "solve": lambda: convexhc.solve(K, 0.3, **SPENT),
    "solve_path": lambda: convexhc.solve_path(K, [0.3, 0.5], **SPENT),
    "solve_features_path": lambda: convexhc.solve_features_path(X @ X.T, [0.02], **SPENT),
    "solve_points_path": lambda: convexhc.solve_points_path(X, [0.1, 0.2], weights=5, **SPENT),
    "cluster": lambda: convexhc.cluster(
        K, [0.3], similarity="precomputed", space="similarity", **SPENT
    ),
    "estimator": lambda: convexhc.ConvexHierarchicalClustering(
        lam=0.3, similarity="precomputed", space="similarity", **SPENT
    ).fit(K),
    "points": lambda: convexhc.ConvexClustering(lam=0.2, n_neighbors=5, **SPENT).fit(X),
}


@pytest.mark.parametrize("call", UNSOLVED)
def test_what_was_not_solved_is_said_once_by_every_entry_point(call):
    with pytest.warns(ConvergenceWarning, match=r"not solved to tol=1e-12.*raise max_iter") as told:
        UNSOLVED[call]()
    assert len(told) == 1
    # The warning points to the line of the caller.
    assert told[0].filename == __file__


def test_what_was_solved_or_stopped_on_request_is_not_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convexhc.solve(K, 0.3)
        convexhc.solve_path(K, [0.3, 0.5])
        stopped = convexhc.solve(K, 0.3, tol=1e-12, on_check=lambda *said: True)
        assert stopped.status is convexhc.Status.STOPPED
        convexhc.solve_path(K, on_check=lambda level: True)


def test_scikit_learn_is_imported_for_the_warning_only():
    code = (
        "import sys, warnings, numpy as np, convexhc\n"
        "warnings.simplefilter('ignore')\n"
        "K = np.eye(3) + 0.5\n"
        "convexhc.solve(K, 0.3)\n"
        "print('sklearn' in sys.modules)\n"
        "convexhc.solve(K, 0.3, tol=1e-14, max_iter=0)\n"
        "print('sklearn' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_fewer_clusters_than_asked_for_are_said():
    path = convexhc.solve_path(K)
    assert path.level_n_clusters == (6, 2, 1)
    with pytest.warns(
        FewerClustersWarning, match="^2 clusters, 4 were asked for: no level"
    ) as told:
        labels = path.labels(n_clusters=4, by="lam")
    assert told[0].filename == __file__
    assert labels.max() + 1 == 2
    with pytest.warns(FewerClustersWarning, match="1 cluster, 2 were .* below min_cluster_size"):
        path.labels(n_clusters=2, by="lam", min_cluster_size=5, small="noise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert path.labels(n_clusters=4).max() + 1 == 4
        path.labels(n_clusters=2, by="lam")
        path.labels(lam=0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda G: convexhc.solve(G, 1.0),
        convexhc.solve_path,
        convexhc.solve_features_path,
        convexhc.smooth_path,
        lambda G: convexhc.cluster(G, similarity="precomputed"),
        lambda G: convexhc.ConvexHierarchicalClustering(2, similarity="precomputed").fit(
            nx.to_numpy_array(G)
        ),
    ],
)
def test_a_graph_in_place_of_a_similarity_is_told_where_to_go(call):
    with pytest.raises(NotPositiveSemidefiniteError, match="Its diagonal is zero") as caught:
        call(nx.karate_club_graph())
    assert "shift" not in str(caught.value)


def test_a_similarity_that_is_almost_good_enough_is_told_the_shift():
    with pytest.raises(NotPositiveSemidefiniteError, match="Add shift >= 1"):
        convexhc.solve([[1.0, 2.0], [2.0, 1.0]], 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: convexhc.solve(K, 0.3, alpha=0.95),
        lambda: convexhc.solve_path(K, alpha=0.95),
        lambda: convexhc.solve_features_path(K, alpha=0.95),
        lambda: convexhc.solve_points_path(X, alpha=0.95),
        lambda: convexhc.cluster(K, alpha=0.95),
        lambda: convexhc.solve_paths([K], alpha=0.95),
        lambda: convexhc.ConvexHierarchicalClustering(alpha=0.95),
        lambda: convexhc.ConvexClustering(alpha=0.95),
    ],
)
def test_alpha_is_answered_with_l1_ratio(call):
    with pytest.raises(
        TypeError, match=r"has no option 'alpha': give l1_ratio, which is 1 - alpha"
    ):
        call()


def test_names_of_earlier_versions_are_answered_with_ours():
    for old, new in {"gamma": "shift", "affinity": "similarity", "resolution": "lam_step"}.items():
        with pytest.raises(TypeError, match=f"cluster has no option '{old}': give {new}"):
            convexhc.cluster(K, **{old: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'absent'"):
        convexhc.cluster(K, absent=1)


def test_all_speak_of_the_same_objective():
    """The formula of eq. 4, in the result, its text, its certificate and what is reported."""
    seen = []
    lam, ratio = 0.3, 0.2
    solution = convexhc.solve(
        K, lam, l1_ratio=ratio, tol=1e-8, on_check=lambda n_iter, told: seen.append(told)
    )
    pi = solution.pi
    differences = pi[:, :, None] - pi[:, None, :]
    two, one = (np.linalg.norm(differences, ord=order, axis=0) for order in (2, 1))
    W = K - np.diag(np.diag(K))
    penalty = lam * (W * ((1 - ratio) * two + ratio * one)).sum()
    expected = np.trace(pi.T @ K @ pi - 2.0 * K @ pi) + penalty
    assert solution.objective == pytest.approx(expected, rel=1e-9)
    assert solution.certificate.objective == solution.objective
    assert solution.certificate.relative_gap == solution.relative_gap
    assert seen[-1] == solution.certificate
    assert f"objective {solution.objective:.6g}" in repr(solution)
    assert convexhc.solve_path(K, [lam], l1_ratio=ratio, tol=1e-8).objective[0] == pytest.approx(
        solution.objective, rel=1e-7
    )


def test_the_scale_of_the_objective_survives_storage_and_warm_starts(tmp_path):
    solution = convexhc.solve(K, 0.3)
    solution.save(tmp_path / "solution.npz")
    again = convexhc.Solution.load(tmp_path / "solution.npz")
    assert again.objective == solution.objective
    assert again.certificate == solution.certificate
    warm = convexhc.solve(K, 0.3, start=again)
    assert (warm.n_iter, warm.objective) == (0, pytest.approx(solution.objective))
