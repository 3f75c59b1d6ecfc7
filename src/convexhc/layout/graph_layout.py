"""Drawing of a graph: a force-directed layout, the edges that are shown, the sides of names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, sparse
from scipy.sparse import csgraph

from convexhc._types import FloatArray, IntArray
from convexhc.graph import Graph


@dataclass(frozen=True)
class LayoutSettings:
    """Parameters of the force-directed layout."""

    n_pivots: int = 60  # pivots of the multidimensional scaling that starts the layout
    n_steps: int = 200  # steps of the force simulation
    first_step: float = 0.1  # longest first step, as a fraction of the size of the drawing
    max_exact_nodes: int = 700  # above this, repulsion on a grid is cheaper than over all pairs
    grid_cells: int = 160  # cells per side of that grid


SETTINGS = LayoutSettings()


def align_nodes(graph: Graph, names: tuple[Hashable, ...], what: str = "graph") -> Graph:
    """Reorder the nodes of a graph by the names of a result; other names match by position."""
    if graph.n != len(names):
        nodes = "node" if graph.n == 1 else "nodes"
        raise ValueError(
            f"the {what} has {graph.n} {nodes} and the result {len(names)}: give the {what} that "
            "the result was computed from."
        )
    if graph.names == names or set(graph.names) != set(names):
        return graph
    index = {name: node for node, name in enumerate(graph.names)}
    return graph.permuted([index[name] for name in names])


def graph_positions(graph: Graph) -> FloatArray:
    """Positions of the nodes in the plane, with short edges and separated nodes.

    Each connected component starts from multidimensional scaling of its hop distances to some
    pivots. It is then relaxed under an attraction ``sqrt(w_ij) d_ij^2`` along edges and a repulsion
    ``m_i m_j / d_ij^2`` between all pairs, with masses ``m_i`` that grow with the degree; weights
    enter by absolute value. Components are placed side by side, with areas in proportion to their
    sizes, centred, the longer side from -1 to 1. Nothing is random, and clusters have no influence:
    the same positions serve every level of a path. About 0.3 s for 200 nodes and 6 s for 5000.
    """
    count, label = graph.components()
    weights = abs(graph.without_diagonal().matrix())
    sizes = np.bincount(label, minlength=count)
    members = np.split(np.argsort(label, kind="stable"), np.cumsum(sizes)[:-1])
    groups = [nodes for nodes in members if len(nodes) > 1]
    drawings = [_component_layout(weights[nodes][:, nodes]) for nodes in groups]
    isolated = np.flatnonzero(sizes[label] == 1)
    if isolated.size:
        groups.append(isolated)
        drawings.append(_grid_layout(isolated.size))
    return _rescaled(_side_by_side(groups, drawings, graph.n))


def _component_layout(weights: sparse.csr_array) -> FloatArray:
    """Layout of a connected graph: about one unit of area per node, principal axis horizontal."""
    positions = _relaxed(_pivot_scaling(weights), weights)
    positions -= positions.mean(axis=0)
    rotated = positions @ np.linalg.svd(positions, full_matrices=False)[2].T
    # Fix the sign of each axis by its skewness.
    rotated *= np.where((rotated**3).sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(rotated * (0.5 * np.sqrt(len(rotated)) / np.sqrt((rotated**2).mean())))


def _pivot_scaling(weights: sparse.csr_array) -> FloatArray:
    """Pivot MDS: two leading singular vectors of the centred squared hop distances to pivots."""
    n = weights.shape[0]
    pivot = int(np.diff(weights.indptr).argmax())
    nearest = np.full(n, np.inf)
    columns = []
    for _ in range(min(SETTINGS.n_pivots, n)):
        columns.append(csgraph.dijkstra(weights, unweighted=True, indices=[pivot])[0])
        nearest = np.minimum(nearest, columns[-1])
        pivot = int(nearest.argmax())
    squares = np.stack(columns, axis=1) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    directions, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    start = directions[:, :2] * np.sqrt(lengths[:2])
    # Nodes with the same neighbours coincide: a small golden-angle spiral separates them.
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(n)
    spiral = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt(np.arange(n) / n)[:, None]
    return np.asarray(start + 0.02 * np.abs(start).max() * spiral)


def _relaxed(positions: FloatArray, weights: sparse.csr_array) -> FloatArray:
    """Move along the forces, with a step length that decreases to zero."""
    n = len(positions)
    upper = sparse.triu(weights, 1).tocoo()
    tail, head = upper.coords
    ends = np.concatenate([tail, head])
    # The square root keeps heavy edges from collapsing to a point.
    spring = np.sqrt(upper.data / upper.data.mean())
    degree = np.bincount(ends, minlength=n)
    mass = 1.0 + degree / degree.mean()
    field = exact_field if n <= SETTINGS.max_exact_nodes else grid_field
    positions = positions * (np.sqrt(n) / np.sqrt((positions**2).mean()))
    for step in range(SETTINGS.n_steps):
        span = positions[head] - positions[tail]
        attraction = span * (spring * _lengths(span))[:, None]
        force = mass[:, None] * field(positions, mass)
        for axis, component in enumerate(np.concatenate([attraction, -attraction]).T):
            force[:, axis] += np.bincount(ends, weights=component, minlength=n)
        scale = SETTINGS.first_step * np.sqrt((positions**2).mean())
        max_length = scale * (1.0 - step / SETTINGS.n_steps) ** 1.5
        length = np.maximum(_lengths(force), 1e-300)
        positions = positions + force * (np.minimum(length, max_length) / length)[:, None]
    return positions


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors**2).sum(axis=1)))


def exact_field(positions: FloatArray, mass: FloatArray) -> FloatArray:
    """Repulsive field ``sum_j m_j (x_i - x_j) / |x_i - x_j|^3`` at each point; O(n^2).

    Coinciding points exert no force on each other.
    """
    squares = (positions**2).sum(axis=1)
    distance2 = squares[:, None] + squares[None, :] - 2.0 * positions @ positions.T
    # Below this threshold, which covers rounding, points count as coinciding.
    distance2[distance2 <= 1e-9 * max(float(squares.max()), 1e-300)] = np.inf
    strength = mass[None, :] / (distance2 * np.sqrt(distance2))
    return np.asarray(strength.sum(axis=1)[:, None] * positions - strength @ positions)


def grid_field(positions: FloatArray, mass: FloatArray) -> FloatArray:
    """Approximate `exact_field` by one FFT convolution on a g x g grid; O(n + g^2 log g).

    Masses are spread bilinearly; the field between points of one cell is softened.
    """
    cells = SETTINGS.grid_cells
    # One cell of margin on each side, so that the four corners around each point exist.
    step = max(float(np.ptp(positions, axis=0).max()) / (cells - 3), 1e-300)
    scaled = (positions - positions.min(axis=0)) / step + 1.0
    corner = np.floor(scaled).astype(np.int64)
    part = scaled - corner
    shares, flat = [], []
    for offset in np.array([[0, 0], [0, 1], [1, 0], [1, 1]]):
        shares.append(np.abs(1.0 - offset - part).prod(axis=1))
        flat.append((corner + offset) @ [cells, 1])
    density = np.bincount(
        np.concatenate(flat),
        weights=np.concatenate([share * mass for share in shares]),
        minlength=cells * cells,
    ).reshape(cells, cells)
    spectrum = fft.rfft2(density, (2 * cells, 2 * cells))
    field = np.empty_like(positions)
    for axis, kernel in enumerate(_kernel_spectra(cells)):
        values = fft.irfft2(spectrum * kernel, (2 * cells, 2 * cells))[:cells, :cells].ravel()
        field[:, axis] = sum(share * values[at] for share, at in zip(shares, flat, strict=True))
    return field / step**2


@lru_cache(maxsize=2)
def _kernel_spectra(cells: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fourier transforms of dx / d^3 and dy / d^3 over all differences of two cells."""
    offset = np.concatenate([np.arange(cells), np.arange(-cells, 0)]).astype(np.float64)
    dx, dy = offset[:, None], offset[None, :]
    cubes = (dx**2 + dy**2) ** 1.5
    cubes[0, 0] = 1.0
    return fft.rfft2(dx / cubes), fft.rfft2(dy / cubes)


