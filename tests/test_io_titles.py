"""The first line of a list of edges: a title, an edge, or refused."""

from __future__ import annotations

import gzip
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from convexhc import as_graph

EDGES = "ann,bob\nbob,cid\ncid,ann\n"


def read(tmp_path, text, name="edges.csv", **options):
    (tmp_path / name).write_text(text)
    return as_graph(tmp_path / name, **options)


@pytest.mark.parametrize(
    "title",
    [
        "protein1,protein2",
        "gene_a,gene_b",
        "Gene.A,Gene.B",
        "id1,id2",
        "ID_1,ID_2",
        "citing,cited",
        "child,parent",
        "sender,receiver",
        "x,y",
        "node 1,node 2",
    ],
)
def test_a_title_is_taken_as_one_with_a_note(tmp_path, title):
    with pytest.warns(UserWarning, match="line 1 is taken as the title .*columns=\\(1, 2\\)"):
        graph = read(tmp_path, f"{title}\n{EDGES}")
    assert graph.names == ("ann", "bob", "cid")
    assert graph.n_edges == 3


@pytest.mark.parametrize("title", ["source,target", "src,dst", "From,To", "node1,node2"])
def test_known_titles_need_no_note(tmp_path, title):
    assert read(tmp_path, f"{title}\n{EDGES}").names == ("ann", "bob", "cid")


@pytest.mark.parametrize("first", ["enzyme,substrate", "dan,eva", "n1,n2"])
def test_a_first_line_that_may_be_a_title_is_refused(tmp_path, first):
    text = f"{first}\n{EDGES}" if first != "n1,n2" else "n1,n2\nn3,n4\nn4,n5\n"
    with pytest.raises(ValueError, match=r"edges\.csv: line 1: is it a title or an edge") as caught:
        read(tmp_path, text)
    one, other = first.split(",")
    assert f"columns=({one!r}, {other!r})" in str(caught.value)
    assert "columns=(1, 2)" in str(caught.value)
    # Both answers are taken.
    assert read(tmp_path, text, columns=(1, 2)).n_edges == text.count("\n")
    assert read(tmp_path, text, columns=(one, other)).n_edges == text.count("\n") - 1


@pytest.mark.parametrize(
    ("text", "n_edges"),
    [
        # One of the two names occurs again.
        ("source1,ann\n" + EDGES, 4),
        # Numbers, and names that begin with one, are no titles.
        ("7,8\n1,2\n2,3\n3,1\n", 4),
        ("1a,1b\n2a,2b\n2b,2c\n", 3),
        # A single line can only be an edge.
        ("ann,bob\n", 1),
        # The third cell of a title would not be a number.
        ("gene1,gene2,0.5\nann,bob,1\n", 2),
    ],
)
def test_edges_stay_edges(tmp_path, text, n_edges):
    assert read(tmp_path, text).n_edges == n_edges


def test_columns_are_named_or_numbered(tmp_path):
    table = "score,kind,gene_a,gene_b\n" + "0.5,x,ann,bob\n2,y,bob,cid\n1,y,cid,dan\n"
    table += "1,x,dan,ann\n1,x,ann,cid\n1,x,dan,bob\n"
    with pytest.raises(ValueError, match=r"name the columns of the two ends with columns=.*gene_a"):
        read(tmp_path, table)
    graph = read(tmp_path, table, columns=("gene_a", "gene_b", "score"))
    assert graph.names == ("ann", "bob", "cid", "dan")
    np.testing.assert_array_equal(graph.weight, [0.5, 1.0, 1.0, 2.0, 1.0, 1.0])
    bare = table.split("\n", 1)[1]
    again = read(tmp_path, bare, columns=[3, 4, 1])
    np.testing.assert_array_equal(again.weight, graph.weight)
    assert read(tmp_path, bare, columns=[3, 4]).weight.tolist() == [1.0] * 6


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (("gene_a", "gene_c"), "there is no column 'gene_c': the columns are .*'gene_b'"),
        ((1, 9), "there is no column 9"),
        (("gene_a", 2), "two or three names, .*, or numbers"),
        ((0, 1), "numbers from 1"),
        (("gene_a",), "two or three"),
        ("gene_a,gene_b", "two or three"),
    ],
)
def test_columns_that_are_not_there_are_refused(tmp_path, columns, match):
    with pytest.raises(ValueError, match=match):
        read(tmp_path, "gene_a,gene_b\nann,bob\nbob,cid\n", columns=columns)


