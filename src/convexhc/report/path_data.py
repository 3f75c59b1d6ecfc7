"""Data of a path for the report: partitions, tree, splits, proofs, support, scales, attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._text import on_page
from convexhc._types import BoolArray, FloatArray, Labels
from convexhc.layout.colors import N_COLORS, color_ranks, neutral, palette
from convexhc.path import Path
from convexhc.path.scales import Scale
from convexhc.report.array_encoding import RESOLUTION, encode_array, quantize
from convexhc.resampling.support import Support
from convexhc.solvers.loop import Status
from convexhc.tree import Plateau, Split, Tree
from convexhc.tree.nested_partitions import first_members


def path_data(path: Path) -> dict[str, Any]:
    """Levels and tree of a path as values for JSON; O(n L)."""
    levels, tree = path.levels, path.tree
    n_colors = min(len(path.names), N_COLORS)
    return {
        "names": [str(name) for name in path.names],
        "lam": [float(level.lam) for level in levels],
        "objective": _finite(path.objective),
        "gap": _finite(path.relative_gap),
        "residual": _finite(level.residual for level in levels),
        "iterations": [int(level.n_iter) for level in levels],
        "status": [level.status.name for level in levels],
        "advice": {status.name: status.value for status in Status},
        "effectiveRank": _finite(path.effective_rank),
        "changes": label_changes([level.labels for level in levels]),
        "ranks": encode_array(color_ranks(tree)),
        "palette": {"light": palette(n_colors), "dark": palette(n_colors, dark=True)},
        "neutral": {"light": neutral(), "dark": neutral(dark=True)},
        "tree": _tree_data(tree),
        "plateaus": [[p.n_clusters, p.lam_from, p.lam_to, p.log_width] for p in path.plateaus],
        "suggested": path.plateaus.index(path.suggested_plateau),
        "suggestion": on_page(str(path.suggestion)),
        "splits": {
            "count": len(path.splits),
            "listed": [_split_data(split) for split in path.splits[: RESOLUTION.max_splits]],
        },
        "rootJoins": tree.root_joins,
        "components": int(path.components.max()) + 1,
        "complete": path.complete,
    }


def described_options(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The options that are set, as text: nested ones by their path, long lists by their length.

    Examples
    --------
    >>> dict(described_options({"tol": 1e-4, "made": {"kind": "rbf"}, "method": None}))
    {'tol': '0.0001', 'made kind': 'rbf'}
    """
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from described_options(value, f"{prefix}{name} ")
        elif isinstance(value, list | tuple):
            short = len(value) <= RESOLUTION.max_listed
            shown = ", ".join(map(str, value)) if short else f"{len(value)} given"
            yield f"{prefix}{name}", shown
        elif value is not None:
            yield f"{prefix}{name}", f"{value:.6g}" if isinstance(value, float) else str(value)


def finite_or_none(value: float) -> float | None:
    """The value, or None for NaN and infinity, which JSON lacks."""
    return float(value) if math.isfinite(value) else None


def _finite(values: Iterable[float]) -> list[float | None]:
    return [finite_or_none(value) for value in values]


def label_changes(partitions: list[Labels]) -> dict[str, Any]:
    """Encode partitions by the changes from each to the next, starting from single nodes.

    A partition is stored as the smallest member of the cluster of each node, which changes rarely.
    """
    before = np.arange(len(partitions[0]))
    counts, nodes, firsts = [], [], []
    for labels in partitions:
        smallest = first_members(labels)
        changed = np.flatnonzero(smallest != before)
        counts.append(changed.size)
        nodes.append(changed)
        firsts.append(smallest[changed])
        before = smallest
    return {
        "counts": counts,
        "nodes": encode_array(np.concatenate(nodes)),
        "firsts": encode_array(np.concatenate(firsts)),
    }


def _tree_data(tree: Tree) -> dict[str, Any]:
    """Parents and heights; parents have larger numbers, and the root, the last, is its own."""
    nodes = tree.nodes
    return {
        "parent": encode_array(np.append(nodes.parent[:-1], nodes.parent.size - 1)),
        "height": nodes.height[nodes.n_leaves :].tolist(),
        "artificial": nodes.n_artificial,
        "order": encode_array(tree.leaf_order()),
    }


def _split_data(split: Split) -> dict[str, Any]:
    return {
        "from": split.lam_from,
        "to": split.lam_to,
        "first": split.cluster,
        "size": int(split.size),
        "pieces": int(split.n_pieces),
        "parted": list(split.parted[: RESOLUTION.max_named]),
        "partedCount": len(split.parted),
    }


def proof_data(path: Path) -> list[dict[str, Any] | None] | None:
    """For every level the nodes whose cluster is not proven; None for a level without a proof.

    None altogether if no proof was attempted at any level.
    """
    if not path.proof.exists:
        return None
    doubts = [None if proof is None else proof.in_doubt for proof in path.proof.proofs]
    return [
        None
        if doubt is None
        else {"count": int(doubt.size), "named": doubt[: RESOLUTION.max_named].tolist()}
        for doubt in doubts
    ]


