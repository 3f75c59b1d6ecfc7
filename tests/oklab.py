"""How the palette is made: Oklab, colour-blind vision, and a farthest-point sequence.

``python tests/oklab.py`` prints the file ``palette.txt`` of `convexhc.layout`.
"""

from __future__ import annotations

import numpy as np

N_COLORS = 256
# The colours of Okabe and Ito with enough contrast to both white and black.
_OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
# Lightness in Oklab on a light and on a dark background.
LIGHT_RANGE, DARK_RANGE = (0.38, 0.76), (0.52, 0.82)
# Weight of distances in colour-blind vision, which are smaller than in normal vision.
COLOR_BLIND_WEIGHT = 1.5

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


def linear_rgb(colors):
    """Hex colours as linear sRGB between 0 and 1, one row per colour."""
    digits = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in colors]
    rgb = np.array(digits, dtype=np.float64).reshape(-1, 3) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(linear):
    """Linear sRGB to Oklab, a perceptually uniform colour space."""
    return np.asarray(np.cbrt(np.maximum(linear @ _CONES.T, 0.0)) @ _OPPONENT.T)


def perceived(linear):
    """Oklab coordinates in normal, protanope and deuteranope vision."""
    simulated = [np.clip(linear @ matrix.T, 0.0, 1.0) for matrix in (_PROTAN, _DEUTAN)]
    return [oklab(linear), *(oklab(colors) for colors in simulated)]


def palette_sequence(dark=False):
    """All colours of the palette, for a light or a dark background."""
    if dark:
        return _as_hex(_for_dark(linear_rgb(palette_sequence())))
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


def _candidates():
    """A grid of lightness, chroma and hue, restricted to the sRGB gamut."""
    grids = np.meshgrid(
        np.linspace(*LIGHT_RANGE, 9),
        np.linspace(0.07, 0.19, 5),
        np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False),
        indexing="ij",
    )
    lightness, chroma, hue = (grid.ravel() for grid in grids)
    linear = _from_polar(lightness, chroma, hue)
    return np.clip(linear[_in_gamut(linear)], 0.0, 1.0)


def _weighted_views(linear):
    """Six views of each colour: three kinds of vision, on a light and a dark background."""
    weights = (1.0, COLOR_BLIND_WEIGHT, COLOR_BLIND_WEIGHT)
    views = [*perceived(linear), *perceived(_for_dark(linear))]
    return np.stack([w * view for w, view in zip(weights * 2, views, strict=True)], axis=1)


def _for_dark(linear):
    """Map lightness to the range for dark backgrounds; keep hue, reduce chroma to the gamut."""
    lab = oklab(linear)
    (light_low, light_high), (dark_low, dark_high) = LIGHT_RANGE, DARK_RANGE
    share = (lab[:, 0] - light_low) / (light_high - light_low)
    lightness = dark_low + share * (dark_high - dark_low)
    chroma, hue = np.hypot(lab[:, 1], lab[:, 2]), np.arctan2(lab[:, 2], lab[:, 1])
    mapped = _from_polar(lightness, chroma, hue)
    for _ in range(40):
        chroma = np.where(_in_gamut(mapped), chroma, 0.95 * chroma)
        mapped = _from_polar(lightness, chroma, hue)
    return np.clip(mapped, 0.0, 1.0)


def _from_polar(lightness, chroma, hue):
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    return np.asarray(np.linalg.solve(_CONES, np.linalg.solve(_OPPONENT, lab.T) ** 3).T)


def _in_gamut(linear):
    """Whether a colour lies in the sRGB gamut."""
    return np.asarray(((linear >= -1e-4) & (linear <= 1.0 + 1e-4)).all(axis=1))


def _as_hex(linear):
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return tuple("#{:02x}{:02x}{:02x}".format(*row) for row in np.rint(255 * rgb).astype(int))


if __name__ == "__main__":
    for light, dark in zip(palette_sequence(), palette_sequence(dark=True), strict=True):
        print(light, dark)
