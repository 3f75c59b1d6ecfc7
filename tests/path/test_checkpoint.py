"""Files: a killed run is resumed to the same result, and foreign files are not modified."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import fields

import numpy as np
import pytest

from convexhc import Path, as_graph, datasets, similarity, solve_path
from convexhc.io.archive import decode_names, encode_names, read_npz
from convexhc.model.problem import graph_problem
from convexhc.path import Level, checkpoint, graph_model
from convexhc.path.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def kernel():
    adjacency = datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4).adjacency
    return similarity.two_hop(adjacency, shift=0.05)


@pytest.fixture(scope="module")
def whole(kernel):
    """The path of an uninterrupted run."""
    return solve_path(kernel)


@pytest.fixture
def tiny():
    """A similarity that is solved quickly, for tests of files."""
    return np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)


# An effective rank is stored once it is known; the similarity is not stored.
COMPARED = {field.name for field in fields(Level)} - {"seconds", "rank", "similarity"}
COMPARED |= {"effective_rank"}


def assert_same_path(found, expected):
    """Equal bit for bit, except for the running time."""
    assert found.complete == expected.complete
    assert found.names == expected.names
    assert found.provenance == expected.provenance
    np.testing.assert_array_equal(found.components, expected.components)
    assert len(found.levels) == len(expected.levels)
    for one, other in zip(found.levels, expected.levels, strict=True):
        for name in COMPARED:
            value = getattr(one, name)
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


RUN = """
import os
import signal
import sys

from convexhc import datasets, similarity, solve_path

adjacency = datasets.fractal_graph(0, n_meta=2, n_super=3, clique=4).adjacency
kernel = similarity.two_hop(adjacency, shift=0.05)
moment, result, checkpoint, left = *sys.argv[1:4], int(sys.argv[4])
solved = 0


def die():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def count(point):
    global solved
    solved += 1
    if moment == "between":
        die()


if moment == "writing":
    synced = os.fsync
    os.fsync = lambda file: (die(), synced(file))
path = solve_path(kernel, checkpoint=checkpoint or None, on_check=count)
path.save(result)
print(solved)
"""


def run_apart(result, *, checkpoint="", moment="never", left=0):
    """Solve in a separate process, which may be killed."""
    arguments = [moment, str(result), str(checkpoint), str(left)]
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments], check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The path of an uninterrupted process.

    The second run uses cached kernels, as all processes here do: freshly compiled kernels may round
    the last bit differently.
    """
    file = tmp_path_factory.mktemp("alone") / "path.npz"
    for _ in range(2):
        assert run_apart(file).returncode == 0
    return Path.load(file)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize(("moment", "left"), [("between", 10), ("writing", 11)])
def test_a_killed_run_is_resumed_to_the_same_bits(moment, left, alone, tmp_path):
    """Killed after ten lam are on disk, or while the eleventh is being written."""
    checkpoint, result = tmp_path / "run.npz", tmp_path / "path.npz"
    killed = run_apart(result, checkpoint=checkpoint, moment=moment, left=left)
    assert killed.returncode == -signal.SIGKILL
    assert not result.exists()
    assert len(read_npz(checkpoint, "checkpoint", lambda _, arrays: arrays["lam"])) == 10
    resumed = run_apart(result, checkpoint=checkpoint)
    assert int(resumed.stdout) == len(alone.levels) - 10
    assert_same_path(Path.load(result), alone)


@pytest.mark.parametrize("after", [1, 5, 14])
def test_a_stopped_run_is_resumed_to_the_same_bits(after, kernel, whole, tmp_path):
    file, seen = tmp_path / "run.npz", []
    stopped = solve_path(
        kernel, checkpoint=file, on_check=lambda p: seen.append(p) or len(seen) == after
    )
    assert not stopped.complete
    assert len(stopped.levels) == after
    assert_same_path(solve_path(kernel, checkpoint=file), whole)


@pytest.fixture
def unhurried(monkeypatch):
    """Every checkpoint counts as large and slow to write; yields the number of levels in each."""
    monkeypatch.setattr(checkpoint, "_SMALL_BYTES", 0)
    monkeypatch.setattr(checkpoint, "_WRITE_INTERVAL", np.inf)
    write, held = Checkpoint.write, []
    monkeypatch.setattr(
        Checkpoint,
        "write",
        lambda self, progress: (held.append(len(progress.levels)), write(self, progress)),
    )
    return held


def test_a_large_checkpoint_is_written_rarely_and_at_the_end(kernel, whole, unhurried, tmp_path):
    assert_same_path(solve_path(kernel, checkpoint=tmp_path / "run.npz"), whole)
    assert unhurried == [1, len(whole.levels)]


