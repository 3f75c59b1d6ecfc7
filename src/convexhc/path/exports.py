"""What a path can be turned into: a summary, tables, trees, graphs and files of other programs."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from convexhc._extras import required
from convexhc._text import counted, format_number
from convexhc._types import Labels
from convexhc.export import clustered_graph, write_export
from convexhc.path.suggestion import warning_text
from convexhc.solvers.solution import Status
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from convexhc.path.path import Path

# Nodes in doubt up to which a summary names them.
MAX_NAMES = 10


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

    def export(self, file: str | os.PathLike[str], format: str | None = None) -> None:
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
        path, pd = cast("Path", self), required("pandas", "to_frame")
        return pd.DataFrame(
            {
                "lam": path.lambdas,
                "n_clusters": path.n_clusters,
                "effective_rank": path.effective_rank,
                "objective": path.objective,
                "relative_gap": path.relative_gap,
                "n_iter": [level.n_iter for level in path.levels],
                "seconds": [level.seconds for level in path.levels],
                "status": [level.status.name for level in path.levels],
                "proven": path.proof.is_proven,
            }
        )


def summary_of(path: Path, n_plateaus: int = 5) -> str:
    """Size, range, certificate, splits, suggestion, scales, ``n_plateaus`` widest plateaus."""
    widest = sorted(path.plateaus, key=lambda plateau: -plateau.log_width)[:n_plateaus]
    unsolved = sum(level.status is not Status.SOLVED for level in path.levels)
    largest = float(path.relative_gap.max())
    certificate = f"certificate: largest relative gap {largest:.1e}"
    if math.isnan(largest):
        certificate = "certificate: none, the smooth model has a closed form"
    lines = [
        f"{len(path.names)} nodes, {counted(int(path.components.max()) + 1, 'component')}, "
        f"{len(path.levels)} lam from {format_number(path.lambdas[0])} to "
        f"{format_number(path.lambdas[-1])}",
        certificate + (f"; {unsolved} lam not solved" if unsolved else ""),
        *([f"proof: {proof_text(path)}"] if path.proof.exists else []),
        f"nested: {'yes' if path.is_nested else 'no, ' + counted(len(path.splits), 'split')}",
        f"suggested scale: {path.suggestion}",
    ]
    if not path.suggestion.confident:
        lines.append(f"caution: {warning_text(path)}")
    elif path.structure is not None:
        lines.append(f"structure: {path.structure}")
    if path.scales:
        lines += ["scales that last:", *(f"  {scale}" for scale in path.scales)]
    lines.append("widest plateaus:")
    lines += [f"  {plateau.n_clusters:5d} {_range(plateau)}" for plateau in widest]
    if path.tree.root_joins:
        lines.append(f"{counted(path.tree.root_joins, 'join')} at the top only to close the tree")
    return "\n".join(lines)


def proof_text(path: Path) -> str:
    """How many partitions are proven, and which nodes are in doubt near the suggested scale."""
    proof, lam = path.proof, path.suggestion.plateau.lam_from
    # A pruning is not a solution: what is proven is the level nearest to it.
    exact = np.array_equal(path.labels(lam=lam), path.suggestion.labels)
    where = "the suggested scale" if exact else "the level nearest to the suggested scale"
    text = f"{proof.n_proven} of {counted(len(path.levels), 'partition')} proven"
    doubt = [str(name) for name in proof.in_doubt(lam)]
    if not doubt:
        return f"{text}, with that of {where}"
    if len(doubt) > MAX_NAMES:
        count = f"{len(doubt)} of {len(path.names)} nodes"
        return f"{text}; at {where} the clusters of {count} are not"
    return f"{text}; in doubt at {where}: {', '.join(doubt)}"


def _range(plateau: Plateau) -> str:
    """The range of lam of a plateau, as text."""
    noun = "cluster" if plateau.n_clusters == 1 else "clusters"
    return f"{noun} for lam {format_number(plateau.lam_from)} to {format_number(plateau.lam_to)}"
