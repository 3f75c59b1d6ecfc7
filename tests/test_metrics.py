"""Laws of the metrics, and agreement with naive implementations, scipy and scikit-network."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist
from sklearn import metrics as sklearn_metrics
from sklearn.cluster import KMeans

from convexhc import metrics, similarity
from convexhc.tree import Tree

seeds = st.integers(0, 2**32 - 1)


@st.composite
def partitions(draw, count, max_nodes=12):
    """Several partitions of the same nodes."""
    n = draw(st.integers(1, max_nodes))
    labels = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    return [np.array(draw(labels)) for _ in range(count)]


def random_psd(rng, n, rank=None):
    factor = rng.normal(size=(n, n if rank is None else rank))
    return factor @ factor.T


def random_linkage(rng, n):
    """A random tree: two random clusters merge at every step."""
    live, rows = list(range(n)), []
    for step in range(n - 1):
        a, b = (live.pop(rng.integers(len(live))) for _ in range(2))
        rows.append([a, b, 1.0 + step // 2, 0])
        live.append(n + step)
    for row in rows:
        row[3] = sum(1 if c < n else rows[c - n][3] for c in row[:2])
    return np.array(rows, dtype=float).reshape(-1, 4)


def random_graph(rng, n, density=0.4):
    """Integer weights, at least one edge, possibly isolated nodes."""
    upper = np.triu(rng.integers(1, 6, size=(n, n)) * (rng.random((n, n)) < density), 1)
    upper[0, 1] = 1
    return (upper + upper.T).astype(float)


def chain(n):
    """A linkage that adds one leaf at a time."""
    first = np.concatenate([[0], np.arange(n, 2 * n - 2)])
    return np.column_stack([first, np.arange(1, n), np.arange(1.0, n), np.arange(2, n + 1)])


def leaves_where_they_join(Z):
    """For every pair, the number of leaves under its lowest common ancestor, and its row."""
    n = len(Z) + 1
    under = [{leaf} for leaf in range(n)]
    size, row = np.zeros((n, n)), np.full((n, n), -1)
    for at, (a, b) in enumerate(Z[:, :2].astype(int)):
        for i, j in itertools.product(under[a], under[b]):
            size[i, j] = size[j, i] = len(under[a]) + len(under[b])
            row[i, j] = row[j, i] = at
        under.append(under[a] | under[b])
    return size, row


def test_effective_rank_runs_from_n_to_one():
    K = random_psd(np.random.default_rng(0), 9)
    assert metrics.effective_rank(np.eye(9), np.eye(9)) == pytest.approx(9)
    assert metrics.effective_rank(np.full((9, 9), 1 / 9), K) == pytest.approx(1)


@given(seeds, st.integers(1, 8), st.integers(1, 8))
def test_effective_rank_of_a_projection_is_its_rank(seed, n, rank):
    rank = min(rank, n)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, rank)))
    assert metrics.effective_rank_of(3.0 * basis @ basis.T) == pytest.approx(rank)


@given(seeds, st.integers(1, 8), st.integers(1, 8))
def test_effective_rank_is_the_formula_of_the_paper(seed, m, n):
    rng = np.random.default_rng(seed)
    C, K = rng.dirichlet(np.ones(n), size=m), random_psd(rng, n)
    pi = C.T
    sigma = np.linalg.svd(pi.T @ K @ pi, compute_uv=False)
    shares = sigma / sigma.sum()
    expected = math.exp(-sum(p * math.log(p) for p in shares if p > 0))
    found = metrics.effective_rank(C, K)
    assert found == pytest.approx(expected)
    assert 1 - 1e-9 <= found <= min(m, n) + 1e-9
    assert metrics.effective_rank(C, 7.0 * K) == pytest.approx(found)
    order = rng.permutation(n)
    assert metrics.effective_rank(C[:, order], K[np.ix_(order, order)]) == pytest.approx(found)


def test_effective_rank_agrees_for_dense_sparse_and_similarity():
    rng = np.random.default_rng(1)
    K = similarity.two_hop(random_graph(rng, 12, density=0.6), shift=0.1)
    C = rng.dirichlet(np.ones(12), size=12)
    dense = metrics.effective_rank(C, K.dense())
    assert metrics.effective_rank(C, sparse.csr_matrix(K.dense())) == pytest.approx(dense)
    assert metrics.effective_rank(C, K) == pytest.approx(dense)


@pytest.mark.parametrize(
    ("S", "words"),
    [
        (np.zeros((2, 2)), "not zero"),
        ([[0.0, 1.0], [1.0, 0.0]], "positive semidefinite"),
        (np.ones((2, 3)), "square"),
        ([[np.nan]], "finite"),
    ],
)
def test_effective_rank_rejects_invalid_input(S, words):
    with pytest.raises(ValueError, match=words):
        metrics.effective_rank_of(S)


def test_round_off_below_zero_counts_as_zero():
    assert metrics.effective_rank_of(np.diag([1.0, 1.0, -1e-9])) == pytest.approx(2)


def test_a_similarity_of_another_size_is_rejected():
    for function in (metrics.effective_rank, metrics.centroid_distances):
        with pytest.raises(ValueError, match="3 x 3"):
            function(np.eye(3), np.eye(4))


@given(seeds, st.integers(1, 7), st.integers(1, 7))
def test_distances_are_those_of_the_definition(seed, m, n):
    rng = np.random.default_rng(seed)
    C, K = rng.normal(size=(m, n)), random_psd(rng, n, rank=2)
    found = metrics.centroid_distances(C, K)
    expected = np.zeros((m, m))
    for i, j in itertools.product(range(m), repeat=2):
        step = C[i] - C[j]
        expected[i, j] = np.sqrt(max(step @ K @ step, 0.0))
    scale = np.sqrt(np.abs(C @ K @ C.T).max())
    np.testing.assert_allclose(found, expected, atol=1e-6 * scale)
    assert np.array_equal(found, found.T)
    assert not found.diagonal().any()


@given(seeds, st.integers(1, 7))
def test_without_a_similarity_distances_are_plain(seed, n):
    C = np.random.default_rng(seed).normal(size=(n, 4))
    np.testing.assert_allclose(metrics.centroid_distances(C), cdist(C, C), atol=1e-12)
    np.testing.assert_allclose(
        metrics.centroid_distances(C, np.eye(4)), metrics.centroid_distances(C), atol=1e-7
    )


@pytest.mark.parametrize("with_similarity", [False, True])
@pytest.mark.parametrize("n", [10, 17, 101])
def test_equal_rows_have_equal_distances_to_the_last_bit(n, with_similarity):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 9, size=61)
    C = rng.dirichlet(np.ones(n), size=9)[group]
    K = random_psd(rng, n) if with_similarity else None
    found = metrics.centroid_distances(C, K)
    first = np.unique(group, return_index=True)[1]
    assert np.array_equal(found, found[np.ix_(first[group], first[group])])
    assert not found[group[:, None] == group].any()
    assert found[group[:, None] != group].all()


def test_distances_of_a_similarity_are_those_of_its_points():
    X = np.random.default_rng(3).normal(size=(8, 3))
    np.testing.assert_allclose(metrics.distances_of(X @ X.T), cdist(X, X), atol=1e-7)


def test_a_shift_of_the_diagonal_keeps_the_order_of_distances():
    S = random_psd(np.random.default_rng(4), 9)
    squares = metrics.distances_of(S + 2.5 * np.eye(9)) ** 2 - metrics.distances_of(S) ** 2
    np.testing.assert_allclose(squares, 5.0 * (1 - np.eye(9)), atol=1e-9)


def test_an_indefinite_matrix_is_rejected():
    with pytest.raises(ValueError, match="shift_to_positive"):
        metrics.distances_of([[0.0, 1.0], [1.0, 0.0]])


def noisy_consensus(n, groups, size=1e-10):
    """Consensus plus noise that is correlated with the groups, as a solver returns it."""
    rng = np.random.default_rng(5)
    remembered = rng.normal(size=(groups, n))[np.arange(n) % groups]
    return 1 / n + size * (remembered + 0.01 * rng.normal(size=(n, n)))


# 1/128 is a tie when rounded to six digits, so rounding would not remove the noise.
@pytest.mark.parametrize("n", [128, 196])
def test_k_means_does_not_recover_groups_from_solver_noise(n):
    C = noisy_consensus(n, 4)
    true = np.arange(n) % 4
    raw = KMeans(n_clusters=4, n_init=10, random_state=0).fit_predict(C)
    assert metrics.matched_accuracy(true, raw) == 1.0
    scores = metrics.kmeans_scores(C, true)
    assert scores.accuracy == pytest.approx(0.25)
    assert scores.homogeneity == pytest.approx(0)
    assert math.isnan(scores.silhouette)


@given(seeds, st.integers(1, 8), st.integers(1, 5))
def test_fused_rows_are_equal_and_the_others_untouched(seed, m, groups):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, size=m)
    apart = rng.integers(-3, 4, size=(groups, 4)) + 10.0 * np.arange(groups)[:, None]
    exact = apart[group]
    noisy = exact + 1e-9 * rng.normal(size=exact.shape)
    kept = noisy.copy()
    fused = metrics.fuse_rows(noisy, within=1e-5)
    assert np.array_equal(noisy, kept)
    assert np.array_equal(np.unique(fused, axis=0, return_inverse=True)[1], _by_value(exact))
    np.testing.assert_allclose(fused, exact, atol=1e-8)
    np.testing.assert_allclose(fused.sum(axis=0), noisy.sum(axis=0), atol=1e-9)
    assert np.array_equal(metrics.fuse_rows(exact), exact)
    assert np.array_equal(metrics.fuse_rows(noisy, within=0), noisy)


def _by_value(rows):
    return np.unique(rows, axis=0, return_inverse=True)[1]


def test_a_chain_of_close_rows_is_one():
    C = np.array([[0.0], [0.9], [1.8], [3.0]])
    assert np.allclose(metrics.fuse_rows(C, within=1.0), [[0.9], [0.9], [0.9], [3.0]])


def test_fusing_rejects_invalid_input():
    with pytest.raises(ValueError, match="at least 0"):
        metrics.fuse_rows(np.eye(2), within=-1.0)
    with pytest.raises(ValueError, match="finite"):
        metrics.fuse_rows([[np.inf]])
    with pytest.raises(ValueError, match="rows of a matrix"):
        metrics.fuse_rows([1.0, 2.0])


def test_k_means_scores_are_those_of_its_labels():
    rng = np.random.default_rng(6)
    true = np.repeat(np.arange(3), 12)
    C = np.eye(3)[true] + 0.45 * rng.normal(size=(36, 3))
    labels = metrics.kmeans_labels(C, 3)
    scores = metrics.kmeans_scores(C, true)
    assert 0.5 < scores.accuracy < 1
    plain = metrics.partition_scores(true, labels)
    assert math.isnan(plain.silhouette)
    for field in ("accuracy", "homogeneity", "completeness", "v_measure", "ari", "ami"):
        assert getattr(scores, field) == getattr(plain, field)
    assert scores.silhouette == pytest.approx(sklearn_metrics.silhouette_score(C, labels))


def test_k_means_recovers_blocks_and_repeats_itself():
    rng = np.random.default_rng(7)
    true = rng.integers(0, 5, size=80)
    C = rng.dirichlet(np.ones(80), size=5)[true] + 1e-3 * rng.random((80, 80))
    scores = metrics.kmeans_scores(C, true)
    assert scores.accuracy == scores.ari == 1.0
    assert scores.silhouette > 0.5
    assert scores == metrics.kmeans_scores(C, true)


def test_k_means_starts_from_its_seed():
    # Points without clusters: every start converges to another partition.
    C = np.random.default_rng(12).random((60, 2))
    found = [metrics.kmeans_labels(C, 9, n_init=1, random_state=seed) for seed in (0, 0, 1)]
    assert np.array_equal(found[0], found[1])
    assert metrics.variation_of_information(found[0], found[2]) > 0


def test_no_more_clusters_than_distinct_centroids():
    C = np.repeat(np.eye(3), 4, axis=0)
    labels = metrics.kmeans_labels(C, 7)
    assert metrics.variation_of_information(labels, np.repeat(np.arange(3), 4)) == 0
    alone = metrics.kmeans_scores(np.eye(4), np.arange(4))
    assert alone.accuracy == 1
    assert math.isnan(alone.silhouette)
    for k in (0, 13):
        with pytest.raises(ValueError, match="between 1 and the 12"):
            metrics.kmeans_labels(C, k)


@given(partitions(2))
def test_matched_accuracy_is_the_best_of_all_matchings(pair):
    true, predicted = pair
    names = range(5)
    best = max(
        np.count_nonzero(true == np.array(matching)[predicted])
        for matching in itertools.permutations(names)
    )
    assert metrics.matched_accuracy(true, predicted) == pytest.approx(best / true.size)
    assert metrics.matched_accuracy(true, predicted) == metrics.matched_accuracy(predicted, true)


@given(partitions(2), st.permutations("vwxyz"))
def test_scores_do_not_depend_on_names(pair, names):
    true, predicted = pair
    renamed = np.array(names)[predicted]
    assert metrics.matched_accuracy(true, renamed) == metrics.matched_accuracy(true, predicted)
    again = metrics.partition_scores(true, renamed)
    plain = metrics.partition_scores(true, predicted)
    assert again.v_measure == pytest.approx(plain.v_measure)
    assert again.ari == pytest.approx(plain.ari)
    assert again.ami == pytest.approx(plain.ami)
    assert metrics.variation_of_information(predicted, renamed) == 0


@given(partitions(1))
def test_a_partition_agrees_with_itself(single):
    (labels,) = single
    scores = metrics.partition_scores(labels, 4 - labels)
    assert scores.accuracy == 1
    for field in ("homogeneity", "completeness", "v_measure", "ari", "ami"):
        assert getattr(scores, field) == pytest.approx(1)


def test_each_score_is_in_its_own_field():
    rng = np.random.default_rng(8)
    true, predicted = rng.integers(0, 3, size=40), rng.integers(0, 6, size=40)
    scores = metrics.partition_scores(true, predicted)
    assert scores.homogeneity == pytest.approx(sklearn_metrics.homogeneity_score(true, predicted))
    assert scores.completeness == pytest.approx(sklearn_metrics.completeness_score(true, predicted))
    assert scores.v_measure == pytest.approx(sklearn_metrics.v_measure_score(true, predicted))
    assert scores.ari == pytest.approx(sklearn_metrics.adjusted_rand_score(true, predicted))
    assert scores.ami == pytest.approx(sklearn_metrics.adjusted_mutual_info_score(true, predicted))
    assert scores.homogeneity != pytest.approx(scores.completeness)


@given(partitions(3))
def test_variation_of_information_is_a_metric(three):
    a, b, c = three
    vi = metrics.variation_of_information
    assert vi(a, b) == pytest.approx(vi(b, a))
    assert vi(a, c) <= vi(a, b) + vi(b, c) + 1e-12
    assert 0 <= vi(a, b) <= math.log(a.size) + 1e-12
    same = np.array_equal(a[:, None] == a, b[:, None] == b)
    assert (vi(a, b) == 0) == same


@given(partitions(2))
def test_variation_of_information_is_the_formula(pair):
    a, b = pair
    entropy = [stats.entropy(np.unique(x, return_counts=True)[1]) for x in (a, b)]
    mutual = sklearn_metrics.mutual_info_score(a, b)
    expected = sum(entropy) - 2 * mutual
    assert metrics.variation_of_information(a, b) == pytest.approx(expected, abs=1e-12)


def test_partitions_must_label_the_same_nodes():
    for function in (
        metrics.matched_accuracy,
        metrics.partition_scores,
        metrics.variation_of_information,
    ):
        with pytest.raises(ValueError, match="same nodes"):
            function([0, 1], [0, 1, 1])
        with pytest.raises(ValueError, match="same nodes"):
            function([], [])


@given(seeds, st.integers(2, 9), st.data())
def test_neighbours_are_the_nearest(seed, n, data):
    k = data.draw(st.integers(1, n - 1))
    # Few values, so that ties are common.
    D = np.random.default_rng(seed).integers(0, 4, size=(n, n)).astype(float)
    graph = metrics.knn_graph(D, k).toarray()
    assert set(np.unique(graph)) <= {0.0, 1.0}
    assert (graph.sum(axis=1) == k).all()
    assert not graph.diagonal().any()
    for i in range(n):
        others = [j for j in range(n) if j != i]
        nearest = sorted(others, key=lambda j: (D[i, j], j))[:k]
        assert sorted(nearest) == np.flatnonzero(graph[i]).tolist()


@given(seeds, st.integers(3, 9))
def test_neighbours_do_not_depend_on_the_numbering_without_ties(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    order = rng.permutation(n)
    graph = metrics.knn_graph(cdist(X, X), 2).toarray()
    permuted = metrics.knn_graph(cdist(X[order], X[order]), 2).toarray()
    assert np.array_equal(permuted, graph[np.ix_(order, order)])


@pytest.mark.parametrize("k", [0, 3])
def test_a_number_of_neighbours_out_of_range_is_rejected(k):
    with pytest.raises(ValueError, match="between 1 and n - 1 = 2"):
        metrics.knn_graph(np.zeros((3, 3)), k)


@given(seeds, st.integers(1, 8))
def test_hamming_counts_the_pairs_that_differ(seed, n):
    rng = np.random.default_rng(seed)
    A, B, C = (rng.integers(0, 2, size=(n, n)) * (1 - np.eye(n)) for _ in range(3))
    found = metrics.hamming(A, B)
    assert found == np.count_nonzero(A != B)
    assert found == pytest.approx(np.linalg.norm(A - B) ** 2)
    assert found == metrics.hamming(sparse.csr_array(B), A + 3 * np.eye(n))
    assert metrics.hamming(A, C) <= found + metrics.hamming(B, C)
    share = metrics.hamming(A, B, normalized=True)
    assert share * n * (n - 1) == pytest.approx(found)
    complete = np.ones((n, n)) - np.eye(n)
    assert metrics.hamming(complete, 0 * complete, normalized=True) == (1 if n > 1 else 0)


def test_graphs_of_different_size_are_rejected():
    with pytest.raises(ValueError, match="one shape"):
        metrics.hamming(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="one shape"):
        metrics.kendall(np.eye(2), np.eye(3))


@given(seeds, st.integers(3, 7))
def test_kendall_depends_only_on_the_order(seed, n):
    rng = np.random.default_rng(seed)
    D = cdist(*2 * [rng.normal(size=(n, 2))])
    E = np.triu(rng.integers(0, 5, size=(n, n)).astype(float), 1)
    E[0, 1], E[0, 2] = 5.0, 6.0
    E += E.T
    assert metrics.kendall(D, np.expm1(D)) == pytest.approx(1)
    assert metrics.kendall(D, -(D**3)) == pytest.approx(-1)
    assert metrics.kendall(D, E) == pytest.approx(metrics.kendall(E, np.sqrt(D)))
    assert metrics.kendall(D, E) == pytest.approx(naive_tau(D, E))


def naive_tau(A, B):
    """Kendall's tau-b by enumeration of all pairs of pairs."""
    upper = np.triu_indices(len(A), 1)
    x, y = (np.sign(M[upper][:, None] - M[upper][None, :]) for M in (A, B))
    return (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum())


