"""Evidence for the report: what is proven at every level, and the support of the branches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexhc._text import on_page
from convexhc._types import Labels
from convexhc.path import Path
from convexhc.path.scales import Scale
from convexhc.report.array_encoding import encode_array
from convexhc.resampling.support import Support
from convexhc.tree import Plateau

# Nodes in doubt that are named; the page shows the total count, too.
MAX_DOUBT_NODES = 12


def proof_data(path: Path) -> list[dict[str, Any] | None] | None:
    """For every level the nodes whose cluster is not proven; None for a level without a proof.

    None altogether if no proof was attempted at any level.
    """
    if not path.proof.exists:
        return None
    rows: list[dict[str, Any] | None] = []
    for proof in path.proof.proofs:
        if proof is None:
            rows.append(None)
            continue
        doubt = proof.in_doubt
        rows.append({"count": int(doubt.size), "named": doubt[:MAX_DOUBT_NODES].tolist()})
    return rows


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
