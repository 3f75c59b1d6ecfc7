"""The defaults experiment at a small size, and the laws of its scores."""

from __future__ import annotations

import csv
import inspect

import numpy as np
import pytest
from scipy import sparse

from convexhc.cli import build_parser
from convexhc.commands.fit import similarity_for
from convexhc.datasets import nested_blocks
from convexhc.estimators import ConvexHierarchicalClustering
from convexhc.experiments import EXPERIMENTS, defaults
from convexhc.experiments.defaults_graphs import real_graphs
from convexhc.experiments.defaults_scores import (
    CHOSEN,
    make_kernel,
    make_weights,
    settings,
    tree_scores,
)
from convexhc.tree import Tree

SMALL = defaults.Size(
    blocks=("blocks strong",),
    tried=tuple(settings(("normalized",), (), ())[:2]),
    scan=(1e-2, 0.5),
    final=(1e-3, 0.3),
    real=False,
)


def quiet(share: float, text: str) -> None:
    assert 0.0 <= share <= 1.0


def read(file):
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    patch = pytest.MonkeyPatch()
    patch.setattr(defaults, "QUICK", SMALL)
    try:
        EXPERIMENTS["defaults"](out, data=None, quick=True, n_jobs=1, progress=quiet)
    finally:
        patch.undo()
    return out / "defaults"


def test_every_result_is_written(results):
    tables = {"settings", "means", "chosen", "baselines", "comparison"}
    assert {file.stem for file in results.glob("*.csv")} == tables
    assert {file.name for file in results.glob("*.png")} == {"comparison.png", "scans.png"}
    assert "Real graphs were left out" in (results / "results.md").read_text()


def test_the_default_finds_strong_groups_and_no_plain_linkage_does_better(results):
    rows = read(results / "comparison.csv")
    assert {row["graph"] for row in rows} == {"karate", "blocks strong 0"}
    for row in rows:
        assert float(row["convexhc"]) >= float(row["linkages_two_hop"]) - 1e-9
        assert float(row["convexhc"]) >= float(row["linkages_same"]) - 1e-9
    strong = [row for row in rows if row["graph"] != "karate"]
    assert [float(row["convexhc_known"]) for row in strong] == [1.0, 1.0]


def test_the_means_are_those_of_the_rows(results):
    rows = read(results / "settings.csv")
    for mean in read(results / "means.csv"):
        same = [row for row in rows if row["kernel"] == mean["kernel"]]
        assert len(same) == int(mean["n_levels"]) == 3
        by_hand = np.mean([float(row["best_ari"]) for row in same])
        assert float(mean["best_ari"]) == pytest.approx(by_hand, rel=1e-5)


def test_what_was_chosen_is_what_users_get():
    signature = inspect.signature(ConvexHierarchicalClustering)
    assert str(signature.parameters["weights"].default) == CHOSEN.weights
    assert signature.parameters["l1_ratio"].default == CHOSEN.l1_ratio
    options = build_parser().parse_args(["fit", "edges.csv", "-o", "out"])
    assert str(options.neighbors) == CHOSEN.weights
    assert options.l1_ratio == CHOSEN.l1_ratio
    A = nested_blocks((2, 3), (0.1, 0.9)).adjacency
    by_name = make_kernel(similarity_for(options.similarity, 100), A)
    np.testing.assert_array_equal(by_name.dense(), make_kernel(CHOSEN.kernel, A).dense())


def test_weights_are_what_their_names_say():
    A = sparse.csr_array(nested_blocks((2, 12), (0.1, 0.9)).adjacency)
    K = make_kernel("two_hop", A)
    off = K.dense() - np.diag(K.graph.diagonal)
    assert make_weights("all", K, A) is None
    on_edges = make_weights("edges", K, A).dense()
    np.testing.assert_allclose(on_edges, off * (A.toarray() > 0))
    three = make_weights("3", K, A).dense()
    assert ((three == off) | (three == 0)).all()
    np.testing.assert_allclose(make_weights("3 squared", K, A).dense(), three**2)


def test_scores_of_a_tree_known_by_hand():
    """Two groups of five and a node that joins last, which spoils the cut in two."""
    path = np.array([[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], [0] * 10 + [1], [0] * 11])
    tree = Tree.from_partitions([1.0, 2.0, 3.0], path)
    known = np.array([[0] * 5 + [1] * 6])
    complete = sparse.csr_array(np.ones((11, 11)) - np.eye(11))
    row = tree_scores(tree, complete, known)[0]
    assert row["n_groups"] == 2
    assert row["singletons"] == 1
    assert row["ari"] < 0.1 < row["large_ari"] < row["best_ari"] < 1.0


@pytest.mark.data
def test_the_real_graphs_are_as_described(data_dir):
    found = {graph.name: graph for graph in real_graphs(data_dir)}
    sizes = {name: graph.adjacency.shape[0] for name, graph in found.items()}
    assert sizes == {"football": 115, "polbooks": 105, "uk_faculty": 81, "primary school": 242}
    assert set(found["primary school"].levels) == {"class", "grade"}
    for graph in found.values():
        assert (graph.adjacency != graph.adjacency.T).nnz == 0
        assert all(len(labels) == graph.adjacency.shape[0] for labels in graph.levels.values())
