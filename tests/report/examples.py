"""Paths made by hand, so that every test knows what its page must show."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace

import numpy as np

from convexhc import as_graph
from convexhc.graph import Graph
from convexhc.kernels.labels import numbered_by_first
from convexhc.path import Level, Path, Provenance
from convexhc.solvers.solution import Status

# Each of them would do something, or stop being text, where a name is taken for markup or code.
NASTY = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "a & b &lt; c",
    'say "hello", then go',
    "it's {{title}}",
    "naïve Ω 中",
    "<!-- comment",
)


def decode_array(encoded):
    """The numbers of an encoded array, as the page decodes them."""
    raw = zlib.decompress(base64.b64decode(encoded["data"]))
    return np.frombuffer(raw, dtype=f"<u{encoded['bytes']}").astype(np.int64)


def numbered(labels):
    """Labels in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def averages(labels):
    """One centroid per cluster: the mean of the unit vectors of its members."""
    return np.stack([(labels == k) / np.sum(labels == k) for k in range(labels.max() + 1)])


def made_path(lambdas, partitions, *, names=None, centroids=True, components=None, **changes):
    """A path with these partitions; `changes` gives other columns of its points."""
    rows = [numbered(np.asarray(row)) for row in partitions]
    points = []
    for at, (lam, labels) in enumerate(zip(lambdas, rows, strict=True)):
        point = Level(
            lam=float(lam),
            labels=labels,
            objective=-1.5 - at,
            relative_gap=5e-5 / (at + 1),
            residual=1e-12,
            n_iter=10 + at,
            status=Status.SOLVED,
            rank=float(labels.max() + 1),
            cluster_centroids=averages(labels) if centroids else None,
        )
        points.append(replace(point, **{name: column[at] for name, column in changes.items()}))
    n = len(rows[0])
    return Path(
        tuple(points),
        tuple(range(n)) if names is None else tuple(names),
        np.zeros(n, dtype=np.int64) if components is None else np.asarray(components),
        True,
        Provenance.of({"l1_ratio": 0.05}, "made"),
    )


def twelve(**options):
    """Twelve nodes: alone, four groups of three, two of six, one; the first names are nasty."""
    nodes = np.arange(12)
    names = options.pop("names", [*NASTY, "Ada", "Bo", "Cy", "Di"])
    rows = [nodes, nodes // 3, nodes // 6, 0 * nodes]
    return made_path([0.01, 0.1, 1.0, 10.0], rows, names=names, **options)


def ring(n, names=None):
    """A ring in which weights fall from one edge to the next."""
    tail = np.arange(n)
    return Graph.from_edges(n, tail, (tail + 1) % n, 1.0 + tail[::-1] / n, names=names)


def unruly():
    """All that is unusual in one path: lam 0, a split, two components, an open certificate."""
    rows = [[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 2], [0, 0, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1]]
    return made_path(
        [0.0, 0.5, 1.0, 2.0],
        rows,
        names=["p", "q", "r", "s", "t", "u"],
        components=[0, 0, 0, 1, 1, 1],
        status=[Status.SOLVED, Status.SOLVED, Status.MAX_ITER, Status.SOLVED],
        rank=[6.0, float("nan"), 3.0, 2.0],
        relative_gap=[0.0, 1e-5, 0.02, 1e-5],
    )


def two_thousand():
    """2 000 nodes without centroids, shuffled, in groups of 20 that fuse in groups of 200."""
    nodes = np.random.default_rng(0).permutation(2000)
    rows = [np.arange(2000), nodes // 20, nodes // 200, 0 * nodes]
    names = [f"node {i}" for i in range(2000)]
    path = made_path([0.01, 0.1, 1.0, 10.0], rows, names=names, centroids=False)
    rng = np.random.default_rng(1)
    place = np.empty(2000, dtype=np.int64)
    place[nodes] = np.arange(2000)
    tail = rng.integers(0, 2000, 9000)
    head = (tail // 20) * 20 + rng.integers(0, 20, 9000)
    keep = tail != head
    chain = np.arange(1999)
    ends = [np.append(tail[keep], chain), np.append(head[keep], chain + 1)]
    return path, Graph.from_edges(2000, place[ends[0]], place[ends[1]], names=names)


def pruned_path():
    """Six groups of four; one node joins its group only at the end, so that no level has them."""
    six, two = np.repeat(np.arange(6), 4), np.repeat([0, 1], 12)
    W = np.where(six[:, None] == six, 1.0, np.where(two[:, None] == two, 0.1, 0.01)) - np.eye(24)
    late = np.arange(24) == 0
    rows = [numbered_by_first(np.where(late, 9, row)) for row in (six, two)]
    path = made_path([1.0, 5.0, 20.0], [*rows, 0 * six], centroids=False)
    return replace(path, graph=as_graph(W))
