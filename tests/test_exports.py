"""What a path is exported to: read back, it is the graph with its clusters."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pytest

import convexhc
from convexhc.export import FORMATS, format_of
from convexhc.path.exports import suggested_partitions

# Names with what XML, CSV and JSON have to escape, two of which are equal as text.
AWKWARD = [
    'a "quoted" name',
    "b, c",
    "<&>",
    "line\nbreak",
    "ünï",
    "=1+1",
    7,
    "7",
    ("t", 1),
    "bell\x07",
]


@pytest.fixture(scope="module")
def path():
    return convexhc.cluster(nx.karate_club_graph(), 20)


@pytest.fixture(scope="module")
def awkward():
    A = np.kron(np.eye(2), 1 - np.eye(5)) + 0.1 * (1 - np.eye(10))
    return convexhc.cluster(convexhc.as_graph(A, names=AWKWARD), 15)


def columns(path):
    return {name: labels.tolist() for name, labels in suggested_partitions(path).items()}


def test_the_suggested_scale_comes_first_and_few_follow(path):
    found = suggested_partitions(path)
    assert next(iter(found)) == "cluster"
    np.testing.assert_array_equal(found["cluster"], path.suggestion.labels)
    others = list(found.items())[1:]
    assert 1 <= len(others) <= len(path.scales)
    counts = [int(labels.max()) + 1 for _, labels in others]
    assert [name for name, _ in others] == [f"clusters_{k}" for k in sorted(counts)]
    assert path.suggestion.n_clusters not in counts


def test_communities_are_those_of_networkx(path):
    club = nx.karate_club_graph()
    for found in (path.communities(), path.communities(n_clusters=4), path.communities(lam=1e-9)):
        assert nx.community.is_partition(club, found)
    assert [set(each) for each in path.clusters(n_clusters=4)] == path.communities(n_clusters=4)
    score = nx.community.modularity(club, path.communities())
    assert score == pytest.approx(path.suggestion.modularity)


def test_the_graph_has_the_clusters_of_its_nodes(path):
    club, found = nx.karate_club_graph(), path.to_networkx("graph")
    assert list(found.nodes) == list(path.names)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in club.edges}
    assert all(found.edges[edge]["weight"] == club.edges[edge]["weight"] for edge in found.edges)
    for name, labels in columns(path).items():
        assert [label for _, label in found.nodes(data=name)] == labels
    # By default it is the tree, as before.
    assert path.to_networkx().number_of_nodes() == 2 * 34 - 1 - sum(
        len(children) - 2 for children in path.tree.nodes.children
    )
    with pytest.raises(ValueError, match="of must be 'tree' or 'graph', received 'graf'"):
        path.to_networkx("graf")


READERS = {"gexf": nx.read_gexf, "graphml": nx.read_graphml}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("which", ["path", "awkward"])
def test_networkx_reads_the_files_back(which, kind, tmp_path, request):
    path = request.getfixturevalue(which)
    file = tmp_path / f"graph.{kind}"
    path.export(file)
    again = READERS[kind](file)
    assert not again.is_directed()
    assert again.number_of_edges() == path.graph.n_edges
    texts = [str(name).replace("\x07", "\ufffd") for name in path.names]
    labels = [again.nodes[node]["label"] for node in again]
    assert labels == texts
    for name, expected in columns(path).items():
        assert [again.nodes[node][name] for node in again] == expected
    edges = nx.to_numpy_array(again, weight="weight")
    np.testing.assert_allclose(edges, path.graph.dense())
    # Our own reader takes it as well.
    assert convexhc.as_graph(file).n_edges == path.graph.n_edges


def test_cx2_declares_counts_and_holds_everything(awkward, tmp_path):
    awkward.export(tmp_path / "graph.cx2")
    document = json.loads((tmp_path / "graph.cx2").read_text())
    assert document[0] == {"CXVersion": "2.0", "hasFragments": False}
    assert document[-1] == {"status": [{"success": True}]}
    aspects = {name: items for part in document for name, items in part.items()}
    declared = {each["name"]: each["elementCount"] for each in aspects["metaData"]}
    for name, count in declared.items():
        assert len(aspects[name]) == count
    types = aspects["attributeDeclarations"][0]
    kinds = {"string": str, "integer": int, "double": float}
    for element in ("nodes", "edges"):
        for each in aspects[element]:
            assert each["v"].keys() == types[element].keys()
            for name, value in each["v"].items():
                assert isinstance(value, kinds[types[element][name]["d"]])
    assert [node["v"]["name"] for node in aspects["nodes"]] == [str(name) for name in AWKWARD]
    assert [node["v"]["cluster"] for node in aspects["nodes"]] == columns(awkward)["cluster"]
    weights = np.zeros((10, 10))
    for edge in aspects["edges"]:
        weights[edge["s"], edge["t"]] = weights[edge["t"], edge["s"]] = edge["v"]["weight"]
    np.testing.assert_array_equal(weights, awkward.graph.dense())


def test_the_node_table_is_what_gephi_imports(awkward, tmp_path):
    awkward.export(tmp_path / "nodes.csv")
    with (tmp_path / "nodes.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    expected = columns(awkward)
    assert list(rows[0]) == ["Id", "Label", *expected]
    assert [row["Id"] for row in rows] == [str(name) for name in AWKWARD]
    assert [int(row["cluster"]) for row in rows] == expected["cluster"]


def test_the_tree_is_that_of_newick(path, tmp_path):
    path.export(tmp_path / "tree.nwk")
    assert (tmp_path / "tree.nwk").read_text() == path.to_newick() + "\n"


def test_the_format_is_the_ending_unless_it_is_given(path, tmp_path):
    for kind, endings in FORMATS.items():
        assert {format_of(f"graph{ending.upper()}") for ending in endings} == {kind}
    path.export(tmp_path / "tree.txt", "newick")
    assert (tmp_path / "tree.txt").read_text().endswith(";\n")
    with pytest.raises(ValueError, match=r"the ending of 'tree.txt' says no format: .*\.gexf"):
        format_of("tree.txt")
    with pytest.raises(ValueError, match=r"format must be one of 'gexf'.*received 'dot'"):
        path.export(tmp_path / "graph.dot", "dot")
    assert not (tmp_path / "graph.dot").exists()
