"""Repulsion between all points of a plane: exactly for few of them, on a grid for many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from convexhc._types import FloatArray

ComplexArray = NDArray[np.complex128]

# Up to here all pairs are cheaper than a grid.
_ALL_PAIRS = 700


@dataclass(frozen=True)
class Repulsion:
    """Every point pushes every other away: ``f_i = m_i sum_j m_j (x_i - x_j) / |x_i - x_j|^3``.

    Parameters
    ----------
    mass : (n,) float64 array
        How strongly each point pushes and is pushed.
    """

    mass: FloatArray

    def __call__(self, places: FloatArray) -> FloatArray:
        """Forces at some places, (n, 2): O(n^2) for few points, O(n + g^2 log g) on a g x g grid.

        The grid softens the force between points that share a cell.
        """
        if len(places) <= _ALL_PAIRS:
            return self.mass[:, None] * all_pairs(places, self.mass)
        return self.mass[:, None] * on_grid(places, self.mass)


def all_pairs(places: FloatArray, mass: FloatArray) -> FloatArray:
    """The field of some masses at their own places, summed pair by pair."""
    squares = (places**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2.0 * places @ places.T
    # Rounding may leave a little below zero; points in one place do not push each other.
    floor = 1e-9 * max(float(squares.max()), 1e-300)
    near = apart <= floor
    apart[near] = np.inf
    push = mass[None, :] / (apart * np.sqrt(apart))
    return np.asarray(push.sum(axis=1)[:, None] * places - push @ places)


def on_grid(places: FloatArray, mass: FloatArray, *, cells: int = 160) -> FloatArray:
    """The same field, with masses spread on a grid and one convolution by Fourier transform."""
    low = places.min(axis=0)
    # A cell of margin on each side, so that the corners of every point lie on the grid.
    step = max(float(np.ptp(places, axis=0).max()) / (cells - 3), 1e-300)
    scaled = (places - low) / step + 1.0
    corner = np.floor(scaled).astype(np.int64)
    part = scaled - corner
    shares, flat = [], []
    for dx in (0, 1):
        for dy in (0, 1):
            share_x = part[:, 0] if dx else 1.0 - part[:, 0]
            share_y = part[:, 1] if dy else 1.0 - part[:, 1]
            shares.append(share_x * share_y)
            flat.append((corner[:, 0] + dx) * cells + corner[:, 1] + dy)
    density = np.bincount(
        np.concatenate(flat),
        weights=np.concatenate([share * mass for share in shares]),
        minlength=cells * cells,
    ).reshape(cells, cells)
    spectrum = fft.rfft2(density, (2 * cells, 2 * cells))
    field = np.empty_like(places)
    for axis, kernel in enumerate(_kernels(cells)):
        whole = fft.irfft2(spectrum * kernel, (2 * cells, 2 * cells))[:cells, :cells].ravel()
        field[:, axis] = sum(share * whole[at] for share, at in zip(shares, flat, strict=True))
    return field / step**2


@lru_cache(maxsize=2)
def _kernels(cells: int) -> tuple[ComplexArray, ComplexArray]:
    """Transforms of dx / d^3 and dy / d^3 over all differences of two cells."""
    away = np.concatenate([np.arange(cells), np.arange(-cells, 0)]).astype(np.float64)
    dx, dy = away[:, None], away[None, :]
    cubes = (dx**2 + dy**2) ** 1.5
    cubes[0, 0] = 1.0
    return fft.rfft2(dx / cubes), fft.rfft2(dy / cubes)
