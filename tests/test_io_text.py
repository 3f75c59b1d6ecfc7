"""Text files: edge lists and matrices, with and without titles, names and quotes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn_graphs import adjacencies, assert_same
from hypothesis import given

from convexhc.graph import Graph
from convexhc.io import as_graph

PATH = Graph.from_edges(3, [0, 1], [1, 2], [0.5, 2.0], names=["ann", "bob", "cid"])
UNWEIGHTED = Graph.from_edges(3, [0, 1], [1, 2], names=["ann", "bob", "cid"])
SQUARE = np.array(
    [[1, 0.5, 0, 0], [0.5, 1, 2, 0], [0, 2, 1, 0.25], [0, 0, 0.25, 1]], dtype=np.float64
)
NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def written(tmp_path):
    def write(text: str, kind: str = "csv"):
        path = tmp_path / f"graph.{kind}"
        path.write_bytes(text.encode())
        return path

    return write


EDGE_LISTS = {
    "plain": ("ann,bob,0.5\nbob,cid,2\n", "csv"),
    "title": ("source,target,weight\nann,bob,0.5\nbob,cid,2\n", "csv"),
    "unknown title": ("gene1,gene2,score\nann,bob,0.5\nbob,cid,2\n", "csv"),
    "other columns": ("Id,Target,Kind,Source,W\n1,bob,x,ann,0.5\n2,cid,y,bob,2\n", "csv"),
    "title with another weight": ("u,v,contacts\nann,bob,0.5\nbob,cid,2\n", "csv"),
    "tabs": ("ann\tbob\t0.5\nbob\tcid\t2\n", "tsv"),
    "semicolons": ("ann;bob;0.5\nbob;cid;2\n", "csv"),
    "blanks": ("  ann   bob 0.5\nbob cid  2  \n", "txt"),
    "comments": ("# a graph\n\n% of three\nann bob 0.5\n   \nbob cid 2", "txt"),
    "spaces after commas": ("ann, bob, 0.5\nbob , cid, 2\n", "csv"),
    "quotes": ('"ann","bob",0.5\n"bob","cid","2"\n', "csv"),
    "quotes and blanks": ('"ann"  "bob" 0.5\n"bob" "cid" 2\n', "txt"),
    "windows": ("\ufeffann,bob,0.5\r\nbob,cid,2\r\n", "csv"),
    "both directions": ("ann,bob,0.5\nbob,cid,2\ncid,bob,2\nbob,ann,0.5\n", "csv"),
    "no newline at the end": ("ann,bob,0.5\nbob,cid,2", "csv"),
}


@pytest.mark.parametrize(("text", "kind"), EDGE_LISTS.values(), ids=EDGE_LISTS)
def test_edge_lists(text, kind, written):
    assert_same(as_graph(written(text, kind)), PATH)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann,bob\nbob,cid\n", "csv"),
        ("from,to\nann,bob\nbob,cid\n", "csv"),
        ("ann bob\nbob cid", "txt"),
        ("u\tv\nann\tbob\nbob\tcid", "tsv"),
    ],
)
def test_edge_lists_without_weights(text, kind, written):
    assert_same(as_graph(written(text, kind)), UNWEIGHTED)


@pytest.mark.parametrize(
    "text",
    ["10,2\n2,7\n7,2\n2,10\n", "gene1,gene2\n10,2\n2,7\n2,10\n"],
    ids=["numbers", "title above numbers"],
)
def test_whole_numbers_are_integer_names_in_their_order(text, written):
    assert_same(as_graph(written(text)), Graph.from_edges(3, [0, 0], [1, 2], names=[2, 7, 10]))


def test_the_weight_column_can_be_named_or_left_out(written):
    path = written("u,v,day,contacts\nann,bob,1,0.5\nbob,cid,3,2\n")
    assert_same(as_graph(path, weight="contacts"), PATH)
    assert_same(as_graph(path, weight=None), UNWEIGHTED)
    path = written("gene1,gene2,score\nann,bob,0.5\nbob,cid,2\n")
    assert_same(as_graph(path, weight="score"), PATH)
    assert_same(as_graph(path, weight=None), UNWEIGHTED)


def test_numbers_that_integers_would_change_stay_text(written):
    assert as_graph(written("007,1,1\n1,2,1\n")).names == ("007", "1", "2")
    assert as_graph(written("NA,nan,1\n")).names == ("NA", "nan")


def test_a_comma_inside_quotes_belongs_to_the_name(written):
    graph = as_graph(written('"Doe, J","Roe, R",1.5\n'))
    assert_same(graph, Graph.from_edges(2, [0], [1], [1.5], names=["Doe, J", "Roe, R"]))


def frame(**options: object) -> str:
    return pd.DataFrame(SQUARE, index=NAMES, columns=NAMES).to_csv(**options)


MATRICES = {
    "both names": (frame(), NAMES),
    "corner": (frame(index_label="gene"), NAMES),
    "no corner": ("a b c d\n" + frame(sep=" ", header=False), NAMES),
    "column names": (frame(index=False), NAMES),
    "row names": (frame(header=False), NAMES),
    "no names": (frame(index=False, header=False), range(4)),
    "numbered": (pd.DataFrame(SQUARE).to_csv(), range(4)),
    "tabs": (frame(sep="\t"), NAMES),
}


@pytest.mark.parametrize(("text", "names"), MATRICES.values(), ids=MATRICES)
def test_matrices(text, names, written):
    assert_same(as_graph(written(text)), Graph.from_matrix(SQUARE, names=names))


@pytest.mark.parametrize(
    ("text", "matrix", "names"),
    [
        ("2.5\n", [[2.5]], [0]),
        (",a\na,2.5\n", [[2.5]], ["a"]),
        (",a,b\na,1,0.5\nb,0.5,1\n", [[1, 0.5], [0.5, 1]], ["a", "b"]),
        ("1.0,0.5\n0.5,1.0\n", [[1, 0.5], [0.5, 1]], [0, 1]),
        (
            "1,.5,.2\n.5,1,.1\n.2,.1,1\n",
            [[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]],
            [0, 1, 2],
        ),
        (
            "a,b,c\n1,.5,.2\n.5,1,.1\n.2,.1,1\n",
            [[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]],
            ["a", "b", "c"],
        ),
    ],
)
def test_matrices_as_small_as_edge_lists(text, matrix, names, written):
    assert_same(as_graph(written(text)), Graph.from_matrix(matrix, names=names))


@given(adjacencies(max_n=6))
def test_any_graph_is_saved_and_loaded(tmp_path_factory, matrix):
    graph = Graph.from_matrix(matrix, names=[f"n{i}" for i in range(len(matrix))])
    labels = list(graph.names)
    folder = tmp_path_factory.mktemp("graph")
    pd.DataFrame(matrix, index=labels, columns=labels).to_csv(folder / "matrix.csv")
    assert_same(as_graph(folder / "matrix.csv"), graph)
    pairs = [(i, j) for i in range(len(matrix)) for j in range(i, len(matrix))]
    lines = [f"n{i}\tn{j}\t{float(matrix[i, j])!r}" for i, j in pairs]
    (folder / "edges.txt").write_text("\n".join(["i\tj\tw", *lines]))
    assert_same(as_graph(folder / "edges.txt", names=labels), graph)


FAULTS = {
    "weight": ("a,b,1\nb,c,heavy\n", r"graph\.csv: line 2: 'heavy' is not a number: 'b,c,heavy'"),
    "first weight": ("a,b,1x\nb,c,2\n", "line 1: '1x' is not a number"),
    "decimal comma": ("a;b;0,5\nb;c;1\n", "line 1: '0,5' is not a number"),
    "short line": ("a,b,1\n# note\nb,c\nc,d,1\n", "line 3: 3 cells expected, 2 found: 'b,c'"),
    "long line": ("a b\nb c 5\nc d\n", "line 2: 2 cells expected, 3 found"),
    "short title": ("x,y\na,b,1\nb,c,1\n", "line 1: 3 cells expected, 2 found"),
    "blank end": ("a,b,1\n,c,1\n", "line 2: an end of the edge is blank"),
    "matrix cell": (",a,b,c\na,1,0,0\nb,0,x,0\nc,0,0,1\n", "line 3: 'x' is not a number"),
    "blank cell": ("1,2,3,4\n2,1,3,4\n3,3,,4\n4,4,4,1\n", "line 3: '' is not a number"),
    "no data": ("# nothing\n\n", "holds no data lines"),
    "not square": ("1,2,3,4\n5,6,7,8\n", "neither an edge list"),
    "ambiguous": ("0,1,1\n1,0,1\n1,1,0\n", "can be a matrix as well as edges"),
    "ambiguous chain": ("1,2\n2,3\n", "can be a matrix as well as edges"),
    "unknown weight column": ("a,b,score\nx,y,1\n", "no weight column 'strength'"),
    "several columns": ("u,v,day,contacts\n0,1,1,16\n", "which column holds the weight"),
    "missing weight column": ("source,target,w\na,b,1\n", "no weight column 'strength'"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_errors_give_the_line(text, message, written):
    weight = "strength" if "strength" in message else "weight"
    with pytest.raises(ValueError, match=message):
        as_graph(written(text), weight=weight)


def test_text_in_another_encoding_is_rejected(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_bytes("josé,ana,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"graph\.csv.*utf-8"):
        as_graph(path)
