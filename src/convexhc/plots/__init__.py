"""Figures of a path or a solution, with matplotlib (extra: plots).

Each function draws on the axes it is given, or on a new figure, and returns the axes; none of
them shows a figure or changes a setting. One cluster wears one colour in all of them.
"""

from convexhc.plots.coalescence import coalescence
from convexhc.plots.dendrogram import dendrogram
from convexhc.plots.heat import heatmap
from convexhc.plots.icicle import icicle
from convexhc.plots.network import network
from convexhc.plots.sankey import sankey
from convexhc.plots.scan import scan

__all__ = ["coalescence", "dendrogram", "heatmap", "icicle", "network", "sankey", "scan"]
