"""Two generators of graphs with nested communities, and two classic networks of networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from convexhc._checks import checked_count, checked_number
from convexhc._extras import required
from convexhc.kernels.labels import numbered

RandomState = int | np.random.Generator | np.random.RandomState | None

# Draws until a random graph is connected; more would be needed only for a wrong probability.
_MAX_DRAWS = 1000


class FractalGraph(NamedTuple):
    """Graph with two nested levels of communities.

    Attributes
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Symmetric 0/1 matrix (float64) with an empty diagonal.
    fine : ndarray of shape (n,)
        The super node (clique) of each node, 0 to ``n_meta * n_super - 1``.
    coarse : ndarray of shape (n,)
        The meta node of each node, 0 to ``n_meta - 1``.
    """

    adjacency: csr_array
    fine: NDArray[np.intp]
    coarse: NDArray[np.intp]


class NestedBlocks(NamedTuple):
    """Random graph with nested blocks.

    Attributes
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Symmetric 0/1 matrix (float64) with an empty diagonal.
    labels : tuple of ndarray of shape (n,)
        One array per level of blocks, coarsest first; each level refines the one before.
    """

    adjacency: csr_array
    labels: tuple[NDArray[np.intp], ...]


class NamedGraph(NamedTuple):
    """Real network with named nodes.

    Attributes
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Symmetric matrix of edge weights (float64) with an empty diagonal.
    names : tuple of str
        One name per row of ``adjacency``.
    labels : ndarray of shape (n,) or None
        The group of each node, from 0; None if the data has no groups.
    """

    adjacency: csr_array
    names: tuple[str, ...]
    labels: NDArray[np.intp] | None


def fractal_graph(
    random_state: RandomState = 0,
    *,
    n_meta: int = 4,
    n_super: int = 7,
    clique: int = 7,
    links_super: int = 1,
    links_meta: int = 1,
    p_super: float = 1.0,
    p_meta: float = 0.5,
) -> FractalGraph:
    """Draw the three-level graph of the paper: meta nodes of super nodes of cliques.

    Each super node is a complete graph on ``clique`` nodes. The links between the super nodes of a
    meta node, and between the meta nodes, form a connected Erdos-Renyi graph with probability
    ``p_super`` or ``p_meta``, drawn by rejection. A linked pair is joined by ``links_super``
    (``links_meta``) distinct edges, drawn uniformly among all pairs of nodes. Time and memory
    grow with the number of edges.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator; the same int gives the same graph.
    n_meta, n_super, clique : int
        Number of meta nodes, of super nodes per meta node, and of nodes per super node.
    links_super, links_meta : int
        Edges between two linked super nodes, and between two linked meta nodes.
    p_super, p_meta : float
        Probability that two super nodes of one meta node, or two meta nodes, are linked.

    Returns
    -------
    FractalGraph
        The adjacency, the fine and the coarse labels; nodes are ordered by group.

    Raises
    ------
    ValueError, TypeError
        A count is not a positive integer, a probability is outside [0, 1], there are more links
        than pairs of nodes, or no connected graph is drawn.

    Examples
    --------
    >>> from convexhc.datasets import fractal_graph
    >>> adjacency, fine, coarse = fractal_graph(0)
    >>> adjacency.shape, int(fine.max()) + 1, int(coarse.max()) + 1
    ((196, 196), 28, 4)
    """
    counts = {"n_meta": n_meta, "n_super": n_super, "clique": clique}
    counts |= {"links_super": links_super, "links_meta": links_meta}
    for name, count in counts.items():
        checked_count(name, count)
    rng = seeded_generator(random_state)
    per_meta = n_super * clique

    edges = []
    for meta in range(n_meta):
        first = meta * per_meta
        for block in range(n_super):
            edges.append(_pairs(clique) + first + block * clique)
        for a, b in _connected_draw(rng, n_super, p_super, "p_super"):
            link = _links(rng, clique, links_super, "links_super")
            edges.append(link + first + np.array([a, b]) * clique)
    for a, b in _connected_draw(rng, n_meta, p_meta, "p_meta"):
        link = _links(rng, per_meta, links_meta, "links_meta")
        edges.append(link + np.array([a, b]) * per_meta)

    node = np.arange(n_meta * per_meta)
    return FractalGraph(
        _adjacency(np.concatenate(edges), node.size), node // clique, node // per_meta
    )


def nested_blocks(
    sizes: Sequence[int], probabilities: Sequence[float], random_state: RandomState = 0
) -> NestedBlocks:
    """Draw a nested stochastic block model.

    ``sizes[0]`` blocks each consist of ``sizes[1]`` smaller blocks, and so on; the finest blocks
    have ``sizes[-1]`` nodes, and n is the product of the sizes. Two nodes whose smallest common
    block is at depth l are joined independently with probability ``probabilities[l]``; depth 0 is
    the whole graph, the last depth a finest block. The number of edges at each depth is drawn from
    its binomial distribution and the edges uniformly among the pairs, in memory proportional to
    the number of edges.

    Parameters
    ----------
    sizes : sequence of int
        Children of a block at each depth, coarsest first.
    probabilities : sequence of float
        Edge probability at each depth, as many as ``sizes``; increasing for communities.
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator; the same int gives the same graph.

    Returns
    -------
    NestedBlocks
        The adjacency and ``len(sizes) - 1`` arrays of labels; nodes are ordered by group. The
        graph need not be connected.

    Raises
    ------
    ValueError, TypeError
        The two sequences differ in length or are empty, a size is not a positive integer, or a
        probability is outside [0, 1].

    Examples
    --------
    >>> from convexhc.datasets import nested_blocks
    >>> adjacency, (coarse, fine) = nested_blocks((2, 3, 5), (0.01, 0.1, 0.9))
    >>> adjacency.shape, len(set(coarse)), len(set(fine))
    ((30, 30), 2, 6)
    """
    if len(sizes) != len(probabilities) or not len(sizes):
        raise ValueError(
            f"sizes and probabilities describe the same depths, but have {len(sizes)} and "
            f"{len(probabilities)} entries; give one probability for each size."
        )
    for depth, (size, probability) in enumerate(zip(sizes, probabilities, strict=True)):
        checked_count(f"sizes[{depth}]", size)
        checked_number(f"probabilities[{depth}]", probability, upper=1.0)
    rng = seeded_generator(random_state)

    n = int(np.prod(sizes, dtype=np.int64))
    node = np.arange(n)
    edges = []
    labels = []
    block = n
    for size, probability in zip(sizes, probabilities, strict=True):
        child = block // size
        edges.append(_edges_at_depth(rng, n // block, size, child, probability))
        labels.append(node // child)
        block = child
    return NestedBlocks(_adjacency(np.concatenate(edges), n), tuple(labels[:-1]))


def karate() -> NamedGraph:
    """Load Zachary's karate club: 34 members of a club that split in two.

    The weight of an edge is the number of contexts in which two members met (Zachary, 1977).

    Returns
    -------
    NamedGraph
        Weights, member numbers as names, and the club each member joined (0 or 1).

    Raises
    ------
    ImportError
        networkx, which includes the data, is not installed.

    Examples
    --------
    >>> from convexhc.datasets import karate
    >>> club = karate()
    >>> club.adjacency.shape, club.labels.tolist().count(1)
    ((34, 34), 17)
    """
    network = _networkx().karate_club_graph()
    clubs = np.array([club for _, club in network.nodes(data="club")])
    return _named_graph(network, numbered(clubs))


def les_miserables() -> NamedGraph:
    """Load the co-appearance network of the 77 characters of Les Miserables.

    The weight of an edge is the number of chapters in which two characters appear together
    (Knuth, 1993). The data has no groups.

    Returns
    -------
    NamedGraph
        Weights and the characters' names; ``labels`` is None.

    Raises
    ------
    ImportError
        networkx, which includes the data, is not installed.

    Examples
    --------
    >>> from convexhc.datasets import les_miserables
    >>> novel = les_miserables()
    >>> novel.adjacency.shape, "Valjean" in novel.names
    ((77, 77), True)
    """
    return _named_graph(_networkx().les_miserables_graph(), None)


def seeded_generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator; from a RandomState, one seeded by its next draw."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    return np.random.default_rng(random_state)


def _pairs(n: int) -> NDArray[np.intp]:
    """All pairs i < j of n nodes, one per row."""
    return np.stack(np.triu_indices(n, 1), axis=1)


def _connected_draw(
    rng: np.random.Generator, n: int, probability: float, name: str
) -> NDArray[np.intp]:
    """Edges of an Erdos-Renyi graph on n nodes, drawn until it is connected."""
    checked_number(name, probability, upper=1.0)
    pairs = _pairs(n)
    for _ in range(_MAX_DRAWS):
        kept = pairs[rng.random(len(pairs)) < probability]
        if connected_components(_adjacency(kept, n), directed=False)[0] == 1:
            return kept
    raise ValueError(
        f"{name} = {probability!r} gave no connected graph on {n} nodes in {_MAX_DRAWS} draws; "
        "raise it."
    )


def _links(rng: np.random.Generator, size: int, count: int, name: str) -> NDArray[np.intp]:
    """Distinct pairs of a node of one group and a node of another, both of ``size`` nodes."""
    if count > size**2:
        raise ValueError(
            f"{name} = {count} distinct edges were asked for between two groups of {size} nodes, "
            f"which have only {size**2} pairs; lower it."
        )
    drawn = rng.choice(size**2, size=count, replace=False)
    return np.stack(np.divmod(drawn, size), axis=1)


def _edges_at_depth(
    rng: np.random.Generator, n_blocks: int, n_children: int, child: int, probability: float
) -> NDArray[np.intp]:
    """Edges between different children of the same block, for ``n_blocks`` blocks.

    A pair of nodes is indexed by the block, the pair of children, and the position inside either
    child; the four indices are drawn as one number.
    """
    siblings = _pairs(n_children)
    shape = (n_blocks, len(siblings), child, child)
    n_pairs = int(np.prod(shape, dtype=np.int64))
    count = rng.binomial(n_pairs, probability)
    if not count:
        return np.empty((0, 2), dtype=np.intp)
    drawn = rng.choice(n_pairs, size=count, replace=False)
    block, sibling, *place = np.unravel_index(drawn, shape)
    first = (block[:, None] * n_children + siblings[sibling]) * child
    return first + np.stack(place, axis=1)


def _adjacency(edges: NDArray[np.intp], n: int) -> csr_array:
    """Symmetric 0/1 matrix of distinct edges, each given once."""
    # 32-bit indices, as scipy uses for small matrices: some packages accept no others.
    row, column = np.concatenate([edges, edges[:, ::-1]]).astype(np.int32).T
    return coo_array((np.ones(row.size), (row, column)), shape=(n, n)).tocsr()


def _networkx() -> Any:
    return required("networkx", "this data set")


def _named_graph(network: Any, labels: NDArray[np.intp] | None) -> NamedGraph:
    adjacency = _networkx().to_scipy_sparse_array(network, dtype=np.float64, format="csr")
    return NamedGraph(adjacency, tuple(str(name) for name in network), labels)
