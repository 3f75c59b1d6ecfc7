"""Solution objects: text, contents, saving and loading."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import convexhc
from convexhc import Solution, Status, as_graph, solve

K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
NAMES = ("a", ("b", 1), 3, "<d>", "é", 2.5)


@pytest.fixture(scope="module")
def solution():
    return solve(as_graph(K, names=NAMES), 1.0, l1_ratio=0.1)


def assert_same(found, expected):
    for field in ("centroids", "dual", "labels"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    for field in ("certificate", "status", "n_iter", "lam", "method", "names", "seconds"):
        assert getattr(found, field) == getattr(expected, field), field
    assert found.provenance == expected.provenance


def test_a_saved_solution_is_loaded_bit_for_bit(solution, tmp_path):
    solution.save(tmp_path / "one.npz")
    loaded = Solution.load(str(tmp_path / "one.npz"))
    assert_same(loaded, solution)
    assert loaded.summary() == solution.summary()
    assert [file.name for file in tmp_path.iterdir()] == ["one.npz"]


def test_a_loaded_solution_is_a_warm_start(solution, tmp_path):
    solution.save(tmp_path / "one.npz")
    again = solve(K, 1.0, l1_ratio=0.1, start=Solution.load(tmp_path / "one.npz"))
    assert again.status is Status.SOLVED
    np.testing.assert_array_equal(again.labels, solution.labels)


def test_a_file_is_arrays_and_json(solution, tmp_path):
    solution.save(tmp_path / "one.npz")
    with np.load(tmp_path / "one.npz", allow_pickle=False) as archive:
        text = json.loads(str(archive["text"]))
    assert text["kind"] == "solution"
    assert text["provenance"]["version"] == convexhc.__version__
    assert text["provenance"]["options"]["l1_ratio"] == 0.1


def path_of_it(file):
    convexhc.solve_path(K, [1.0]).save(file)


def without_a_dual(file):
    solve(K, 1.0).save(file)
    with np.load(file) as archive:
        kept = {name: archive[name] for name in archive.files if name != "dual"}
    np.savez(file, **kept)


def cut_short(file):
    solve(K, 1.0).save(file)
    file.write_bytes(file.read_bytes()[:-30])


@pytest.mark.parametrize("make", [path_of_it, without_a_dual, cut_short])
def test_other_files_are_rejected_and_not_modified(make, tmp_path):
    file = tmp_path / "one.npz"
    make(file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"one\.npz: not a valid solution.*another file"):
        Solution.load(file)
    assert file.read_bytes() == before


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        Solution.load(tmp_path / "none.npz")


def test_clusters_and_frame_carry_the_names(solution):
    assert solution.clusters == (NAMES[:3], NAMES[3:])
    frame = solution.to_frame()
    assert tuple(frame["node"]) == NAMES
    assert frame["cluster"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["size"].tolist() == [3] * 6


def test_nodes_without_names_are_numbered():
    bare = Solution(
        np.eye(3), np.zeros((0, 3)), np.array([0, 1, 0]), solve(K, 0.0).certificate,
        Status.SOLVED, 0, 0.0, "made",
    )  # fmt: skip
    assert bare.clusters == ((0, 2), (1,))
    assert bare.to_frame()["node"].tolist() == [0, 1, 2]


def test_a_frame_without_pandas_names_the_package_to_install(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"convexhc\[graphs\]"):
        solution.to_frame()


def test_summary_and_card_agree(solution):
    said = solution.summary()
    assert "6 nodes, lam 1, 2 clusters: 2 of 3" in said
    assert f"{solution.relative_gap:.1e}" in said
    assert solution.method in said
    assert Status.SOLVED.value in said
    page = solution._repr_html_()
    assert said in page
    assert set(re.findall(r"</?(\w+)", page)) == {"div", "strong", "pre"}


def test_summary_of_an_unsolved_problem_gives_advice():
    with pytest.warns(ConvergenceWarning):
        unsolved = solve(K, 0.3, tol=1e-12, max_iter=1)
    assert Status.MAX_ITER.value in unsolved.summary()


def test_provenance_is_recorded(solution):
    origin = solution.provenance
    assert origin.options["lam"] == 1.0
    assert solution.seconds > 0.0
    same = solve(K, 1.0, l1_ratio=0.1).provenance
    assert same == origin
    for other in (
        solve(K, 1.1, l1_ratio=0.1),
        solve(K, 1.0, l1_ratio=0.2),
        solve(K + np.eye(6), 1.0, l1_ratio=0.1),
        solve(K, 1.0, l1_ratio=0.1, weights=2),
    ):
        assert other.provenance.digest != origin.digest


def test_the_similarity_is_recorded():
    made = convexhc.similarity.knn(np.arange(8.0)[:, None], n_neighbors=2, shift="auto")
    record = solve(made, 0.1).provenance.options["similarity"]
    assert record == made.record
    assert (record["kind"], record["shift"], record["n_neighbors"]) == ("knn", made.shift, 2)
    assert solve(K, 1.0).provenance.options["similarity"] is None


def test_a_solution_is_immutable(solution):
    with pytest.raises(FrozenInstanceError):
        solution.lam = 2.0
