"""The support of a path by resampling: branches, nodes, levels, scales; storage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexhc._extras import required
from convexhc._text import counted
from convexhc._types import FloatArray, IntArray
from convexhc.io.archive import File, decode_names, encode_names, read_npz, write_npz
from convexhc.path import Path
from convexhc.path.scales import Scale, judged
from convexhc.resampling.comparison import Comparison
from convexhc.tree import Tree

Table = Literal["branches", "nodes", "levels"]

# Quantiles of the agreement over the resamples that tables list.
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class Support:
    """How far the branches, nodes, levels and scales of a path survive resampling.

    Attributes
    ----------
    tree : Tree
        The tree that is judged; branches are its merges, in their order.
    share : (m,) ndarray
        For every branch: the fraction of resamples with the same clade. The root has 1.
    transfer : (m,) ndarray
        Mean transfer support of every branch (`tree.clades.transfer_support`), at least the share.
    nodes : (n,) ndarray
        Stability of every node: how well the clusters around it are found again, 1 if always
        (`node_recovery`); NaN for a node in no branch.
    lambdas, n_clusters : (L,) ndarrays
        The levels of the path.
    ami, vi : (B, L) ndarrays
        One row per resample: adjusted mutual information and variation of information, in nats, of
        the partitions of both paths at the same lam.
    scales : tuple of Scale
        The scales of the path, with their median agreement.
    scale_agreement : (B, S) ndarray
        Adjusted mutual information at every scale with as many clusters of the resample.
    resample : str
        What was resampled, as in `convexhc.support`.
    edge_share : float
        Probability with which an edge was kept, for "drop".
    random_state : int
        Seed.
    failed : tuple of str
        The errors of resamples that could not be solved; they do not count.
    """

    tree: Tree = field(repr=False)
    share: FloatArray = field(repr=False)
    transfer: FloatArray = field(repr=False)
    nodes: FloatArray = field(repr=False)
    lambdas: FloatArray = field(repr=False)
    n_clusters: IntArray = field(repr=False)
    ami: FloatArray = field(repr=False)
    vi: FloatArray = field(repr=False)
    scales: tuple[Scale, ...]
    scale_agreement: FloatArray = field(repr=False)
    resample: str
    edge_share: float
    random_state: int
    failed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        path: Path,
        scales: tuple[Scale, ...],
        found: Iterable[Comparison],
        **settings: Any,
    ) -> Support:
        """Support of a path from its comparisons with resamples, at least one."""
        rows = list(found)
        transfer = np.array([row.transfer for row in rows])
        agreement = np.array([row.scales for row in rows])
        median = dict(
            zip((s.n_clusters for s in scales), np.median(agreement, axis=0).tolist(), strict=True)
        )
        return cls(
            path.tree,
            (transfer == 1.0).mean(axis=0),
            transfer.mean(axis=0),
            np.mean([row.nodes for row in rows], axis=0),
            path.lambdas,
            path.n_clusters,
            np.array([row.ami for row in rows]),
            np.array([row.vi for row in rows]),
            judged(scales, median),
            agreement,
            **settings,
        )

    @property
    def n_resamples(self) -> int:
        """Number of resamples that were solved."""
        return len(self.ami)

    @property
    def robust_scales(self) -> tuple[Scale, ...]:
        """The scales that last, are informative and survive resampling, from fine to coarse."""
        return tuple(scale for scale in self.scales if scale.survives)

    @property
    def linkage_support(self) -> FloatArray:
        """Share and transfer support of the branch that each row of ``tree.Z`` makes, (n - 1, 2).

        A merge of more than two children has several rows; only the last makes the branch, and the
        others have NaN.
        """
        rows = np.full((self.tree.n_leaves - 1, 2), np.nan)
        last = np.cumsum(self.tree.nodes.n_children - 1) - 1
        rows[last] = np.stack([self.share, self.transfer], axis=1)
        return rows

    def to_newick(self) -> str:
        """The tree in Newick format, with the shares as labels of the inner nodes but the root."""
        return self.tree.to_newick(self.share)

    def table(self, kind: Table = "branches") -> dict[str, list[Any]]:
        """One column per quantity, as plain lists.

        Parameters
        ----------
        kind : {"branches", "nodes", "levels"}
            One row per branch (number in ``tree.merges``, lam, number of nodes and of children,
            share, transfer support), per node (name and stability), or per level (lam, number of
            clusters, quantiles of the agreement).
        """
        if kind == "nodes":
            return {"node": list(self.tree.names), "stability": self.nodes.tolist()}
        if kind == "levels":
            columns = {"lam": self.lambdas.tolist(), "n_clusters": self.n_clusters.tolist()}
            for name, values in (("ami", self.ami), ("vi", self.vi)):
                for quantile in QUANTILES:
                    column = np.quantile(values, quantile, axis=0)
                    columns[f"{name}_{100 * quantile:.0f}"] = column.tolist()
            return columns
        if kind != "branches":
            raise ValueError(f"kind must be 'branches', 'nodes' or 'levels', received {kind!r}.")
        nodes = self.tree.nodes
        return {
            "branch": list(range(nodes.n_leaves, nodes.parent.size)),
            "lam": nodes.height[nodes.n_leaves :].tolist(),
            "size": nodes.size[nodes.n_leaves :].tolist(),
            "n_children": nodes.n_children.tolist(),
            "share": self.share.tolist(),
            "transfer": self.transfer.tolist(),
        }

    def to_frame(self, kind: Table = "branches") -> Any:
        """`table` as a pandas DataFrame (extra: graphs)."""
        pd = required("pandas", "to_frame")
        return pd.DataFrame(self.table(kind))

    def summary(self) -> str:
        """A short text: how the resamples were made, the branches, the scales."""
        inner = self.share[:-1]
        lines = [f"support from {counted(self.n_resamples, 'resample')}, {self.made}"]
        if inner.size:
            high = int(np.count_nonzero(inner >= 0.95))
            lines.append(f"branches: {high} of {inner.size} are in 95 % of the resamples or more")
        robust = self.robust_scales
        lines.append("robust scales:" if robust else "robust scales: none")
        lines += [f"  {scale}" for scale in robust]
        others = [scale for scale in self.scales if not scale.survives]
        if others:
            lines += ["other scales:", *(f"  {scale}" for scale in others)]
        if self.failed:
            lines.append(f"{counted(len(self.failed), 'resample')} failed: {self.failed[0]}")
        return "\n".join(lines)

    @property
    def made(self) -> str:
        """How the resamples were made, as text."""
        if self.resample == "drop":
            return f"each without {100 * (1 - self.edge_share):.3g} % of the edges"
        drawn = {"edges": "edges", "weights": "counts", "columns": "columns"}[self.resample]
        return f"{drawn} drawn with replacement"

    def save(self, file: File) -> None:
        """Write to one npz file, whole or not at all."""
        text = {
            "kind": "support",
            "names": encode_names(self.tree.names),
            "root_joins": self.tree.root_joins,
            "scales": [
                [s.n_clusters, s.lam_from, s.lam_to, s.modularity, s.agreement] for s in self.scales
            ],
            "resample": self.resample,
            "edge_share": self.edge_share,
            "random_state": self.random_state,
            "failed": list(self.failed),
        }
        labels = np.array([scale.labels for scale in self.scales], dtype=np.int64)
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {
            "linkage": self.tree.Z,
            "labels": labels.reshape(len(self.scales), len(self.nodes)),
        }
        write_npz(file, text, arrays)

    @classmethod
    def load(cls, file: File) -> Support:
        """Read what `save` wrote."""
        return read_npz(file, "support", _unpack)


# Arrays of a file, and their axes.
_ARRAYS = {
    "share": ("merges",),
    "transfer": ("merges",),
    "nodes": ("nodes",),
    "lambdas": ("levels",),
    "n_clusters": ("levels",),
    "ami": ("resamples", "levels"),
    "vi": ("resamples", "levels"),
    "scale_agreement": ("resamples", "scales"),
}


def _unpack(text: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Support:
    """Support from its file; ValueError if the shapes do not fit."""
    names = decode_names(text["names"])
    tree = Tree.from_linkage(arrays["linkage"], names=names, root_joins=int(text["root_joins"]))
    n, count = tree.n_leaves, len(text["scales"])
    rows, levels = arrays["ami"].shape
    sizes = {"merges": tree.nodes.n_merges, "nodes": n, "levels": levels, "scales": count}
    sizes["resamples"] = rows
    for name, axes in _ARRAYS.items():
        shape = tuple(sizes[axis] for axis in axes)
        if arrays[name].shape != shape or arrays[name].dtype.kind not in "iuf":
            raise ValueError(f"{name} is not of shape {shape}")
    if count and arrays["labels"].shape != (count, n):
        raise ValueError("the labels of the scales are not one per node")
    scales = tuple(
        Scale(int(k), labels, *rest)
        for (k, *rest), labels in zip(text["scales"], arrays["labels"], strict=True)
    )
    return Support(
        tree,
        scales=scales,
        resample=str(text["resample"]),
        edge_share=float(text["edge_share"]),
        random_state=int(text["random_state"]),
        failed=tuple(text["failed"]),
        **{name: arrays[name] for name in _ARRAYS},
    )
