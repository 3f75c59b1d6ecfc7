"""Scans compared: laws of the comparisons, and a small run."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.reading import files, quiet, read

import convexhc
from experiments.paper import EXPERIMENTS, connectomes
from experiments.paper.connectome_scores import (
    Setting,
    compare_linkages,
    compare_paths,
    cross,
    summary,
)

RNG = np.random.default_rng(0)
SETTING = Setting("log counts")


def counts(n: int) -> np.ndarray:
    upper = np.triu(RNG.poisson(RNG.gamma(0.5, 20.0, (n, n))), 1).astype(float)
    return upper + upper.T + np.roll(np.eye(n), 1, 1) + np.roll(np.eye(n), -1, 1)


@pytest.fixture(scope="module")
def similarities():
    return [SETTING.similarity(counts(10)) for _ in range(3)]


@pytest.fixture(scope="module")
def cohort(similarities):
    return convexhc.solve_paths(
        similarities, lambdas=[0.0, 0.01], similarity="precomputed", weights=None, keep="all"
    )


def test_every_representation_is_compared(cohort, similarities):
    found = compare_paths(cohort, [0.0, 0.01], 3) | compare_linkages(similarities, 3)
    assert list(found) == [
        *(("convex", 0.0), ("convex", 0.01)),
        *((linkage, 0.0) for linkage in ("single", "average", "complete", "ward")),
    ]
    for tau, differ in found.values():
        assert tau.shape == differ.shape == (3, 3)
        np.testing.assert_array_equal(tau, tau.T)
        assert (np.diag(tau) == 1).all()
        assert (np.diag(differ) == 0).all()


def test_crossed_representations_are_those_of_the_pairs(cohort, similarities):
    from experiments.paper.linkages import linkage_trees

    found = cross(cohort, 0.01, similarities)
    centroids = cohort.paths[0].centroids(0.01)
    convex = convexhc.metrics.centroid_distances(centroids, similarities[0].matrix)
    single = convexhc.metrics.cophenetic_distances(linkage_trees(similarities[2])["single"])
    assert found[0, 2] == pytest.approx(convexhc.metrics.kendall(convex, single))


def test_single_linkage_differs_from_itself_by_nothing(similarities):
    single = compare_linkages(similarities, 3)["single", 0.0]
    subject, times = np.array([1, 1, 2]), np.ones((4, 3), dtype=np.int64)
    row = summary(single, single, subject, times)
    assert row["tau_within_minus_single"] == row["differ_between_minus_single_high"] == 0.0
    assert row["tau_within"] == pytest.approx(single.tau[0, 1])


@pytest.mark.data
def test_a_small_run_finds_the_subjects(tmp_path, data_dir, monkeypatch):
    small = connectomes.Size(
        n_subjects=2,
        n_sessions=2,
        settings=connectomes.SETTINGS[2:],
        grid=(0.0, 0.01),
        n_draws=20,
    )
    monkeypatch.setattr(connectomes, "QUICK", small)
    EXPERIMENTS["connectomes"](tmp_path, data=data_dir, quick=True, n_jobs=1, progress=quiet)
    folder = tmp_path / "connectomes"
    assert files(folder, "csv") == {"scans", "representations", "pairs"}
    assert files(folder, "png") == files(folder, "svg")
    assert files(folder, "png") == {"figure3", "figure4", "discriminability"}
    rows = read(folder / "representations.csv")
    assert len(rows) == 6
    assert all(float(row["tau_within"]) > float(row["tau_between"]) for row in rows)
    assert max(float(row["relative_gap"]) for row in read(folder / "scans.csv")) <= 1e-4
    first = next(row for row in rows if row["method"] == "single")
    assert float(first["tau_within_minus_single"]) == 0.0
