"""Contracts: inputs not modified, correct status, exact labels, bad input rejected."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projected_gradient import ProjectedGradient
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import convexhc
from convexhc import Status
from convexhc._text import format_number
from convexhc.commands.folder import labels_csv
from convexhc.model.problem import graph_problem, smooth_problem
from convexhc.plots.selection import select_cut, select_level
from convexhc.report.path_data import path_data
from convexhc.solvers.loop import run
from laws import (
    CONSTRAINTS,
    METHODS,
    classes_of_equal_rows,
    first_occurrence,
    l1_ratios,
    models,
    random_kernel,
    random_problem,
    seeds,
    solved,
)

every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(name="K", scope="module")
def similarity():
    return random_kernel(np.random.default_rng(21), 9, parts=2).dense()


@every_method
@given(seed=seeds, model=models, l1_ratio=l1_ratios, lam=st.sampled_from([0.05, 0.4, 2.0, 50.0]))
@settings(max_examples=12)
def test_labels_are_the_classes_of_equal_rows(method, seed, model, l1_ratio, lam):
    problem = random_problem(np.random.default_rng(seed), model, lam, l1_ratio)
    solution = solved(problem, method, tol=1e-6)
    np.testing.assert_array_equal(classes_of_equal_rows(solution.centroids), solution.labels)
    np.testing.assert_array_equal(first_occurrence(solution.labels), solution.labels)
    assert solution.n_clusters == len(np.unique(solution.centroids, axis=0))
    assert problem.constraint.residual(solution.centroids) <= 1e-9


@every_method
@given(seed=seeds, model=models, l1_ratio=l1_ratios, lam=st.sampled_from([0.0, 0.1, 5.0]))
@settings(max_examples=8)
def test_a_warm_start_at_the_same_lam_is_solved_already(method, seed, model, l1_ratio, lam):
    problem = random_problem(np.random.default_rng(seed), model, lam, l1_ratio)
    first = solved(problem, method, tol=1e-5)
    again = solved(problem, method, tol=1.001e-5, start=first)
    assert again.status is Status.SOLVED
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.labels, first.labels)
    np.testing.assert_allclose(again.centroids, first.centroids, atol=1e-9)


@every_method
def test_start_is_neither_modified_nor_shared(K, method):
    first = convexhc.solve(K, 0.05, method=method)
    kept = [first.centroids.copy(), first.dual.copy(), first.labels.copy()]
    second = convexhc.solve(K, 0.3, method=method, start=first)
    immediate = convexhc.solve(K, 0.05, method=method, start=first)
    assert immediate.n_iter == 0
    for before, now in zip(kept, (first.centroids, first.dual, first.labels), strict=True):
        np.testing.assert_array_equal(now, before)
    for later in (second, immediate):
        assert not np.shares_memory(later.centroids, first.centroids)
        assert not np.shares_memory(later.dual, first.dual)
        assert not np.shares_memory(later.labels, first.labels)


@every_method
@pytest.mark.parametrize("other", METHODS)
def test_any_method_can_warm_start_any_other(K, method, other):
    start = convexhc.solve(K, 0.1, method=other)
    warm = convexhc.solve(K, 0.12, method=method, start=start, tol=1e-7)
    cold = convexhc.solve(K, 0.12, method=method, tol=1e-7)
    assert warm.status is Status.SOLVED
    assert warm.objective == pytest.approx(cold.objective, rel=2e-7)
    np.testing.assert_allclose(warm.pi, cold.pi, atol=2e-3)


@every_method
def test_start_of_another_shape_is_rejected(K, method):
    smaller = convexhc.solve(K[:5, :5], 0.1, method=method)
    with pytest.raises(ValueError, match=r"start has centroids of shape \(5, 5\) .* \(9, 9\)"):
        convexhc.solve(K, 0.1, method=method, start=smaller)
    other_edges = convexhc.solve(K, 0.1, method=method, weights=np.ones((9, 9)) - np.eye(9))
    with pytest.raises(ValueError, match="start from a solution of the same graph"):
        convexhc.solve(K, 0.1, method=method, start=other_edges)


@every_method
def test_a_spent_budget_is_reported_with_advice(K, method):
    with pytest.warns(ConvergenceWarning, match="lam 0.2 was not solved to tol=1e-09.*raise max_i"):
        solution = convexhc.solve(K, 0.2, method=method, tol=1e-9, max_iter=1)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == 1
    assert solution.relative_gap > 1e-9
    assert "raise max_iter" in solution.status.value
    assert "loosen tol" in solution.status.value
    # The result is still feasible and certified.
    assert solution.certificate.residual <= 1e-9
    assert np.isfinite(solution.objective)
    with pytest.warns(ConvergenceWarning):
        none = convexhc.solve(K, 0.2, method=method, max_iter=0)
    assert (none.n_iter, none.status) == (0, Status.MAX_ITER)


@every_method
def test_solved_means_that_the_gap_is_below_the_tolerance(K, method):
    for tol in (1e-2, 1e-4, 1e-6):
        solution = convexhc.solve(K, 0.2, method=method, tol=tol)
        assert solution.status is Status.SOLVED
        assert solution.relative_gap <= tol
        assert solution.method == method
        assert solution.lam == 0.2


@every_method
def test_on_check_returning_true_stops(K, method):
    calls = []

    def stop_at_second(n_iter, certificate):
        calls.append((n_iter, certificate))
        return len(calls) == 2

    solution = convexhc.solve(K, 0.2, method=method, tol=1e-9, on_check=stop_at_second)
    assert solution.status is Status.STOPPED
    assert len(calls) == 2
    assert solution.n_iter == calls[-1][0]
    # One scale: that of the paper.
    assert solution.certificate == calls[-1][1]
    assert solution.certificate.objective == solution.objective
    assert f"objective {solution.objective:.6g}," in repr(solution)


@every_method
def test_on_check_does_not_change_the_solution(K, method):
    seen = []
    watched = convexhc.solve(
        K, 0.2, method=method, tol=1e-6, on_check=lambda n, c: seen.append((n, c.relative_gap))
    )
    alone = convexhc.solve(K, 0.2, method=method, tol=1e-6)
    np.testing.assert_array_equal(watched.centroids, alone.centroids)
    iterations = [n for n, _ in seen]
    assert iterations[0] == 0
    assert iterations == sorted(set(iterations))
    assert seen[-1] == (watched.n_iter, watched.relative_gap)
    assert all(gap > 1e-6 for _, gap in seen[:-1])


@every_method
def test_a_converged_solve_is_solved_even_if_asked_to_stop(K, method):
    solution = convexhc.solve(K, 0.0, method=method, on_check=lambda n, c: True)
    assert solution.status is Status.SOLVED


@every_method
def test_the_same_input_gives_identical_bits(K, method):
    one, other = (convexhc.solve(K, 0.2, method=method, tol=1e-6) for _ in range(2))
    np.testing.assert_array_equal(one.centroids, other.centroids)
    np.testing.assert_array_equal(one.dual, other.dual)
    assert one.n_iter == other.n_iter


def test_input_is_not_modified_and_its_format_does_not_matter(K):
    before = K.copy()
    dense = convexhc.solve(K, 0.2)
    np.testing.assert_array_equal(K, before)
    sparse = csr_array(K)
    stored = sparse.data.copy()
    np.testing.assert_array_equal(convexhc.solve(sparse, 0.2).pi, dense.pi)
    np.testing.assert_array_equal(sparse.data, stored)
    np.testing.assert_array_equal(convexhc.solve(K.tolist(), 0.2).pi, dense.pi)
    single = convexhc.solve(K.astype(np.float32), 0.2)
    assert single.pi.dtype == np.float64
    np.testing.assert_allclose(single.pi, dense.pi, atol=1e-2)
    np.testing.assert_array_equal(single.labels, dense.labels)


def test_a_solution_keeps_the_node_names(K):
    named = convexhc.solve(convexhc.as_graph(K, names=list("abcdefghi")), 0.2)
    assert named.names == tuple("abcdefghi")
    assert named.labels.dtype == np.int64
    np.testing.assert_array_equal(named.pi, named.centroids.T)
    with pytest.raises(dataclasses.FrozenInstanceError):
        named.lam = 3.0


def test_a_solve_is_silent(K, capfd, caplog):
    for method in METHODS:
        convexhc.solve(K, 0.2, method=method)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert not caplog.records


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"lam": -1.0}, ValueError, r"lam must be between 0 and 1e\+60, received -1\.0"),
        ({"lam": float("nan")}, ValueError, "lam .* received nan"),
        ({"lam": float("inf")}, ValueError, "lam .* received inf"),
        ({"lam": "1"}, TypeError, "lam must be a number, received '1'"),
        ({"lam": True}, TypeError, "lam must be a number, received True"),
        ({"l1_ratio": 1.5}, ValueError, "l1_ratio must be between 0 and 1, received 1.5"),
        ({"l1_ratio": -0.1}, ValueError, "l1_ratio .* received -0.1"),
        ({"tol": -1e-3}, ValueError, "tol .* received -0.001"),
        ({"max_iter": -1}, ValueError, "max_iter .* received -1"),
        ({"method": "newton"}, ValueError, "method must be one of .*'admm'.* received 'newton'"),
        ({"constraint": "ball"}, ValueError, "constraint must be one of .* received 'ball'"),
        ({"weights": np.ones((3, 3))}, ValueError, "weights has 3 nodes and K has 9"),
    ],
)
def test_options_out_of_range_are_rejected(K, options, error, words):
    lam = options.pop("lam", 0.1)
    with pytest.raises(error, match=words):
        convexhc.solve(K, lam, **options)


def spoiled(K, i, j, value):
    bad = K.copy()
    bad[i, j] = bad[j, i] = value
    return bad


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda K: spoiled(K, 0, 1, np.nan), "nan: weights must be finite"),
        (lambda K: spoiled(K, 2, 2, np.nan), "nan: weights must be finite"),
        (lambda K: spoiled(K, 0, 1, np.inf), "inf: weights must be finite"),
        (lambda K: spoiled(K, 0, 1, -0.1), "negative"),
        (lambda K: K - 3.0 * np.eye(9), "not positive semidefinite|negative"),
        (lambda K: K + np.triu(np.ones((9, 9)), 1), "not symmetric"),
        (lambda K: K[:, :4], "square"),
        (lambda K: np.empty((0, 0)), "empty|at least one node"),
    ],
)
@every_method
def test_invalid_similarities_are_rejected(K, method, spoil, words):
    with pytest.raises(ValueError, match=words):
        convexhc.solve(spoil(K), 0.1, method=method)


def test_a_method_rejects_a_penalty_it_cannot_handle(K):
    kernel = convexhc.as_graph(K)
    for method in METHODS:
        with pytest.raises(TypeError, match=r"solves a FusionProblem.* SquaredFusion"):
            solved(smooth_problem(kernel, 0.1), method)
    with pytest.raises(TypeError, match=r"solves a SmoothProblem.* Fusion"):
        run(graph_problem(kernel, 0.1), ProjectedGradient())


def test_negative_similarities_need_explicit_weights():
    rng = np.random.default_rng(4)
    F = rng.normal(size=(6, 6))
    K = F @ F.T + 0.1 * np.eye(6)
    assert K.min() < 0
    with pytest.raises(ValueError, match="negative"):
        convexhc.solve(K, 0.1)
    solution = convexhc.solve(K, 0.1, weights=np.ones((6, 6)) - np.eye(6), tol=1e-6)
    assert solution.status is Status.SOLVED


THREADED = """
import sys
import numba, numpy as np
from convexhc.datasets import fractal_graph
from convexhc.graph import Graph
from convexhc.model.problem import graph_problem
from convexhc.solvers.loop import run
from convexhc.solvers.choose import choose_method

