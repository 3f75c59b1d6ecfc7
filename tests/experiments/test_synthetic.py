"""The synthetic experiment at a small size, and its headline on the authors' own matrix."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from experiments.data import authors_similarity
from experiments.paper import EXPERIMENTS, synthetic
from experiments.paper.reported import TABLE_I
from experiments.paper.synthetic_scores import authors_path, silhouette_peaks, with_levels

SMALL = synthetic.Size(
    shape=(2, 3, 5),
    n_graphs=2,
    alphas=(0.95,),
    grid=tuple(TABLE_I),
    wirings=((1, 1), (2, 1)),
    n_surveyed=1,
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
    patch.setattr(synthetic, "QUICK", SMALL)
    patch.delenv("CONVEXHC_DATA", raising=False)
    try:
        EXPERIMENTS["synthetic"](out, data=None, quick=True, n_jobs=1, progress=quiet)
    finally:
        patch.undo()
    return out / "synthetic"


def test_every_result_is_written(results):
    tables = {"wiring", "runs", "table1", "silhouette_peaks", "claims"}
    assert {file.stem for file in results.glob("*.csv")} == tables
    assert {file.name for file in results.glob("figure*")} == {
        f"figure{k}.{suffix}" for k in (1, 2) for suffix in ("png", "svg")
    }
    assert "no data folder" in (results / "results.md").read_text()


def test_every_solve_is_certified_and_the_limits_are_right(results):
    runs = read(results / "runs.csv")
    assert max(float(row["relative_gap"]) for row in runs) <= 1e-4
    last = [row for row in runs if float(row["lam"]) == 40.0]
    assert all(row["n_clusters"] == "1" for row in last)
    assert np.allclose([float(row["effective_rank"]) for row in last], 1.0)


def test_the_means_are_those_of_the_runs(results):
    runs = [row for row in read(results / "runs.csv") if row["links_super"] == "1"]
    table = [row for row in read(results / "table1.csv") if row["data"] == "1 and 1 links"]
    for row in table:
        same = [r for r in runs if r["lam"] == row["lam"] and r["alpha"] == "0.95"]
        mean = np.mean([float(r["fine_accuracy"]) for r in same])
        assert float(row["fine_accuracy"]) == pytest.approx(mean, rel=1e-4)
        assert float(row["fine_accuracy_paper"]) == TABLE_I[float(row["lam"])]["fine_accuracy"]


def test_fused_cliques_are_scored(results):
    runs = read(results / "runs.csv")
    assert any(row["n_clusters"] == "6" and float(row["fine_fused_ari"]) == 1.0 for row in runs)


def test_the_peak_is_the_largest_mean():
    rows = [
        {
            "links_super": 1,
            "links_meta": 1,
            "alpha": 0.95,
            "lam": lam,
            "seed": seed,
            "fine_silhouette": score + seed,
            "coarse_silhouette": -score,
        }
        for lam, score in ((0.1, 0.2), (1.0, 0.9), (10.0, float("nan")))
        for seed in (0, 1)
    ]
    assert [peak["lam_first"] for peak in silhouette_peaks(rows)] == [1.0, 0.1]
    assert [peak["lam_last"] for peak in silhouette_peaks(rows)] == [1.0, 0.1]


def test_a_silhouette_needs_as_many_centroids_as_classes():
    row = {"fine_silhouette": 1.0, "coarse_silhouette": 0.5}
    fine, coarse, one = with_levels([row | {"n_clusters": k} for k in (28, 4, 1)], (4, 7, 7))
    assert fine == row | {"n_clusters": 28}
    assert np.isnan(coarse["fine_silhouette"])
    assert coarse["coarse_silhouette"] == 0.5
    assert np.isnan([one["fine_silhouette"], one["coarse_silhouette"]]).all()


@pytest.mark.data
def test_the_authors_matrix_gives_both_levels_without_an_error(data_dir):
    K, fine, coarse = authors_similarity(data_dir)
    found = authors_path(K, fine, coarse, shift=0.05, lambdas=[0.7, 3.0])
    assert [row["n_clusters"] for row in found["path"]] == [28, 4]
    assert found["path"][0]["fine_fused_ari"] == 1.0
    assert found["path"][1]["coarse_fused_ari"] == 1.0
    assert len(found["planes"]) == 3
