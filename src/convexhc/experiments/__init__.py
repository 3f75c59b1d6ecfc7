"""The claims of the paper, each rerun with exact solutions: one file a claim.

`EXPERIMENTS` maps a name to ``run(out, *, data, quick, n_jobs, progress)``, which writes tables
(CSV), figures (PNG and SVG) and a short text into a folder of that name below ``out``. Finished
pieces of work are kept there and not computed twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from convexhc.experiments import algorithms, connectomes, defaults, khan, robustness, synthetic
from convexhc.experiments.results import Progress

__all__ = ["EXPERIMENTS", "Experiment"]


class Experiment(Protocol):
    """A claim that can be rerun."""

    def __call__(
        self, out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress
    ) -> None:
        """Write results below ``out``; ``progress`` hears the share done and what is under way."""


EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": synthetic.run,
    "algorithms": algorithms.run,
    "connectomes": connectomes.run,
    "khan": khan.run,
    "robustness": robustness.run,
    "defaults": defaults.run,
}
