"""Exact fusions: contraction of clusters, and the flows that prove or split them."""
