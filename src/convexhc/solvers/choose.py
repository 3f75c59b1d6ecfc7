"""Which method solves a problem: by name, or by its size."""

from __future__ import annotations

from typing import Any

from convexhc._checks import named
from convexhc.model.factorization import DENSE_FACTOR_NODES
from convexhc.model.fidelity import Kernel, Proximity
from convexhc.model.problem import FusionProblem
from convexhc.solvers.admm import ADMM
from convexhc.solvers.centroid_step import factors_sparsely
from convexhc.solvers.dual_fista import DualAscent, DualFISTA
from convexhc.solvers.loop import Method
from convexhc.solvers.primal_dual import PrimalDual

# The names that every `method` option takes.
METHODS = ("auto", "dual_fista", "admm", "primal_dual")
# Largest number of nodes for which ADMM with an exact centroid step is fastest (`make bench`).
_EXACT_NODES = 500
# The same for a sparse K, whose products are cheap.
_EXACT_NODES_SPARSE = 250


def choose_method(
    problem: FusionProblem, method: str | Method[FusionProblem, Any] = "auto"
) -> Method[FusionProblem, Any]:
    """The method of that name; a `Method` object is returned as it is.

    "auto" picks by size. ADMM needs the fewest iterations, but each has four N^3 products. On
    larger graphs its centroid step is linearised, as long as a sparse factor or a dense inverse of
    its system is affordable; beyond that the primal-dual method needs neither.
    """
    if not isinstance(method, str):
        if not all(hasattr(method, name) for name in ("name", "init", "step", "candidate")):
            raise TypeError(
                f"method must be one of {', '.join(map(repr, METHODS))} or a Method object, "
                f"received {method!r}."
            )
        return method
    named("method", method, dict.fromkeys(METHODS))
    if method == "dual_fista":
        return DualAscent() if isinstance(problem.fidelity, Proximity) else DualFISTA()
    if method == "admm":
        return ADMM()
    too_large = problem.shape[0] > DENSE_FACTOR_NODES and not factors_sparsely(problem)
    if method == "primal_dual" or too_large:
        return PrimalDual()
    fidelity = problem.fidelity
    sparse = isinstance(fidelity, Kernel) and fidelity.matrix.is_sparse
    return ADMM(linear=max(problem.shape) > (_EXACT_NODES_SPARSE if sparse else _EXACT_NODES))
