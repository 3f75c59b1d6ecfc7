"""Results as CSV."""

from __future__ import annotations

import numpy as np

from convexhc.export.csv_table import cell, csv_text, node_table
from convexhc.path import Path
from convexhc.path.exported_partitions import suggested_partitions
from convexhc.path.suggestion import suggest


def labels_csv(path: Path, min_cluster_size: int | None = None, *, escape: bool = False) -> str:
    """One row per node: suggested cluster, then the cluster at each horizontal cut of the tree.

    The columns of the cuts are named ``k<clusters>``, coarse to fine.
    """
    counts = sorted(path.level_n_clusters)
    levels = [path.labels(n_clusters=k, by="lam") for k in counts]
    columns = np.stack([suggest(path, min_cluster_size).labels, *levels], axis=1)
    rows = (
        [cell(name, escape=escape), *row]
        for name, row in zip(path.names, columns.tolist(), strict=True)
    )
    return csv_text(["node", "suggested", *(f"k{k}" for k in counts)], rows)


def nodes_csv(path: Path, min_cluster_size: int | None = None, *, escape: bool = False) -> str:
    """One row per node: Id, Label, the suggested cluster and those of the few scales that last."""
    suggested = suggest(path, min_cluster_size).labels
    partitions = suggested_partitions(path, min_cluster_size, suggested)
    return node_table(path.names, partitions, escape=escape)
