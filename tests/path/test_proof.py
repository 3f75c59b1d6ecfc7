"""Proofs of a path: of every level, kept with the path, and of the rows of its linkage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report.examples import made_path, pruned_path

import convexhc
from convexhc.cli import main
from convexhc.model.proof import Proof
from convexhc.path.exports import MAX_NAMES, proof_text
from convexhc.path.path import Path

# Two triangles, joined by one edge, as a similarity.
A = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
A[2, 3] = A[3, 2] = 1.0
K = A @ A + 0.5 * np.eye(6)


@pytest.fixture(scope="module")
def path():
    return convexhc.solve_features_path(K)


def with_proofs(path, proof):
    return replace(path, levels=tuple(replace(level, proof=proof) for level in path.levels))


def test_verdicts_follow_from_the_two_partitions():
    proof = Proof(np.array([0, 0, 1, 2, 3]), np.array([0, 0, 0, 1, 2]))
    assert not proof.is_proven
    np.testing.assert_array_equal(proof.in_doubt, [0, 1, 2])
    assert [proof.nodes(0, j) for j in (1, 2, 3)] == ["together", "open", "apart"]
    found = proof.pairs(np.array([0, 0, 0, 1, 2]))
    np.testing.assert_array_equal(np.diag(found), ["open", "together", "together"])
    assert set(found[np.triu_indices(3, 1)]) == {"apart"}
    np.testing.assert_array_equal(
        proof.proven_clusters(np.array([0, 0, 0, 1, 2])), [False, True, True]
    )
    assert Proof(proof.finest, proof.finest).is_proven


def test_members_of_a_leaf_share_its_verdict():
    proof = Proof(np.array([0, 1, 2]), np.array([0, 1, 1])).at(np.array([2, 2, 0, 1]))
    np.testing.assert_array_equal(proof.finest, [0, 0, 1, 2])
    np.testing.assert_array_equal(proof.coarsest, [0, 0, 1, 0])


def test_most_partitions_in_feature_space_are_proven_at_the_default_tolerance(path):
    assert path.proof.n_proven >= 0.8 * len(path.levels)
    for level in path.levels:
        assert len(np.unique(np.stack([level.proof.finest, level.labels]), axis=1).T) == (
            level.proof.finest.max() + 1
        )


def test_proofs_are_saved_with_the_path(path, tmp_path):
    path.save(tmp_path / "path.npz")
    again = Path.load(tmp_path / "path.npz")
    for one, other in zip(path.levels, again.levels, strict=True):
        np.testing.assert_array_equal(one.proof.finest, other.proof.finest)
        np.testing.assert_array_equal(one.proof.coarsest, other.proof.coarsest)


def test_a_file_whose_proof_is_of_another_partition_is_refused(path, tmp_path):
    wrong = with_proofs(path, Proof(np.zeros(6, np.int64), np.zeros(6, np.int64)))
    wrong.save(tmp_path / "path.npz")
    with pytest.raises(ValueError, match=r"proof at lam .* is not of its partition"):
        Path.load(tmp_path / "path.npz")


def test_paths_without_proofs_load_as_before(path, tmp_path):
    bare = with_proofs(path, None)
    bare.save(tmp_path / "path.npz")
    again = Path.load(tmp_path / "path.npz")
    assert not again.proof.exists
    assert again.proof.at(1.0).in_doubt.size == 6
    assert "proof:" not in again.summary()


def test_a_row_of_the_linkage_is_proven_if_both_sides_of_its_height_are(path):
    n = len(path.names)
    proven = [p is not None and p.is_proven for p in path.proof.proofs]
    found = path.merge_proof
    assert found.shape == (n - 1,)
    for row, height in enumerate(path.linkage[:, 2]):
        at = int(np.searchsorted(path.lambdas, height * (1 - 1e-12)))
        if at > 0 and proven[at] and proven[at - 1]:
            assert found[row]
        if at == 0:
            assert not found[row]
    doubt = Proof(np.arange(n), np.zeros(n, np.int64))
    assert not with_proofs(path, doubt).merge_proof.any()


def test_the_summary_names_the_nodes_in_doubt(path):
    # The two triangles are a pruning: no lam has them.
    near = "the level nearest to the suggested scale"
    assert proof_text(path).endswith(f"with that of {near}")
    open_ = with_proofs(path, Proof(np.arange(6), np.array([0, 0, 1, 2, 3, 4])))
    assert proof_text(open_) == (
        f"0 of {len(path.levels)} partitions proven; in doubt at {near}: 0, 1"
    )
    everything = with_proofs(path, Proof(np.arange(6), np.zeros(6, np.int64)))
    assert MAX_NAMES >= 6
    assert f"in doubt at {near}: 0, 1, 2, 3, 4, 5" in everything.summary()


def test_the_proof_of_a_suggested_scale_is_that_of_its_level_or_of_the_nearest():
    pruned = with_proofs(pruned_path(), Proof(np.arange(24), np.arange(24)))
    text = "3 of 3 partitions proven, with that of the level nearest to the suggested scale"
    assert proof_text(pruned) == text
    level = made_path([1.0, 5.0], [[0, 0, 1, 1], [0] * 4])
    level = with_proofs(level, Proof(np.arange(4), np.arange(4)))
    assert proof_text(level) == "2 of 2 partitions proven, with that of the suggested scale"


def test_prove_lowers_the_tolerance_until_the_partition_is_proven():
    lams = np.geomspace(0.2, 6.0, 14)
    plain = convexhc.solve_path(K, lams, tol=1e-2)
    asked = convexhc.solve_path(K, lams, tol=1e-2, prove=True)
    open_ones = ~plain.proof.is_proven
    assert open_ones.any()
    assert asked.proof.n_proven == lams.size
    assert (asked.relative_gap[open_ones] < plain.relative_gap[open_ones]).all()


def test_one_lam_is_proven_like_a_path(monkeypatch):
    # Labels that are settled are proven already.
    monkeypatch.setattr("convexhc.path.graph_model.GraphModel._effort", None)
    rough = convexhc.solve(K, 1.0, tol=1e-2, l1_ratio=0.0)
    proven = convexhc.solve(K, 1.0, tol=1e-2, l1_ratio=0.0, prove=True)
    assert not rough.proof.is_proven
    assert proven.proof.is_proven
    truth = convexhc.solve(K, 1.0, tol=1e-10, l1_ratio=0.0).labels
    np.testing.assert_array_equal(proven.proof.finest, truth)


def test_a_solution_keeps_its_proof_in_a_file(tmp_path):
    solution = convexhc.solve(K, 0.01)
    solution.save(tmp_path / "solution.npz")
    again = convexhc.Solution.load(tmp_path / "solution.npz")
    np.testing.assert_array_equal(again.proof.finest, solution.proof.finest)


def test_consensus_is_proven_for_a_singular_kernel():
    singular = np.ones((4, 4)) + np.kron(np.eye(2), np.ones((2, 2)))
    path = convexhc.solve_path(singular, [50.0])
    assert path.n_clusters[0] == 1
    assert path.proof.is_proven.all()


def test_prove_must_be_true_or_false():
    with pytest.raises(TypeError, match="prove must be True or False, received 3"):
        convexhc.solve_path(K, [1.0], prove=3)


def test_the_command_line_proves(tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\na c\nc d\nd e\ne f\nd f\n")
    words = ["fit", str(tmp_path / "edges.txt"), "-o", str(tmp_path / "out"), "--prove", "--quiet"]
    assert main(words) == 0
    path = Path.load(tmp_path / "out" / "path.npz")
    assert path.provenance.options["prove"] is True
    assert path.proof.n_proven > 0