assert numba.get_num_threads() == int(sys.argv[1])
adjacency, _, _ = fractal_graph(0)
hops = (adjacency @ adjacency).toarray()
degree = hops.sum(axis=1)
kernel = Graph.from_matrix(hops / np.sqrt(np.outer(degree, degree)) + 0.1 * np.eye(len(degree)))
problem = graph_problem(kernel, 1.0)
found = {}
for method in ("admm", "primal_dual"):
    solution = run(problem, choose_method(problem, method), tol=1e-5)
    found[method] = solution.centroids
    found[method + "_labels"] = solution.labels
    found[method + "_objective"] = solution.objective
np.savez(sys.argv[2], **found)
"""


@pytest.mark.slow
def test_the_number_of_threads_does_not_matter(tmp_path):
    found = []
    for threads in (1, 2):
        file = tmp_path / f"{threads}.npz"
        subprocess.run(
            [sys.executable, "-c", THREADED, str(threads), str(file)],
            env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
            check=True,
        )
        found.append(np.load(file))
    one, two = found
    for method in ("admm", "primal_dual"):
        np.testing.assert_array_equal(one[method + "_labels"], two[method + "_labels"])
        np.testing.assert_allclose(one[method], two[method], atol=1e-6)
        np.testing.assert_allclose(
            one[method + "_objective"], two[method + "_objective"], rtol=1e-5
        )


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_auto_is_one_of_the_methods_and_solves(K, constraint):
    for lam in (1e-4, 0.2, 20.0):
        solution = convexhc.solve(K, lam, constraint=constraint)
        assert solution.status is Status.SOLVED
        assert solution.method in METHODS


def wine():
    """Three classes with outliers: nearly all points are single, then one giant cluster grows."""
    return StandardScaler().fit_transform(load_wine().data)


SCALES = {
    "one node": [[1.0]],
    "two nodes": [[1.0, 0.5], [0.5, 1.0]],
    "no edges": np.eye(4),
    "all at once": np.eye(5) + 0.5,
    "components": np.kron(np.eye(3), np.full((3, 3), 0.5)) + np.eye(9),
    "groups": convexhc.similarity.two_hop(
        convexhc.datasets.fractal_graph(n_meta=2, n_super=3, clique=4).adjacency
    ).dense(),
    "wine": convexhc.similarity.rbf(wine()).dense(),
}


@pytest.mark.filterwarnings("ignore::convexhc.similarity.structure.NoStructureWarning")
@pytest.mark.parametrize("space", ["similarity", "features"])
@pytest.mark.parametrize("data", SCALES)
def test_all_outputs_use_the_same_suggested_scale(data, space):
    K = SCALES[data]
    model = convexhc.ConvexHierarchicalClustering(similarity="precomputed", space=space, tol=1e-3)
    if space == "similarity":
        model.set_params(weights=None if data == "all at once" else 10)
    fitted = model.fit(K)
    path = fitted.path_
    # The estimator, the table of labels and the summary use the suggested clusters,
    suggestion = path.suggestion
    np.testing.assert_array_equal(fitted.labels_, suggestion.labels)
    assert fitted.n_clusters_ == suggestion.n_clusters == suggestion.labels.max() + 1
    rows = [line.split(",") for line in labels_csv(path).splitlines()]
    assert rows[0][:2] == ["node", "suggested"]
    assert [int(row[1]) for row in rows[1:]] == suggestion.labels.tolist()
    noun = "cluster" if suggestion.n_clusters == 1 else "clusters"
    said = f"suggested scale: {suggestion.n_clusters} {noun}"
    assert re.search(f"^{said}, ", path.summary(), re.MULTILINE)
    # and figures over lam show the plateau nearest to them.
    chosen = path.suggested_plateau
    assert chosen == fitted.plateau_ == suggestion.plateau
    assert chosen in path.plateaus
    low, high = format_number(chosen.lam_from), format_number(chosen.lam_to)
    assert f"near lam {low} to {high}" in path.summary()
    page = path_data(path)
    assert page["plateaus"][page["suggested"]][:3] == [
        chosen.n_clusters,
        chosen.lam_from,
        chosen.lam_to,
    ]
    # Figures show the suggested clusters, and where they are no level, say so.
    level = select_level(path)
    np.testing.assert_array_equal(level.labels, suggestion.labels)
    assert level.lam == chosen.lam_from
    assert level.exact == np.array_equal(level.labels, path.labels(lam=chosen.lam_from))
    labels, line = select_cut(path)
    np.testing.assert_array_equal(labels, suggestion.labels)
    same = np.array_equal(labels, path.tree.labels(n_clusters=suggestion.n_clusters))
    assert (line is not None) == same


@pytest.mark.parametrize("data", SCALES)
def test_a_number_of_clusters_is_one_pruning_in_every_figure(data):
    path = convexhc.solve_path(
        SCALES[data], weights=None if data == "all at once" else 10, tol=1e-3
    )
    for count in range(1, min(6, len(path.names) + 1)):
        expected = path.labels(n_clusters=count)
        np.testing.assert_array_equal(select_level(path, n_clusters=count).labels, expected)
        np.testing.assert_array_equal(select_cut(path, n_clusters=count)[0], expected)


@pytest.mark.parametrize("data", SCALES)
def test_all_outputs_of_a_tree_alone_use_the_same_scale(data):
    path = convexhc.solve_path(
        SCALES[data], weights=None if data == "all at once" else 10, tol=1e-3
    )
    alone = dataclasses.replace(path, graph=None)
    plateau, labels = path.tree.suggest()
    assert alone.suggested_plateau == plateau
    np.testing.assert_array_equal(alone.suggestion.labels, labels)
    np.testing.assert_array_equal(select_cut(path.tree)[0], labels)


def test_the_scale_chosen_for_wine_is_not_mostly_single_nodes():
    path = convexhc.solve_path(SCALES["wine"], weights=10, tol=1e-3)
    sizes = np.bincount(path.tree.suggest()[1])
    assert np.count_nonzero(sizes == 1) < sizes.sum() / 5
    assert 2 <= np.count_nonzero(sizes >= 10) <= 6
