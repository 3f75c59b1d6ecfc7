"""A cohort made by hand: nothing is solved."""

from __future__ import annotations

import numpy as np
from report.examples import made_path, ring

from convexhc.api.outcomes import Cohort, Outcome

NAMES = tuple("abcdefgh")
LAMBDAS = [0.1, 1.0, 10.0]
PAIRS = [0, 0, 1, 1, 2, 2, 3, 3]
HALVES = [0, 0, 0, 0, 1, 1, 1, 1]
ONE = [0] * 8
# Groups of their own: nodes 0 and 2, 1 and 3, and so on.
CROSSED = [0, 1, 0, 1, 2, 3, 2, 3]


def path(rows, names=NAMES, **options):
    from dataclasses import replace

    made = made_path(LAMBDAS[: len(rows)], rows, names=names, **options)
    return replace(made, graph=ring(len(names), names=names))


def cohort(extra=None):
    """Two subjects with one hierarchy, two with another, one failure."""
    paths = {
        "p1": path([PAIRS, HALVES, ONE]),
        "p2": path([PAIRS, HALVES, ONE]),
        "q1": path([CROSSED, HALVES, ONE]),
        "q2": path([CROSSED, HALVES, ONE]),
        **(extra or {}),
    }
    outcomes = [Outcome(name, each, seconds=1.5) for name, each in paths.items()]
    failed = Outcome("<b>broken</b>", None, "ValueError: no edges")
    return Cohort((*outcomes, failed), {"lambdas": [1.0]})


GROUPS = {"p1": "p", "p2": "p", "q1": "q", "q2": "q", "<b>broken</b>": "p"}


def shuffled(rows, seed=0):
    """The same hierarchy with its nodes in another order."""
    order = np.random.default_rng(seed).permutation(8)
    names = tuple(NAMES[at] for at in order)
    return path([np.asarray(row)[order] for row in rows], names=names)
