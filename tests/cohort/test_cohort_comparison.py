"""Subjects compared on their common nodes: distances, groups, consensus, table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cohort.made import CROSSED, GROUPS, HALVES, NAMES, ONE, PAIRS, cohort, path, shuffled

from convexhc import metrics
from convexhc.cohort import METRICS, common_nodes, mean_graph, subject_distances
from convexhc.cohort.overview import members, overview
from convexhc.tree.clades import clades


@pytest.fixture(scope="module")
def made():
    return cohort()


def test_common_nodes_keep_the_order_of_the_first_subject():
    nodes = common_nodes({1: ["b", "a", "c"], 2: ["c", "x", "b"], 3: ["x", "c", "b"]})
    assert nodes.union == ("b", "a", "c", "x")
    assert nodes.names == ("b", "c")
    assert nodes.places[2].tolist() == [2, 0]
    assert nodes.missing == {1: ("x",), 2: ("a",), 3: ("a",)}


@pytest.mark.parametrize("metric", METRICS)
def test_a_distance_is_zero_between_equal_trees_and_symmetric(made, metric):
    lam = 1.0 if metric == "centroid" else None
    paths = made.paths
    if metric == "centroid":
        paths = {name: path([PAIRS, HALVES, ONE], centroids=True) for name in ("p1", "p2")}
    found = subject_distances(paths, metric, lam=lam)
    assert found.subjects == tuple(paths)
    np.testing.assert_array_equal(found.matrix, found.matrix.T)
    assert (np.diag(found.matrix) == 0).all()
    if metric != "neighbors":  # ties are broken at random there
        assert found.matrix[0, 1] == pytest.approx(0.0)


def test_cophenetic_distances_are_kendalls(made):
    found = made.distances("cophenetic").matrix
    first, second = (
        metrics.cophenetic_distances(made.paths[name].linkage) for name in ("p1", "q1")
    )
    assert found[0, 2] == pytest.approx(1.0 - metrics.kendall(first, second))
    assert found[0, 2] > 0.1


def test_information_is_the_mean_over_the_numbers_of_clusters(made):
    found = made.distances("information", n_clusters=(2, 4))
    expected = [
        metrics.variation_of_information(
            made.paths["p1"].labels(n_clusters=k), made.paths["q1"].labels(n_clusters=k)
        )
        for k in (2, 4)
    ]
    assert found.matrix[0, 2] == pytest.approx(np.mean(expected) / np.log(8))
    assert found.n_clusters == (2, 4)
    assert "2, 4 clusters" in found.meaning


@pytest.mark.parametrize("metric", ["cophenetic", "information"])
def test_the_order_of_the_nodes_does_not_matter(metric):
    paths = {"a": path([PAIRS, HALVES, ONE]), "b": shuffled([CROSSED, HALVES, ONE])}
    plain = {"a": paths["a"], "b": path([CROSSED, HALVES, ONE])}
    found = subject_distances(paths, metric).matrix
    assert found == pytest.approx(subject_distances(plain, metric).matrix)


def test_subjects_are_compared_on_the_nodes_that_all_have():
    larger = path([[*PAIRS, 4], [*HALVES, 2], [*ONE, 0]], names=(*NAMES, "extra"))
    made = cohort({"r": larger})
    found = made.distances()
    assert found.n_nodes == 8
    assert found.matrix[0, -1] == pytest.approx(0.0)
    rows = {row["subject"]: row for row in made.rows()}
    assert [rows[name]["missing"] for name in ("p1", "r")] == [1, 0]
    assert made.consensus().tree.names == NAMES
    assert mean_graph(made.paths).names == NAMES


def test_what_cannot_be_compared_is_refused(made):
    with pytest.raises(ValueError, match="metric must be one of"):
        made.distances("euclid")
    with pytest.raises(ValueError, match="give lam"):
        made.distances("centroid")
    with pytest.raises(ValueError, match="between 2 and the 8 common nodes"):
        made.distances("information", n_clusters=(9,))
    with pytest.raises(ValueError, match="two subjects or more"):
        subject_distances({"a": made.paths["p1"]})
    strangers = path([PAIRS, HALVES, ONE], names=tuple("stuvwxyz"))
    with pytest.raises(ValueError, match="0 nodes in common, of 16"):
        cohort({"r": strangers}).distances()
    with pytest.raises(ValueError, match="no node in common"):
        cohort({"r": strangers}).consensus()


def test_the_majority_has_the_clades_of_more_than_half(made):
    def sets(consensus):
        rows = clades(consensus.tree)
        return {
            frozenset(np.array(consensus.tree.names)[row].tolist()): share
            for row, share in zip(rows, consensus.share, strict=True)
        }

    # Pairs are in half of the subjects only, halves in all.
    assert sets(made.consensus()) == {
        frozenset("abcd"): 1.0,
        frozenset("efgh"): 1.0,
        frozenset(NAMES): 1.0,
    }
    own = sets(made.consensus(["p1", "p2"]))
    assert own[frozenset("ab")] == 1.0
    most = sets(made.consensus(["p1", "p2", "q1"]))
    assert most[frozenset("ab")] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="no solved subject"):
        made.consensus(["p1", "<b>broken</b>"])


def test_the_mean_graph_is_the_mean_of_the_matrices(made):
    found = mean_graph(made.paths).dense()
    np.testing.assert_allclose(found, made.paths["p1"].graph.dense())
    paths = {"a": made.paths["p1"], "b": shuffled([PAIRS, HALVES, ONE])}
    place = [paths["b"].names.index(name) for name in NAMES]
    other = paths["b"].graph.dense()[np.ix_(place, place)]
    expected = (paths["a"].graph.dense() + other) / 2
    np.testing.assert_allclose(mean_graph(paths).dense(), expected)


def test_groups_by_name_and_by_position_are_the_same(made):
    by_name = made.compare(GROUPS)
    assert by_name == made.compare([GROUPS[outcome.name] for outcome in made])
    assert by_name.discriminability == 1.0
    assert by_name.within == pytest.approx(0.0)
    assert by_name.difference == pytest.approx(by_name.between)
    assert by_name.n_groups == 2
    assert "discriminability 1.000" in str(by_name)
    with pytest.raises(ValueError, match="no group of the subject 'q2'"):
        made.compare({"p1": 1, "p2": 1, "q1": 2})
    with pytest.raises(ValueError, match="received 1 groups"):
        made.compare([1] * 5)
    with pytest.raises(ValueError, match="one group for each of the 5"):
        made.compare([1, 2])


def test_the_table_has_the_scales_and_the_certificate_of_every_path(made):
    rows = made.to_frame(GROUPS).set_index("subject")
    assert rows.loc["p1", "scales"] == "4 2"
    assert rows.loc["p1", "scale_ranges"] == "0.1:1 1:10"
    for subject, each in made.paths.items():
        counts = [scale.n_clusters for scale in each.scales]
        assert rows.loc[subject, "scales"].split() == [str(count) for count in counts]
        ranges = [text.split(":") for text in rows.loc[subject, "scale_ranges"].split()]
        for scale, (low, high) in zip(each.scales, ranges, strict=True):
            assert float(low) == pytest.approx(scale.lam_from, rel=1e-3)
            assert float(high) == pytest.approx(scale.lam_to, rel=1e-3)
        assert rows.loc[subject, "largest_gap"] == each.relative_gap.max()
        assert rows.loc[subject, "proven"] == each.proof.n_proven
        assert rows.loc[subject, "seconds"] == 1.5


def test_the_table_has_a_row_for_every_graph_failed_ones_included(made):
    frame = made.to_frame(GROUPS)
    assert frame["subject"].tolist() == [outcome.name for outcome in made]
    assert frame["group"].tolist() == list(GROUPS.values())
    assert frame["status"].tolist() == ["solved"] * 4 + ["ValueError: no edges"]
    assert frame["seconds"][0] == 1.5
    assert math.isnan(frame["nodes"].iloc[-1])


def test_groups_of_one_subject_have_no_consensus_and_no_comparison(made):
    assert list(members([1, 2, 3], ["x", "x", "y"])) == ["all", "group x"]
    assert list(members([1, 2], ["x", "x"])) == ["all"]
    alone = overview(made.paths, dict(zip(GROUPS, "abcde", strict=True)))
    assert alone.comparisons == ()
    assert list(alone.consensus) == ["all"]
    grouped = overview(made.paths, GROUPS, n_permutations=9, n_draws=9)
    assert [each.metric for each in grouped.comparisons] == [
        each.label for each in grouped.distances
    ]
    assert list(grouped.consensus) == ["all", "group p", "group q"]
