"""What a path can be turned into: tables, trees, graphs and files of other programs."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, cast

from convexhc._types import Labels
from convexhc.export import clustered_graph, write_export
from convexhc.path.summary import frame_of

if TYPE_CHECKING:
    from convexhc.path.path import Path


def suggested_partitions(
    path: Path, min_cluster_size: int | None = None, suggested: Labels | None = None
) -> dict[str, Labels]:
    """Labels by column: ``cluster``, the suggested ones; ``clusters_<k>``, each other scale."""
    first = path.suggestion.labels if suggested is None else suggested
    found = {"cluster": first}
    for scale in reversed(path.scales):
        count = scale.n_clusters
        if count != int(first.max()) + 1:
            found[f"clusters_{count}"] = path.labels(
                n_clusters=count, min_cluster_size=min_cluster_size
            )
    return found


class Exports:
    """The methods of `Path` that hand it to other libraries and programs."""

    def communities(self, **scale: Any) -> list[set[Hashable]]:
        """The clusters at one scale as sets of names, as networkx has communities.

        Takes what `Path.labels` takes; without a scale, the suggested one.

        Examples
        --------
        >>> import networkx as nx
        >>> import convexhc
        >>> club = nx.karate_club_graph()
        >>> found = convexhc.cluster(club).communities(n_clusters=2)
        >>> nx.community.is_partition(club, found)
        True
        """
        path = cast("Path", self)
        if scale:
            return [set(members) for members in path.clusters(**scale)]
        labels = path.suggestion.labels
        return [
            {path.names[node] for node in (labels == label).nonzero()[0].tolist()}
            for label in range(path.suggestion.n_clusters)
        ]

    def to_networkx(self, of: Literal["tree", "graph"] = "tree") -> Any:
        """The tree, or the graph with its clusters, for networkx (extra: graphs).

        Parameters
        ----------
        of : {"tree", "graph"}
            "tree": from parents to children, with height, size and name. "graph": the graph that
            was clustered, its nodes with the attributes ``cluster``, the suggested one, and
            ``clusters_<k>`` for each further scale that lasts.

        Examples
        --------
        >>> import networkx as nx
        >>> import convexhc
        >>> path = convexhc.cluster(nx.karate_club_graph())
        >>> sorted(path.to_networkx("graph").nodes[0])[0]
        'cluster'
        """
        path = cast("Path", self)
        if of == "tree":
            return path.tree.to_networkx()
        if of != "graph":
            raise ValueError(f"of must be 'tree' or 'graph', received {of!r}.")
        if path.graph is None:
            raise ValueError("the path has no graph: it was made by hand, or by an old version.")
        return clustered_graph(path.graph, path.names, suggested_partitions(path))

    def export(
        self,
        file: str | os.PathLike[str],
        format: str | None = None,
    ) -> None:
        """Write the clustered graph, its nodes or the tree for another program.

        Parameters
        ----------
        file : path
            Written whole or not at all; replaced if it exists.
        format : {"gexf", "graphml", "cx2", "newick", "csv"}, optional
            GEXF and GraphML, for Gephi, Cytoscape, yEd, igraph (extra: graphs); CX2, for Cytoscape
            and NDEx; Newick; or CSV, a table of the nodes with the columns ``Id``, ``Label``,
            ``cluster``, the suggested one, and ``clusters_<k>`` for each further scale that lasts.
            Default: by the ending of the file.

        Raises
        ------
        ValueError
            A format that is not known, or a path without a graph.
        """
        path = cast("Path", self)
        write_export(
            file,
            format,
            graph=path.graph,
            names=path.names,
            partitions=suggested_partitions(path),
            newick=path.to_newick,
        )

    def to_newick(self) -> str:
        """The tree in Newick format."""
        return cast("Path", self).tree.to_newick()

    def to_frame(self) -> Any:
        """One row per lam, as a pandas DataFrame (extra: graphs)."""
        return frame_of(cast("Path", self))
