"""A graph in a file, and the folder of its fit, for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convexhc.cli import main
from convexhc.datasets import fractal_graph


@pytest.fixture(scope="session")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV edge list of two communities of three groups, with names."""
    graph = fractal_graph(0, n_meta=2, n_super=3, clique=4)
    tail, head = np.nonzero(np.triu(graph.adjacency.toarray()))
    file = tmp_path_factory.mktemp("graphs") / "edges.csv"
    lines = [f"n{a:02d},n{b:02d},1" for a, b in zip(tail, head, strict=True)]
    file.write_text("\n".join(["source,target,weight", *lines]) + "\n")
    return file


@pytest.fixture(scope="session")
def fitted(edges: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fit") / "out"
    assert main(["fit", str(edges), "-o", str(out), "--quiet"]) == 0
    return out
