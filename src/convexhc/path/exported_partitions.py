"""The partitions of a path that are worth a column in another program: the suggested one first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexhc._types import Labels

if TYPE_CHECKING:
    from convexhc.path.path import Path


def suggested_partitions(
    path: Path, min_cluster_size: int | None = None, suggested: Labels | None = None
) -> dict[str, Labels]:
    """Labels by column name: ``cluster``, the suggested ones; ``clusters_<k>``, other scales.

    The other scales are those of `Path.scales`, from coarse to fine, each as the best pruning of
    the tree into that many clusters.
    """
    first = path.suggestion.labels if suggested is None else suggested
    found = {"cluster": first}
    for scale in reversed(path.scales):
        count = scale.n_clusters
        if count != int(first.max()) + 1:
            found[f"clusters_{count}"] = path.labels(
                n_clusters=count, min_cluster_size=min_cluster_size
            )
    return found
