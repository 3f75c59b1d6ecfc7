"""The tables of a run, and means over them.

A mean is taken over the levels of a set, then over the sets of a family, then over the families, so
that all families have equal weight.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

OURS = "convexhc"
BEFORE = "convexhc before"
# Names of the measures in the summary.
WORDS = {"best": "best cut", "at_k": "at known k", "chosen": "chosen"}

Record = Mapping[str, str]
# Value of every set, by family and name.
BySet = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Tables:
    """Rows of scores.csv, loss.csv, cost.csv and noise.csv, as strings."""

    scores: Sequence[Record]
    loss: Sequence[Record]
    cost: Sequence[Record]
    noise: Sequence[Record]

    @classmethod
    def read(cls, folder: Path) -> Tables:
        """Read the four tables of a folder."""
        return cls(*(_rows(folder / f"{name}.csv") for name in ("scores", "loss", "cost", "noise")))

    @property
    def half(self) -> str:
        """The judged half: the confirming one, unless a quick run left it out."""
        return "confirm" if any(row["half"] == "confirm" for row in self.scores) else "choose"

    @property
    def methods(self) -> list[str]:
        """Methods in the order of the table."""
        return list(dict.fromkeys(row["method"] for row in self.scores))


def _rows(file: Path) -> list[Record]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def number(text: str) -> float:
    """Number of a cell; NaN if it is empty."""
    return float(text) if text else math.nan


def mean(values: Iterable[float]) -> float:
    """Mean of the values, ignoring NaN; NaN without any.

    Examples
    --------
    >>> mean([1.0, math.nan, 2.0]), mean([])
    (1.5, nan)
    """
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def set_means(
    rows: Sequence[Record],
    method: str,
    value: str | Callable[[Record], float],
    *,
    half: str | None,
    keep: Callable[[Record], bool] = lambda row: True,
) -> BySet:
    """Mean over the rows of each set; sets without a number are left out.

    ``half`` is "choose", "confirm" or None for both.
    """
    read = (lambda row: number(row[value])) if isinstance(value, str) else value
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["method"] == method and half in (None, row["half"]) and keep(row):
            found.setdefault((row["family"], row["set"]), []).append(read(row))
    means = {key: mean(values) for key, values in found.items()}
    return {key: value for key, value in means.items() if not math.isnan(value)}


def family_means(values: BySet) -> dict[str, float]:
    """Mean over the sets of each family."""
    families = dict.fromkeys(family for family, _ in values)
    return {one: mean(v for (family, _), v in values.items() if family == one) for one in families}


def overall(values: BySet) -> float:
    """Mean over the families."""
    return mean(family_means(values).values())


def common(ours: BySet, theirs: BySet) -> tuple[BySet, BySet]:
    """Both, restricted to their common sets."""
    both = ours.keys() & theirs.keys()
    return {key: ours[key] for key in ours if key in both}, {
        key: theirs[key] for key in theirs if key in both
    }


def mixing(name: str) -> float:
    """Mixing of an LFR graph, from its name; NaN for other sets.

    Examples
    --------
    >>> mixing("LFR 250 mixing 0.3 seed 1")
    0.3
    """
    found = re.search(r"mixing ([\d.]+)", name)
    return float(found.group(1)) if found else math.nan
