"""Clustered graphs, node tables and trees in the formats of other programs."""

from convexhc.export.files import FORMATS, format_of, write_export
from convexhc.export.networks import clustered_graph

__all__ = ["FORMATS", "clustered_graph", "format_of", "write_export"]
