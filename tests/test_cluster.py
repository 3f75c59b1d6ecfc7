"""`convexhc.cluster` with its defaults: a graph at every scale."""

from __future__ import annotations

import warnings
from functools import partial

import networkx as nx
import numpy as np
import oracle
import pandas as pd
import pytest
from drawn_graphs import adjacencies, planted, wired_at_random
from hypothesis import given, settings
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import ConvexHierarchicalClustering, Path, cluster, solve_features_path, solve_path
from convexhc.datasets import fractal_graph, karate
from convexhc.report import report_html
from convexhc.similarity import (
    diffusion_features,
    from_graph,
    multiscale_weights,
    spectral_features,
    two_hop,
)
from convexhc.similarity.structure import NoStructureWarning
from convexhc.solvers.solution import Status
from laws import first_occurrence


@pytest.fixture(scope="module")
def fractal():
    return fractal_graph(0)


@pytest.fixture(scope="module")
def path(fractal):
    return cluster(fractal.adjacency)


@pytest.fixture(scope="module")
def small():
    return planted(0)[0]


# Fifteen lam are enough for tests that compare two paths.
quick = partial(cluster, lambdas=15)


@pytest.fixture(scope="module")
def small_path(small):
    return quick(small)


@pytest.fixture(scope="module")
def noise():
    return wired_at_random(0)


def assert_same_path(found, expected):
    np.testing.assert_array_equal(found.lambdas, expected.lambdas)
    np.testing.assert_array_equal(found.partitions, expected.partitions)
    np.testing.assert_array_equal(found.objective, expected.objective)
    np.testing.assert_array_equal(found.linkage, expected.linkage)
    np.testing.assert_array_equal(found.features, expected.features)
    assert found.structure == expected.structure
    assert found.suggestion.n_clusters == expected.suggestion.n_clusters
    assert found.suggestion.modularity == expected.suggestion.modularity
    assert found.suggestion.plateau == expected.suggestion.plateau
    assert found.suggestion.confident == expected.suggestion.confident
    for k in found.available_n_clusters[::7]:
        np.testing.assert_array_equal(found.labels(n_clusters=k), expected.labels(n_clusters=k))


def test_every_number_of_clusters_is_exact(path):
    n = len(path.names)
    assert path.available_n_clusters == tuple(range(n, 0, -1))
    for k in path.available_n_clusters:
        labels = path.labels(n_clusters=k)
        assert np.unique(labels).tolist() == list(range(k))
        np.testing.assert_array_equal(labels, first_occurrence(labels))


def test_both_levels_of_the_fractal_graph_are_found_exactly(fractal, path):
    for known, k in ((fractal.fine, 28), (fractal.coarse, 4)):
        np.testing.assert_array_equal(path.labels(n_clusters=k), first_occurrence(known))
    assert path.structure.found
    assert path.suggestion.confident
    assert path.suggestion.n_clusters == 28
    np.testing.assert_array_equal(path.suggestion.labels, first_occurrence(fractal.fine))


def test_prunings_of_one_tree_are_clusters_of_it(path):
    """A cluster and a branch are nested or disjoint."""
    binary = path.flat_clusters.binary
    branches = [frozenset([leaf]) for leaf in range(len(path.names))]
    for a, b in binary.rows:
        branches.append(branches[a] | branches[b])
    known = set(branches)
    for k in (2, 4, 9, 28):
        labels = path.labels(n_clusters=k, min_cluster_size=1)
        for label in range(k):
            assert frozenset(np.flatnonzero(labels == label).tolist()) in known


def test_every_lam_is_certified(path, small_path):
    for one in (path, small_path):
        assert {point.status for point in one.levels} == {Status.SOLVED}
        assert one.relative_gap.max() <= 1e-4
        assert one.complete
        # It ends at the first lam with one cluster.
        assert np.flatnonzero(one.n_clusters == 1).tolist() == [len(one.levels) - 1]
        assert is_valid_linkage(one.linkage)
        assert (np.diff(one.lambdas) > 0).all()


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_the_tolerance_is_met(small, tol):
    assert cluster(small, 12, tol=tol, test_structure=False).relative_gap.max() <= tol


