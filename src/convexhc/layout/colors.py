"""Colours: a sequence told apart by everyone on light and dark, and its assignment to clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from convexhc._types import BoolArray, FloatArray, IntArray, Labels
from convexhc.tree import Tree

# Number of distinct colours; more could not be told apart, so the sequence repeats.
N_COLORS = 256

# The colours of Okabe and Ito with enough contrast to both white and black.
_OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")

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
# Linear sRGB as perceived with protanopia and deuteranopia (Viénot, Brettel and Mollon 1999).
_PROTAN = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
_DEUTAN = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])


@dataclass(frozen=True)
class PaletteSettings:
    """Parameters of the palette; lightness is that of Oklab."""

    light_range: tuple[float, float] = (0.38, 0.76)  # lightness on a light background
    dark_range: tuple[float, float] = (0.52, 0.82)  # lightness on a dark background
    # Weight of distances in colour-blind vision, which are smaller than in normal vision.
    color_blind_weight: float = 1.5


SETTINGS = PaletteSettings()


def palette(n: int, *, dark: bool = False) -> tuple[str, ...]:
    """Hex colours for n clusters; the first ones do not depend on n, and after 256 they repeat.

    Six colours of Okabe and Ito, followed by a farthest-point sequence: each colour maximises the
    smallest Oklab distance to all before it, in normal, protanope and deuteranope vision. The dark
    variant keeps the hues and raises the lightness.
    """
    colors = _sequence(dark)
    return tuple(colors[rank % N_COLORS] for rank in range(n))


def neutral(*, dark: bool = False) -> str:
    """Grey of everything that belongs to no cluster."""
    return "#7d7d7d" if dark else "#9a9a9a"


def linear_rgb(colors: tuple[str, ...] | list[str]) -> FloatArray:
    """Hex colours as linear sRGB between 0 and 1, one row per colour."""
    digits = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in colors]
    rgb = np.array(digits, dtype=np.float64).reshape(-1, 3) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(linear: FloatArray) -> FloatArray:
    """Linear sRGB to Oklab, a perceptually uniform colour space."""
    return np.asarray(np.cbrt(np.maximum(linear @ _CONES.T, 0.0)) @ _OPPONENT.T)


def perceived(linear: FloatArray) -> list[FloatArray]:
    """Oklab coordinates in normal, protanope and deuteranope vision."""
    simulated = [np.clip(linear @ matrix.T, 0.0, 1.0) for matrix in (_PROTAN, _DEUTAN)]
    return [oklab(linear), *(oklab(colors) for colors in simulated)]


@lru_cache(maxsize=2)
def _sequence(dark: bool) -> tuple[str, ...]:
    """All colours of the palette, for a light or a dark background."""
    if dark:
        return _as_hex(_for_dark(linear_rgb(_sequence(False))))
    colors = np.concatenate([linear_rgb(_OKABE_ITO), _candidates()])
    views = _weighted_views(colors)
    selected = list(range(len(_OKABE_ITO)))
    nearest = np.full(len(views), np.inf)
    for rank in range(N_COLORS):
        if rank >= len(selected):
            selected.append(int(nearest.argmax()))
        distance = np.sqrt(((views - views[selected[rank]]) ** 2).sum(axis=2).min(axis=1))
        nearest = np.minimum(nearest, distance)
    return _as_hex(colors[selected])


def _candidates() -> FloatArray:
    """A grid of lightness, chroma and hue, restricted to the sRGB gamut."""
    grids = np.meshgrid(
        np.linspace(*SETTINGS.light_range, 9),
        np.linspace(0.07, 0.19, 5),
        np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False),
        indexing="ij",
    )
    lightness, chroma, hue = (grid.ravel() for grid in grids)
    linear = _from_polar(lightness, chroma, hue)
    return np.clip(linear[_in_gamut(linear)], 0.0, 1.0)


def _weighted_views(linear: FloatArray) -> FloatArray:
    """Six views of each colour: three kinds of vision, on a light and a dark background."""
    weights = (1.0, SETTINGS.color_blind_weight, SETTINGS.color_blind_weight)
    views = [*perceived(linear), *perceived(_for_dark(linear))]
    return np.stack([w * view for w, view in zip(weights * 2, views, strict=True)], axis=1)


def _for_dark(linear: FloatArray) -> FloatArray:
    """Map lightness to the range for dark backgrounds; keep hue, reduce chroma to the gamut."""
    lab = oklab(linear)
    (light_low, light_high), (dark_low, dark_high) = SETTINGS.light_range, SETTINGS.dark_range
    share = (lab[:, 0] - light_low) / (light_high - light_low)
    lightness = dark_low + share * (dark_high - dark_low)
    chroma, hue = np.hypot(lab[:, 1], lab[:, 2]), np.arctan2(lab[:, 2], lab[:, 1])
    mapped = _from_polar(lightness, chroma, hue)
    for _ in range(40):
        chroma = np.where(_in_gamut(mapped), chroma, 0.95 * chroma)
        mapped = _from_polar(lightness, chroma, hue)
    return np.clip(mapped, 0.0, 1.0)


def _from_polar(lightness: FloatArray, chroma: FloatArray, hue: FloatArray) -> FloatArray:
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    return np.asarray(np.linalg.solve(_CONES, np.linalg.solve(_OPPONENT, lab.T) ** 3).T)


def _in_gamut(linear: FloatArray) -> BoolArray:
    """Whether a colour lies in the sRGB gamut."""
    return np.asarray(((linear >= -1e-4) & (linear <= 1.0 + 1e-4)).all(axis=1))


def _as_hex(linear: FloatArray) -> tuple[str, ...]:
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return tuple("#{:02x}{:02x}{:02x}".format(*row) for row in np.rint(255 * rgb).astype(int))


def color_ranks(tree: Tree) -> IntArray:
    """Palette rank of each node, a permutation; a cluster takes the smallest rank of its members.

    When clusters merge, the largest one (of equal ones, the one with the smallest node) keeps its
    colour. Colours that survive longest have the smallest ranks, so a cut into k clusters uses the
    first k colours, and a cluster keeps its colour until a larger one absorbs it.
    """
    nodes = tree.nodes
    n = nodes.n_leaves
    by_parent = np.lexsort((nodes.first_leaf[:-1], -nodes.size[:-1], nodes.parent[:-1]))
    starts = np.concatenate([[0], np.cumsum(nodes.n_children)[:-1]]).astype(np.int64)
    is_largest_child = np.zeros(nodes.parent.size, dtype=bool)
    is_largest_child[by_parent[starts] if nodes.n_merges else []] = True
    is_largest_child[-1] = True
    # Top-down pass: the highest ancestor that still has the colour of each node.
    top = np.arange(nodes.parent.size)
    for node in range(nodes.parent.size - 2, -1, -1):
        if is_largest_child[node]:
            top[node] = top[nodes.parent[node]]
    top = top[:n]
    parent = nodes.parent[top]
    lam_absorbed = np.where(parent >= 0, nodes.height[parent], np.inf)
    never_largest = top == np.arange(n)
    order = np.lexsort((nodes.first_leaf[top], -nodes.size[top], -lam_absorbed, never_largest))
    return np.argsort(order)


def ranks_by_size(labels: Labels) -> IntArray:
    """Palette rank of each node for a single partition, large clusters first."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((np.arange(labels.size), inverse, -counts[inverse])))


def cluster_ranks(labels: Labels, ranks: IntArray) -> IntArray:
    """Palette rank of each cluster: the smallest rank of its members, -1 for single nodes."""
    smallest = np.full(int(labels.max()) + 1, labels.size, dtype=np.int64)
    np.minimum.at(smallest, labels, ranks)
    smallest[np.bincount(labels) < 2] = -1
    return smallest


def rank_colors(ranks: IntArray, *, dark: bool = False) -> list[str]:
    """Palette colours of some ranks; neutral for rank -1."""
    colors = palette(int(ranks.max(initial=-1)) + 1, dark=dark)
    return [colors[rank] if rank >= 0 else neutral(dark=dark) for rank in ranks]
