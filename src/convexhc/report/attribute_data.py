"""Attributes of the nodes for the report: values, and their agreement with the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from convexhc._types import BoolArray, FloatArray, Labels
from convexhc.path import Path
from convexhc.report.array_encoding import RESOLUTION, encode_array, quantize


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
