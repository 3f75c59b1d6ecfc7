"""as_graph: every representation of a graph gives the same Graph."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from drawn_graphs import adjacencies, assert_same
from hypothesis import given
from scipy import io as scipy_io
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from convexhc import similarity
from convexhc.graph import Graph
from convexhc.io import as_graph

MATRIX = np.array(
    [
        [0.5, 2.0, 0.0, 0.0],
        [2.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 3.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
NAMES = ["ann", "bob", "cid", "dee"]
GRAPH = Graph.from_matrix(MATRIX, names=NAMES)
NUMBERED = Graph.from_matrix(MATRIX)
# The weight zero introduces the isolated node.
EDGES = [("ann", "ann", 0.5), ("ann", "bob", 2.0), ("bob", "cid", 1.0), ("cid", "cid", 3.0)]
EDGES += [("dee", "dee", 0.0)]


def network(kind: type = nx.Graph, *, directed: bool = False) -> nx.Graph:
    graph = kind()
    graph.add_nodes_from(NAMES)
    graph.add_weighted_edges_from(EDGES[:4])
    if directed:
        graph.add_weighted_edges_from([(v, u, w) for u, v, w in EDGES[:4] if u != v])
    return graph


def igraph_graph() -> igraph.Graph:
    graph = igraph.Graph(n=4, edges=[(0, 0), (0, 1), (2, 1), (2, 2)])
    graph.vs["name"], graph.es["weight"] = NAMES, [0.5, 2.0, 1.0, 3.0]
    return graph


def anndata_object():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X=np.zeros((4, 2)), obs=pd.DataFrame(index=NAMES))
    cells.obsp["connectivities"] = sparse.csr_matrix(MATRIX.astype(np.float32))
    cells.obsp["other"] = sparse.csr_matrix(2 * MATRIX)
    return cells


def table(columns: tuple[str, str, str] = ("source", "target", "weight")) -> pd.DataFrame:
    return pd.DataFrame(EDGES, columns=columns)


NAMED = {
    "graph": lambda: GRAPH,
    "frame": lambda: pd.DataFrame(MATRIX, index=NAMES, columns=NAMES),
    "frame in another column order": lambda: pd.DataFrame(MATRIX, NAMES, NAMES)[NAMES[::-1]],
    "sparse frame": lambda: pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(MATRIX), index=NAMES, columns=NAMES
    ),
    "edge table": table,
    "edge table u v": lambda: table(("U", "V", "w")),
    "edge table from to": lambda: table(("from", "to", "value"))[["value", "to", "from"]],
    "edge table node1 node2": lambda: table(("node1", "node2", "Weight")),
    "networkx": network,
    "networkx multigraph": lambda: network(nx.MultiGraph),
    "networkx directed, symmetric": lambda: network(nx.DiGraph, directed=True),
    "igraph": igraph_graph,
    "anndata": anndata_object,
    "tuples": lambda: EDGES,
    "generator of tuples": lambda: (edge for edge in EDGES),
    "tuples in both directions": lambda: EDGES + [(v, u, w) for u, v, w in EDGES if u != v],
}
UNNAMED = {
    "array": lambda: MATRIX,
    "float32": lambda: MATRIX.astype(np.float32),
    "lists": MATRIX.tolist,
    "sparse array": lambda: sparse.csc_array(MATRIX),
    "sparse matrix": lambda: sparse.dok_matrix(MATRIX),
    "frame without labels": lambda: pd.DataFrame(MATRIX),
    "networkx": lambda: nx.from_numpy_array(MATRIX),
    "igraph": lambda: igraph.Graph.Weighted_Adjacency(
        MATRIX.tolist(), mode="undirected", loops="once"
    ),
    "tuples": lambda: [(i, j, MATRIX[i, j]) for i in range(4) for j in range(i, 4)],
    "tuples of numpy numbers": lambda: [
        (i, j, MATRIX[i, j]) for i in np.arange(4)[::-1] for j in np.arange(i + 1)
    ],
}


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_every_kind_with_names_gives_the_same_graph(make):
    assert_same(as_graph(make()), GRAPH)


@pytest.mark.parametrize("make", UNNAMED.values(), ids=UNNAMED)
def test_every_kind_without_names_gives_the_same_graph(make):
    assert_same(as_graph(make()), NUMBERED)


# Names given for an edge list select its nodes, so they cannot be new names.
@pytest.mark.parametrize("kind", [kind for kind in UNNAMED if not kind.startswith("tuples")])
def test_names_given_come_first(kind):
    assert_same(as_graph(UNNAMED[kind](), names=NAMES), GRAPH)


@given(adjacencies())
def test_networkx_igraph_and_edges_agree_on_any_graph(matrix):
    expected = Graph.from_matrix(matrix)
    assert_same(as_graph(nx.from_numpy_array(matrix)), expected)
    edges = [(int(i), int(j)) for i, j in np.argwhere(np.triu(matrix))]
    other = igraph.Graph(n=len(matrix), edges=edges)
    other.es["weight"] = [matrix[i, j] for i, j in edges]
    assert_same(as_graph(other), expected)
    weighted = [(i, j, matrix[i, j]) for i, j in edges]
    assert_same(as_graph(weighted, names=range(len(matrix))), expected)


def write_npz(folder: Path) -> Path:
    np.savez(folder / "graph.npz", MATRIX)
    return folder / "graph.npz"


def write_sparse_npz(folder: Path) -> Path:
    sparse.save_npz(folder / "graph.npz", sparse.csr_array(MATRIX))
    return folder / "graph.npz"


def write_npy(folder: Path) -> Path:
    np.save(folder / "graph.npy", MATRIX)
    return folder / "graph.npy"


def write_mtx(folder: Path) -> Path:
    scipy_io.mmwrite(folder / "graph.mtx", sparse.coo_array(MATRIX))
    return folder / "graph.mtx"


def write_dense_mtx(folder: Path) -> Path:
    scipy_io.mmwrite(folder / "graph.mtx", MATRIX)
    return (folder / "graph.mtx").rename(folder / "graph.MTX")


@pytest.mark.parametrize(
    "write", [write_npz, write_sparse_npz, write_npy, write_mtx, write_dense_mtx]
)
def test_array_files(write, tmp_path):
    path = write(tmp_path)
    assert_same(as_graph(path), NUMBERED)
    assert_same(as_graph(str(path), names=NAMES), GRAPH)


@pytest.mark.parametrize("kind", ["graphml", "gml", "gexf", "net"])
def test_network_files(kind, tmp_path):
    path = tmp_path / f"graph.{kind}"
    write = nx.write_pajek if kind == "net" else getattr(nx, f"write_{kind}")
    with warnings.catch_warnings():
        # Pajek has no node attributes; networkx warns about its own.
        warnings.simplefilter("ignore")
        write(network(), path)
    assert_same(as_graph(path), GRAPH)


def test_gml_without_labels_is_named_by_id(tmp_path):
    path = tmp_path / "graph.gml"
    path.write_text("graph [ node [ id 4 ] node [ id 7 ] edge [ source 4 target 7 ] ]")
    assert_same(as_graph(path), Graph.from_edges(2, [0], [1], names=[4, 7]))


def test_h5ad(tmp_path):
    path = tmp_path / "cells.h5ad"
    anndata_object().write_h5ad(path)
    assert_same(as_graph(path), GRAPH)
    np.testing.assert_array_equal(as_graph(path, key="other").dense(), 2 * MATRIX)


@pytest.mark.parametrize(("kind", "module"), [("graphml", "networkx"), ("h5ad", "h5py")])
def test_a_missing_library_is_named_with_its_extra(kind, module, tmp_path, monkeypatch):
    path = tmp_path / f"graph.{kind}"
    path.write_text("")
    monkeypatch.setitem(sys.modules, module, None)
    extra = {"networkx": "graphs", "h5py": "anndata"}[module]
    with pytest.raises(ImportError, match=rf"needs {module}, .*'convexhc\[{extra}\]'"):
        as_graph(path)


def test_names_give_the_nodes_of_an_edge_list_and_their_order():
    graph = as_graph([("a", "b")], names=["z", "b", "a"])
    assert_same(graph, Graph.from_edges(3, [1], [2], names=["z", "b", "a"]))
    assert as_graph([], names=["a", "b"]).n_edges == 0


def test_integer_nodes_are_sorted_and_others_in_order_of_appearance():
    assert as_graph([(9, 2), (2, 5)]).names == (2, 5, 9)
    assert as_graph([("b", "c"), ("a", "b")]).names == ("b", "c", "a")
    assert as_graph([((1, "x"), 3)]).names == ((1, "x"), 3)


def test_an_edge_listed_in_both_directions_counts_once():
    assert as_graph([("a", "b", 2.0), ("b", "a", 2.0)]).weight.tolist() == [2.0]
    assert as_graph([("a", "b", 2.0), ("a", "b", 2.0)]).weight.tolist() == [4.0]
    for rule, weight in {"mean": 2.5, "max": 3.0, "min": 2.0}.items():
        graph = as_graph([("a", "b", 2.0), ("b", "a", 3.0)], symmetrize=rule)
        assert graph.weight.tolist() == [weight]


def test_with_symmetrize_an_edge_list_is_directed():
    assert as_graph([("a", "b", 2.0)], symmetrize="mean").weight.tolist() == [1.0]
    assert as_graph([("a", "b", 2.0)], symmetrize="min").n_edges == 0


def test_parallel_edges_of_a_network_are_summed():
    graph = nx.MultiGraph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 3.0)])
    assert as_graph(graph).weight.tolist() == [5.0]
    other = igraph.Graph(n=2, edges=[(0, 1), (1, 0)])
    assert as_graph(other).weight.tolist() == [2.0]


@pytest.mark.parametrize("directed", [nx.DiGraph([(0, 1)]), igraph.Graph([(0, 1)], directed=True)])
def test_a_directed_graph_needs_symmetrize(directed):
    with pytest.raises(ValueError, match="symmetrize='mean'"):
        as_graph(directed)
    assert as_graph(directed, symmetrize="max").weight.tolist() == [1.0]
    assert as_graph(directed, symmetrize="mean").weight.tolist() == [0.5]


def test_symmetrize_leaves_an_undirected_graph_alone():
    assert_same(as_graph(network(), symmetrize="mean"), GRAPH)
    assert_same(as_graph(igraph_graph(), symmetrize="min"), GRAPH)


def test_the_weight_can_have_another_name():
    graph = nx.Graph()
    graph.add_edge("a", "b", strength=4.0, weight=1.0)
    other = igraph.Graph([(0, 1)])
    other.es["strength"] = [4.0]
    frame = pd.DataFrame({"source": ["a"], "target": ["b"], "weight": [1.0], "strength": [4.0]})
    for data in (graph, other, frame):
        assert as_graph(data, weight="strength").weight.tolist() == [4.0]
        assert as_graph(data, weight=None).weight.tolist() == [1.0]


def test_without_weights_all_are_one():
    for data in (nx.path_graph(3), igraph.Graph.Ring(3, circular=False), [(0, 1), (1, 2)]):
        assert_same(as_graph(data), Graph.from_edges(3, [0, 1], [1, 2]))


def test_a_similarity_passes_as_its_graph():
    K = similarity.normalized(GRAPH)
    assert as_graph(K) is K.graph


def test_a_graph_passes_untouched_and_can_be_renamed():
    assert as_graph(GRAPH) is GRAPH
    renamed = as_graph(GRAPH, names=range(4))
    assert_same(renamed, NUMBERED)
    with pytest.raises(ValueError, match="one name per node"):
        as_graph(GRAPH, names=["a"])


def test_a_signed_graph_is_checked_again():
    signed = Graph.from_matrix([[0, -1], [-1, 0]], signed=True)
    assert as_graph(signed, signed=True) is signed
    with pytest.raises(ValueError, match="signed=True"):
        as_graph(signed)


POINTS = np.random.default_rng(3).normal(size=(30, 2))
DISTANCES = squareform(pdist(POINTS))


@pytest.mark.parametrize("n", [5, 30])
def test_distances_raise_a_warning(n):
    with pytest.warns(UserWarning, match="looks like distances"):
        as_graph(DISTANCES[:n, :n])
    with pytest.warns(UserWarning, match="looks like distances"):
        as_graph(pd.DataFrame(DISTANCES[:n, :n]))


def test_distances_are_detected_on_a_sample():
    points = np.random.default_rng(4).normal(size=(300, 3))
    with pytest.warns(UserWarning, match="looks like distances"):
        as_graph(squareform(pdist(points)))


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((8, 8)) - np.eye(8),
        np.where(DISTANCES < 1.0, DISTANCES, 0.0),
        np.exp(-(DISTANCES**2)) - np.eye(30),
        DISTANCES + np.eye(30),
        np.zeros((8, 8)),
        DISTANCES[:3, :3],
    ],
    ids=["complete", "sparse", "similarities", "diagonal", "empty", "too small to tell"],
)
def test_other_graphs_raise_no_warning(matrix):
    # Warnings are errors here.
    assert as_graph(matrix).n == len(matrix)
