"""The four standard linkages that the experiments compare with."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Linkage

LINKAGES: tuple[Literal["single", "average", "complete", "ward"], ...] = (
    "single",
    "average",
    "complete",
    "ward",
)


def linkage_trees(K: Any) -> dict[str, NDArray[np.float64]]:
    """The tree of every linkage on the same similarity, in scipy's form.

    Examples
    --------
    >>> trees = linkage_trees([[1.0, 0.9, 0.0], [0.9, 1.0, 0.1], [0.0, 0.1, 1.0]])
    >>> [name for name, Z in trees.items() if set(Z[0, :2]) == {0.0, 1.0}]
    ['single', 'average', 'complete', 'ward']
    """
    found: dict[str, NDArray[np.float64]] = {}
    for linkage in LINKAGES:
        Z = Linkage(linkage).fit(K).linkage
        assert Z is not None
        found[linkage] = Z
    return found
