"""Generated graphs with nested communities, generated connectomes, and two classic networks.

Generated graphs come with the labels of every level. The classic networks are included in
networkx: nothing is downloaded.
"""

from convexhc.datasets.connectomes import Connectomes, hierarchical_connectomes
from convexhc.datasets.graphs import (
    FractalGraph,
    NamedGraph,
    NestedBlocks,
    fractal_graph,
    karate,
    les_miserables,
    nested_blocks,
)

__all__ = [
    "Connectomes",
    "FractalGraph",
    "NamedGraph",
    "NestedBlocks",
    "fractal_graph",
    "hierarchical_connectomes",
    "karate",
    "les_miserables",
    "nested_blocks",
]
