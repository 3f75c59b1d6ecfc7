"""Data sets with known groups, generated, bundled and real; and graphs without groups.

Every data set belongs to a family and to one of two halves. Defaults are chosen on the half
"choose"; the half "confirm" is only scored. The assignment is fixed in advance: generated sets by
the parity of their seed, real ones by the parity of the alphabetical rank of their source, so that
two graphs of one source are never in different halves.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn import datasets as tables
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from convexhc.datasets import karate
from experiments.data import authors_similarity

Labels = NDArray[np.int64]
Half = Literal["choose", "confirm"]
# Points, and their groups or several levels of groups.
Cloud = tuple[Any, Any]

FAMILIES = ("LFR", "nested blocks", "real networks", "points")
MIXINGS = (0.1, 0.2, 0.3, 0.4, 0.5)
# Neighbours per point in the graph of a table: a common choice for Leiden.
TABLE_NEIGHBORS = 15
# LFR parameters: degree and community-size exponents as in Lancichinetti et al. (2008).
DEGREE_EXPONENT = 2.5
SIZE_EXPONENT = 1.5
MEAN_DEGREE = {250: 10, 1000: 15}
MAX_DEGREE = {250: 40, 1000: 60}
COMMUNITY_SIZES = {250: (15, 60), 1000: (20, 100)}
# Three levels of 2, 6 and 24 groups on 240 nodes, and the edge probability at each depth.
BLOCK_SIZES = (2, 3, 4, 10)
BLOCK_STRENGTHS: Mapping[str, tuple[float, float, float, float]] = {
    "strong": (0.005, 0.03, 0.15, 0.9),
    "medium": (0.01, 0.05, 0.15, 0.7),
    "weak": (0.02, 0.06, 0.15, 0.5),
}
# Shape of the gamma distribution of the degree factors: a coefficient of variation of 0.6.
DEGREE_SHAPE = 2.8
# Sources of the real sets, in alphabetical order. A set keeps its half if others are missing;
# without a data folder only the karate club is there.
NETWORKS = (
    *("authors synthetic", "connectome", "football", "karate"),
    *("polbooks", "recipes", "school", "uk_faculty"),
)
# Small labelled graphs, and the column that holds their groups.
CLASSIC = {"football": "conference", "polbooks": "leaning", "uk_faculty": "group"}
TABLES = ("breast cancer", "digits", "iris", "wine")
# Nodes and mean degree of the random graphs without groups.
NOISE_NODES, NOISE_DEGREE = 240, 10
# Swaps per edge that randomise a graph with given degrees.
SWAPS = 10


@dataclass(frozen=True, eq=False)
class Known:
    """A graph, or points with their neighbour graph, and the levels of known groups.

    A graph without groups has no levels.
    """

    family: str
    name: str
    half: Half
    adjacency: sparse.csr_array
    levels: Mapping[str, Labels]
    points: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])


def half_of(place: int) -> Half:
    """Half of a set: even places are for choosing, odd ones for confirming."""
    return "confirm" if place % 2 else "choose"


def collect(data: Path | None, *, seeds: int, large: bool) -> list[Known]:
    """All data sets, with ``seeds`` draws of each kind (two or more, for both halves)."""
    drawn = [
        *(lfr(250, mixing, seed) for mixing in MIXINGS for seed in range(seeds)),
        *(
            blocks(strength, spread, seed)
            for strength in BLOCK_STRENGTHS
            for spread in (False, True)
            for seed in range(seeds)
        ),
        *(unequal_blocks(spread, seed) for spread in (False, True) for seed in range(seeds)),
        *(cloud(kind, seed) for kind in CLOUDS for seed in range(seeds)),
    ]
    if large:
        drawn += [lfr(1000, mixing, seed) for mixing in MIXINGS for seed in range(2)]
    return [*drawn, *bundled_tables(), *real_networks(data)]


def noise_graphs(seeds: int = 4) -> list[Known]:
    """Graphs without groups: ``seeds`` draws of each of four kinds.

    Two kinds have the degrees of graphs with groups (LFR, nested blocks with spread degrees) and
    randomised edges; two are Erdos-Renyi and random regular graphs. All are simple; the largest
    component of each is used.
    """
    import networkx as nx

    found = []
    for seed in range(seeds):
        share = NOISE_DEGREE / (NOISE_NODES - 1)
        graphs = {
            "degrees of LFR": _shuffled(lfr(250, 0.1, seed), seed),
            "degrees of blocks": _shuffled(blocks("strong", True, seed), seed),
            "Erdos-Renyi": nx.gnp_random_graph(NOISE_NODES, share, seed=seed),
            "random regular": nx.random_regular_graph(NOISE_DEGREE, NOISE_NODES, seed=seed),
        }
        for kind, graph in graphs.items():
            name = f"{kind} seed {seed}"
            found.append(_connected("no groups", name, half_of(seed), _matrix(graph), {}))
    return found


def _shuffled(known: Known, seed: int) -> Any:
    """A random simple graph with the same degrees."""
    import networkx as nx

    graph = nx.from_scipy_sparse_array(known.adjacency)
    swaps = SWAPS * graph.number_of_edges()
    return nx.double_edge_swap(graph, nswap=swaps, max_tries=100 * swaps, seed=seed)


def _matrix(graph: Any) -> sparse.csr_array:
    """Adjacency of a networkx graph, nodes in numerical order."""
    import networkx as nx

    return sparse.csr_array(nx.to_scipy_sparse_array(graph, nodelist=sorted(graph)), dtype=float)


def _connected(
    family: str, name: str, half: Half, adjacency: Any, levels: Mapping[str, Labels]
) -> Known:
    """The largest component, since no method can cluster isolated nodes."""
    adjacency = sparse.csr_array(adjacency)
    _, piece = connected_components(adjacency, directed=False)
    kept = np.flatnonzero(piece == np.bincount(piece).argmax())
    groups = {level: _numbered(known[kept]) for level, known in levels.items()}
    return Known(family, name, half, sparse.csr_array(adjacency[kept][:, kept]), groups)


def lfr(n: int, mixing: float, seed: int) -> Known:
    """An LFR benchmark graph (networkx); draws that do not converge are repeated."""
    import networkx as nx

    low, high = COMMUNITY_SIZES[n]
    for attempt in range(200):
        try:
            graph = nx.LFR_benchmark_graph(
                n,
                DEGREE_EXPONENT,
                SIZE_EXPONENT,
                mixing,
                average_degree=MEAN_DEGREE[n],
                max_degree=MAX_DEGREE[n],
                min_community=low,
                max_community=high,
                seed=1000 * seed + attempt,
                max_iters=300,
            )
        except nx.ExceededMaxIterations:
            continue
        break
    else:
        raise RuntimeError(f"no LFR graph with n={n}, mixing={mixing} in 200 attempts")
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    groups = [min(graph.nodes[node]["community"]) for node in range(n)]
    name = f"LFR {n} mixing {mixing} seed {seed}"
    levels = {"communities": _numbered(groups)}
    return _connected("LFR", name, half_of(seed), _matrix(graph), levels)


def blocks(strength: str, spread: bool, seed: int) -> Known:
    """Nested blocks of equal size, with or without spread degrees."""
    n = int(np.prod(BLOCK_SIZES))
    levels = [np.arange(n) // (n // int(c)) for c in np.cumprod(BLOCK_SIZES[:-1])]
    name = f"blocks {strength}{' spread' if spread else ''} seed {seed}"
    return _drawn_blocks(name, levels, BLOCK_STRENGTHS[strength], spread, seed)


def unequal_blocks(spread: bool, seed: int) -> Known:
    """A planted hierarchy of 3 and 9 groups whose sizes differ by a factor of about eight."""
    sizes = np.array([[8, 14, 60], [10, 24, 40], [12, 20, 52]])
    fine = np.repeat(np.arange(9), sizes.ravel())
    name = f"unequal{' spread' if spread else ''} seed {seed}"
    return _drawn_blocks(name, [fine // 3, fine], (0.01, 0.06, 0.45), spread, seed)


def _drawn_blocks(
    name: str, levels: list[Any], probabilities: tuple[float, ...], spread: bool, seed: int
) -> Known:
    """Edges by the finest common block; Poisson rates times degree factors of mean one."""
    rng = np.random.default_rng([seed, len(name), int(spread)])
    n = levels[0].size
    rate = np.full((n, n), probabilities[0])
    for groups, probability in zip(levels, probabilities[1:], strict=True):
        rate[groups[:, None] == groups] = probability
    if spread:
        factor = rng.gamma(DEGREE_SHAPE, 1.0 / DEGREE_SHAPE, n)
        rate = np.minimum(rate * np.outer(factor, factor), 1.0)
    upper = np.triu(rng.random((n, n)) < rate, 1)
    order = rng.permutation(n)
    adjacency = sparse.csr_array((upper | upper.T)[np.ix_(order, order)].astype(float))
    known = {f"{groups.max() + 1} groups": groups[order].astype(np.int64) for groups in levels}
    return _connected("nested blocks", name, half_of(seed), adjacency, known)


def _table(name: str, X: Any, groups: Any, half: Half) -> Known:
    """Points, and the graph of their nearest neighbours."""
    points = np.ascontiguousarray(X, dtype=np.float64)
    k = min(TABLE_NEIGHBORS, len(points) - 1)
    near = sparse.csr_array(kneighbors_graph(points, k, mode="connectivity"))
    adjacency = sparse.csr_array(near.maximum(near.T))
    levels = groups if isinstance(groups, dict) else {"classes": groups}
    known = {level: _numbered(found) for level, found in levels.items()}
    return Known("points", name, half, adjacency, known, points)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1_000_000))


def _blobs(rng: np.random.Generator) -> Cloud:
    X, groups = tables.make_blobs(
        [40, 60, 20, 80, 30, 50], n_features=5, cluster_std=2.2, random_state=_seed(rng)
    )
    return X, groups


def _nested_blobs(rng: np.random.Generator) -> Cloud:
    coarse = np.repeat(np.arange(3), 80)
    fine = np.repeat(np.arange(12), 20)
    centres = 6.0 * rng.standard_normal((3, 6))[coarse] + 3.0 * rng.standard_normal((12, 6))[fine]
    return centres + rng.standard_normal((240, 6)), {"coarse": coarse, "fine": fine}


def _stretched(rng: np.random.Generator) -> Cloud:
    X, y = tables.make_blobs(260, centers=4, random_state=_seed(rng))
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _moons(rng: np.random.Generator) -> Cloud:
    X, groups = tables.make_moons(240, noise=0.12, random_state=_seed(rng))
    return X, groups


def _densities(rng: np.random.Generator) -> Cloud:
    X, groups = tables.make_blobs(
        260, centers=5, cluster_std=[0.5, 1.0, 1.5, 2.0, 2.5], random_state=_seed(rng)
    )
    return X, groups


CLOUDS: Mapping[str, Callable[[np.random.Generator], Cloud]] = {
    "blobs": _blobs,
    "nested blobs": _nested_blobs,
    "stretched": _stretched,
    "moons": _moons,
    "densities": _densities,
}


def cloud(kind: str, seed: int) -> Known:
    """Generated points."""
    X, groups = CLOUDS[kind](np.random.default_rng([seed, len(kind)]))
    return _table(f"{kind} seed {seed}", X, groups, half_of(seed))


def bundled_tables() -> list[Known]:
    """The tables of scikit-learn, each column scaled to unit variance, except for digits."""
    loaders = {
        "breast cancer": tables.load_breast_cancer,
        "digits": tables.load_digits,
        "iris": tables.load_iris,
        "wine": tables.load_wine,
    }
    made = []
    for place, name in enumerate(TABLES):
        X, y = loaders[name](return_X_y=True)
        if name == "digits":
            # A quarter of the rows, so that every method takes seconds.
            X, y = X[::4], y[::4]
        else:
            X = StandardScaler().fit_transform(X)
        made.append(_table(name, X, y, half_of(place)))
    return made


def real_networks(data: Path | None) -> list[Known]:
    """The karate club, and with a data folder all of `NETWORKS`, in alphabetical order."""
    club = karate()
    assert club.labels is not None
    sets = [_network("karate", "karate", club.adjacency, {"club": _numbered(club.labels)})]
    if data is not None:
        sets += [*_classic(data), *_school(data), _connectome(data), _recipes(data)]
        sets.append(_authors_synthetic(data))
    return sorted(sets, key=lambda known: known.name)


def _network(source: str, name: str, adjacency: Any, levels: Mapping[str, Labels]) -> Known:
    return _connected("real networks", name, half_of(NETWORKS.index(source)), adjacency, levels)


def _classic(data: Path) -> list[Known]:
    """Football, political books and the UK faculty."""
    found = []
    for name, column in CLASSIC.items():
        nodes = _rows(data / "classic" / name / "nodes.csv")
        edges = _edges(_rows(data / "classic" / name / "edges.csv"), len(nodes), "weight")
        found.append(_network(name, name, edges, {column: _column(nodes, column)}))
    return found


def _school(data: Path) -> list[Known]:
    """Contacts in a primary school: all of them, and those of each of the two days."""
    nodes = _rows(data / "primary_school" / "nodes.csv")
    contacts = _rows(data / "primary_school" / "edges_by_day.csv")
    levels = {"class": _column(nodes, "label"), "grade": _column(nodes, "grade")}
    total = _edges(_rows(data / "primary_school" / "edges_total.csv"), len(nodes), "contacts")
    found = [_network("school", "school", total, levels)]
    for day in sorted({row["day"] for row in contacts}):
        edges = _edges([row for row in contacts if row["day"] == day], len(nodes), "contacts")
        found.append(_network("school", f"school day {day}", edges, levels))
    return found


def _connectome(data: Path) -> Known:
    """Streamlines between 70 regions, the mean over all scans on a logarithmic scale."""
    regions = _rows(data / "hnu1" / "desikan70_nodes.csv")
    with np.load(data / "hnu1" / "hnu1_ndmg_master_desikan70.npz") as scans:
        mean = scans["A"].mean(axis=0)
    levels = {level: _column(regions, level) for level in ("hemisphere", "hemi_lobe")}
    weights = np.where(mean >= 1.0, np.log1p(mean), 0.0)
    return _network("connectome", "connectome", weights, levels)


def _recipes(data: Path) -> Known:
    """Cuisines, by the cosine between their shares of ingredients."""
    cuisines = _rows(data / "recipes" / "cuisines.csv")
    names = [row["cuisine"] for row in cuisines]
    rows = {row[""]: row for row in _rows(data / "recipes" / "similarity_cosine.csv")}
    cosine = np.array([[float(rows[one][other]) for other in names] for one in names])
    levels = {level: _column(cuisines, level) for level in ("continent", "region_scirep")}
    return _network("recipes", "recipes", _as_edges(cosine), levels)


def _authors_synthetic(data: Path) -> Known:
    """The similarity of 196 nodes that the authors of the paper published."""
    K, fine, coarse = authors_similarity(data)
    levels = {"28 groups": fine, "4 groups": coarse}
    return _network("authors synthetic", "authors synthetic", _as_edges(K), levels)


def _as_edges(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Similarities as edge weights: nonnegative, with a zero diagonal."""
    weights = np.maximum(similarity, 0.0)
    np.fill_diagonal(weights, 0.0)
    return weights


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _column(rows: Sequence[Mapping[str, str]], column: str) -> Labels:
    return _numbered([row[column] for row in rows])


def _edges(rows: Sequence[Mapping[str, str]], n: int, column: str) -> sparse.csr_array:
    """Symmetric weights of a list of distinct edges."""
    tail = np.array([int(row["u"]) for row in rows])
    head = np.array([int(row["v"]) for row in rows])
    weight = np.array([float(row[column]) for row in rows])
    once = sparse.coo_array((weight, (tail, head)), shape=(n, n)).tocsr()
    return sparse.csr_array(once + once.T)


def _numbered(groups: Any) -> Labels:
    """Groups of any type as 0, 1, ..."""
    return np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.int64)