def test_kendall_of_equal_distances_is_undefined():
    D = cdist(*2 * [np.random.default_rng(9).normal(size=(4, 2))])
    assert math.isnan(metrics.kendall(np.ones((4, 4)), D))
    assert math.isnan(metrics.kendall(np.zeros((1, 1)), np.zeros((1, 1))))


def naive_discriminability(D, subject):
    shares = []
    for i, j in itertools.permutations(range(len(D)), 2):
        if subject[i] == subject[j]:
            between = [D[i, k] for k in range(len(D)) if subject[k] != subject[i]]
            shares.append(np.mean([(D[i, j] < d) + (D[i, j] == d) / 2 for d in between]))
    return np.mean(shares)


@given(seeds, st.integers(3, 10))
def test_discriminability_counts_closer_pairs(seed, m):
    rng = np.random.default_rng(seed)
    subject = np.append([0, 0, 1], rng.integers(0, 3, size=m - 3))
    D = np.triu(rng.integers(0, 5, size=(m, m)).astype(float), 1)
    D += D.T
    found = metrics.discriminability(D, subject)
    assert found == pytest.approx(naive_discriminability(D, subject))
    assert 0 <= found <= 1
    order = rng.permutation(m)
    renamed = np.array(list("cab"))[subject[order]]
    assert metrics.discriminability(D[np.ix_(order, order)], renamed) == pytest.approx(found)


