"""The Khan experiment: how rows are matched and counted, and a small run."""

from __future__ import annotations

import math

import pytest
from experiments.reading import files, quiet, read

from experiments.paper import EXPERIMENTS, khan
from experiments.paper.khan_compare import AUTHORS, Setting
from experiments.paper.linkages import LINKAGES
from experiments.paper.reported import KHAN_TABLE


def agreement(score: dict[str, float]) -> list[dict]:
    return [
        {"setting": "a", "lam": lam, "method": method, "homogeneity": value, "ami": value / 2}
        for lam in (0.1, 0.5)
        for method, value in score.items()
    ]


def test_the_nearest_effective_rank_is_matched():
    path = [
        {"setting": "a", "arrays": "train", "lam": 0.1, "effective_rank": 200.0},
        {"setting": "a", "arrays": "train", "lam": 0.5, "effective_rank": 8.0},
        {"setting": "a", "arrays": "test", "lam": 0.5, "effective_rank": 240.0},
    ]
    rows = khan.matched_table(agreement({"convex": 0.5}), path)
    assert [row["lam"] for row in rows] == [0.1, 0.1, 0.5, 0.5]
    assert [row["rank_paper"] for row in rows] == [row["effective_rank"] for row in KHAN_TABLE]
    # 37 is too far from both 200 and 8.
    assert [row["near"] for row in rows] == [True, True, False, True]


def test_only_scores_that_exist_are_compared():
    scores = {"convex": 0.5, "single": 0.4, "average": 0.6, "complete": math.nan, "ward": 0.5}
    matched = [
        {f"{score}_{method}": value for score in ("homogeneity", "ami") for method, value in it}
        | {"near": near}
        for it in [scores.items()]
        for near in (True, False)
    ]
    neighbors = [
        {"setting": "a", "k": 5, "method": method, "lam": lam, "differ": value}
        for method, value in {**scores, "complete": 0.9, "similarity": 0.1}.items()
        for lam in ((0.1, 2.0) if method == "convex" else (0.0,))
    ]
    rows = {row["against"]: row for row in khan.verdict(matched, neighbors)}
    assert [rows[name]["better_homogeneity"] for name in LINKAGES] == [1, 0, 0, 0]
    assert [rows[name]["comparisons_ami"] for name in LINKAGES] == [1, 1, 0, 1]
    assert [rows[name]["better_neighbors"] for name in LINKAGES] == [0, 2, 2, 0]
    assert [rows[name]["better_neighbors_early"] for name in LINKAGES] == [0, 1, 1, 0]
    assert rows["similarity"]["comparisons_ami"] == rows["similarity"]["better_neighbors"] == 0


@pytest.mark.data
def test_a_small_run(tmp_path, data_dir, monkeypatch):
    whole = Setting("whole", "log", n_neighbors=5, whole=True)
    small = khan.Size(
        n_genes=30, settings=(AUTHORS, whole), grid=(0.032, 0.512, 4.0), neighbors=(3, 5)
    )
    monkeypatch.setattr(khan, "QUICK", small)
    EXPERIMENTS["khan"](tmp_path, data=data_dir, quick=True, n_jobs=1, progress=quiet)
    folder = tmp_path / "khan"
    tables = {"similarities", "path", "agreement", "neighbors", "matched", "verdict"}
    assert files(folder, "csv") == tables
    assert files(folder, "png") == {"effective_rank", "homogeneity", "ami", "neighbors"}
    for row in read(folder / "agreement.csv"):
        one = "1" in (row["clusters_train"], row["clusters_test"])
        assert one == (row["homogeneity"] == "")
    path = read(folder / "path.csv")
    assert max(float(row["relative_gap"]) for row in path) <= 1e-4
    ranks = [float(row["effective_rank"]) for row in path if row["arrays"] == "train"]
    assert ranks[0] > ranks[1] > ranks[2]
    shift = {row["setting"]: float(row["shift"]) for row in read(folder / "similarities.csv")}
    assert shift["authors"] > 1.0 > shift["whole"]
