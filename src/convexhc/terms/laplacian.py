"""The Laplacian of a graph, under any weights on its edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from convexhc.graph import Graph


def laplacian(graph: Graph, weight: NDArray[np.float64]) -> csr_array:
    """D' diag(weight) D: degrees on the diagonal, minus the weights off it. O(n + E).

    Examples
    --------
    >>> import numpy as np
    >>> pair = Graph.from_matrix([[0.0, 2.0], [2.0, 0.0]])
    >>> laplacian(pair, pair.weight).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    n, tail, head = graph.n, graph.tail, graph.head
    degree = np.bincount(tail, weight, n) + np.bincount(head, weight, n)
    nodes = np.arange(n)
    rows = np.concatenate([tail, head, nodes])
    columns = np.concatenate([head, tail, nodes])
    return csr_array((np.concatenate([-weight, -weight, degree]), (rows, columns)), shape=(n, n))
