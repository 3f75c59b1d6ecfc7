"""Positions of nodes, centroids and names in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_graphs import adjacencies
from hypothesis import given, settings
from hypothesis import strategies as st
from plots.made import made_path

import convexhc
from convexhc.datasets import fractal_graph
from convexhc.graph import Graph
from convexhc.layout.graph_layout import exact_field, graph_positions, grid_field, name_sides
from convexhc.layout.trajectories import centroid_trajectories


def naive_field(positions, mass):
    field = np.zeros_like(positions)
    for i in range(len(positions)):
        for j in range(len(positions)):
            if i != j:
                gap = positions[i] - positions[j]
                field[i] += mass[j] * gap / np.linalg.norm(gap) ** 3
    return field


def test_the_exact_field_is_the_sum_over_all_pairs():
    rng = np.random.default_rng(0)
    positions, mass = rng.normal(size=(30, 2)), rng.uniform(1.0, 3.0, 30)
    assert exact_field(positions, mass) == pytest.approx(naive_field(positions, mass))


def test_the_grid_field_agrees_with_the_exact_field_for_distant_points():
    # A regular lattice, a little shaken: no two points are nearer than a few cells.
    rng = np.random.default_rng(1)
    lattice = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    positions = lattice + rng.uniform(-0.2, 0.2, size=lattice.shape)
    mass = rng.uniform(1.0, 3.0, len(positions))
    exact, gridded = exact_field(positions, mass), grid_field(positions, mass)
    error = np.linalg.norm(gridded - exact) / np.linalg.norm(exact)
    assert error < 0.05


def test_coinciding_points_do_not_repel_each_other():
    positions = np.array([[1.0, 2.0], [1.0, 2.0], [4.0, 2.0]])
    field = exact_field(positions, np.ones(3))
    assert np.isfinite(field).all()
    assert np.array_equal(field[0], field[1])


@settings(max_examples=15)
@given(adjacencies(max_n=12))
def test_positions_are_finite_distinct_and_the_same_every_time(matrix):
    graph = Graph.from_matrix(matrix)
    positions = graph_positions(graph)
    assert positions.shape == (graph.n, 2)
    assert np.isfinite(positions).all()
    assert np.array_equal(positions, graph_positions(graph))
    if graph.n > 1:
        assert np.ptp(positions, axis=0).max() == pytest.approx(2.0)
        apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        assert apart[np.triu_indices(graph.n, 1)].min() > 1e-4
    assert (positions.max(axis=0) + positions.min(axis=0)) == pytest.approx(0.0, abs=1e-9)


def test_components_lie_side_by_side():
    A = np.zeros((23, 23))
    A[:12, :12] = A[12:18, 12:18] = A[18:20, 18:20] = 1.0
    graph = Graph.from_matrix(A - np.diag(A.diagonal()))
    positions = graph_positions(graph)
    members = [range(12), range(12, 18), range(18, 20), range(20, 23)]
    boxes = [(positions[m].min(axis=0), positions[m].max(axis=0)) for m in members]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (high < other_low).any() or (other_high < low).any()


@pytest.mark.parametrize("copies", [1, 5])
def test_communities_are_compact_in_the_drawing(copies):
    # 196 nodes are placed by all pairs, 980 of them, in five components, by all pairs each;
    # a ring of copies is one component, large enough for the grid.
    fractal = fractal_graph(0)
    n = fractal.adjacency.shape[0]
    matrix = np.kron(np.eye(copies), fractal.adjacency.toarray())
    for copy in range(copies - 1):
        matrix[copy * n, (copy + 1) * n] = matrix[(copy + 1) * n, copy * n] = 1.0
    positions = graph_positions(Graph.from_matrix(matrix))
    fine = np.concatenate([fractal.fine + 28 * copy for copy in range(copies)])
    middle = np.stack(
        [np.bincount(fine, weights=x) / np.bincount(fine) for x in positions.T], axis=1
    )
    nearest = np.linalg.norm(positions[:, None] - middle[None], axis=2).argmin(axis=1)
    assert np.mean(nearest == fine) > 0.85


def test_trajectories_end_together_and_fused_nodes_coincide():
    K = np.kron(np.eye(3), np.ones((3, 3))) + 0.1 + np.eye(9)
    path = convexhc.solve_path(K)
    trajectories = centroid_trajectories(path)
    assert np.array_equal(trajectories.lambdas, path.lambdas)
    for level, labels in enumerate(path.partitions):
        for cluster in range(labels.max() + 1):
            assert np.ptp(trajectories.positions[level, labels == cluster], axis=0).max() == 0.0
    assert 0 < trajectories.explained_variance.sum() <= 1 + 1e-12


def test_axes_are_the_principal_components_of_the_fused_centroids():
    rng = np.random.default_rng(0)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    centroids = rng.normal(size=(4, 6))
    solution = convexhc.solve(np.eye(8) + 0.1, 0.0)
    moved = type(solution)(**{**vars(solution), "centroids": centroids[labels], "labels": labels})
    trajectories = centroid_trajectories(moved)
    fused = centroids[labels[:-1]]
    scores = np.linalg.svd(fused - fused.mean(axis=0))
    expected = np.abs((fused - fused.mean(axis=0)) @ scores[2][:2].T)
    assert np.abs(trajectories.positions[0, :-1]) == pytest.approx(expected)
    assert trajectories.explained_variance == pytest.approx(
        scores[1][:2] ** 2 / (scores[1] ** 2).sum()
    )


def test_relabelling_nodes_relabels_the_trajectories():
    rows = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0]])
    order = np.array([3, 0, 5, 1, 4, 2])
    one = centroid_trajectories(made_path([1.0, 2.0, 3.0], rows))
    shuffled = [np.unique(row[order], return_inverse=True)[1] for row in rows]
    other = centroid_trajectories(made_path([1.0, 2.0, 3.0], shuffled))
    distances = [
        np.linalg.norm(t[:, :, None] - t[:, None], axis=3)
        for t in (one.positions[:, order], other.positions)
    ]
    assert distances[0] == pytest.approx(distances[1], abs=1e-9)


@given(st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_names_overlap_neither_points_nor_names(n, seed):
    rng = np.random.default_rng(seed)
    points, widths = rng.uniform(0.0, 100.0, size=(n, 2)), rng.uniform(5.0, 40.0, n)
    sides = name_sides(
        points, widths, height=8.0, radius=3.0, margin=20.0, priority=rng.permutation(n)
    )
    boxes = []
    for node in np.flatnonzero(sides):
        near = points[node, 0] + sides[node] * 3.6
        left, right = sorted((near, near + sides[node] * widths[node]))
        boxes.append((left, points[node, 1] - 4.0, right, points[node, 1] + 4.0))
        assert left >= points[:, 0].min() - 20.0 - 1e-9
        assert right <= points[:, 0].max() + 20.0 + 1e-9
    boxes += [(x - 3.0, y - 3.0, x + 3.0, y + 3.0) for x, y in points]
    for i, a in enumerate(boxes[: np.count_nonzero(sides)]):
        for b in boxes[i + 1 :]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]


def test_a_single_point_has_its_name_on_the_right():
    one = np.zeros((1, 2))
    found = name_sides(one, np.ones(1), height=1.0, radius=1.0, margin=9.0, priority=np.arange(1))
    assert found.tolist() == [1]
