"""Checks of the benchmark: each claim with its numbers and its verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from experiments.quality.tables import (
    BEFORE,
    OURS,
    WORDS,
    BySet,
    Tables,
    common,
    family_means,
    mean,
    mixing,
    number,
    overall,
    set_means,
)

LINKAGES = ("single linkage", "average linkage", "complete linkage", "ward linkage")
# Required lead in AMI over Ward and average linkage.
LEAD = 0.03
# Largest deficit in AMI to Leiden in any family, and on LFR graphs of mixing 0.4.
BEHIND, BEHIND_MIXED = 0.02, 0.05
# Required AMI on strong blocks.
STRONG = 0.97
# Largest CPU time, relative to the former defaults.
COST = 2.0
# Fraction of removed edges in the checks.
LOST = 0.1


@dataclass(frozen=True)
class Check:
    """A claim, its numbers, and whether it is met.

    ``met`` is None if numbers are missing.
    """

    claim: str
    numbers: str
    met: bool | None

    @property
    def verdict(self) -> str:
        """The verdict as text."""
        return {True: "met", False: "not met", None: "not measured"}[self.met]


def must_show(tables: Tables) -> list[Check]:
    """All checks, in the order of the summary."""
    return [
        *_linkages(tables),
        *_leiden(tables),
        _spectral(tables),
        _collapse(tables),
        _mixed(tables),
        _fall(tables),
        *_trees(tables),
        *_strong(tables),
        _cost(tables),
        _noise(tables),
    ]


def _pair(tables: Tables, measure: str, rival: str) -> tuple[BySet, BySet]:
    """AMI of this package and of a rival on the judged half."""
    return common(
        set_means(tables.scores, OURS, f"{measure}_ami", half=tables.half),
        set_means(tables.scores, rival, f"{measure}_ami", half=tables.half),
    )


def _linkages(tables: Tables) -> Iterator[Check]:
    for measure, word in WORDS.items():
        for rival in ("ward linkage", "average linkage"):
            a, b = (overall(values) for values in _pair(tables, measure, rival))
            claim = f"{word}: ahead of {rival} on the same K by {LEAD}"
            yield _check(claim, f"{a:.3f} against {b:.3f}, {a - b:+.3f}", a - b >= LEAD, a, b)


def _leiden(tables: Tables) -> Iterator[Check]:
    for measure, word in WORDS.items():
        ours, theirs = _pair(tables, measure, "leiden")
        a, b = overall(ours), overall(theirs)
        mine, others = family_means(ours), family_means(theirs)
        gaps = {family: mine[family] - others[family] for family in mine}
        worst = min(gaps, key=lambda family: gaps[family], default="")
        told = "resolution 1" if measure == "chosen" else "40 resolutions"
        claim = f"{word}: ahead of Leiden ({told}), in no family behind by more than {BEHIND}"
        least = gaps.get(worst, math.nan)
        numbers = f"{a:.3f} against {b:.3f}, {a - b:+.3f}; least in {worst}: {least:+.3f}"
        yield _check(claim, numbers, a > b and least >= -BEHIND, a, b)


def _spectral(tables: Tables) -> Check:
    a, b = (overall(values) for values in _pair(tables, "at_k", "spectral"))
    claim = "at known k: not behind spectral clustering"
    return _check(claim, f"{a:.3f} against {b:.3f}, {a - b:+.3f}", a >= b, a, b)


def _collapse(tables: Tables) -> Check:
    """No path collapses, in either half."""
    looked = [
        row
        for row in tables.cost
        if row["method"] == OURS and (row["family"] == "nested blocks" or mixing(row["set"]) <= 0.3)
    ]
    # A failed path counts as collapsed.
    fallen = [row["set"] for row in looked if row["collapsed"] != "False"]
    drop = max((number(row["largest_drop"]) for row in looked), default=math.nan)
    named = f": {', '.join(fallen)}" if fallen else ""
    return _check(
        "no collapse at mixing up to 0.3 and on nested blocks",
        f"{len(fallen)} of {len(looked)} paths{named}; largest drop {drop:.2f} of the nodes",
        not fallen,
        *([1.0] if looked else [math.nan]),
    )


def _mixed(tables: Tables) -> Check:
    found = []
    for measure in WORDS:
        pair = (
            mean(v for (_, name), v in values.items() if mixing(name) == 0.4)
            for values in _pair(tables, measure, "leiden")
        )
        found.append(tuple(pair))
    numbers = "; ".join(
        f"{word} {a:.3f} against {b:.3f}"
        for word, (a, b) in zip(WORDS.values(), found, strict=True)
    )
    claim = f"LFR at mixing 0.4: within {BEHIND_MIXED} of Leiden"
    met = all(a >= b - BEHIND_MIXED for a, b in found)
    return _check(claim, numbers, met, *(value for pair in found for value in pair))


def _after_loss(tables: Tables, method: str, column: str) -> BySet:
    return set_means(
        tables.loss,
        method,
        column,
        half=tables.half,
        keep=lambda row: math.isclose(number(row["share"]), LOST),
    )


def _fall(tables: Tables) -> Check:
    def fall(method: str) -> BySet:
        before = _after_loss(tables, method, "before_ari")
        after = _after_loss(tables, method, "after_ari")
        return {key: before[key] - after[key] for key in before}

    a, b = (overall(values) for values in common(fall(OURS), fall("ward linkage")))
    claim = "10 % of the edges lost: agreement with the truth falls less than Ward's"
    return _check(claim, f"fall of ARI {a:.3f} against {b:.3f}", a < b, a, b)


def _trees(tables: Tables) -> Iterator[Check]:
    for rival in LINKAGES:
        ours = _after_loss(tables, OURS, "same_tree")
        pair = common(ours, _after_loss(tables, rival, "same_tree"))
        a, b = (overall(values) for values in pair)
        claim = f"10 % of the edges lost: the tree moves less than that of {rival}"
        numbers = f"rank correlation before and after {a:.3f} against {b:.3f}"
        yield _check(claim, numbers, a > b, a, b)


def _strong(tables: Tables) -> Iterator[Check]:
    for groups in (2, 6, 24):
        level = f"{groups} groups"
        found = set_means(
            tables.scores,
            OURS,
            "at_k_ami",
            half=tables.half,
            keep=lambda row, level=level: (  # type: ignore[misc]
                row["set"].startswith("blocks strong seed") and row["level"] == level
            ),
        )
        value = mean(found.values())
        worst = min(found.values(), default=math.nan)
        claim = f"strong blocks without spread, {level}: AMI at known k of {STRONG} or more"
        numbers = f"{value:.3f}, least of {len(found)} draws {worst:.3f}"
        yield _check(claim, numbers, value >= STRONG, value)


def _cost(tables: Tables) -> Check:
    """Total and median CPU time, over the sets of both halves that both methods solved."""
    pair = common(
        set_means(tables.cost, OURS, "seconds", half=None),
        set_means(tables.cost, BEFORE, "seconds", half=None),
    )
    now, before = (sum(values.values()) if values else math.nan for values in pair)
    ratios = sorted(a / max(b, 1e-9) for a, b in zip(*(_sorted(v) for v in pair), strict=True))
    middle = ratios[len(ratios) // 2] if ratios else math.nan
    claim = f"CPU time at most {COST:g} times that of the former defaults"
    numbers = f"{now:.0f} s against {before:.0f} s, {now / before:.2f} times; median {middle:.2f}"
    return _check(claim, numbers, now <= COST * before and middle <= COST, now, before)


def _sorted(values: BySet) -> list[float]:
    return [values[key] for key in sorted(values)]


def _noise(tables: Tables) -> Check:
    ours = [row for row in tables.noise if row["method"] == OURS]
    said = [row for row in ours if row["confident"]]
    sure = [row["graph"] for row in said if row["confident"] == "True"]
    silent = f"; no answer on {len(ours) - len(said)}" if len(said) < len(ours) else ""
    named = f": {', '.join(sure)}" if sure else ""
    return Check(
        "no confident suggestion on graphs without groups",
        f"{len(sure)} of {len(ours)} graphs{named}{silent}",
        False if sure else (True if said and not silent else None),
    )


def _check(claim: str, numbers: str, met: bool, *needed: float) -> Check:
    """A check, without verdict if a needed number is missing."""
    if any(math.isnan(value) for value in needed):
        return Check(claim, "no numbers", None)
    return Check(claim, numbers, met)
