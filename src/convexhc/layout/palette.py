"""A sequence of colours that normal and colour-blind eyes tell apart, on light and dark ground."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray

NEUTRAL = "#9a9a9a"
NEUTRAL_ON_DARK = "#7d7d7d"

# The colours of Okabe and Ito that stand out from both white and black.
_FIRST = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
# More than this nobody tells apart; the sequence starts again.
_DISTINCT = 256
# Lightness on a light ground, and on a dark one: dark colours vanish there, pale ones glare.
_LIGHT_RANGE = (0.38, 0.76)
_DARK_RANGE = (0.52, 0.82)
# A mix-up by the colour-blind counts more than one by anybody, whose views are wider apart.
_BLIND_WEIGHT = 1.5

# Oklab: linear sRGB -> cone responses -> cube root -> lightness, green-red, blue-yellow.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OPPONENT = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# What protanopes and deuteranopes see of linear sRGB (Viénot, Brettel and Mollon 1999).
_PROTAN = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
_DEUTAN = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])


def palette(n: int, *, dark: bool = False) -> tuple[str, ...]:
    """Colours for n clusters; the first ones do not depend on n.

    Six colours of Okabe and Ito, then one after the other the colour whose smallest distance to
    all before it is largest, in Oklab, as seen by normal, protanope and deuteranope eyes. The dark
    variant keeps the hues and lifts the lightness.

    Parameters
    ----------
    n : int
        Number of colours, zero or more; after 256 they repeat.
    dark : bool
        For a dark ground.

    Returns
    -------
    tuple of str
        Like ``"#0072b2"``. The sequence is computed once.

    Examples
    --------
    >>> palette(3)
    ('#0072b2', '#e69f00', '#009e73')
    """
    made = _sequence(dark)
    return tuple(made[at % len(made)] for at in range(n))


def neutral(*, dark: bool = False) -> str:
    """Colour of what belongs to no cluster."""
    return NEUTRAL_ON_DARK if dark else NEUTRAL


def linear_rgb(colors: tuple[str, ...] | list[str]) -> FloatArray:
    """Hex colours as linear sRGB, one row each, between 0 and 1."""
    digits = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in colors]
    rgb = np.array(digits, dtype=np.float64).reshape(-1, 3) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(linear: FloatArray) -> FloatArray:
    """Linear sRGB to Oklab, in which distances are about as large as they look."""
    return np.asarray(np.cbrt(np.maximum(linear @ _CONES.T, 0.0)) @ _OPPONENT.T)


def seen_by(linear: FloatArray) -> list[FloatArray]:
    """Oklab of what normal, protanope and deuteranope eyes see."""
    blind = [np.clip(linear @ filtered.T, 0.0, 1.0) for filtered in (_PROTAN, _DEUTAN)]
    return [oklab(linear), oklab(blind[0]), oklab(blind[1])]


@lru_cache(maxsize=2)
def _sequence(dark: bool) -> tuple[str, ...]:
    """The sequence behind the palette, on one ground or the other."""
    if dark:
        return _as_hex(_on_dark(linear_rgb(_sequence(False))))
    first, candidates = linear_rgb(_FIRST), _candidates()
    views = _weighted_views(np.concatenate([first, candidates]))
    taken = list(range(len(first)))
    nearest = np.full(len(views), np.inf)
    for at in range(_DISTINCT):
        if at >= len(taken):
            taken.append(int(nearest.argmax()))
        distance = np.sqrt(((views - views[taken[at]]) ** 2).sum(axis=2).min(axis=1))
        nearest = np.minimum(nearest, distance)
    return _as_hex(np.concatenate([first, candidates])[taken])


def _candidates() -> FloatArray:
    """A grid of lightness, chroma and hue, as far as screens can show it."""
    grids = np.meshgrid(
        np.linspace(*_LIGHT_RANGE, 9),
        np.linspace(0.07, 0.19, 5),
        np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False),
        indexing="ij",
    )
    lightness, chroma, hue = (grid.ravel() for grid in grids)
    linear = _from_polar(lightness, chroma, hue)
    return np.clip(linear[_shown(linear)], 0.0, 1.0)


def _weighted_views(linear: FloatArray) -> FloatArray:
    """Each colour as six views: three kinds of eyes, on a light and on a dark ground."""
    weights = (1.0, _BLIND_WEIGHT, _BLIND_WEIGHT)
    grounds = [*seen_by(linear), *seen_by(_on_dark(linear))]
    return np.stack([w * view for w, view in zip(weights * 2, grounds, strict=True)], axis=1)


def _on_dark(linear: FloatArray) -> FloatArray:
    """The same hues with the lightness moved up, and as much chroma as then can be shown."""
    lab = oklab(linear)
    share = (lab[:, 0] - _LIGHT_RANGE[0]) / (_LIGHT_RANGE[1] - _LIGHT_RANGE[0])
    lightness = _DARK_RANGE[0] + share * (_DARK_RANGE[1] - _DARK_RANGE[0])
    chroma, hue = np.hypot(lab[:, 1], lab[:, 2]), np.arctan2(lab[:, 2], lab[:, 1])
    moved = _from_polar(lightness, chroma, hue)
    for _ in range(40):
        chroma = np.where(_shown(moved), chroma, 0.95 * chroma)
        moved = _from_polar(lightness, chroma, hue)
    return np.clip(moved, 0.0, 1.0)


def _from_polar(lightness: FloatArray, chroma: FloatArray, hue: FloatArray) -> FloatArray:
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    return np.asarray(np.linalg.solve(_CONES, np.linalg.solve(_OPPONENT, lab.T) ** 3).T)


def _shown(linear: FloatArray) -> NDArray[np.bool_]:
    """Whether a screen can show a colour."""
    return np.asarray(((linear >= -1e-4) & (linear <= 1.0 + 1e-4)).all(axis=1))


def _as_hex(linear: FloatArray) -> tuple[str, ...]:
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return tuple("#{:02x}{:02x}{:02x}".format(*row) for row in np.rint(255 * rgb).astype(int))
