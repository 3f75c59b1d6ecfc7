"""The options of every entry point: names, defaults and checks, once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from convexhc._checks import LARGEST, checked_count, checked_number, named
from convexhc._workers import chosen_elsewhere, workers
from convexhc.kernels.threads import limited_threads
from convexhc.model.constraint import Constraint, DoublyStochastic, RowSimplex
from convexhc.model.problem import FusionProblem
from convexhc.path.level import Level
from convexhc.path.plan import Plan
from convexhc.progress_line import ProgressLine, level_listener, shown
from convexhc.provenance import Provenance
from convexhc.solvers.choose import METHODS
from convexhc.solvers.loop import Method

if TYPE_CHECKING:
    from convexhc.path.checkpoint import Checkpoint

Keep = Literal["all", "labels"] | Callable[[float], bool]
Lambdas = Iterable[float] | int | None
MethodLike = str | Method[FusionProblem, Any]
OnLevel = Callable[[Level], object]
Progress = bool | ProgressLine | OnLevel

# Bisection of the default step solves about this many lam, on graphs of hundreds of nodes.
_MOST_SEARCHED = 80

CONSTRAINTS: dict[str, type[Constraint]] = {
    "doubly_stochastic": DoublyStochastic,
    "simplex": RowSimplex,
}


def _checked_lambdas(lambdas: Lambdas) -> tuple[float, ...] | int | None:
    """Increasing, distinct, finite and not negative; or a count of at least two."""
    if lambdas is None:
        return None
    if isinstance(lambdas, int | np.integer) and not isinstance(lambdas, bool):
        if lambdas < 2:
            raise ValueError(f"lambdas must be two or more, or a sequence, received {lambdas!r}.")
        return int(lambdas)
    if isinstance(lambdas, bool | int | float | str):
        raise TypeError(f"lambdas must be a sequence of numbers or a count, received {lambdas!r}.")
    grid = sorted({checked_number("every entry of lambdas", lam, upper=LARGEST) for lam in lambdas})
    if not grid:
        raise ValueError("lambdas is empty: give at least one, or leave it out.")
    return tuple(grid)


@dataclass(frozen=True)
class Options:
    """How a problem is solved along lam. Every entry point takes these by these names.

    The class attributes are the defaults of the paper's problem; `POINTS` and `FEATURES` hold
    those of the points model and of features.

    Parameters
    ----------
    lambdas : iterable of float, int or None
        Exactly these lam; this number of them in equal ratios; or None to find and bisect them.
    l1_ratio : float
        Share of the l1 norm in the penalty, between 0 and 1.
    method : str or Method
        Solver of the paper's problem: one of `METHODS`, or an object.
    tol : float
        Relative duality gap at which each lam is solved.
    max_iter : int
        Iteration budget for each lam.
    lam_step : float
        Relative step of lam below which merges are not separated further, above 0.
    max_clusters : int or None
        Solve only the coarse levels, from the consensus down to more clusters than this.
    constraint : str
        One of `CONSTRAINTS`.
    keep : {"all", "labels"}, callable or None
        Which centroids to keep.
    prove : bool
        Solve more accurately wherever the partition is not proven.
    """

    lambdas: Lambdas = None
    l1_ratio: float = 0.05
    method: MethodLike = "auto"
    tol: float = 1e-4
    max_iter: int = 20_000
    lam_step: float = 0.1
    max_clusters: int | None = None
    constraint: str = "doubly_stochastic"
    keep: Keep | None = None
    prove: bool = False

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "lambdas": _checked_lambdas(self.lambdas),
            "l1_ratio": checked_number("l1_ratio", self.l1_ratio, upper=1.0),
            "tol": checked_number("tol", self.tol),
            "max_iter": int(checked_number("max_iter", self.max_iter)),
            "lam_step": checked_number("lam_step", self.lam_step),
        }
        if checked["lam_step"] == 0.0:
            raise ValueError("lam_step must be above 0, received 0: 0.01 separates steps of 1 %.")
        if self.max_clusters is not None:
            checked["max_clusters"] = checked_count("max_clusters", self.max_clusters)
        if isinstance(self.method, str):
            named("method", self.method, dict.fromkeys(METHODS))
        named("constraint", self.constraint, CONSTRAINTS)
        if not callable(self.keep) and self.keep not in (None, "all", "labels"):
            raise ValueError(
                f"keep must be 'all', 'labels' or a function of lam, received {self.keep!r}."
            )
        if not isinstance(self.prove, bool | np.bool_):
            raise TypeError(f"prove must be True or False, received {self.prove!r}.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def grid(self) -> tuple[float, ...] | None:
        """The lam asked for, increasing; None if they are to be found."""
        return self.lambdas if isinstance(self.lambdas, tuple) else None

    @property
    def most_levels(self) -> int:
        """Number of lam of a grid; of a search, about the most that it solves."""
        if self.grid is not None:
            return len(self.grid)
        return self.lambdas if isinstance(self.lambdas, int) else _MOST_SEARCHED

    def keeper(self, *, small: bool) -> Callable[[float], bool]:
        """Whether to keep the centroids of a lam; by default of all if the problem is ``small``."""
        if callable(self.keep):
            return self.keep
        every = self.keep == "all" or (self.keep is None and small)
        return lambda lam: every

    def record(self, **more: Any) -> dict[str, Any]:
        """The options as JSON can hold them, for the provenance of a result."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        del plain["keep"]
        plain["lambdas"] = list(self.grid) if self.grid is not None else self.lambdas
        if not isinstance(self.method, str):
            plain["method"] = self.method.name
        return {**plain, **more}


@dataclass(frozen=True)
class Monitor:
    """What accompanies a run: a checkpoint file, a callback, a display of progress, workers."""

    checkpoint: str | os.PathLike[str] | None = None
    on_check: OnLevel | None = None
    progress: Progress = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.n_jobs is not None and not (isinstance(self.n_jobs, Integral) and self.n_jobs):
            raise ValueError(
                "n_jobs must be a number of cores, -1 for all of them, or None, received "
                f"{self.n_jobs!r}."
            )

    @contextmanager
    def listener(self, plan: Callable[[], Plan]) -> Iterator[tuple[Plan, OnLevel | None]]:
        """The plan of a run and the function to call after every lam, while a display is shown."""
        with shown(self.progress) as line, self._cores():
            made = plan()
            yield made, level_listener(line, self.progress, self.on_check, made)

    def _cores(self) -> AbstractContextManager[object]:
        """Workers if there are any to choose from, threads of this process otherwise."""
        if self.n_jobs is None:
            return nullcontext()
        if chosen_elsewhere():
            return workers(self.n_jobs)
        from joblib import effective_n_jobs

        return limited_threads(effective_n_jobs(self.n_jobs))

    def store(self, provenance: Provenance, problem: FusionProblem) -> Checkpoint | None:
        """The checkpoint of this run, if a file was named."""
        if self.checkpoint is None:
            return None
        from convexhc.path.checkpoint import Checkpoint

        return Checkpoint(self.checkpoint, provenance.digest, problem)


# Defaults of the points model: few, costly iterations; the Euclidean norm; a geometric grid.
POINTS = Options(lambdas=100, l1_ratio=0.0, max_iter=200)
# Defaults in feature space: neighbouring lam then differ by about a fifth.
FEATURES = Options(lambdas=60, l1_ratio=0.0, max_iter=200)