@pytest.mark.parametrize(("lam", "n_clusters"), [(0.05, 10), (0.5, 7), (1.2, 4), (1.6, 2), (3, 1)])
def test_the_answer_is_that_of_an_interior_point_solver(lam, n_clusters):
    """1/2 |U - X|^2 + lam sum W_ij |U_i - U_j|, on ten nodes after 16 steps."""
    A, _ = planted(5, (5, 5), inside=0.8, across=0.2)
    X = diffusion_features(A, time=16, n_features=10)
    W = multiscale_weights(sparse.csr_array(A), X)
    expected = oracle.proximity(X, W, lam, l1_ratio=0.0)
    found = cluster(A, [lam], time=16, tol=1e-9, keep="all")
    assert found.objective[0] == pytest.approx(expected.objective, rel=1e-6)
    np.testing.assert_allclose(found.centroids(lam), expected.C, atol=1e-3)
    point = found.levels[0]
    assert point.n_clusters == n_clusters
    apart = np.linalg.norm(expected.C[W.tail] - expected.C[W.head], axis=1)
    together = point.labels[W.tail] == point.labels[W.head]
    assert apart[together].max(initial=0.0) < 1e-3
    assert apart[~together].min(initial=1.0) > 1e-3


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("weights", ["multiscale", 3])
def test_a_similarity_is_solved_in_its_feature_space(weights, l1_ratio):
    A, _ = planted(6, (5, 5), inside=0.8, across=0.2)
    K = two_hop(A, shift=0.1)
    X = spectral_features(K, 10)
    np.testing.assert_allclose(X @ X.T, K.dense(), atol=1e-8)
    if weights == "multiscale":
        W = multiscale_weights(K.graph.without_diagonal().matrix(), X)
    else:
        W = convexhc.similarity.sparsify(K, 3, connected=True).without_diagonal()
    lam = 0.05
    expected = oracle.proximity(X, W, lam, l1_ratio=l1_ratio)
    found = solve_features_path(K, [lam], weights=weights, l1_ratio=l1_ratio, tol=1e-9)
    assert found.objective[0] == pytest.approx(expected.objective, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_nodes_does_not_matter(seed):
    A, group = planted(seed)
    order = np.random.default_rng(seed).permutation(group.size)
    found, again = (quick(B, test_structure=False) for B in (A, A[np.ix_(order, order)]))
    np.testing.assert_allclose(again.lambdas, found.lambdas, rtol=1e-6)
    for k in found.available_n_clusters:
        expected = found.labels(n_clusters=k)[order]
        np.testing.assert_array_equal(again.labels(n_clusters=k), first_occurrence(expected))
    assert again.suggestion.n_clusters == found.suggestion.n_clusters


def test_a_path_is_saved_and_loaded(path, small_path, noise, tmp_path):
    named = quick(convexhc.as_graph(planted(1)[0], names=[f"n{i}" for i in range(24)]))
    for one in (path, small_path, named, cluster(noise, 20)):
        one.save(tmp_path / "path.npz")
        again = Path.load(tmp_path / "path.npz")
        assert again.names == one.names
        assert again.provenance == one.provenance
        assert again.graph.names == one.graph.names
        np.testing.assert_array_equal(again.graph.dense(), one.graph.dense())
        assert again.summary() == one.summary()
        assert_same_path(again, one)


@pytest.mark.parametrize("after", [1, 9])
def test_an_interrupted_run_is_resumed_to_the_same_bits(small, small_path, after, tmp_path):
    file = tmp_path / "checkpoint.npz"
    seen = []

    def stop(point):
        seen.append(point)
        return len(seen) == after

    begun = quick(small, checkpoint=file, on_check=stop)
    assert not begun.complete
    assert len(begun.levels) == after
    solved = []
    resumed = quick(small, checkpoint=file, on_check=solved.append)
    assert len(solved) == len(small_path.levels) - after
    assert_same_path(resumed, small_path)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        quick(small, time=3, checkpoint=file)


def test_disconnected_parts_merge_only_at_the_top():
    one, other = planted(0)[0], planted(1)[0]
    A = np.zeros((50, 50))
    A[:24, :24], A[24:48, 24:48] = one, other
    found = quick(A, test_structure=False)
    assert found.complete
    # Two components, and two isolated nodes.
    np.testing.assert_array_equal(found.components, [0] * 24 + [1] * 24 + [2, 3])
    assert found.n_clusters[-1] == 4
    assert found.tree.root_joins == 3
    np.testing.assert_array_equal(found.levels[-1].labels, found.components)
    for k in range(4, 51):
        labels = found.labels(n_clusters=k, min_cluster_size=1)
        pairs = set(zip(labels.tolist(), found.components.tolist(), strict=True))
        assert len(pairs) == labels.max() + 1 == k


@settings(max_examples=15)
@given(adjacencies(7))
def test_any_small_graph_is_clustered(A):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cluster(A, 8)
    n = len(A)
    assert {point.status for point in found.levels} == {Status.SOLVED}
    assert found.complete
    before = connected_components(sparse.csr_array(A), directed=False)[1]
    np.testing.assert_array_equal(first_occurrence(found.components), first_occurrence(before))
    for k in range(1, n + 1):
        assert found.labels(n_clusters=k).max() + 1 == k
    assert found.linkage.shape == (n - 1, 4)
    assert found.suggestion.labels.max() + 1 == found.suggestion.n_clusters
    assert found.summary()


@pytest.mark.parametrize("A", [[[0.0]], [[3.0]]])
def test_one_node_is_one_cluster(A):
    found = cluster(A)
    assert found.labels(n_clusters=1).tolist() == [0]
    assert found.suggestion.n_clusters == 1
    assert found.suggestion.confident
    assert found.available_n_clusters == (1,)
    with pytest.raises(ValueError, match="at most the 1 nodes"):
        found.labels(n_clusters=2)


def test_two_nodes():
    joined, apart = cluster([[0, 1], [1, 0]]), cluster([[0, 0], [0, 0]])
    assert joined.labels(n_clusters=2).tolist() == [0, 1]
    assert joined.labels(n_clusters=1).tolist() == [0, 0]
    assert joined.n_clusters[-1] == 1
    assert apart.n_clusters.tolist() == [2]
    assert apart.suggestion.n_clusters == 2


@pytest.mark.parametrize("kind", [np.int64, np.float32, bool])
def test_the_type_of_the_weights_does_not_matter(kind):
    A = (planted(0)[0] > 0).astype(kind)
    expected = quick(A.astype(np.float64), test_structure=False)
    assert_same_path(quick(A, test_structure=False), expected)
    assert_same_path(quick(sparse.csr_array(A), test_structure=False), expected)


def test_whole_weights_are_weights():
    """A duplicated edge equals an edge of weight two."""
    A = np.rint(3 * planted(0)[0]).astype(np.int64)
    edges = [(i, j) for i in range(24) for j in range(i) for _ in range(A[i, j])]
    graph = nx.MultiGraph(edges)
    counted = nx.to_numpy_array(graph, nodelist=range(24))
    assert_same_path(quick(A), quick(counted))


@pytest.mark.parametrize(
    "names",
    [
        [f"node {i}" for i in range(24)],
        [(i // 5, i % 5) for i in range(24)],
        [None, 1.5, "a", ("b", 2), *range(20, 40)],
        list(range(100, 124)),
    ],
    ids=["text", "pairs", "mixed", "other numbers"],
)
def test_names_are_any_hashable_values(small, small_path, names):
    found = quick(convexhc.as_graph(small, names=names), test_structure=False)
    assert found.names == tuple(names)
    np.testing.assert_array_equal(found.linkage, small_path.linkage)
    groups = found.clusters(n_clusters=3)
    assert sorted(len(group) for group in groups) == [8, 8, 8]
    assert {name for group in groups for name in group} == set(names)


def test_every_form_of_a_graph_gives_the_same(small, small_path):
    frame = pd.DataFrame(small, index=range(24), columns=range(24))
    edges = [(i, j, small[i, j]) for i in range(24) for j in range(i) if small[i, j]]
    for form in (sparse.coo_array(small), frame, nx.from_numpy_array(small)):
        assert_same_path(quick(form), small_path)
    found = quick(edges, test_structure=False)
    place = [found.names.index(i) for i in range(24)]
    np.testing.assert_array_equal(
        first_occurrence(found.labels(n_clusters=3)[place]), small_path.labels(n_clusters=3)
    )


def test_edges_of_weight_zero_are_ignored(small, small_path):
    matrix = sparse.coo_array(small)
    row, column = matrix.coords
    stored = sparse.coo_array(
        (
            np.append(matrix.data, [0.0, 0.0]),
            (np.append(row, [0, 23]), np.append(column, [23, 0])),
        ),
        shape=(24, 24),
    ).tocsr()
    assert stored.nnz == matrix.nnz + 2 * (small[0, 23] == 0)
    assert_same_path(quick(stored), small_path)


def test_the_unit_of_weights_does_not_matter(small, small_path):
    scaled = quick(1e5 * small, test_structure=False)
    np.testing.assert_array_equal(scaled.linkage[:, [0, 1, 3]], small_path.linkage[:, [0, 1, 3]])
    np.testing.assert_allclose(scaled.linkage[:, 2], small_path.linkage[:, 2], rtol=1e-6)


def test_the_record_holds_the_parameters_chosen_from_the_graph(small, small_path):
    said = small_path.provenance.options
    made = from_graph(small)
    assert said["model"] == "features"
    assert said["weights"] == "multiscale"
    assert said["similarity"]["kind"] == made.kind == "diffusion"
    assert said["similarity"]["time"] == made.parameters["time"]
    assert said["similarity"]["noise_edge"] == made.parameters["noise_edge"]
    assert said["similarity"]["n_features"] == 24 == small_path.features.shape[1]
    other = cluster(small, 10, time=2, n_features=5)
    assert other.provenance.options["similarity"]["time"] == 2
    assert other.features.shape == (24, 5)
    assert len(other.levels) <= 10


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        ({"G": [[0, -1], [-1, 0]]}, ValueError, "negative"),
        ({"G": [[0, 1], [2, 0]]}, ValueError, "symmetric"),
        ({"G": np.empty((0, 0))}, ValueError, "empty|at least one node"),
        ({"G": [[0, np.nan], [np.nan, 0]]}, ValueError, "finite"),
        ({"lambdas": 1}, ValueError, "lambdas"),
        ({"lambdas": [-1.0]}, ValueError, "lam"),
        ({"time": 0}, ValueError, "time"),
        ({"n_features": 0}, ValueError, "n_features"),
        ({"tol": -1.0}, ValueError, "tol"),
        ({"max_iter": -1}, ValueError, "max_iter"),
    ],
    ids=str,
)
def test_invalid_input_is_rejected(small, wrong, error, match):
    with pytest.raises(error, match=match):
        cluster(**{"G": small, **wrong})


def test_unknown_weights_and_indefinite_similarities_are_rejected():
    with pytest.raises(ValueError, match=r"weights must be 'multiscale'.*'auto'"):
        solve_features_path(np.eye(3), weights="auto")
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_features_path([[0.0, 1.0], [1.0, 0.0]])


def test_a_graph_without_groups_gets_a_caution_everywhere(noise):
    found = cluster(noise, 20)
    assert not found.structure.found
    assert not found.suggestion.confident
    said = found.summary()
    assert "; not to be trusted: no groups beyond chance\n" in said
    assert f"caution: the graph has {found.structure}" in said
    page = report_html(found, graph=convexhc.as_graph(noise))
    assert "caution: the graph has no groups beyond chance" in page
    assert "no groups beyond chance" in found._repr_html_()
    # Without the test there is no warning.
    silent = cluster(noise, 20, test_structure=False)
    assert silent.structure is None
    assert "caution" not in silent.summary()


def test_a_graph_with_groups_gets_no_caution(path):
    assert "caution" not in path.summary()
    assert f"structure: {path.structure}" in path.summary()
    assert "caution" not in path._repr_html_()


def test_the_clusterer_warns_where_there_are_no_groups(noise):
    drawn = nx.to_numpy_array(nx.gnp_random_graph(80, 0.1, seed=1))
    for A in (noise, drawn):
        with pytest.warns(NoStructureWarning, match="no groups beyond chance") as told:
            ConvexHierarchicalClustering(similarity="graph").fit(A)
        # The warning points to the line of the caller.
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConvexHierarchicalClustering(4, similarity="graph").fit(noise)
        ConvexHierarchicalClustering(lam=0.5, similarity="graph").fit(noise)


def test_the_clusterer_does_not_warn_of_the_karate_club():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = ConvexHierarchicalClustering(similarity="graph").fit(karate().adjacency)
    assert fitted.path_.suggestion.confident
    assert adjusted_rand_score(karate().labels, fitted.path_.labels(n_clusters=2)) > 0.85


def test_a_collapsing_path_raises_a_warning():
    """Equivalent nodes all fuse at one lam of the paper's problem."""
    K = np.ones((40, 40)) + np.diag(np.linspace(1.0, 1.1, 40))
    found = solve_path(K, [1e-6, 1e3])
    assert found.collapses
    assert found.largest_drop == pytest.approx(39 / 40)
    assert "the path collapses" in found.summary()
    assert not found.suggestion.confident


def test_a_similarity_is_not_taken_for_a_graph():
    K = convexhc.similarity.two_hop(karate().adjacency, shift=0.05)
    for kind in ("graph", "two_hop", "rbf"):
        with pytest.raises(ValueError, match=r"made by 'two_hop': pass similarity='precomputed'"):
            cluster(K, similarity=kind)
    found = cluster(K, [0.5], similarity="precomputed", test_structure=False)
    assert found.provenance.options["similarity"]["kind"] == "two_hop"
