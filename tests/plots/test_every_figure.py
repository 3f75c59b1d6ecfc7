"""Contracts of every figure: returns axes, alters nothing, draws without warnings."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from plots.made import ODD_PATHS, made_path, neighbours, path_of_blocks

import convexhc
from convexhc import plots

FIGURES = {
    "coalescence": plots.coalescence,
    "dendrogram": plots.dendrogram,
    "dendrogram, root at the top": lambda path, **kw: plots.dendrogram(
        path, orientation="top", **kw
    ),
    "heatmap of K": lambda path, **kw: plots.heatmap(path, neighbours(path), **kw),
    "heatmap of pi": plots.heatmap,
    "icicle": plots.icicle,
    "icicle, root at the top": lambda path, **kw: plots.icicle(path, orientation="top", **kw),
    "network": lambda path, **kw: plots.network(path, neighbours(path), **kw),
    "sankey": plots.sankey,
    "scan": plots.scan,
}
LEVELLED = [name for name in FIGURES if name not in ("scan", "sankey")]

every_figure = pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)


def axes_of(drawn):
    return list(drawn) if isinstance(drawn, tuple) else [drawn]


def test_every_public_figure_is_here():
    drawn = {name.split(" ")[0].rstrip(",") for name in FIGURES}
    assert drawn == set(plots.__all__)


@every_figure
@pytest.mark.parametrize("path", ODD_PATHS.values(), ids=ODD_PATHS)
def test_unusual_paths_are_drawn(draw, path):
    # Warnings are errors here, so drawing is the assertion.
    axes = axes_of(draw(path))
    axes[0].figure.canvas.draw()
    assert all(isinstance(ax, Axes) for ax in axes)


@every_figure
def test_given_axes_are_used_and_settings_are_unchanged(draw):
    figure, ax = plt.subplots()
    settings, arrays = dict(mpl.rcParams), [p.labels.copy() for p in path_of_blocks().levels]
    path = path_of_blocks()
    axes = axes_of(draw(path, ax=ax))
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert all(drawn is ax or drawn in ax.child_axes for drawn in axes)
    assert dict(mpl.rcParams) == settings
    assert all(np.array_equal(p.labels, was) for p, was in zip(path.levels, arrays, strict=True))


@every_figure
def test_dark_styles_are_drawn(draw):
    with plt.style.context("dark_background"):
        figure = axes_of(draw(path_of_blocks()))[0].figure
        figure.canvas.draw()
        assert figure.get_facecolor()[:3] == (0.0, 0.0, 0.0)


@every_figure
def test_without_matplotlib_the_extra_is_named(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"convexhc\[plots\]"):
        draw(path_of_blocks())


@pytest.mark.parametrize("name", LEVELLED)
def test_n_clusters_and_lam_together_are_refused(name):
    with pytest.raises(ValueError, match="both"):
        FIGURES[name](path_of_blocks(), n_clusters=2, lam=1.0)


@every_figure
def test_other_types_are_refused(draw):
    with pytest.raises(TypeError, match="needs a Path"):
        draw(_NoPath())


class _NoPath:
    """Has nodes, and nothing else of a path."""

    names = (0, 1)
    components = np.array([0, 0])


@pytest.mark.parametrize("draw", [plots.dendrogram, plots.icicle])
def test_the_root_is_right_or_top(draw):
    with pytest.raises(ValueError, match="orientation"):
        draw(path_of_blocks(), orientation="left")


def test_a_solution_is_drawn_with_its_only_level():
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1 + np.eye(6)
    solution = convexhc.solve(K, 0.5)
    assert solution.n_clusters == 2
    for ax in (
        plots.heatmap(solution),
        plots.heatmap(solution, K),
        plots.network(solution, K),
        plots.coalescence(solution),
    ):
        ax.figure.canvas.draw()
        assert "2 clusters" in ax.get_title()
    with pytest.raises(ValueError, match="one level"):
        plots.network(solution, K, n_clusters=2)


def test_without_centroids_only_their_figures_are_refused():
    path = made_path([1.0, 2.0], [[0, 1, 2], [0, 0, 0]], centroids=False)
    for draw in (plots.coalescence, plots.heatmap):
        with pytest.raises(ValueError, match="kept"):
            draw(path)
    plots.heatmap(path, np.eye(3))


def test_two_thousand_nodes_are_drawn():
    n = 2000
    rows = [np.arange(n), np.arange(n) // 25, np.arange(n) // 200, np.zeros(n)]
    path = made_path([0.1, 1.0, 5.0, 30.0], rows, centroids=False)
    for draw in (plots.dendrogram, plots.icicle, plots.scan, plots.sankey):
        figure = axes_of(draw(path))[0].figure
        figure.canvas.draw()
        assert np.asarray(figure.canvas.buffer_rgba()).std() > 1.0
