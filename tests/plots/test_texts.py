"""Axis limits, and the texts of figures and messages: correct English, plain numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plots.made import made_path, neighbours

from convexhc import plots
from convexhc._text import format_number
from convexhc.plots.style import lam_limits


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=8), st.floats(0.0, 0.5))
def test_limits_enclose_every_lam_with_a_margin(lambdas, margin):
    low, high = lam_limits(np.array(lambdas), margin=margin)
    assert 0 < low < high < np.inf
    assert all(low < lam < high for lam in lambdas if lam > 1e-300)


@given(st.floats(1e-4, 999_000.0))
def test_numbers_have_three_digits_and_no_exponent(value):
    text = format_number(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=5.001e-3)


def large_lam_path():
    """Two pairs of nodes that fuse at lam beyond 1000."""
    return made_path([1000.0, 2000.0, 4000.0], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])


def test_titles_show_large_lam_without_exponent():
    path = large_lam_path()
    for title in (
        plots.coalescence(path, n_clusters=2).get_title(),
        plots.heatmap(path, n_clusters=2).get_title(),
        plots.network(path, neighbours(path), n_clusters=2).get_title(),
        plots.sankey(path, n_clusters=[2]).get_xticklabels()[0].get_text(),
    ):
        assert title.split(r"$\lambda$ = ")[1].split(" ")[0] in ("2000", "2830")


@pytest.mark.parametrize("level", [{"n_clusters": 2}, {"lam": 3900.0}])
def test_discs_are_drawn_at_a_lam_with_the_clusters_of_the_title(level):
    ax = plots.coalescence(large_lam_path(), **level)
    assert ax.get_title() == r"4 nodes, 2 clusters at $\lambda$ = 2000"
    assert np.ptp(ax.collections[-1].get_offsets(), axis=0).max() > 0.1


def test_a_heat_map_shows_the_centroids_of_its_clusters():
    ax = plots.heatmap(large_lam_path(), n_clusters=2)
    cells = ax.collections[0].get_array().reshape(4, 4)
    assert np.array_equal(cells, np.kron(np.eye(2), np.full((2, 2), 0.5)))


def test_axes_of_the_centroids_say_how_much_variance_they_explain():
    path = made_path([1.0, 2.0], [[0, 0, 1, 1], [0, 0, 0, 0]])
    assert plots.coalescence(path).get_xlabel() == "100 % of the variance"
    assert plots.coalescence(path).get_ylabel() == "0 % of the variance"


def test_a_graph_of_one_node_is_counted_in_the_singular():
    with pytest.raises(ValueError, match="the graph has 1 node and the result 4"):
        plots.network(large_lam_path(), np.ones((1, 1)))
