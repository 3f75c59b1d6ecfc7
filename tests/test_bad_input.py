"""Errors on invalid input: what was wrong, what was received, what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import convexhc
from convexhc import similarity
from convexhc.graph import Graph
from convexhc.io import as_graph

GOOD = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]])


def changed(entries: dict[tuple[int, int], float]) -> np.ndarray:
    matrix = GOOD.copy()
    for place, value in entries.items():
        matrix[place] = value
    return matrix


def partly_weighted() -> nx.Graph:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=1.0)
    graph.add_edge("b", "c")
    return graph


NAN, INF = float("nan"), float("inf")

# Input, exception, message about the problem, message about the remedy.
BAD: dict[str, tuple[Callable[[], Any], type[Exception], str, str]] = {
    "not a number": (
        lambda: as_graph(changed({(0, 2): NAN, (2, 0): NAN})),
        ValueError,
        "between 0 and 2 is nan",
        "replace it",
    ),
    "infinite": (
        lambda: as_graph(changed({(1, 1): INF})),
        ValueError,
        "between 1 and 1 is inf",
        "must be finite",
    ),
    "infinite in a sparse matrix": (
        lambda: as_graph(sparse.csr_array(changed({(0, 1): -INF, (1, 0): -INF}))),
        ValueError,
        "between 0 and 1 is -inf",
        "must be finite",
    ),
    "negative": (
        lambda: as_graph(changed({(0, 2): -0.5, (2, 0): -0.5}), names=["x", "y", "z"]),
        ValueError,
        "between 'x' and 'z' is negative, -0.5",
        "pass signed=True",
    ),
    "negative diagonal": (
        lambda: as_graph(changed({(1, 1): -1.0})),
        ValueError,
        "between 1 and 1 is negative",
        "pass signed=True",
    ),
    "negative edge": (
        lambda: as_graph([("a", "b", -2.0)]),
        ValueError,
        "between 'a' and 'b' is negative, -2",
        "set negative weights to 0",
    ),
    "asymmetric": (
        lambda: as_graph(changed({(0, 1): 0.75})),
        ValueError,
        "from 0 to 1 it is 0.75, back it is 0.5",
        "Pass symmetrize='mean', 'max' or 'min'",
    ),
    "asymmetric and sparse": (
        lambda: as_graph(sparse.csr_array(changed({(2, 0): 0.125}))),
        ValueError,
        "from 0 to 2 it is 0, back it is 0.125",
        "Pass symmetrize=",
    ),
    "two directions that differ": (
        lambda: as_graph([("a", "b", 1.0), ("b", "a", 2.0)]),
        ValueError,
        "from 'a' to 'b' it is 1, back it is 2",
        "Pass symmetrize=",
    ),
    "directed": (
        lambda: as_graph(nx.DiGraph([("a", "b")])),
        ValueError,
        "from 'a' to 'b' it is 1, back it is 0",
        "Pass symmetrize=",
    ),
    "unknown way to symmetrize": (
        lambda: as_graph(GOOD, symmetrize="sum"),
        ValueError,
        "received 'sum'",
        "one of None, 'mean', 'max', 'min'",
    ),
    "not square": (
        lambda: as_graph(np.ones((5, 3))),
        ValueError,
        "must be square, one row and one column per node, got shape (5, 3)",
        "use similarity.knn",
    ),
    "one dimension": (lambda: as_graph(np.ones(4)), ValueError, "got shape (4,)", "must be square"),
    "ragged rows": (
        lambda: as_graph([[1.0, 2.0], [2.0]]),
        ValueError,
        "rows of unequal length",
        "must be a rectangular array",
    ),
    "empty matrix": (
        lambda: as_graph(np.zeros((0, 0))),
        ValueError,
        "the graph is empty",
        "at least one node",
    ),
    "empty list": (lambda: as_graph([]), ValueError, "the graph is empty", "at least one node"),
    "empty network": (
        lambda: as_graph(nx.Graph()),
        ValueError,
        "the graph is empty",
        "at least one node",
    ),
    "complex": (
        lambda: as_graph(GOOD.astype(complex)),
        TypeError,
        "got dtype complex128",
        "take the modulus",
    ),
    "objects": (
        lambda: as_graph(GOOD.astype(object)),
        TypeError,
        "got dtype object",
        ".astype(float)",
    ),
    "text": (
        lambda: as_graph(pd.DataFrame([["1", "x"], ["x", "1"]])),
        TypeError,
        "must hold real numbers",
        ".astype(float)",
    ),
    "text as weight": (
        lambda: as_graph([("a", "b", "heavy")]),
        TypeError,
        "the weight must hold real numbers",
        "convert it",
    ),
    "masked": (
        lambda: as_graph(np.ma.masked_equal(GOOD, 0.25)),
        ValueError,
        "masked entries",
        "fill them",
    ),
    "too few names": (
        lambda: as_graph(GOOD, names=["a", "b"]),
        ValueError,
        "got 2 for 3 nodes",
        "one name per node",
    ),
    "names twice": (
        lambda: as_graph(GOOD, names=["a", "b", "a"]),
        ValueError,
        "'a' is used twice",
        "make the names distinct",
    ),
    "names that cannot be looked up": (
        lambda: as_graph(GOOD, names=[["a"], ["b"], ["c"]]),
        TypeError,
        "got ['a']",
        "must be hashable",
    ),
    "names as one text": (
        lambda: as_graph(GOOD, names="abc"),
        TypeError,
        "got 'abc'",
        "a sequence with one name per node",
    ),
    "names without an order": (
        lambda: as_graph(GOOD, names={"a", "b", "c"}),
        TypeError,
        "names must be a sequence",
        "one name per node",
    ),
    "ends that cannot be looked up": (
        lambda: as_graph([(["a"], "b")]),
        TypeError,
        "unhashable type",
        "must be hashable",
    ),
    "missing end of a pair": (
        lambda: as_graph([("a", NAN)]),
        ValueError,
        "an edge has a missing end",
        "drop it or name its node",
    ),
    "missing end of pandas": (
        lambda: as_graph(pd.DataFrame({"u": pd.array(["a", pd.NA]), "v": ["b", "c"]})),
        ValueError,
        "an edge has a missing end",
        "drop it or name its node",
    ),
    "missing end": (
        lambda: as_graph(pd.DataFrame({"u": ["a", None], "v": ["b", "c"]})),
        ValueError,
        "an edge has a missing end",
        "drop it or name its node",
    ),
    "node that names leave out": (
        lambda: as_graph([("a", "b")], names=["a", "c"]),
        ValueError,
        "mentions the node 'b'",
        "leave names out",
    ),
    "edges of different lengths": (
        lambda: as_graph([("a", "b"), ("b", "c", 1.0)]),
        ValueError,
        "edge number 1 of the list is ('b', 'c', 1.0)",
        "all (u, v) or all (u, v, weight)",
    ),
    "edges of one end": (
        lambda: as_graph([("a",)]),
        ValueError,
        "edge number 0",
        "all (u, v) or all (u, v, weight)",
    ),
    "edges that are no tuples": (
        lambda: as_graph(iter([1, 2])),
        ValueError,
        "edge number 0 of the list is 1",
        "tuples",
    ),
    "node out of range": (
        lambda: Graph.from_edges(2, [0], [2]),
        ValueError,
        "head holds node 2",
        "nodes go from 0 to 1",
    ),
    "nodes that are no integers": (
        lambda: Graph.from_edges(2, [0.5], [1]),
        TypeError,
        "got float64",
        "tail must hold integers",
    ),
    "arrays of different lengths": (
        lambda: Graph.from_edges(3, [0, 1], [1, 2], [1.0]),
        ValueError,
        "got shapes (2,), (2,) and (1,)",
        "of one length",
    ),
    "number of nodes": (
        lambda: Graph.from_edges(2.0, [0], [1]),
        TypeError,
        "received 2.0",
        "must be an integer",
    ),
    "rule for duplicates": (
        lambda: Graph.from_edges(2, [0], [1], duplicates="max"),
        ValueError,
        "received 'max'",
        "one of 'sum', 'mirror'",
    ),
    "frame with other labels": (
        lambda: as_graph(pd.DataFrame(GOOD, index=list("abc"), columns=list("xyz"))),
        ValueError,
        "neither a square matrix whose index equals its columns",
        "relabel it",
    ),
    "weight column": (
        lambda: as_graph(pd.DataFrame({"u": ["a"], "v": ["b"]}), weight="score"),
        ValueError,
        "no weight column 'score'",
        "the columns are ['u', 'v']",
    ),
    "several columns that may be the weight": (
        lambda: as_graph(pd.DataFrame({"u": ["a"], "v": ["b"], "day": [1], "contacts": [3]})),
        ValueError,
        "which column holds the weight? The columns are ['u', 'v', 'day', 'contacts']",
        "pass weight=",
    ),
    "weight attribute": (
        lambda: as_graph(nx.path_graph(2), weight="score"),
        ValueError,
        "no edge has the attribute 'score'",
        "the attributes are []",
    ),
    "weight on some edges": (
        lambda: as_graph(partly_weighted()),
        ValueError,
        "the edge ('b', 'c') has no attribute 'weight'",
        "give every edge one",
    ),
    "weight attribute of igraph": (
        lambda: as_graph(igraph.Graph([(0, 1)]), weight="score"),
        ValueError,
        "no edge has the attribute 'score'",
        "the attributes are []",
    ),
    "dictionary": (
        lambda: as_graph({"a": "b"}),
        TypeError,
        "cannot read a graph from dict",
        "give a matrix",
    ),
    "set": (
        lambda: as_graph({("a", "b")}),
        TypeError,
        "cannot read a graph from set",
        "a list of (u, v, weight) tuples",
    ),
    "nothing": (lambda: as_graph(None), TypeError, "from NoneType", "give a matrix"),
    "no such file": (
        lambda: as_graph("karate.csv"),
        FileNotFoundError,
        "there is no file 'karate.csv'",
        "accepted files: .csv",
    ),
    "folder": (
        lambda: as_graph(Path(__file__).parent),
        ValueError,
        "is not a file of a known kind",
        "accepted files: .csv",
    ),
    "unknown kind of file": (
        lambda: as_graph(__file__),
        ValueError,
        "is not a file of a known kind",
        "accepted files: .csv",
    ),
    "indefinite": (
        lambda: similarity.require_psd([[1.0, 3.0], [3.0, 1.0]]),
        ValueError,
        "smallest eigenvalue is -2",
        "Add shift >= 2",
    ),
    "negative shift": (
        lambda: similarity.two_hop(GOOD, shift=-1.0),
        ValueError,
        "received -1.0",
        "shift, unless 'auto', must be between 0 and 1e+60",
    ),
    "shift that is no number": (
        lambda: similarity.normalized(GOOD, shift="some"),
        TypeError,
        "received 'some'",
        "shift, unless 'auto', must be a number",
    ),
    "steps": (
        lambda: similarity.diffusion(GOOD, time=1.5),
        TypeError,
        "received 1.5",
        "time must be an integer",
    ),
    "time": (
        lambda: similarity.heat(GOOD, time=0),
        ValueError,
        "received 0",
        "time must be finite and positive",
    ),
    "bandwidth": (
        lambda: similarity.rbf(GOOD, bandwidth=0.0),
        ValueError,
        "received 0.0",
        "bandwidth, unless 'auto', must be finite and positive",
    ),
    "neighbours": (
        lambda: similarity.knn(GOOD, n_neighbors=0),
        ValueError,
        "received 0",
        "n_neighbors must be at least 1",
    ),
    "strongest neighbours": (
        lambda: similarity.sparsify(GOOD, 1.5),
        TypeError,
        "received 1.5",
        "n_neighbors must be an integer",
    ),
    "threshold": (
        lambda: similarity.correlation(GOOD, threshold=2.0),
        ValueError,
        "received 2.0",
        "threshold must be between 0 and 1",
    ),
    "constant row": (
        lambda: similarity.correlation([[1.0, 2.0], [3.0, 3.0]]),
        ValueError,
        "row 1 is constant",
        "drop it",
    ),
    "missing coordinate": (
        lambda: similarity.knn([[0.0, 1.0], [NAN, 0.0]]),
        ValueError,
        "row 1, column 0 of the points is nan",
        "drop or fill it in",
    ),
    "points in one dimension": (
        lambda: similarity.rbf([1.0, 2.0]),
        ValueError,
        "got shape (2,)",
        "one row per point",
    ),
    "sparse points": (
        lambda: similarity.knn(sparse.csr_array(GOOD)),
        TypeError,
        "got a sparse matrix",
        "X.toarray()",
    ),
    "floor": (
        lambda: similarity.shift_to_positive(GOOD, floor=0.0),
        ValueError,
        "received 0.0",
        "floor must be finite and positive",
    ),
}


@pytest.mark.parametrize(("attempt", "error", "what", "cure"), BAD.values(), ids=BAD)
def test_errors_say_what_was_wrong_and_what_to_do(attempt, error, what, cure):
    with pytest.raises(error) as caught:
        attempt()
    message = str(caught.value)
    assert what in message
    assert cure in message


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("graph.npz", {"a": GOOD, "b": GOOD}, "holds the arrays ['a', 'b']"),
        ("graph.npz", {"a": np.array([None])}, "it holds Python objects"),
        ("graph.npy", "not an array", "graph.npy"),
        ("graph.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n", "line 3"),
        ("graph.graphml", "<graphml><graph>", "not a valid .graphml file"),
        ("graph.gml", "graph [ node [ ", "not a valid .gml file"),
        ("graph.csv", "a,b,nan\n", "between 'a' and 'b' is nan"),
    ],
)
def test_a_bad_file_is_named(name, content, what, tmp_path):
    path = tmp_path / name
    if isinstance(content, dict):
        np.savez(path, **content)
    else:
        path.write_text(content)
    with pytest.raises(ValueError, match=r"graph\.") as caught:
        as_graph(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert what in str(caught.value)


def test_a_missing_entry_of_an_anndata_object_is_named():
    cells = SimpleNamespace(obsp={"distances": GOOD}, obs_names=pd.Index(["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"no obsp\['connectivities'\]: it has \['distances'\]"):
        as_graph(cells)


@pytest.mark.parametrize(
    ("attempt", "what"),
    [
        (lambda: convexhc.solve(GOOD, 1e308), "lam must be between 0 and 1e.60, received 1e.308"),
        (lambda: convexhc.solve_path(GOOD, [1.0, 1e300]), "every entry of lambdas must be between"),
        (lambda: convexhc.smooth_path(GOOD, [1.0, 1e300]), "must be between 0 and 1e.60"),
        (lambda: similarity.two_hop(GOOD, shift=1e308), "shift, unless 'auto', must be between"),
        (lambda: convexhc.solve(1e300 * GOOD, 1.0), "weights must be at most 1e.60, the largest"),
        (lambda: convexhc.solve(1e-200 * GOOD, 1.0), "take another unit"),
        (lambda: convexhc.solve_points_path([[1e200], [0.0]], weights=1), "take another unit"),
    ],
)
def test_numbers_whose_products_overflow_are_refused(attempt, what):
    with pytest.raises(ValueError, match=what):
        attempt()
