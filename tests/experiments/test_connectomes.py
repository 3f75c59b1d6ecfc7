"""Scans compared: laws of the comparisons, the same numbers on a cluster, a small run."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from experiments.reading import files, quiet, read
from joblib import parallel_config

from convexhc.metrics import discriminability, hamming, knn_graph
from experiments.paper import EXPERIMENTS, connectomes
from experiments.paper.connectome_scores import (
    compare,
    correlations,
    pair_mean,
    represent,
    session_draws,
    told_apart,
)
from experiments.paper.neighbors import neighbors_that_differ
from experiments.results import Unit, compute_units

RNG = np.random.default_rng(0)
SUBJECT = np.repeat([3, 5, 8], 4)


def distances(m: int, n: int) -> np.ndarray:
    points = RNG.standard_normal((m, n, 2))
    return np.linalg.norm(points[:, :, None] - points[:, None, :], axis=-1)


def counts(n: int) -> np.ndarray:
    upper = np.triu(RNG.poisson(RNG.gamma(0.5, 20.0, (n, n))), 1).astype(float)
    return upper + upper.T + np.roll(np.eye(n), 1, 1) + np.roll(np.eye(n), -1, 1)


def test_every_draw_has_the_scans_of_every_subject():
    times = session_draws(SUBJECT, 50)
    for one in np.unique(SUBJECT):
        assert (times[:, one == SUBJECT].sum(axis=1) == 4).all()
        assert ((times[:, one == SUBJECT] > 0).sum(axis=1) >= 2).all()


def test_counting_every_scan_once_is_the_plain_statistic():
    distance = distances(1, 12)[0]
    once = np.ones((1, 12), dtype=np.int64)
    found = told_apart(distance, SUBJECT, once)
    assert found.value == pytest.approx(discriminability(distance, SUBJECT))
    assert found.draws[0] == pytest.approx(found.value)
    same = SUBJECT[:, None] == SUBJECT
    mean = pair_mean(distance, same, once)
    assert mean.draws[0] == pytest.approx(mean.value)


def test_a_copied_scan_counts_like_two_scans_that_are_no_pair():
    distance = distances(1, 12)[0]
    times = np.ones((1, 12), dtype=np.int64)
    times[0, [0, 1]] = 2, 0
    kept = np.flatnonzero(times[0])
    copies = np.concatenate([kept, [0]])
    same = (SUBJECT[copies][:, None] == SUBJECT[copies]) & (copies[:, None] != copies)
    wins = [
        np.mean(
            [
                (distance[copies[i], copies[j]] < distance[copies[i], k])
                for k in copies[SUBJECT[copies] != SUBJECT[copies[i]]]
            ]
        )
        for i, j in np.argwhere(same)
    ]
    assert told_apart(distance, SUBJECT, times).draws[0] == pytest.approx(np.mean(wins))


def test_neighbours_without_ties_are_those_of_the_hamming_distance():
    both = distances(2, 15)
    expected = hamming(knn_graph(both[0], 4), knn_graph(both[1], 4)) / (2 * 15 * 4)
    for by_number in (False, True):
        found = neighbors_that_differ(list(both), 4, by_number=by_number)
        assert found[0, 1] == found[1, 0] == pytest.approx(expected)
        assert found[0, 0] == 0.0


def test_ties_are_no_agreement():
    flat = [1.0 - np.eye(41)] * 2
    assert neighbors_that_differ(flat, 8, by_number=True)[0, 1] == 0.0
    # By chance a fifth of 8 among 40 agrees.
    assert neighbors_that_differ(flat, 8, draws=300)[0, 1] == pytest.approx(0.8, abs=0.03)


def test_a_fused_scan_has_no_correlation():
    moving, fused = distances(1, 6)[0], 1.0 - np.eye(6)
    tau = correlations([moving, moving**2, fused])
    assert tau[0, 1] == pytest.approx(1.0)
    assert np.isnan(tau[0, 2])
    assert np.isnan(told_apart(1.0 - tau, np.array([1, 1, 2]), np.ones((3, 3), int)).value)


def test_lam_zero_is_the_similarity_itself():
    found = represent(counts(12), True, 0, [0.0, 0.01])
    assert [one["method"] for one in found] == [
        *("convex", "convex", "single", "average", "complete", "ward")
    ]
    assert found[0]["n_clusters"] == 12
    again = represent(counts(12), True, 0, [0.0])[0]["ranks"]
    assert len(again) == 66


def test_a_dask_cluster_gives_the_same_numbers(tmp_path):
    distributed = pytest.importorskip("distributed")
    units = [
        Unit(
            f"scan-{i}",
            {"logarithm": True, "strongest": 0, "lambdas": [0.0, 0.01]},
            {"counts": counts(14)},
        )
        for i in range(3)
    ]
    here = compute_units(tmp_path / "here", units, represent, n_jobs=1, progress=quiet)
    with warnings.catch_warnings():
        # What a cluster says about its own start and end is not under test.
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=None,
        )
        with cluster, distributed.Client(cluster), parallel_config(backend="dask"):
            there = compute_units(tmp_path / "there", units, represent, n_jobs=2, progress=quiet)
    assert here == there
    ranks = np.array([scan[1]["ranks"] for scan in there])
    assert np.array(compare(ranks, 3)["tau"]).shape == (3, 3)


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