def support_data(support: Support | None) -> dict[str, Any] | None:
    """Support of every branch and node, and the agreement of every level with the resamples."""
    if support is None:
        return None
    table = support.table("levels")
    return {
        "share": np.round(support.share, 3).tolist(),
        "transfer": np.round(support.transfer, 3).tolist(),
        "nodes": [None if np.isnan(one) else round(float(one), 3) for one in support.nodes],
        "ami": [
            [round(value, 3) for value in row]
            for row in zip(table["ami_5"], table["ami_50"], table["ami_95"], strict=True)
        ],
        "resamples": support.n_resamples,
        "made": support.made,
    }


@dataclass(frozen=True, eq=False)
class ShownScale:
    """A scale with a button: its labels, the plateau nearest to it, and why it is suggested."""

    labels: Labels
    plateau: Plateau
    reason: str

    def data(self, path: Path) -> dict[str, Any]:
        """The scale as values for JSON."""
        return {
            "count": int(self.labels.max()) + 1,
            "labels": encode_array(self.labels),
            "plateau": path.plateaus.index(self.plateau),
            "reason": on_page(self.reason),
        }


def shown_scales(path: Path, support: Support | None) -> list[ShownScale]:
    """The suggested scale, then the other scales of the path from fine to coarse."""
    suggestion = path.suggestion
    scales = path.scales if support is None else support.scales
    same = [scale for scale in scales if scale.n_clusters == suggestion.n_clusters]
    # Unlike the suggestion, a scale knows whether it survives resampling.
    reason = f"{suggestion}; {same[0].reason}" if same else str(suggestion)
    others = [scale for scale in scales if scale.n_clusters != suggestion.n_clusters]
    return [
        ShownScale(suggestion.labels, suggestion.plateau, reason),
        *(ShownScale(scale.labels, _plateau_of(path, scale), scale.reason) for scale in others),
    ]


def _plateau_of(path: Path, scale: Scale) -> Plateau:
    """The plateau at the middle of the range of a scale, or the last one below."""
    middle = (scale.lam_from * scale.lam_to) ** 0.5
    below = [plateau for plateau in path.plateaus if plateau.lam_from <= middle]
    return below[-1] if below else path.plateaus[0]


def attribute_data(
    path: Path, scales: Sequence[Labels], attributes: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """Each attribute as categories or as a quantity.

    Categories have their agreement (adjusted mutual information, adjusted Rand index) with every
    level and with the labels of every suggested scale, over the nodes whose value is known.
    """
    found = []
    for name, values in attributes.items():
        if len(values) != len(path.names):
            raise ValueError(
                f"the attribute {name!r} has {len(values)} values for {len(path.names)} nodes: "
                "give one value per node, in the order of path.names."
            )
        found.append(_attribute(path, scales, str(name), list(values)))
    return found


def _attribute(
    path: Path, scales: Sequence[Labels], name: str, values: list[Any]
) -> dict[str, Any]:
    numbers = _as_quantity(values)
    if numbers is not None:
        known, steps = np.isfinite(numbers), RESOLUTION.color_steps
        low, high = float(numbers[known].min()), float(numbers[known].max())
        codes = np.where(
            known, 1 + quantize(np.where(known, numbers, low), low, high, steps - 1), 0
        )
        return {
            "name": name,
            "kind": "number",
            "codes": encode_array(codes),
            "low": low,
            "high": high,
            "steps": steps,
        }
    words = ["" if _is_unknown(value) else str(value) for value in values]
    order = {word: code for code, word in enumerate(dict.fromkeys(words))}
    codes = np.array([order[word] for word in words], dtype=np.int64)
    known = np.array([word != "" for word in words])
    return {
        "name": name,
        "kind": "category",
        "values": list(order),
        "codes": encode_array(codes),
        "agreement": [_agreement(level.labels, codes, known) for level in path.levels],
        "scaleAgreement": [_agreement(scale, codes, known) for scale in scales],
    }


def _as_quantity(values: list[Any]) -> FloatArray | None:
    """Numbers with many values, NaN where unknown; None if they are categories."""
    try:
        numbers = np.array([np.nan if _is_unknown(value) else float(value) for value in values])
    except (TypeError, ValueError):
        return None
    n_values = np.unique(numbers[np.isfinite(numbers)]).size
    return numbers if n_values > RESOLUTION.max_categories else None


def _is_unknown(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and not np.isfinite(value))


def _agreement(labels: Labels, codes: Labels, known: BoolArray) -> list[float]:
    """Adjusted mutual information and adjusted Rand index."""
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    if not known.any():
        return [0.0, 0.0]
    pair = (codes[known], labels[known])
    return [
        round(float(score(*pair)), 4) for score in (adjusted_mutual_info_score, adjusted_rand_score)
    ]