def test_discriminability_at_its_ends():
    subject = np.repeat([0, 1, 2], 3)
    same = subject[:, None] == subject
    assert metrics.discriminability(1.0 - same, subject) == 1
    assert metrics.discriminability(1.0 * same, subject) == 0
    assert metrics.discriminability(np.ones((9, 9)), subject) == 0.5


@pytest.mark.parametrize(
    ("subject", "words"),
    [([0, 0, 0], "two subjects"), ([0, 1, 2], "measured twice"), ([0, 1], "3 measurements")],
)
def test_discriminability_rejects_invalid_input(subject, words):
    with pytest.raises(ValueError, match=words):
        metrics.discriminability(np.ones((3, 3)), subject)


@pytest.mark.parametrize("bad", [np.ones(3), np.ones((2, 3)), np.full((2, 2), np.nan)])
def test_distances_must_be_a_square_of_numbers(bad):
    with pytest.raises(ValueError, match=r"must (be a square|hold distances)"):
        metrics.knn_graph(bad, 1)
    with pytest.raises(ValueError, match=r"must (be a square|hold distances)"):
        metrics.kendall(bad, bad)


@given(seeds, st.integers(1, 12))
def test_cophenetic_distances_say_who_is_together_at_every_height(seed, n):
    Z = random_linkage(np.random.default_rng(seed), n)
    found = metrics.cophenetic_distances(Z)
    assert found.shape == (n, n)
    assert np.array_equal(found, found.T)
    tree = Tree.from_linkage(Z)
    for height in Z[:, 2]:
        labels = tree.labels(lam=height)
        assert np.array_equal(labels[:, None] == labels, found <= height)