def _grid_layout(n: int) -> FloatArray:
    """Positions of isolated nodes: rows of a block that is wider than tall."""
    columns = int(np.ceil(np.sqrt(3.0 * n)))
    return np.stack([np.arange(n) % columns, -(np.arange(n) // columns)], axis=1).astype(np.float64)


def _side_by_side(groups: list[IntArray], drawings: list[FloatArray], n: int) -> FloatArray:
    """Place the drawings of components in rows, the largest first."""
    sizes = [np.ptp(drawing, axis=0) + 1.5 for drawing in drawings]
    area = sum(float(size.prod()) for size in sizes)
    max_width = max(1.3 * np.sqrt(area), *(float(size[0]) for size in sizes))
    positions = np.empty((n, 2))
    x = y = row_height = 0.0
    for at in sorted(range(len(drawings)), key=lambda at: (-len(groups[at]), groups[at][0])):
        width, height = (float(side) for side in sizes[at])
        if x > 0 and x + width > max_width:
            x, y, row_height = 0.0, y - row_height, 0.0
        positions[groups[at]] = drawings[at] - drawings[at].min(axis=0) + [x, y - height]
        x += width
        row_height = max(row_height, height)
    return positions


def _rescaled(positions: FloatArray) -> FloatArray:
    """Centre the positions and scale the longer side to [-1, 1]."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = float((high - low).max()) / 2.0
    return np.asarray((positions - (low + high) / 2.0) / (half if half > 0 else 1.0))


def strongest_edges(graph: Graph, max_edges: int) -> IntArray:
    """Indices of a maximum spanning forest and of the strongest other edges, ascending.

    The forest keeps components connected, even if it exceeds ``max_edges``. Among edges of equal
    weight the choice is random, with a fixed seed: every part keeps the same share of its edges.
    """
    if graph.n_edges <= max_edges:
        return np.arange(graph.n_edges)
    shuffled = np.random.default_rng(0).permutation(graph.n_edges)
    rank = np.argsort(np.lexsort((shuffled, -np.abs(graph.weight))))
    ranked = sparse.coo_array((rank + 1.0, (graph.tail, graph.head)), shape=(graph.n, graph.n))
    forest = csgraph.minimum_spanning_tree(ranked.tocsr()).data.astype(np.int64) - 1
    priority = np.where(np.isin(rank, forest), -1, rank)
    return np.sort(np.argsort(priority, kind="stable")[: max(max_edges, forest.size)])


def name_sides(
    points: FloatArray,
    widths: FloatArray,
    *,
    height: float,
    radius: float,
    margin: float,
    priority: IntArray,
) -> IntArray:
    """Side of its point on which each name fits: 1 for right, -1 for left, 0 for neither. O(n^2).

    Names are placed greedily in the order of ``priority``, to the right if possible, else to the
    left, overlapping no point and no name placed before. ``widths`` of the names and ``height`` of
    a line are in the unit of the points; names may extend by ``margin`` beyond the outermost
    points.
    """
    n = len(points)
    low, high = float(points[:, 0].min()) - margin, float(points[:, 0].max()) + margin
    # Occupied boxes (left, bottom, right, top): the points, then the names placed so far.
    boxes = np.empty((2 * n, 4))
    boxes[:n] = np.concatenate([points - radius, points + radius], axis=1)
    n_boxes = n
    sides = np.zeros(n, dtype=np.int64)
    for node in priority:
        x, y = points[node]
        for side in (1, -1):
            near = x + side * radius * 1.2
            left, right = sorted((near, near + side * widths[node]))
            if left < low or right > high:
                continue
            others = boxes[:n_boxes]
            disjoint = (others[:, 0] >= right) | (others[:, 2] <= left)
            disjoint |= (others[:, 1] >= y + height / 2) | (others[:, 3] <= y - height / 2)
            disjoint[node] = True
            if disjoint.all():
                boxes[n_boxes] = left, y - height / 2, right, y + height / 2
                n_boxes += 1
                sides[node] = side
                break
    return sides
