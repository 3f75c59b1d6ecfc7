"""Disturbed graphs and trees that moved: laws, and a small run."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.reading import files, quiet, read
from scipy.cluster.hierarchy import linkage

from convexhc.datasets import fractal_graph
from convexhc.metrics import cophenetic_distances
from experiments.paper import EXPERIMENTS, robustness
from experiments.paper.perturbations import KINDS
from experiments.paper.robustness import Graph, recovered, restricted, tree_agreement, wins

FRACTAL = fractal_graph(0, n_meta=2, n_super=3, clique=4)
A = FRACTAL.adjacency.toarray()


@pytest.mark.parametrize("kind", KINDS)
def test_a_disturbed_graph_is_a_graph_and_repeatable(kind):
    once, again = (KINDS[kind](A, 0.2, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(once, again)
    assert np.array_equal(once, once.T)
    assert (once >= 0).all()
    assert not np.diag(once).any()
    assert not np.array_equal(once[: len(A), : len(A)], A) or kind == "outliers"


def test_rewiring_moves_that_many_edges():
    moved = KINDS["rewired"](A, 0.25, np.random.default_rng(0))
    assert moved.sum() == A.sum()
    assert (moved < A).sum() == 2 * round(0.25 * A.sum() / 2)


def test_outliers_leave_the_others_alone():
    larger = KINDS["outliers"](A, 0.25, np.random.default_rng(0))
    assert np.array_equal(larger[:24, :24], A)
    assert not larger[24:, 24:].any()
    assert len(larger) == 30


def test_a_tree_agrees_with_itself_whatever_the_scale_of_its_heights():
    Z = linkage(np.random.default_rng(0).standard_normal((20, 2)), "average")
    stretched = Z * [1, 1, 3, 1]
    found = tree_agreement(Z, stretched, [2, 5])
    assert [found[name] for name in ("cophenetic", "rank", "ari", "ari_2", "ari_5")] == (
        pytest.approx([1.0] * 5)
    )


def test_a_level_that_does_not_exist_is_not_scored():
    star = np.array([[0, 1, 1.0, 2], [2, 4, 1.0, 3], [3, 5, 1.0, 4]])
    chain = np.array([[0, 1, 1.0, 2], [2, 4, 2.0, 3], [3, 5, 3.0, 4]])
    found = tree_agreement(star, chain, [2])
    assert np.isnan(found["ari"])
    assert found["levels"] == 0


def test_a_restricted_tree_keeps_the_heights():
    Z = linkage(np.random.default_rng(1).standard_normal((15, 2)), "complete")
    small = restricted(Z, 9)
    assert np.allclose(cophenetic_distances(small), cophenetic_distances(Z)[:9, :9])


def test_known_levels_are_found():
    fine = linkage(np.repeat(FRACTAL.fine[:, None] * 1.0, 2, axis=1), "single")
    assert recovered(fine, Graph("x", A, (FRACTAL.fine,))) == 1.0
    assert np.isnan(recovered(fine, Graph("x", A, ())))


def test_the_best_method_of_a_case_wins_it():
    table = [
        {"graph": "g", "kind": "k", "strength": 1.0, "method": method}
        | dict.fromkeys(robustness.MEASURES, score)
        | {"known_before": 1.0, "known_after": score, "levels": 2}
        for method, score in (("convex", 0.9), ("single", 0.5), ("ward", float("nan")))
    ]
    assert [row["best_rank"] for row in wins(table)] == [1, 0, 0]


def test_a_small_run_needs_no_data(tmp_path, monkeypatch):
    small = robustness.Size(
        shape=(2, 2, 4),
        graphs=("fractal", "football"),
        changes=(("rewired", 0.1), ("outliers", 0.2)),
        n_draws=1,
        levels=(2, 4),
    )
    monkeypatch.setattr(robustness, "QUICK", small)
    monkeypatch.delenv("CONVEXHC_DATA", raising=False)
    EXPERIMENTS["robustness"](tmp_path, data=None, quick=True, n_jobs=1, progress=quiet)
    folder = tmp_path / "robustness"
    assert files(folder, "csv") == {"runs", "stability", "verdict"}
    assert files(folder, "png") == {"stability"}
    assert "no data folder was named: football" in (folder / "results.md").read_text()
    rows = read(folder / "runs.csv")
    assert len(rows) == 2 * 6
    assert all(float(row["known_before"]) > 0.9 for row in rows if row["method"] == "convex")
    assert all(-1 <= float(row["rank"]) <= 1 for row in rows)
