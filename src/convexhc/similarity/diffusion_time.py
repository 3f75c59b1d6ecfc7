"""The similarity that the graph itself chooses: diffusion until random edges are faint."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexhc.io import as_graph
from convexhc.similarity.graph_kernels import checked_steps, degrees, diffusion, normalized_weights
from convexhc.similarity.result import Shift, Similarity
from convexhc.similarity.spectral import leading_eigenpairs

# Weight at which the edge of the noise band counts as faint, in `from_graph`.
FAINT = 0.05
# Largest noise edge: trees and paths, whose edges explain everything, would never end.
MOST_NOISE = 0.9
# Columns of `diffusion_features`: enough for the communities of most graphs; more is slower.
N_FEATURES = 60


def from_graph(A: Any, *, time: int | None = None, shift: Shift = 0.0) -> Similarity:
    """Similarity of a graph of which nothing is known: `diffusion` for a time its spectrum sets.

    Random edges give S a band of eigenvalues of half-width ``2 sigma``, where sigma^2 is the mean
    of its squared eigenvalues, ``|S|_F^2 / n`` (Wigner's semicircle). After t lazy steps the
    edge of that band weighs ``((1 + 2 sigma) / 2)^t``. The time is the first at which this is at
    most 5 %: noise is faint, and no more of the fine structure is given up than that takes.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    time : int, optional
        Number of steps, instead of the rule.
    shift : float or "auto"
        Added to the diagonal; "auto" adds what makes K positive definite.

    Returns
    -------
    Similarity
        Of kind "diffusion", with ``time`` and ``noise_edge`` among its parameters. The rule costs
        one pass over the edges; K itself is dense for most graphs: `diffusion_features` is the way
        without it.

    Examples
    --------
    >>> from convexhc.datasets import fractal_graph
    >>> K = from_graph(fractal_graph().adjacency)
    >>> K.kind, K.parameters["time"]
    ('diffusion', 24)
    """
    graph = as_graph(A)
    edge = noise_edge(graph)
    steps = _steps_to_silence(edge) if time is None else checked_steps(time)
    made = diffusion(graph, time=steps, shift=shift)
    return replace(made, parameters={**made.parameters, "noise_edge": edge})


def diffusion_features(
    A: Any, *, time: int | None = None, n_features: int = N_FEATURES
) -> NDArray[np.float64]:
    """Coordinates of the nodes whose inner products are nearest to `from_graph`.

    ``X = V ((1 + mu) / 2)^(time / 2)`` with mu the largest eigenvalues of S and V their
    eigenvectors, and every row scaled to unit length.

    Parameters
    ----------
    A : anything :func:`convexhc.io.as_graph` reads
        The graph; weights not negative.
    time : int, optional
        Number of lazy steps; by default that of `from_graph`.
    n_features : int
        Number of columns, at most n.

    Returns
    -------
    (n, n_features) ndarray
        Lanczos on the sparse graph above 600 nodes, O(n n_features) memory; a dense
        eigendecomposition below.

    Examples
    --------
    >>> X = diffusion_features([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> np.round(X @ X.T, 6)
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """
    graph = as_graph(A)
    whole = isinstance(n_features, int | np.integer) and not isinstance(n_features, bool)
    if not whole or n_features < 1:
        raise ValueError(f"n_features must be a whole number, one or more, got {n_features!r}")
    steps = diffusion_time(graph) if time is None else checked_steps(time)
    walk = normalized_weights(graph)
    # A node without edges stays where it is.
    alone = (degrees(graph) == 0).astype(np.float64)
    walk = sparse.csr_array(walk + sparse.diags_array(alone))
    values, vectors = leading_eigenpairs(walk, min(int(n_features), graph.n))
    X = vectors * np.maximum((1.0 + values) / 2.0, 0.0) ** (steps / 2.0)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(X / np.where(length > 0.0, length, 1.0))


def diffusion_time(A: Any) -> int:
    """Number of lazy steps that `from_graph` takes: the first at which noise is faint.

    Examples
    --------
    >>> diffusion_time(np.ones((100, 100)))
    6
    """
    return _steps_to_silence(noise_edge(A))


def noise_edge(A: Any) -> float:
    """Largest eigenvalue of S that random edges explain: ``2 |S|_F / sqrt(n)``, at most 0.9.

    Examples
    --------
    >>> noise_edge(np.ones((100, 100)))
    0.2
    """
    graph = as_graph(A)
    walk = normalized_weights(graph)
    return min(2.0 * float(np.sqrt(np.square(walk.data).sum() / graph.n)), MOST_NOISE)


def _steps_to_silence(edge: float) -> int:
    return max(1, math.ceil(math.log(FAINT) / math.log((1.0 + edge) / 2.0)))
