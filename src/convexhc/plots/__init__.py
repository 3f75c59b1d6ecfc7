"""Figures of a path or a solution, with matplotlib (extra: plots).

Each function draws on the given axes, or on those of a new figure, and returns the axes. None of
them shows a figure or changes a setting; without matplotlib they raise ImportError. A cluster has
the same colour in all figures.
"""

from convexhc.plots.coalescence import coalescence
from convexhc.plots.dendrogram import dendrogram
from convexhc.plots.heatmap import heatmap
from convexhc.plots.icicle import icicle
from convexhc.plots.network import network
from convexhc.plots.sankey import sankey
from convexhc.plots.scan import scan

__all__ = ["coalescence", "dendrogram", "heatmap", "icicle", "network", "sankey", "scan"]
