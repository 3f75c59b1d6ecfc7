"""Similarity matrices K from a graph or from points, and the shift that makes them definite.

Defaults: :func:`from_graph` and :func:`from_points`. Other similarities of a graph:
:func:`two_hop` (of the paper), :func:`two_hop_diagonal`, :func:`normalized`, :func:`laplacian`,
:func:`self_loops`, :func:`diffusion`, :func:`heat`; of a table: :func:`knn`, :func:`rbf`,
:func:`correlation`. Each returns a :class:`Similarity`, which records the shift added to the
diagonal and whether K is positive definite. :func:`multiscale_weights`, :func:`neighbor_weights`
and :func:`sparsify` give edge weights of the penalty; :func:`diffusion_features` and
:func:`spectral_features` turn nodes into points.
"""

from __future__ import annotations

from convexhc.similarity.definite import min_eigenvalue, require_psd
from convexhc.similarity.edge_weights import multiscale_weights, sparsify
from convexhc.similarity.graph_kernels import (
    diffusion,
    heat,
    laplacian,
    normalized,
    self_loops,
    two_hop,
    two_hop_diagonal,
)
from convexhc.similarity.neighbors import from_points, neighbor_graph, neighbor_weights
from convexhc.similarity.point_kernels import correlation, knn, rbf
from convexhc.similarity.result import Similarity, shift_to_positive
from convexhc.similarity.spectral import diffusion_features, from_graph, spectral_features

__all__ = [
    "Similarity",
    "correlation",
    "diffusion",
    "diffusion_features",
    "from_graph",
    "from_points",
    "heat",
    "knn",
    "laplacian",
    "min_eigenvalue",
    "multiscale_weights",
    "neighbor_graph",
    "neighbor_weights",
    "normalized",
    "rbf",
    "require_psd",
    "self_loops",
    "shift_to_positive",
    "sparsify",
    "spectral_features",
    "two_hop",
    "two_hop_diagonal",
]