def test_frames_of_any_columns_are_read_by_name():
    frame = pd.DataFrame({"gene_a": ["ann", "bob"], "gene_b": ["bob", "cid"], "score": [0.5, 2.0]})
    with pytest.raises(ValueError, match=r"columns .*gene_a.*as_graph\(..., columns=...\)"):
        as_graph(frame)
    graph = as_graph(frame, columns=("gene_a", "gene_b", "score"))
    np.testing.assert_array_equal(graph.weight, [0.5, 2.0])


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def narwhals_frame(columns):
    return pytest.importorskip("narwhals").from_native(pd.DataFrame(columns))


@pytest.mark.parametrize("made", [polars_frame, narwhals_frame])
def test_polars_and_narwhals_frames_are_read(made):
    edges = {"source": ["ann", "bob"], "target": ["bob", "cid"], "weight": [0.5, 2.0]}
    expected = as_graph(pd.DataFrame(edges))
    found = as_graph(made(edges))
    assert found.names == expected.names
    np.testing.assert_array_equal(found.dense(), expected.dense())
    renamed = {"a": edges["source"], "b": edges["target"]}
    assert as_graph(made(renamed), columns=("a", "b")).n_edges == 2
    square = as_graph(made({"ann": [0.0, 2.0], "bob": [2.0, 0.0]}))
    assert square.names == ("ann", "bob")
    assert square.weight.tolist() == [2.0]
    with pytest.raises(ValueError, match="columns="):
        as_graph(made(renamed))
    with pytest.raises(ValueError, match="missing end"):
        as_graph(made({"source": ["ann", None], "target": ["bob", "cid"]}))


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.txt", "e.edgelist", "e.edges"])
def test_compressed_text_is_read_as_text(tmp_path, name):
    text = (EDGES if name.endswith(".csv") else EDGES.replace(",", "\t")).replace("\n", "\r\n")
    expected = read(tmp_path, text, name)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode("utf-8-sig")))
    found = as_graph(tmp_path / f"{name}.gz")
    assert found.names == expected.names == ("ann", "bob", "cid")
    np.testing.assert_array_equal(found.dense(), expected.dense())


def test_compressed_files_are_refused_in_one_line(tmp_path):
    for content in (b"no gzip", gzip.compress(EDGES.encode())[:-9]):
        (tmp_path / "e.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"e\.csv\.gz: not a valid \.csv\.gz file") as caught:
            as_graph(tmp_path / "e.csv.gz")
        assert "\n" not in str(caught.value)
    (tmp_path / "e.gz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"not a file of a known kind .*\.csv\.gz"):
        as_graph(tmp_path / "e.gz")


@pytest.mark.parametrize("data", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_edge_lists_of_networkx_are_read(tmp_path, data, weighted):
    club = nx.karate_club_graph()
    if not weighted:
        nx.set_edge_attributes(club, 1, "weight")
    nx.write_edgelist(club, tmp_path / "club.edgelist", data=["weight"] if data else True)
    found = as_graph(tmp_path / "club.edgelist", names=list(club))
    np.testing.assert_array_equal(found.dense(), nx.to_numpy_array(club))
    nx.write_edgelist(nx.path_graph(3), tmp_path / "path.edgelist")
    assert as_graph(tmp_path / "path.edgelist").n_edges == 2


def test_no_note_reaches_other_readers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_graph([("gene_a", "gene_b"), ("ann", "bob")]).n_edges == 2
