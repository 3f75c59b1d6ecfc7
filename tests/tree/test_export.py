"""Newick text and networkx graphs, read back."""

from __future__ import annotations

import re
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree.paths import chain, leaves_under, paths

from convexhc.tree import Tree

TOKEN = re.compile(r"'(?:[^']|'')*'|[(),;]|:[^(),;']+|[^\s(),;:']+")


def read_newick(text):
    """Clades as {set of names: depth below the root}, by a stack."""
    names, lengths, parents = [], [], []
    open_groups = [[]]

    def add(clade, children):
        for child in children:
            parents[child] = len(names)
        open_groups[-1].append(len(names))
        names.append(clade)
        lengths.append(0.0)
        parents.append(None)

    for token in TOKEN.findall(text):
        if token == "(":
            open_groups.append([])
        elif token == ")":
            children = open_groups.pop()
            add(frozenset().union(*(names[child] for child in children)), children)
        elif token.startswith(":"):
            lengths[-1] = float(token[1:])
        elif token.startswith("'"):
            add(frozenset([token[1:-1].replace("''", "'")]), [])
        elif token not in (",", ";"):
            add(frozenset([token]), [])
    depth = [0.0] * len(names)
    # Parents are closed after their children, so the last node is the root.
    for node in reversed(range(len(names) - 1)):
        depth[node] = depth[parents[node]] + lengths[node]
    return dict(zip(names, depth, strict=True))


@given(paths())
def test_newick_reads_back_to_the_same_clades_and_heights(path):
    tree = Tree.from_partitions(*path, names=[f"node {i}" for i in range(path[1].shape[1])])
    height = [0.0] * tree.n_leaves + [merge.lam for merge in tree.merges]
    expected = {
        frozenset(tree.names[leaf] for leaf in leaves): height[-1] - height[node]
        for node, leaves in enumerate(leaves_under(tree))
    }
    found = read_newick(tree.to_newick())
    assert found.keys() == expected.keys()
    for clade, depth in expected.items():
        assert found[clade] == pytest.approx(depth, abs=1e-9)


AWKWARD = st.text(alphabet="ab.=\\/+-*<>&'\"_ ,:;()[]{}\t\r\n\u00e9", max_size=6)


@given(st.lists(AWKWARD, min_size=2, max_size=5, unique=True))
def test_any_name_survives_newick(names):
    path = [list(range(len(names))), [0] * len(names)]
    found = read_newick(Tree.from_partitions([1.0, 2.0], path, names=names).to_newick())
    assert {name for clade in found if len(clade) == 1 for name in clade} == set(names)
    assert max(map(len, found)) == len(names)


def test_newick_quotes_what_must_be_quoted():
    names = ["it's", "a b", "c,d", "under_score", "plain", 7]
    text = Tree.from_partitions([2.0], [[0] * 6], names=names).to_newick()
    assert text == "('it''s':2.0,'a b':2.0,'c,d':2.0,'under_score':2.0,plain:2.0,7:2.0);"


@pytest.mark.parametrize("sign", '=\\/+-*<>&"`|~^%$#@!?')
def test_newick_quotes_every_sign_that_a_reader_may_interpret(sign):
    text = Tree.from_partitions([1.0], [[0, 0]], names=[f"a{sign}b", "c.1"]).to_newick()
    assert text == f"('a{sign}b':1.0,c.1:1.0);"


def test_newick_of_one_leaf():
    assert Tree.from_partitions([1.0], [[0]], names=["only"]).to_newick() == "only;"


def test_newick_of_a_long_chain():
    n = 50_000
    text = Tree.from_linkage(chain(n)).to_newick()
    assert text.count("(") == text.count(")") == n - 1
    assert text.startswith("(" * (n - 1) + "0:")
    assert text.endswith(f",{n - 1}:{(n - 1) / n!r});")


@given(paths())
def test_networkx_is_the_tree_of_the_merges(path):
    tree = Tree.from_partitions(*path)
    graph = tree.to_networkx()
    assert nx.is_arborescence(graph)
    leaves = leaves_under(tree)
    assert sorted(graph) == list(range(len(leaves)))
    for node, under in enumerate(leaves):
        assert graph.nodes[node]["size"] == len(under)
    for leaf in range(tree.n_leaves):
        expected = {"height": 0.0, "size": 1, "name": leaf, "artificial": False}
        assert graph.nodes[leaf] == expected
    for merge in tree.merges:
        assert tuple(graph.successors(merge.parent)) == merge.children
        assert graph.nodes[merge.parent]["height"] == merge.lam
        assert graph.nodes[merge.parent]["artificial"] == merge.artificial


def test_networkx_missing_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"convexhc\[graphs\]"):
        Tree.from_partitions([1.0], [[0, 0]]).to_networkx()


def test_export_keeps_heights_to_the_last_digit():
    lam = float(np.nextafter(0.1, 1.0))
    assert Tree.from_partitions([lam], [[0, 0]]).to_newick() == f"(0:{lam!r},1:{lam!r});"
