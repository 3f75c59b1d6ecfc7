"""Results of a path and of a solution: labels, centroids, tables, trees, texts."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.metrics import adjusted_rand_score

import convexhc
from convexhc import as_graph, datasets, similarity, solve_path
from convexhc._text import format_number, on_page
from convexhc.path import Level, Path, Provenance
from convexhc.path.cautions import FewerClustersWarning
from convexhc.similarity.structure import modularity
from convexhc.solvers.solution import Status
from laws import first_occurrence

NAMES = ["<b>", "a & b", 'q"uote', "it's", "x:y", "(z)", "s p", "\u00e9"]


@pytest.fixture(scope="module")
def graph():
    return datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4)


@pytest.fixture(scope="module")
def kernel(graph):
    return similarity.two_hop(graph.adjacency, shift=0.05)


@pytest.fixture(scope="module")
def path(kernel):
    return solve_path(kernel)


@pytest.fixture(scope="module")
def named():
    """Two groups of four, with names that need escaping in HTML and Newick."""
    K = np.kron(np.eye(2), np.ones((4, 4))) + 0.1 + np.eye(8)
    return solve_path(as_graph(K, names=NAMES))


def drawn_path(partitions, lambdas=None, *, components=None, status="SOLVED"):
    """A path with the given partitions, as if it had been solved."""
    n = len(partitions[0])
    lambdas = range(1, len(partitions) + 1) if lambdas is None else lambdas
    points = tuple(
        Level(float(lam), np.array(labels), -1.0, 1e-5, 0.0, 10, Status[status], 2.0, None)
        for lam, labels in zip(lambdas, partitions, strict=True)
    )
    groups = np.zeros(n, dtype=np.int64) if components is None else np.array(components)
    return Path(points, tuple(range(n)), groups, True, Provenance.of({}, "drawn"))


def test_labels_at_a_lam_are_those_of_the_last_solved_lam_up_to_it(path):
    for left, right in zip(path.levels, path.levels[1:], strict=False):
        between = 0.5 * (left.lam + right.lam)
        np.testing.assert_array_equal(path.labels(lam=between), left.labels)
        np.testing.assert_array_equal(path.labels(lam=right.lam), right.labels)
    np.testing.assert_array_equal(path.labels(lam=0.0), np.arange(24))
    np.testing.assert_array_equal(path.labels(lam=np.inf), path.levels[-1].labels)


def test_labels_are_returned_as_a_copy(path):
    lam = path.lambdas[3]
    before = path.labels(lam=lam)
    path.labels(lam=lam)[:] = 7
    path.labels(n_clusters=6)[:] = 7
    np.testing.assert_array_equal(path.labels(lam=lam), before)
    assert path.labels(n_clusters=6).max() == 5


def test_horizontal_cuts_have_at_most_the_requested_number_of_clusters(path):
    for k in range(1, 30):
        missing = k not in path.level_n_clusters
        said = f"{k} were asked for: no level of the tree has {k}. by='pruning'"
        with pytest.warns(FewerClustersWarning, match=said) if missing else nullcontext():
            labels = path.labels(n_clusters=k, by="lam")
        np.testing.assert_array_equal(labels, first_occurrence(labels))
        count = int(labels.max()) + 1
        assert count == max(c for c in path.level_n_clusters if c <= k)
        np.testing.assert_array_equal(labels, path.tree.labels(n_clusters=k))


@pytest.mark.parametrize("least", [None, 1, 3])
def test_labels_by_number_have_exactly_the_requested_number_of_clusters(path, least):
    assert path.available_n_clusters == tuple(range(24, 0, -1))
    for k in path.available_n_clusters:
        labels = path.labels(n_clusters=k, min_cluster_size=least)
        np.testing.assert_array_equal(labels, first_occurrence(labels))
        assert labels.max() + 1 == k
    with pytest.raises(ValueError, match="at most the 24 nodes; got 25"):
        path.labels(n_clusters=25)


def within(path, labels):
    """Within-cluster sum of squares of the features."""
    parts = [path.features[labels == label] for label in range(labels.max() + 1)]
    return sum(np.square(part - part.mean(axis=0)).sum() for part in parts)


def test_prunings_are_no_worse_than_horizontal_cuts_of_the_same_size(path):
    for k in path.level_n_clusters:
        pruned, cut = (
            within(path, path.labels(n_clusters=k, by=by, min_cluster_size=1))
            for by in ("pruning", "lam")
        )
        assert pruned <= cut + 1e-9


def test_levels_are_those_of_the_cuts_largest_first(path):
    levels = path.level_n_clusters
    assert list(levels) == sorted(set(levels), reverse=True)
    assert levels[0] == 24
    assert levels[-1] == 1
    if path.is_nested:
        assert set(path.n_clusters.tolist()) | {24, 1} == set(levels)


def test_a_path_without_a_graph_is_pruned_from_the_top():
    path = drawn_path([[0, 0, 1, 2, 2, 3], [0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0]])
    assert path.features is None
    for k, expected in [(4, [0, 0, 1, 2, 2, 3]), (3, [0, 0, 0, 1, 1, 2])]:
        np.testing.assert_array_equal(path.labels(n_clusters=k), expected)
    assert path.suggestion.modularity is None
    plateau, labels = path.tree.suggest()
    assert path.suggested_plateau == plateau
    np.testing.assert_array_equal(path.suggestion.labels, labels)


def test_the_suggestion_is_the_pruning_of_largest_modularity(path):
    A = sparse.csr_array(path.graph.matrix())
    A.setdiag(0.0)
    A.eliminate_zeros()
    scores = [modularity(A, path.labels(n_clusters=k)) for k in range(1, 24)]
    suggestion = path.suggestion
    assert suggestion.n_clusters == int(np.argmax(np.round(scores, 9))) + 1 > 1
    assert suggestion.modularity == pytest.approx(max(scores), abs=1e-9)
    np.testing.assert_array_equal(suggestion.labels, path.labels(n_clusters=suggestion.n_clusters))
    agreement = {
        plateau: adjusted_rand_score(suggestion.labels, path.tree.labels(lam=plateau.lam_from))
        for plateau in path.plateaus
    }
    assert agreement[path.suggested_plateau] == pytest.approx(max(agreement.values()))


def test_where_no_cut_is_better_than_chance_one_cluster_is_suggested():
    path = solve_path(np.ones((6, 6)) + np.eye(6))
    assert path.suggestion.n_clusters == 1
    assert path.suggestion.modularity == pytest.approx(0.0)
    assert path.suggestion.confident
    assert "suggested scale: 1 cluster, modularity 0.00, near lam" in path.summary()


@pytest.mark.parametrize(
    ("partitions", "collapses"),
    [
        ([range(40), [0] * 40], True),
        ([range(30), [0] * 30], False),
        ([range(40), np.arange(40) // 4, [0] * 40], False),
        ([[0, 0, *range(1, 39)], [0] * 39 + [1]], True),
    ],
    ids=["at once", "few nodes", "in steps", "nearly"],
)
def test_a_drop_to_one_cluster_is_a_collapse(partitions, collapses):
    path = drawn_path([np.asarray(row) for row in partitions])
    assert path.collapses == collapses
    assert path.suggestion.confident != collapses
    assert ("caution: the path collapses" in path.summary()) == collapses
    assert ("not to be trusted" in path.summary()) == collapses


def test_clusters_are_the_names_by_label(named):
    labels = named.labels(n_clusters=2)
    found = named.clusters(n_clusters=2)
    assert found == (tuple(NAMES[:4]), tuple(NAMES[4:]))
    assert [len(group) for group in found] == np.bincount(labels).tolist()
    path = drawn_path([[0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1], [0] * 7])
    assert path.clusters(lam=1.0) == ((0, 1, 2), (3, 4, 5), (6,))
    told_apart = path.clusters(n_clusters=2, min_cluster_size=2, small="noise")
    assert told_apart == ((0, 1, 2), (3, 4, 5))


def test_small_clusters_can_be_ignored():
    path = drawn_path([[0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1], [0] * 7])
    np.testing.assert_array_equal(path.labels(n_clusters=2), [0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(
        path.labels(n_clusters=2, min_cluster_size=2, small="noise"), [0, 0, 0, 1, 1, 1, -1]
    )
    np.testing.assert_array_equal(
        path.labels(lam=1.0, min_cluster_size=2, small="noise"), [0, 0, 0, 1, 1, 1, -1]
    )


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"lam": 1.0, "n_clusters": 2},
        {"n_clusters": 0},
        {"n_clusters": 25},
        {"n_clusters": 2, "by": "height"},
        {"lam": -1.0},
        {"lam": np.nan},
        {"n_clusters": 2, "small": "drop"},
        {"n_clusters": 2, "min_cluster_size": 0},
        {"n_clusters": 2, "by": "lam", "min_cluster_size": 0},
    ],
    ids=str,
)
def test_invalid_queries_are_rejected(path, asked):
    with pytest.raises(ValueError, match=r"lam|n_clusters|small|min_cluster_size|by"):
        path.labels(**asked)


@pytest.mark.parametrize("asked", [{"n_clusters": 2.5}, {"lam": "1"}], ids=str)
def test_invalid_types_are_rejected(path, asked):
    with pytest.raises(TypeError):
        path.labels(**asked)


def test_linkage_agrees_with_the_partitions(path):
    Z = path.linkage
    assert is_valid_linkage(Z)
    assert np.isfinite(Z).all()
    assert set(Z[:, 2]) <= set(path.lambdas)
    for point in path.levels:
        cut = fcluster(Z, point.lam, criterion="distance")
        np.testing.assert_array_equal(first_occurrence(cut), path.tree.labels(lam=point.lam))


def test_splits_are_reported():
    path = drawn_path([[0, 0, 1], [0, 1, 1], [0, 0, 0]])
    assert not path.is_nested
    (split,) = path.splits
    assert (split.lam_from, split.lam_to, split.parted) == (1.0, 2.0, (1,))
    assert "no, 1 split" in path.summary()
    # The tree keeps only merges that persist; the partitions keep all events.
    np.testing.assert_array_equal(path.labels(lam=1.0), [0, 0, 1])
    assert "nested: yes" in drawn_path([[0, 1, 2], [0, 0, 1], [0, 0, 0]]).summary()


def test_columns_of_a_path_agree_with_its_levels(path):
    np.testing.assert_array_equal(path.lambdas, [p.lam for p in path.levels])
    np.testing.assert_array_equal(path.n_clusters, [p.labels.max() + 1 for p in path.levels])
    np.testing.assert_array_equal(path.relative_gap, [p.relative_gap for p in path.levels])
    np.testing.assert_array_equal(path.objective, [p.objective for p in path.levels])
    assert path.partitions.shape == (len(path.levels), 24)


def test_effective_rank_from_fused_rows_equals_that_of_the_full_matrix(kernel, path):
    for lam in path.lambdas[::4]:
        expected = convexhc.metrics.effective_rank(path.centroids(lam), kernel.graph.matrix())
        found = path.effective_rank[path.lambdas == lam][0]
        assert found == pytest.approx(expected, rel=1e-8)
    # It falls from nearly that of the kernel to one at the consensus.
    assert path.effective_rank[0] > 10
    assert path.effective_rank[-1] == pytest.approx(1.0, abs=1e-6)


def test_effective_rank_is_available_without_centroids_and_after_saving(kernel, path, tmp_path):
    lean = convexhc.solve_path(kernel, path.lambdas, keep="labels")
    full = convexhc.solve_path(kernel, path.lambdas, keep="all")
    assert lean.levels[0].cluster_centroids is None
    np.testing.assert_array_equal(lean.effective_rank, full.effective_rank)
    for one in (lean, full):
        one.save(tmp_path / "path.npz")
        again = convexhc.Path.load(tmp_path / "path.npz")
        np.testing.assert_array_equal(again.effective_rank, one.effective_rank)


def test_pi_is_the_paper_s_matrix_at_the_nearest_lam(kernel, path):
    at = len(path.levels) // 2
    lam = float(path.lambdas[at])
    pi = path.pi(lam * 1.0001)
    np.testing.assert_array_equal(pi, path.centroids(lam).T)
    np.testing.assert_allclose([pi.sum(axis=0), pi.sum(axis=1)], 1.0, atol=1e-8)
    assert pi.min() >= 0.0
    np.testing.assert_array_equal(
        first_occurrence([column.tobytes() for column in np.ascontiguousarray(pi.T)]),
        path.labels(lam=lam),
    )
    K = kernel.dense()
    apart = [(i, j) for i in range(24) for j in range(24) if i != j and K[i, j] > 0]
    penalty = sum(
        K[i, j]
        * (0.95 * np.linalg.norm(pi[:, i] - pi[:, j]) + 0.05 * np.abs(pi[:, i] - pi[:, j]).sum())
        for i, j in apart
    )
    objective = np.trace(pi.T @ K @ pi - 2.0 * K @ pi) + lam * penalty
    assert path.objective[at] == pytest.approx(objective, rel=1e-10)


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("all", [True, True, True]),
        (None, [True, True, True]),
        ("labels", [False, False, False]),
        (lambda lam: lam > 0.5, [False, True, True]),
        (lambda lam: lam == 0.9, [False, True, False]),
    ],
    ids=["all", "default", "labels", "some", "one"],
)
def test_keep_selects_which_centroids_are_stored(kernel, keep, kept):
    path = solve_path(kernel, [0.1, 0.9, 2.5], keep=keep)
    assert [point.cluster_centroids is not None for point in path.levels] == kept
    for point in path.levels:
        assert point.cluster_centroids is None or point.cluster_centroids.shape == (
            point.n_clusters,
            24,
        )
    if any(kept):
        nearest = path.centroids(0.9)
        np.testing.assert_array_equal(
            first_occurrence([r.tobytes() for r in nearest]), np.arange(24) // 4
        )
    else:
        with pytest.raises(ValueError, match="keep='all'"):
            path.pi(0.9)


def test_a_large_path_keeps_labels_only_by_default(kernel, monkeypatch):
    monkeypatch.setattr("convexhc.api.graph_path._KEEP_NODES", 23)
    assert solve_path(kernel, [0.9]).levels[0].cluster_centroids is None
    assert solve_path(kernel, [0.9], keep="all").levels[0].cluster_centroids is not None
    monkeypatch.setattr("convexhc.api.graph_path._KEEP_NODES", 24)
    assert solve_path(kernel, [0.9]).levels[0].cluster_centroids is not None


def test_repr_is_short_and_holds_no_arrays(path):
    said = repr(path)
    assert said.startswith("Path(n=24")
    assert "array" not in said
    assert "\n" not in said
    assert len(said) < 200


def test_summary_names_size_range_certificate_and_plateaus(path):
    said = path.summary()
    assert "24 nodes, 1 component, " in said
    assert f"{len(path.levels)} lam" in said
    assert f"{path.relative_gap.max():.1e}" in said
    assert re.search(r"\b6 clusters for lam", said)
    suggestion = path.suggestion
    low, high = (
        format_number(at) for at in (suggestion.plateau.lam_from, suggestion.plateau.lam_to)
    )
    assert (
        f"suggested scale: {suggestion.n_clusters} clusters, modularity "
        f"{suggestion.modularity:.2f}, near lam {low} to {high}\n"
    ) in said
    assert "not solved" not in said
    assert "only close the tree" not in said


def test_summary_reports_unsolved_lam_and_the_merge_of_components():
    path = drawn_path([[0, 1, 2, 3], [0, 0, 1, 1]], components=[0, 0, 1, 1], status="MAX_ITER")
    assert "2 lam not solved" in path.summary()
    assert "2 components" in path.summary()
    assert "1 join at the top only to close the tree" in path.summary()


def test_html_has_the_summary_and_only_the_tags_of_the_card(named):
    page = named._repr_html_()
    assert page.startswith("<div")
    assert page.endswith("</iframe>")
    card = {"div", "strong", "pre", "svg", "title", "path"}
    assert set(re.findall(r"</?(\w+)", page)) <= card | {"iframe"}
    for line in named.summary().splitlines():
        assert on_page(line.strip()) in page


def test_html_escapes_the_summary(named, monkeypatch):
    monkeypatch.setattr(Path, "summary", lambda self: "<script>alert('&')</script>")
    page = named._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&amp;" in page


def test_frame_has_a_row_for_every_lam(path):
    frame = path.to_frame()
    assert len(frame) == len(path.levels)
    np.testing.assert_array_equal(frame["lam"], path.lambdas)
    np.testing.assert_array_equal(frame["n_clusters"], path.n_clusters)
    np.testing.assert_array_equal(frame["objective"], path.objective)
    np.testing.assert_array_equal(frame["relative_gap"], path.relative_gap)
    np.testing.assert_array_equal(frame["effective_rank"], path.effective_rank)
    assert set(frame["status"]) == {"SOLVED"}
    assert (frame["n_iter"] >= 0).all()
    assert (frame["seconds"] > 0).all()
    assert frame["seconds"].sum() == pytest.approx(path.seconds)


def test_a_frame_without_pandas_names_the_package_to_install(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"convexhc\[graphs\]"):
        path.to_frame()


def test_newick_and_networkx_carry_the_names(named):
    text = named.to_newick()
    assert text.endswith(";")
    for quoted in ("'it''s'", "'(z)'", "'x:y'", "'s p'"):
        assert quoted in text
    structure = re.sub(r"'(?:[^']|'')*'", "", text)
    assert structure.count("(") == structure.count(")") == len(named.tree.merges)
    tree = named.to_networkx()
    assert sum(tree.out_degree(v) == 0 for v in tree) == 8
    leaves = [tree.nodes[v]["name"] for v in sorted(tree) if tree.out_degree(v) == 0]
    assert leaves == NAMES
    assert named.names == tuple(NAMES)


def test_repr_of_a_solution_holds_no_arrays(kernel):
    solution = convexhc.solve(kernel, 0.9)
    said = repr(solution)
    assert "status SOLVED" in said
    assert "lam=0.9" in said
    assert f"objective {solution.objective:.6g}" in said
    assert "array" not in said
    assert len(said) < 400
    assert solution.names == tuple(range(24))
    np.testing.assert_array_equal(solution.pi, solution.centroids.T)
    assert solution.n_clusters == len(np.unique(solution.centroids, axis=0)) == 6
    assert solution.objective == solution.certificate.objective


def test_provenance_records_the_options(kernel):
    path = solve_path(kernel, [0.9, 0.1], l1_ratio=0.2, tol=1e-3)
    options = path.provenance.options
    assert path.provenance.version == convexhc.__version__
    assert options["lambdas"] == [0.1, 0.9]
    assert (options["l1_ratio"], options["tol"]) == (0.2, 1e-3)
    assert path.relative_gap.max() <= 1e-3