def test_cophenetic_distances_of_a_chain_do_not_recurse():
    n = 3000
    found = metrics.cophenetic_distances(chain(n))
    assert np.array_equal(found[0], np.arange(n))
    assert found[-2, -1] == n - 1


def test_cophenetic_correlation_is_that_of_scipy():
    rng = np.random.default_rng(10)
    D = cdist(*2 * [rng.normal(size=(20, 3))])
    condensed = D[np.triu_indices(20, 1)]
    Z = hierarchy.linkage(condensed, "average")
    expected, _ = hierarchy.cophenet(Z, condensed)
    assert metrics.cophenetic_correlation(Z, D) == pytest.approx(expected)
    assert metrics.cophenetic_correlation(Z, metrics.cophenetic_distances(Z)) == pytest.approx(1)
    assert math.isnan(metrics.cophenetic_correlation(Z, np.ones((20, 20))))
    with pytest.raises(ValueError, match="20 leaves"):
        metrics.cophenetic_correlation(Z, D[:5, :5])


@given(seeds, st.integers(2, 12))
def test_dasgupta_is_its_definition(seed, n):
    rng = np.random.default_rng(seed)
    Z, A = random_linkage(rng, n), random_graph(rng, n)
    size, _ = leaves_where_they_join(Z)
    cost = (A * size).sum() / 2
    assert metrics.dasgupta_cost(A, Z) == pytest.approx(cost)
    assert metrics.dasgupta_score(A, Z) == pytest.approx(1 - cost / (n * A.sum() / 2))
    assert metrics.dasgupta_cost(sparse.csr_array(A + 3 * np.eye(n)), Z) == pytest.approx(cost)


