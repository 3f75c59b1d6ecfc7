"""The path engine: one loop over lam for every model."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from convexhc._types import FloatArray, Labels
from convexhc.graph import Graph
from convexhc.path.level import Level
from convexhc.path.path import Path
from convexhc.path.plan import Plan
from convexhc.path.progress import Progress, S
from convexhc.provenance import Provenance

# How far beyond two solutions the line through them is extrapolated, in units of their distance.
_MAX_EXTRAPOLATION = 2.0


class Model(Protocol[S]):
    """What one model contributes to a path."""

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the nodes."""

    @property
    def components(self) -> Labels:
        """Connected component of every node; components never fuse."""

    @property
    def graph(self) -> Graph:
        """The graph or similarity by which cuts of the path are judged."""

    @property
    def features(self) -> FloatArray | None:
        """One row per node, if the model has features."""

    def unpenalized(self) -> S | None:
        """The solution at lam = 0 as a warm start, if it is of use."""

    def solve(
        self, lam: float, *, start: S | None, second: S | None, max_groups: int | None
    ) -> S | None:
        """A certified solution at ``lam``.

        ``start`` is the warm start. ``second``, a solution at another lam, allows one on the line
        through both. None means that more than ``max_groups`` groups would be needed.
        """

    def level(self, solution: S, *, keep: bool) -> Level:
        """What the path keeps of a solution, with or without its centroids."""


class FusionModel(Model[S], Protocol[S]):
    """A model that fuses exactly: its range of lam can be found."""

    @property
    def most_clusters(self) -> int:
        """Largest possible number of clusters."""

    @property
    def lam_max(self) -> float:
        """An upper bound of the lam from which on every component is one cluster."""

    def geometric_grid(self, count: int) -> tuple[float, ...]:
        """Values of lam in equal ratios, from the first fusions to the consensus."""

    def only_identical(self, labels: Labels) -> bool:
        """Whether every cluster consists of identical nodes, which fuse at any lam."""


class Store(Protocol[S]):
    """Where the progress of a path is saved, such as a `Checkpoint`."""

    def load(self) -> Progress[S] | None:
        """Progress of an earlier run, if there is any."""

    def keep(self, progress: Progress[S]) -> None:
        """Called after every lam."""

    def finish(self, progress: Progress[S]) -> None:
        """Called at the end, and when the run is interrupted."""


def run(
    model: Model[S],
    plan: Plan,
    provenance: Provenance,
    *,
    keep: Callable[[float], bool],
    store: Store[S] | None = None,
    listen: Callable[[Level], object] | None = None,
) -> Path:
    """Solve a model at every lam that a plan asks for.

    Parameters
    ----------
    model : Model
        What to solve at one lam.
    plan : Plan
        Which lam comes next, and when the path ends.
    provenance : Provenance
        Recorded in the path.
    keep : callable
        Whether to keep the centroids of a lam.
    store : Store, optional
        Where progress is saved; a path found there is continued.
    listen : callable, optional
        Called with every `Level`; a true answer ends the path.

    Returns
    -------
    Path
        Levels in increasing order of lam; ``complete`` if the plan reached its end.
    """
    progress: Progress[S] = (None if store is None else store.load()) or Progress()
    stopped = False
    try:
        while not stopped:
            progress, lam = plan.next(progress)
            if lam is None:
                break
            began = perf_counter()
            start, second = _warm_starts(model, plan, progress, lam)
            limit = plan.max_groups(progress, lam)
            solution = model.solve(lam, start=start, second=second, max_groups=limit)
            if solution is None:
                progress = replace(progress, crowded_lam=lam)
                continue
            level = model.level(solution, keep=keep(lam))
            level = replace(level, seconds=perf_counter() - began)
            progress = progress.solved(level, solution)
            if store is not None:
                store.keep(progress)
            stopped = listen is not None and bool(listen(level))
    finally:
        if store is not None:
            store.finish(progress)
    return Path(
        levels=tuple(sorted(progress.levels, key=lambda level: level.lam)),
        names=model.names,
        components=model.components,
        complete=not stopped and plan.is_complete(progress),
        provenance=provenance,
        graph=model.graph,
        given_features=model.features,
    )


def _warm_starts(
    model: Model[S], plan: Plan, progress: Progress[S], lam: float
) -> tuple[S | None, S | None]:
    """Warm start at ``lam``, and a second solution for the line through both."""
    previous, current = progress.previous, progress.current
    if current is None and not progress.ahead:
        return None, None
    if current is None or (previous is None and not progress.ahead):
        rest = None if plan.descending else model.unpenalized()
        return (rest, progress.ahead[-1]) if current is None else (current, rest)
    if progress.ahead:
        return current, progress.ahead[-1]
    assert previous is not None
    reach = _MAX_EXTRAPOLATION * abs(current.lam - previous.lam)
    return current, previous if abs(lam - current.lam) <= reach else None