@pytest.mark.parametrize("after", [1, 7])
def test_unwritten_levels_survive_an_interrupt(
    after, kernel, whole, unhurried, tmp_path, monkeypatch
):
    """Ctrl-C is pressed during a solve."""
    solve, solved = graph_model.GraphModel.solve, []

    def interrupted(*given, **options):
        if len(solved) == after:
            raise KeyboardInterrupt
        solved.append(solve(*given, **options))
        return solved[-1]

    with monkeypatch.context() as patched:
        patched.setattr(graph_model.GraphModel, "solve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solve_path(kernel, checkpoint=tmp_path / "run.npz")
    assert unhurried == [1, after]
    assert_same_path(solve_path(kernel, checkpoint=tmp_path / "run.npz"), whole)


def test_a_run_stopped_at_every_lam_still_finishes(tiny, tmp_path):
    expected = solve_path(tiny)
    for _ in expected.levels:
        path = solve_path(tiny, checkpoint=tmp_path / "run.npz", on_check=lambda point: True)
        assert not path.complete
    assert_same_path(solve_path(tiny, checkpoint=tmp_path / "run.npz"), expected)


@pytest.mark.parametrize("lambdas", [None, [0.01, 0.1, 1.0]])
def test_a_finished_run_is_read_and_not_solved_again(lambdas, tiny, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    first = solve_path(tiny, lambdas, checkpoint=file)
    written = file.read_bytes()

    def refuse(*_, **__):
        raise AssertionError("solved again")

    monkeypatch.setattr(graph_model, "solve_graph", refuse)
    assert_same_path(solve_path(tiny, lambdas, checkpoint=file), first)
    assert file.read_bytes() == written


def test_given_lambdas_are_resumed_too(tiny, tmp_path):
    grid, seen = [0.01, 0.05, 0.1, 0.5, 1.0], []
    solve_path(
        tiny, grid, checkpoint=tmp_path / "run.npz", on_check=lambda p: seen.append(p) or True
    )
    assert len(seen) == 1
    path = solve_path(tiny, grid, checkpoint=str(tmp_path / "run.npz"))
    assert_same_path(path, solve_path(tiny, grid))


def test_a_checkpoint_leaves_no_other_file_behind(tiny, tmp_path):
    solve_path(tiny, checkpoint=tmp_path / "run.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_a_write_that_fails_keeps_the_old_file(tiny, tmp_path, monkeypatch):
    file = tmp_path / "path.npz"
    path = solve_path(tiny, [0.1])
    path.save(file)
    written = file.read_bytes()

    def full(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        path.save(file)
    assert file.read_bytes() == written
    assert [f.name for f in tmp_path.iterdir()] == ["path.npz"]


def cut_in_half(file, tiny):
    solve_path(tiny, checkpoint=file)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def last_byte_missing(file, tiny):
    solve_path(tiny, checkpoint=file)
    file.write_bytes(file.read_bytes()[:-1])


def byte_changed(file, tiny):
    solve_path(tiny, checkpoint=file)
    with zipfile.ZipFile(file) as archive:
        at = archive.getinfo("partitions.npy").header_offset + 200
    content = bytearray(file.read_bytes())
    content[at] ^= 0xFF
    file.write_bytes(content)


def nothing_inside(file, tiny):
    file.write_bytes(b"")


def plain_text(file, tiny):
    file.write_text("source,target\n0,1\n")


def pickled(file, tiny):
    with file.open("wb") as stream:
        np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)


def one_array(file, tiny):
    with file.open("wb") as stream:
        np.save(stream, np.eye(3))


def other_arrays(file, tiny):
    np.savez(file, a=np.eye(3))


def other_text(file, tiny):
    np.savez(file, text=np.array(json.dumps(["a", "list"])))


def column_missing(file, tiny):
    solve_path(tiny).save(file)
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "partitions"}
    np.savez(file, **arrays)


def saved_path(file, tiny):
    solve_path(tiny).save(file)


def other_data(file, tiny):
    solve_path(2.0 * tiny, checkpoint=file)


def other_weights(file, tiny):
    solve_path(tiny, weights=2, checkpoint=file)


def other_tolerance(file, tiny):
    solve_path(tiny, tol=1e-3, checkpoint=file)


def other_lambdas(file, tiny):
    solve_path(tiny, [0.1, 0.2], checkpoint=file)


UNREADABLE = [
    cut_in_half,
    last_byte_missing,
    byte_changed,
    nothing_inside,
    plain_text,
    pickled,
    one_array,
    other_arrays,
    other_text,
    column_missing,
]
OTHER_RUNS = [other_data, other_weights, other_tolerance, other_lambdas]


def assert_refused(call, file, match):
    before = file.read_bytes()
    with pytest.raises(ValueError, match=match) as refused:
        call()
    assert file.name in str(refused.value)
    assert "another file" in str(refused.value)
    assert file.read_bytes() == before
    assert [f.name for f in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("make", [*UNREADABLE, saved_path], ids=lambda make: make.__name__)
def test_other_files_are_rejected_as_checkpoints_and_not_modified(make, tiny, tmp_path):
    file = tmp_path / "run.npz"
    make(file, tiny)
    assert_refused(lambda: solve_path(tiny, checkpoint=file), file, "not a (valid )?checkpoint")


@pytest.mark.parametrize("make", OTHER_RUNS, ids=lambda make: make.__name__)
def test_the_checkpoint_of_another_run_is_rejected_and_not_modified(make, tiny, tmp_path):
    file = tmp_path / "run.npz"
    make(file, tiny)
    assert_refused(lambda: solve_path(tiny, checkpoint=file), file, "checkpoint of another run")


def test_a_flipped_byte_of_a_checkpoint_never_changes_the_result(tiny, tmp_path):
    """200 places of an unfinished run: each is refused, or the result is the same to the bit."""
    file, grid = tmp_path / "run.npz", [0.05, 0.1, 0.5, 1.0]
    solve_path(tiny, grid, checkpoint=file, on_check=lambda level: level.lam > 0.05)
    written = file.read_bytes()
    expected = solve_path(tiny, grid)
    rng, outcomes = np.random.default_rng(0), []
    for at in rng.choice(len(written), 200, replace=False):
        changed = bytearray(written)
        changed[at] ^= rng.integers(1, 256)
        file.write_bytes(changed)
        try:
            found = solve_path(tiny, grid, checkpoint=file)
        except ValueError:
            assert file.read_bytes() == changed
            outcomes.append("refused")
        else:
            assert_same_path(found, expected)
            outcomes.append("harmless")
    # Dates and rights of the members of an archive have no checksum, and no meaning here.
    assert outcomes.count("refused") > 150
    assert "harmless" in outcomes


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__)
def test_other_files_are_rejected_as_paths_and_not_modified(make, tiny, tmp_path):
    file = tmp_path / "path.npz"
    make(file, tiny)
    assert_refused(lambda: Path.load(file), file, "not a (valid )?path")


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path\.npz"):
        Path.load(tmp_path / "path.npz")


NAMES = [
    ("a", "b", "é", "", "0", "None"),
    ((0, 1), ("a", 2.5), ("x", ("y", 1)), (), ("a",), ("tuple",)),
    (5, -1, 0, 2**70, 7, 8),
    (0.5, 1.0, -2.25, 1e300, 1e-300, 3.0),
    (0, "0", 0.5, (0,), True, None),
]


@pytest.mark.parametrize("names", NAMES, ids=["str", "tuple", "int", "float", "mixed"])
def test_a_saved_path_is_loaded_bit_for_bit(names, tiny, tmp_path):
    path = solve_path(as_graph(tiny, names=names), keep=lambda lam: lam > 0.1)
    path.save(tmp_path / "path.npz")
    loaded = Path.load(str(tmp_path / "path.npz"))
    assert_same_path(loaded, path)
    assert [type(name) for name in loaded.names] == [type(name) for name in path.names]
    np.testing.assert_array_equal(loaded.linkage, path.linkage)
    assert loaded.seconds == path.seconds > 0.0
    assert loaded.summary() == path.summary()
    assert loaded.to_newick() == path.to_newick()
    loaded.save(tmp_path / "again.npz")
    assert_same_path(Path.load(tmp_path / "again.npz"), path)


def test_numpy_names_become_python_scalars_and_other_objects_text():
    kept = decode_names(json.loads(json.dumps(encode_names((np.int64(3), np.str_("a"), b"raw")))))
    assert kept == (3, "a", "b'raw'")


def test_a_file_needs_no_pickle(tiny, tmp_path):
    """Every array is a plain array, and the text is JSON."""
    path = solve_path(tiny, checkpoint=tmp_path / "run.npz")
    path.save(tmp_path / "path.npz")
    for name, kind in (("run.npz", "checkpoint"), ("path.npz", "path")):
        with np.load(tmp_path / name, allow_pickle=False) as archive:
            assert all(archive[key].dtype.hasobject is False for key in archive.files)
            text = json.loads(str(archive["text"]))
        assert text["kind"] == kind
        assert text["digest"] == path.provenance.digest


def test_a_file_keeps_the_name_it_was_given(tiny, tmp_path):
    path = solve_path(tiny, [0.1])
    path.save(tmp_path / "no suffix")
    assert_same_path(Path.load(tmp_path / "no suffix"), path)


def test_fingerprints_of_different_runs_differ(tiny):
    base = solve_path(tiny, [0.1])
    assert solve_path(tiny.copy(), [0.1]).provenance == base.provenance
    for other in (
        solve_path(tiny + np.diag([1e-12, 0, 0, 0, 0, 0]), [0.1]),
        solve_path(tiny, [0.2]),
        solve_path(tiny, [0.1], l1_ratio=0.06),
        solve_path(tiny, [0.1], constraint="simplex"),
        solve_path(tiny, [0.1], method="admm"),
        solve_path(tiny, [0.1], weights=np.ones((6, 6))),
    ):
        assert other.provenance.digest != base.provenance.digest


def test_a_checkpoint_without_a_file_has_no_progress(tmp_path):
    problem = graph_problem(as_graph(np.eye(2)), 1.0)
    assert Checkpoint(tmp_path / "run.npz", "digest", problem).load() is None
