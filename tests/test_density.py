"""Density of points, valleys between clusters, and the scale they suggest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons

import convexhc
from convexhc import ConvexHierarchicalClustering
from convexhc.graph import Graph
from convexhc.path import Path
from convexhc.similarity import neighbor_graph
from convexhc.similarity.neighbors import Density, point_density
from convexhc.tree.flat_clusters import SETTINGS, valley_depth


@st.composite
def tables(draw):
    """Points, some of them repeated, down to a single one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d))
    return np.vstack([X, X[rng.integers(0, n, draw(st.integers(0, 20)))]])


# Two of the points coincide.
TWINS = np.array(
    [
        [0.12573022, -0.13210486, 0.64042265],
        [0.10490012, -0.53566937, 0.36159505],
        [1.30400005, 0.94708096, -0.70373524],
        [0.10490012, -0.53566937, 0.36159505],
    ]
)


@given(tables(), st.floats(1e-3, 1e3))
@example(TWINS, 10.75)
def test_another_unit_of_length_only_adds_a_constant(X, unit):
    graph = neighbor_graph(X)
    one, other = point_density(X, graph), point_density(unit * X, graph)
    moved = other.nodes - one.nodes
    np.testing.assert_allclose(moved, np.full(len(X), moved[0]), atol=1e-6)
    np.testing.assert_allclose(other.edges - one.edges, np.full(graph.n_edges, moved[0]), atol=1e-6)


@given(tables())
def test_no_edge_is_denser_than_its_ends(X):
    graph = neighbor_graph(X)
    density = point_density(X, graph)
    assert np.isfinite(density.nodes).all()
    ends = np.minimum(density.nodes[graph.tail], density.nodes[graph.head])
    assert (density.edges <= ends + 1e-12).all()


def test_points_that_all_coincide_are_equally_dense():
    X = np.ones((6, 2))
    density = point_density(X, neighbor_graph(X))
    assert not density.nodes.any()
    assert not density.edges.any()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_cloud_twice_as_far_apart_is_two_to_the_dimension_sparser(dimension):
    rng = np.random.default_rng(dimension)
    X = rng.random((400, dimension))
    both = np.vstack([X, 2.0 * X + 100.0])
    density = point_density(both, neighbor_graph(both)).nodes
    fall = np.median(density[:400]) - np.median(density[400:])
    assert fall == pytest.approx(dimension * np.log(2.0), rel=0.15)


def test_points_need_one_row_per_node():
    with pytest.raises(ValueError, match="one row for each of the 3 nodes, received 2"):
        point_density([[0.0], [1.0]], Graph.from_edges(3, [0], [1]))
    with pytest.raises(ValueError, match="one row for each of the 4 nodes, received 2"):
        convexhc.cluster(np.ones((4, 4)), points=[[0.0], [1.0]])


@given(tables(), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_valleys_do_not_depend_on_the_order_of_nodes_or_clusters(X, k, seed):
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, k, len(X)), return_inverse=True)[1]
    order = rng.permutation(len(X))
    renamed = rng.permutation(labels.max() + 1)[labels[order]]
    graph = neighbor_graph(X)
    place = np.argsort(order)
    moved = Graph.from_edges(len(X), place[graph.tail], place[graph.head])
    density = point_density(X, graph)
    # Edges are re-sorted: each keeps its density.
    along = {
        frozenset((int(place[a]), int(place[b]))): value
        for a, b, value in zip(graph.tail, graph.head, density.edges, strict=True)
    }
    edges = [
        along[frozenset(e)] for e in zip(moved.tail.tolist(), moved.head.tolist(), strict=True)
    ]
    again = Density(density.nodes[order], np.array(edges))
    assert valley_depth(moved, renamed, again) == pytest.approx(
        valley_depth(graph, labels, density), nan_ok=True
    )


def test_valleys_lie_between_moons_and_not_across_them():
    X, moon = make_moons(300, noise=0.06, random_state=0)
    graph = neighbor_graph(X)
    density = point_density(X, graph)
    across = (X[:, 0] > np.where(moon == 0, 0.0, 1.0)).astype(np.int64)
    assert valley_depth(graph, moon, density) > SETTINGS.clear_valley
    assert valley_depth(graph, across, density) < 0.5 * SETTINGS.clear_valley


@pytest.fixture(scope="module")
def moons():
    X, moon = make_moons(200, noise=0.08, random_state=0)
    graph = neighbor_graph(X)
    path = convexhc.cluster(graph, points=X)
    return X, moon, replace(path, density=None), path


def test_moons_are_two_clusters_where_modularity_splits_them(moons):
    _, moon, plain, path = moons
    assert plain.suggestion.n_clusters > 2
    assert plain.suggestion.border_density is None
    assert path.suggestion.n_clusters == 2
    assert path.suggestion.border_density < 0.5
    assert np.mean(path.suggestion.labels == moon) in (0.0, 1.0)


def test_the_tree_does_not_depend_on_the_points():
    X, _ = make_moons(30, noise=0.08, random_state=0)
    graph = neighbor_graph(X)
    plain, path = convexhc.cluster(graph), convexhc.cluster(graph, points=X)
    assert plain.density is None
    np.testing.assert_array_equal(path.lambdas, plain.lambdas)
    for one, other in zip(path.levels, plain.levels, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(path.labels(n_clusters=5), plain.labels(n_clusters=5))


def test_the_suggestion_says_how_dense_its_borders_are(moons):
    path = moons[3]
    share = path.suggestion.border_density
    assert f"density at its borders {100 * share:.0f} % of that inside" in path.summary()


def test_densities_are_kept_in_the_file(moons, tmp_path):
    path = moons[3]
    path.save(tmp_path / "path.npz")
    again = Path.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(again.density.nodes, path.density.nodes)
    assert again.suggestion.n_clusters == path.suggestion.n_clusters


def test_the_estimator_passes_its_points_on():
    X, _ = make_blobs([30, 40, 50], cluster_std=0.5, random_state=0)
    model = ConvexHierarchicalClustering(similarity="nearest_neighbors").fit(X)
    assert model.path_.density is not None
    assert model.path_.suggestion.n_clusters == 3
    few = neighbor_graph(X[::10]).matrix()
    assert ConvexHierarchicalClustering(similarity="graph").fit(few).path_.density is None


def test_one_cloud_has_no_clear_valley():
    X = np.random.default_rng(0).normal(size=(150, 2))
    path = convexhc.cluster(neighbor_graph(X), points=X)
    assert path.suggestion.border_density > 0.5
