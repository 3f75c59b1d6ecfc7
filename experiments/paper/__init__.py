"""The claims of the paper, each rerun with exact solutions: one file per claim.

`EXPERIMENTS` maps a name to ``run(out, *, data, quick, n_jobs, progress)``, which writes tables
(CSV), figures (PNG and SVG) and a short text into a folder of that name below ``out``. Finished
units of work are stored there and not computed again.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from experiments.results import Progress

__all__ = ["EXPERIMENTS", "Experiment"]


class Experiment(Protocol):
    """A claim that can be rerun."""

    def __call__(
        self, out: Path, *, data: Path | None, quick: bool, n_jobs: int, progress: Progress
    ) -> None:
        """Write results below ``out``; ``progress`` is called with the fraction done and a text."""


def _of(name: str) -> Experiment:
    """The experiment of a module, which is imported only when it is run."""

    def run(out: Path, **options: Any) -> None:
        import_module(f"experiments.paper.{name}").run(out, **options)

    return run


EXPERIMENTS: dict[str, Experiment] = {
    name: _of(name) for name in ("synthetic", "algorithms", "connectomes", "khan", "robustness")
}
