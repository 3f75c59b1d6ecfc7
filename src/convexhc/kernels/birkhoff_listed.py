"""Passes of the doubly stochastic projection at a moving point of its dual.

For large matrices, two things make a Newton step cheap:

- the shortlist: the entries with X + u + v > -reach, collected at one dual point, contain the whole
  support as long as u and v together rise by at most reach, so X itself is seldom read again;
- the dual point is a base plus a small offset, which keeps sums accurate when u and v are large.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from convexhc._types import FloatArray
from convexhc.kernels.birkhoff_sums import (
    Matrix,
    fill_shortlist,
    sum_all,
    sum_listed,
    write_listed,
)
from convexhc.kernels.birkhoff_support import Support
from convexhc.kernels.compile import blocks

# A shortlist denser than this is slower than a vectorised pass over X.
_MAX_LISTED = 0.06


class Dual(ABC):
    """A moving dual point: a base (u, v) plus an offset (du, dv), the excesses and a step there.

    ``excess`` has the rows C 1 - 1, then the columns w'C - 1', of the last evaluation; ``step`` is
    the last Newton step. The base is in the arrays given.
    """

    def __init__(self, X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> None:
        c, m = X.shape
        self.X, self.w, self.u, self.v = X, w, u, v
        self.offset, self.excess, self.step = np.zeros((3, c + m))
        self.du, self.dv = self.offset[:c], self.offset[c:]
        self.rows, self.cols = self.excess[:c], self.excess[c:]
        self.step_u, self.step_v = self.step[:c], self.step[c:]
        self._weights = np.concatenate([w, np.ones(m)])
        self._linear_base = float(w @ u + v.sum())

    @abstractmethod
    def evaluate(self) -> float:
        """Write the excesses and the support; return phi."""

    @abstractmethod
    def find_step(self, residual: float, tol: float) -> None:
        """Write the Newton step, regularised in proportion to the residual."""

    @abstractmethod
    def at_round_off(self, residual: float) -> bool:
        """Whether only a new centre can lower the residual: round-off of X + u + v."""

    @abstractmethod
    def write(self, out: Matrix) -> None:
        """Write C."""

    def move(self, t: float) -> None:
        """Add t times the step to the point."""
        self.offset += t * self.step

    def move_base(self) -> None:
        """Add the offset to the base."""
        self.u += self.du
        self.v += self.dv
        self.offset.fill(0.0)
        self._linear_base = float(self.w @ self.u + self.v.sum())

    def linear(self) -> float:
        """The linear part of phi, w'u + 1'v."""
        return self._linear_base + float(self._weights @ self.offset)

    def slope(self) -> float:
        """Derivative of phi along the step."""
        return float((self._weights * self.excess) @ self.step)

    def residual(self) -> float:
        """Largest modulus of an excess; NaN if one is not finite."""
        largest = float(np.abs(self.excess).max())
        return largest if largest < np.inf else np.nan

    def round_off(self) -> float:
        """Size of the round-off of the sums at the base."""
        return 4e-16 * self.v.size * float(max(np.abs(self.u).max(), np.abs(self.v).max()))


class ListedDual(Dual):
    """Compiled passes over X or, where it is short, over a list of its entries."""

    def __init__(self, X: Matrix, w: FloatArray, u: FloatArray, v: FloatArray) -> None:
        super().__init__(X, w, u, v)
        c, m = X.shape
        self._support = Support.allocate(c, m)
        self._listed = Support.allocate(c, m, masked=False)
        self._value = np.empty(self._listed.column.size)
        self._reach = -np.inf
        self._next_reach = 0.25 / (self._share_above(0.0) * m + 1.0)

    def _share_above(self, level: float) -> float:
        """Estimate the share of entries with X + u + v > level from about twenty rows."""
        some = slice(None, None, max(1, self.u.size // 20))
        entries = np.add.outer(self.u[some], self.v)
        entries += self.X[some]
        return float(np.count_nonzero(entries > level) / entries.size)

    def _list_again(self) -> None:
        """Collect the shortlist at a new base, unless it is too long."""
        self.move_base()
        self._reach = -np.inf
        for reach in (self._next_reach, 0.3 * self._next_reach):
            if self._share_above(-reach) <= _MAX_LISTED:
                start, column, _ = self._listed
                if fill_shortlist(self.X, self.u, self.v, reach, start, column, self._value):
                    self._reach = reach
                return

    def evaluate(self) -> float:
        """Write the excesses and the support; return phi."""
        if not self.du.max() + self.dv.max() <= self._reach:
            self._list_again()
        w, rows, cols = self.w, self.rows, self.cols
        if self._reach >= 0.0:
            listed, found = self._listed[:2], self._support[:2]
            energy = sum_listed(w, self.du, self.dv, *listed, self._value, rows, cols, *found)
        else:
            energy = sum_all(self.X, w, self.u, self.v, rows, cols, *self._support)
        return float(energy) - self.linear()

    def find_step(self, residual: float, tol: float) -> None:
        """Write the inexact Newton step, regularised in proportion to the residual.

        Solved well below `tol`: once the support is right, the next sums are as accurate as the
        step.
        """
        support, w, rows, start = self._support, self.w, self.rows, self._support.start
        ridge = min(0.1, 0.1 * residual)
        d = w / (start[1:] - start[:-1] + ridge)
        right, diagonal = -self.cols, np.full(self.cols.size, ridge)
        support.add_column_sums(w, diagonal)
        support.add_column_sums(d * rows, right)
        accuracy = max(min(0.1, residual) * float(right @ right) ** 0.5, 0.01 * tol)
        support.solve(d, diagonal, right, accuracy, self.step_v)
        support.row_sums(self.step_v, self.step_u)
        self.step_u += rows
        self.step_u *= d / -w
        self._plan_reach()

    def _plan_reach(self) -> None:
        """Choose the reach of the next list by the step, and drop a list that is far too long."""
        u, v = self.step_u, self.step_v
        self._next_reach = 2.0 * float(max(u.max() + v.max(), -u.min() - v.min()))
        too_long = self._listed.start[-1] > 4 * self._support.start[-1]
        if too_long and self._next_reach < 0.1 * self._reach:
            self._reach = -np.inf

    def at_round_off(self, residual: float) -> bool:
        """Whether only a new centre can lower the residual: round-off of X + u + v."""
        return self._reach < 0.0 and residual <= self.round_off()

    def write(self, out: Matrix) -> None:
        """Write C."""
        if self._reach >= 0.0:
            write_listed(self.du, self.dv, *self._listed[:2], self._value, out)
            return
        for some in blocks(self.X.shape):
            C = np.add.outer(self.u[some], self.v)
            C += self.X[some]
            np.maximum(C, 0.0, out=out[some], casting="same_kind")
