"""`convexhc.solve_path`: from single nodes to the consensus, every lam certified."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from convexhc.graph import Graph
from convexhc.path.point import Point, point_of
from convexhc.path.result import Path, Provenance
from convexhc.path.storage import Checkpoint, Progress
from convexhc.problem import Labels, Problem
from convexhc.solvers.bounds import consensus_bound
from convexhc.solvers.contraction import contracted_start
from convexhc.solvers.loop import Solution, run
from convexhc.solvers.memory import check_memory
from convexhc.solvers.options import checked_number
from convexhc.solvers.solve import choose_method, prepare
from convexhc.solvers.start import fusion_of

Keep = Literal["all", "labels"] | Callable[[float], bool]

# The march: first lam as a share of the bound and how often it is lowered tenfold, longest stride
# with and without fusions, and how far past the bound to go.
_FIRST, _DESCENTS, _STRIDE, _LEAP, _BEYOND = 1e-3, 4, 1.5, 3.0, 10.0
# Share of the nodes below which the clusters of the last lam are worth a contracted solve.
_CONTRACT = 0.8
# Centroids of every lam are kept by default while all of them together stay small.
_KEEP_NODES = 1000


def solve_path(
    K: Any,
    lambdas: Iterable[float] | None = None,
    *,
    weights: Any = None,
    l1_ratio: float = 0.05,
    method: str = "auto",
    tol: float = 1e-4,
    max_iter: int = 20_000,
    resolution: float = 0.1,
    keep: Keep | None = None,
    constraint: str = "doubly_stochastic",
    checkpoint: str | os.PathLike[str] | None = None,
    on_check: Callable[[Point], object] | None = None,
) -> Path:
    """Cluster a graph or similarity matrix at every scale.

    Solves the problem of `convexhc.solve` for growing lam, each from the solution before it, from
    single nodes until every connected component is one cluster. Without ``lambdas`` the range is
    found and refined: an interval in which more than one fusion happens is halved (in log lam)
    until its ends are within ``resolution``; several fusions at one lam stay one event.

    Parameters
    ----------
    K : graph or (n, n) similarity
        As for `convexhc.solve`.
    lambdas : iterable of float, optional
        Solve exactly these.
    weights, l1_ratio, method, tol, max_iter, constraint
        As for `convexhc.solve`.
    resolution : float
        Relative step of lam below which fusions are no longer told apart.
    keep : {"all", "labels"} or callable, optional
        Which centroids to keep: of every lam, of none, or of those for which ``keep(lam)`` is true.
        Default: all up to 1000 nodes.
    checkpoint : path, optional
        File written after every lam. If it exists, the run goes on from there and ends in the same
        result as an uninterrupted one.
    on_check : callable, optional
        Called with every solved `Point`; a true answer ends the path there.

    Returns
    -------
    Path
        Partitions, certificates and the tree.

    Raises
    ------
    ValueError, TypeError
        As for `convexhc.solve`; or a checkpoint of another run, or a damaged one.

    Examples
    --------
    >>> import numpy as np
    >>> import convexhc
    >>> K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    >>> path = convexhc.solve_path(K)
    >>> path.available_n_clusters
    (6, 2, 1)
    >>> path.labels(n_clusters=2)
    array([0, 0, 0, 1, 1, 1])
    """
    graph, problem = prepare(K, 0.0, weights=weights, l1_ratio=l1_ratio, constraint=constraint)
    check_memory(problem, choose_method(problem, method, bound=0.0).name)
    options = {
        "l1_ratio": float(l1_ratio),
        "method": method,
        "tol": checked_number("tol", tol),
        "max_iter": int(checked_number("max_iter", max_iter)),
        "resolution": _checked_resolution(resolution),
        "constraint": constraint,
        "lambdas": _checked_grid(lambdas),
    }
    provenance = Provenance.of(options, _digest(graph, problem))
    saved = Checkpoint(checkpoint, provenance.digest) if checkpoint is not None else None
    walk = _Walk(
        graph, problem, consensus_bound(problem), options, _keeper(keep, graph.n), saved, on_check
    )
    points, complete = walk.go()
    return Path(
        points=tuple(sorted(points, key=lambda point: point.lam)),
        names=graph.names,
        components=_weights(problem).components()[1],
        complete=complete,
        provenance=provenance,
    )


@dataclass
class _Walk:
    """The march: a solution on the left, solutions ahead of it, and what has been solved so far."""

    kernel: Graph
    problem: Problem
    bound: float
    options: dict[str, Any]
    keep: Callable[[float], bool]
    saved: Checkpoint | None
    on_check: Callable[[Point], object] | None
    progress: Progress = field(default_factory=Progress)

    def go(self) -> tuple[list[Point], bool]:
        """Solve what has not been solved yet; tell whether the end was reached."""
        if self.saved is not None:
            self.progress = self.saved.load() or self.progress
        given = self.options["lambdas"] is not None
        stopped = any(self._stopped(lam) for lam in (self._given() if given else self._found()))
        left = self.progress.left
        reached = given or (left is not None and left.n_clusters <= self._goal())
        return self.progress.points, reached and not stopped

    def _goal(self) -> int:
        """The fewest clusters there can be: one for every connected component."""
        return _weights(self.problem).components()[0]

    def _given(self) -> Iterable[float]:
        """The lam asked for, upwards."""
        for lam in self.options["lambdas"][len(self.progress.points) :]:
            if self.progress.ahead:
                self._advance()
            yield lam

    def _found(self) -> Iterable[float]:
        """The lam that the fusions ask for; each is solved by the time the next is drawn."""
        progress, goal = self.progress, self._goal()
        if progress.left is None:
            # Down until nothing is fused; nodes that are twins fuse at any lam, so not for ever.
            ahead = progress.ahead
            while not ahead or (ahead[-1].n_clusters < self.kernel.n and len(ahead) < _DESCENTS):
                yield _FIRST * self.bound * 0.1 ** len(ahead)
            self._advance()
        while progress.left is not None and progress.left.n_clusters > goal:
            left = progress.left
            if not progress.ahead:
                if left.lam > _BEYOND * self.bound:
                    return
                yield left.lam * self._stride()
            right = progress.ahead[-1]
            if self._resolved(left, right):
                self._advance()
            else:
                yield float(np.sqrt(left.lam * right.lam))

    def _stride(self) -> float:
        """Ratio to the next lam: long while nothing is fused, since nothing can be missed there."""
        left = self.progress.left
        unfused = left is not None and left.n_clusters == self.kernel.n
        return _LEAP if unfused else _STRIDE

    def _resolved(self, left: Solution, right: Solution) -> bool:
        close = right.lam <= left.lam * (1.0 + self.options["resolution"])
        return close or events(left.labels, right.labels) <= 1

    def _advance(self) -> None:
        self.progress.left = self.progress.ahead.pop()

    def _stopped(self, lam: float) -> bool:
        """Solve one lam from the left, keep it, save it, hand it over."""
        progress, problem, start = self.progress, self.problem.at(lam), self.progress.left
        budget = {"tol": self.options["tol"], "max_iter": self.options["max_iter"]}
        method = choose_method(problem, self.options["method"], bound=self.bound)
        if start is not None and start.n_clusters <= _CONTRACT * self.kernel.n:
            start = contracted_start(problem, method, start, **budget)
        solution = run(problem, method, start=start, **budget)
        point = point_of(solution, self.kernel.matrix(), keep=self.keep(lam))
        progress.points.append(point)
        progress.ahead.append(solution)
        if self.saved is not None:
            self.saved.write(progress)
        return self.on_check is not None and bool(self.on_check(point))


def events(left: Labels, right: Labels) -> int:
    """Number of clusters of one partition that are made of several of the other, both ways.

    Examples
    --------
    >>> import numpy as np
    >>> events(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    2
    """
    pairs = np.unique(np.stack([left, right]), axis=1)
    merged = np.bincount(pairs[1]) > 1
    parted = np.bincount(pairs[0]) > 1
    return int(merged.sum() + parted.sum())


def _weights(problem: Problem) -> Graph:
    return fusion_of(problem).differences.graph


def _checked_resolution(resolution: float) -> float:
    if checked_number("resolution", resolution) == 0.0:
        raise ValueError("resolution must be above 0, received 0: 0.01 tells 1 % steps apart.")
    return float(resolution)


def _checked_grid(lambdas: Iterable[float] | None) -> list[float] | None:
    """Increasing, distinct, finite and not negative; in plain floats, as they are saved."""
    if lambdas is None:
        return None
    if isinstance(lambdas, int | float | str):
        raise TypeError(f"lambdas must be a sequence of numbers, received {lambdas!r}.")
    grid = sorted({checked_number("every entry of lambdas", lam) for lam in lambdas})
    if not grid:
        raise ValueError("lambdas is empty: give at least one, or leave it out.")
    return grid


def _keeper(keep: Keep | None, n: int) -> Callable[[float], bool]:
    if callable(keep):
        return keep
    if keep not in (None, "all", "labels"):
        raise ValueError(f"keep must be 'all', 'labels' or a function of lam, received {keep!r}.")
    every = keep == "all" or (keep is None and n <= _KEEP_NODES)
    return lambda lam: every


def _digest(kernel: Graph, problem: Problem) -> str:
    """Fingerprint of the similarity and of the edge weights."""
    mark = hashlib.sha256()
    for graph in (kernel, _weights(problem)):
        for array in (graph.tail, graph.head, graph.weight, graph.diagonal):
            mark.update(array.tobytes())
    return mark.hexdigest()