@given(seeds, st.integers(2, 30))
def test_every_tree_of_a_complete_graph_costs_the_same(seed, n):
    Z = random_linkage(np.random.default_rng(seed), n)
    assert metrics.dasgupta_cost(np.ones((n, n)), Z) == pytest.approx((n**3 - n) / 3)


@given(seeds, st.integers(2, 12))
def test_tree_sampling_divergence_is_its_definition(seed, n):
    rng = np.random.default_rng(seed)
    Z, A = random_linkage(rng, n), random_graph(rng, n)
    _, row = leaves_where_they_join(Z)
    for leaf in range(n):
        row[leaf, leaf] = np.flatnonzero((Z[:, :2] == leaf).any(axis=1))[0]
    edge = A / A.sum()
    pair = np.outer(edge.sum(axis=1), edge.sum(axis=0))
    p, q = (np.bincount(row.ravel(), law.ravel(), n - 1) for law in (edge, pair))
    expected = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    found = metrics.tree_sampling_divergence(A, Z, normalized=False)
    assert found == pytest.approx(expected, abs=1e-12)
    mutual = (edge[edge > 0] * np.log(edge[edge > 0] / pair[edge > 0])).sum()
    share = metrics.tree_sampling_divergence(A, Z)
    assert share == pytest.approx(expected / mutual, abs=1e-12)
    assert -1e-12 <= share <= 1 + 1e-12


