"""The summary of a path as text, and its levels as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from convexhc._extras import required
from convexhc._text import counted, format_number
from convexhc.path.suggestion import warning_text
from convexhc.solvers.solution import Status
from convexhc.tree import Plateau

if TYPE_CHECKING:
    from convexhc.path.path import Path

# Nodes in doubt up to which a summary names them.
MAX_NAMES = 10


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


def frame_of(path: Path) -> Any:
    """One row per lam, as a pandas DataFrame (extra: graphs)."""
    pd = required("pandas", "to_frame")
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
