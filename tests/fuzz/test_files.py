"""A small part of the search for files that are neither read nor refused, the same on every run."""

from __future__ import annotations

import os

import numpy as np
import pytest

pytest.importorskip("anndata")
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork"),
    # Python warns of a fork beside threads; the child here only reads files.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

# Rounds over the examples of all formats.
ROUNDS = 12
# Formats that are read by a process of their own, which takes long to start.
SLOW = (".h5ad",)


def test_mutated_files_are_read_or_refused(tmp_path):
    from fuzz import files

    (tmp_path / "examples").mkdir()
    examples = files.write_examples(tmp_path / "examples")
    quick = [file for file in examples if file.suffix not in SLOW]
    rng = np.random.default_rng(7)
    mutants = files.inputs(quick, None, rng, tmp_path)
    reader, outcomes = files.Reader(), []
    for _ in range(ROUNDS * len(quick)):
        _, read, file = next(mutants)
        outcomes.append(reader.attempt(read, file)[0])
    for example in set(examples) - set(quick):
        file = tmp_path / f"mutant{example.suffix}"
        file.write_bytes(files.mutated(example, rng))
        outcomes.append(reader.attempt(files.read_graph, file)[0])
    reader.close()
    assert set(outcomes) == {files.READ, files.REFUSED}


def dies(file):
    os.kill(os.getpid(), 9)


def fails(file):
    raise IndexError("list index out of range")


@pytest.mark.parametrize(
    ("read", "outcome"), [(dies, "death, status 9"), (fails, "traceback IndexError")]
)
def test_a_death_and_a_traceback_are_noticed(read, outcome, monkeypatch, tmp_path):
    from fuzz import files

    read.__name__ = "read_graph"
    monkeypatch.setattr(files, "read_graph", read)
    reader = files.Reader()
    assert reader.attempt(read, tmp_path / "a")[0].startswith(outcome)
    # The process is replaced.
    assert reader.attempt(read, tmp_path / "b")[0].startswith(outcome)
    reader.close()