@given(seeds, st.integers(2, 12))
def test_scores_of_trees_follow_the_nodes(seed, n):
    rng = np.random.default_rng(seed)
    Z, A = random_linkage(rng, n), random_graph(rng, n)
    order = rng.permutation(n)
    moved = Z.copy()
    leaf = moved[:, :2] < n
    moved[:, :2][leaf] = np.argsort(order)[Z[:, :2][leaf].astype(int)]
    for score in (metrics.dasgupta_score, metrics.tree_sampling_divergence):
        assert score(A[np.ix_(order, order)], moved) == pytest.approx(score(A, Z), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_trees_are_those_of_scikit_network(seed):
    other = pytest.importorskip("sknetwork.hierarchy", reason="scikit-network is not installed")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    # Integer weights: scikit-network adds the weights up in single precision. No isolated nodes:
    # it divides by their degree.
    A = random_graph(rng, n, density=0.1) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    Z, theirs = random_linkage(rng, n), sparse.csr_matrix(A)
    near = {"rel": 1e-8, "abs": 1e-8}
    assert metrics.dasgupta_score(A, Z) == pytest.approx(other.dasgupta_score(theirs, Z), **near)
    mean_size = metrics.dasgupta_cost(A, Z) / (A.sum() / 2)
    assert mean_size == pytest.approx(other.dasgupta_cost(theirs, Z), **near)
    for normalized in (False, True):
        expected = other.tree_sampling_divergence(theirs, Z, normalized=normalized)
        found = metrics.tree_sampling_divergence(A, Z, normalized=normalized)
        assert found == pytest.approx(expected, **near)


def test_the_true_hierarchy_scores_above_a_random_one():
    rng = np.random.default_rng(11)
    blocks = np.kron(np.eye(4), np.ones((6, 6))) + 0.05
    good = hierarchy.linkage(cdist(blocks, blocks)[np.triu_indices(24, 1)], "average")
    bad = random_linkage(rng, 24)
    for score in (metrics.dasgupta_score, metrics.tree_sampling_divergence):
        assert score(blocks, good) > score(blocks, bad) + 0.1


def test_a_long_chain_is_scored():
    n = 20_000
    path = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    # Neighbours i and i + 1 join where i + 2 leaves are together.
    assert metrics.dasgupta_cost(path, chain(n)) == sum(range(2, n + 1))
    assert 0 < metrics.tree_sampling_divergence(path, chain(n)) < 1


@pytest.mark.parametrize(
    "score", [metrics.dasgupta_cost, metrics.dasgupta_score, metrics.tree_sampling_divergence]
)
def test_a_tree_of_another_graph_is_rejected(score):
    with pytest.raises(ValueError, match="3 nodes and the tree 4 leaves"):
        score(np.ones((3, 3)), chain(4))
    with pytest.raises(ValueError, match="no edges"):
        score(np.eye(3), chain(3))
