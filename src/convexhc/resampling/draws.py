"""Resamples of what was observed: the edges of a graph, counts, or the columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from convexhc._checks import checked_count, named
from convexhc._types import FloatArray
from convexhc.graph import Graph

Resample = Literal["drop", "edges", "weights", "columns"]
RESAMPLES = ("drop", "edges", "weights", "columns")


def default_resample(observed: Graph | FloatArray) -> Resample:
    """What to resample by default.

    The columns of a table of points; the weights of a graph if they are counts, that is integers
    and not all 1; and otherwise the edges, of which a few are left out.

    Examples
    --------
    >>> default_resample(Graph.from_edges(3, [0, 1], [1, 2], [4.0, 1.0]))
    'weights'
    """
    if not isinstance(observed, Graph):
        return "columns"
    return "weights" if _are_counts(observed) and (observed.weight > 1).any() else "drop"


def draws(
    observed: Graph | FloatArray,
    resample: Resample,
    *,
    n_resamples: int,
    share: float,
    random_state: int,
) -> Iterator[Any]:
    """Resamples of a graph or of a table of points; more of them begin with the same ones.

    "drop": every edge is kept with probability ``share``. "edges": as many edges as there are,
    drawn with replacement; an edge drawn twice counts twice. "weights": the weights are counts, and
    as many events as their sum are drawn with replacement. "columns": as many columns as there are,
    drawn with replacement. All nodes are kept. O(E) or O(n d) each.

    Examples
    --------
    >>> graph = Graph.from_edges(3, [0, 1], [1, 2], [400.0, 100.0])
    >>> [one] = draws(graph, "weights", n_resamples=1, share=1.0, random_state=0)
    >>> one.weight.sum()
    np.float64(500.0)
    """
    named("resample", resample, dict.fromkeys(RESAMPLES))
    count = checked_count("n_resamples", n_resamples)
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1, received {share!r}.")
    _check_kind(observed, resample)
    random = np.random.default_rng(random_state)
    for _ in range(count):
        if not isinstance(observed, Graph):
            columns = random.integers(observed.shape[1], size=observed.shape[1])
            yield observed[:, columns]
        elif resample == "drop":
            yield reweighted(observed, observed.weight * (random.random(observed.n_edges) < share))
        elif resample == "edges":
            drawn = random.integers(max(observed.n_edges, 1), size=observed.n_edges)
            times = np.bincount(drawn, minlength=observed.n_edges)
            yield reweighted(observed, observed.weight * times)
        elif observed.n_edges:
            total = observed.weight.sum()
            events = random.multinomial(int(total), observed.weight / total)
            yield reweighted(observed, events.astype(np.float64))
        else:
            yield observed


def reweighted(graph: Graph, weight: FloatArray) -> Graph:
    """The graph with other weights, without the edges of weight zero."""
    kept = weight != 0
    return replace(graph, tail=graph.tail[kept], head=graph.head[kept], weight=weight[kept])


def _check_kind(observed: Graph | FloatArray, resample: Resample) -> None:
    """Refuse columns of a graph, edges of points, and counts that are none."""
    if not isinstance(observed, Graph):
        if resample != "columns":
            raise ValueError(
                f"resample={resample!r} needs a graph, and points were given: use 'columns', or "
                "give their neighbour graph."
            )
    elif resample == "columns":
        raise ValueError(
            "resample='columns' needs points, one row each, and a graph was given: use 'drop', "
            "'edges' or 'weights'."
        )
    elif resample == "weights" and not _are_counts(observed):
        raise ValueError(
            "resample='weights' needs weights that are counts, that is positive integers: use "
            "'drop' or 'edges'."
        )


def _are_counts(graph: Graph) -> bool:
    return bool(((graph.weight > 0) & (graph.weight == np.floor(graph.weight))).all())
