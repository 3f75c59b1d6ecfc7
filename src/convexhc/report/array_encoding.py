"""Arrays of integers as compact text for JSON, and how much of a path the page shows."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray


@dataclass(frozen=True)
class Resolution:
    """How much the page shows, which bounds its size; totals are shown whatever is left out."""

    max_edges: int = 6000  # edges drawn; more of them would merge into a grey area
    max_rows: int = 256  # rows of a heat map with one row per node; above, rows are averaged
    averaged_rows: int = 128  # rows of the averaged assignment matrices, one for each level
    assignment_levels: int = 100  # levels whose assignment matrix is stored
    coordinate_steps: int = 0xFFFF  # steps of a coordinate, below one pixel
    color_steps: int = 63  # steps of a colour scale
    max_named: int = 12  # nodes named per split, level or subject; their number is shown, too
    max_splits: int = 50  # splits listed
    max_listed: int = 6  # values of an option that are listed; longer lists are counted
    max_categories: int = 9  # values of a number that is coloured as a code, not as a quantity
    # A notebook stores a copy in each output cell: of at most this many nodes and characters.
    notebook_nodes: int = 300
    notebook_length: int = 400_000


RESOLUTION = Resolution()


def encode_array(values: NDArray[Any]) -> dict[str, Any]:
    """Encode integers from 0 to 2^32 - 1, row by row, as ``{"bytes": width, "data": text}``.

    Little-endian unsigned integers of 1, 2 or 4 bytes, deflated, in base64.
    """
    limit = np.iinfo(np.uint32).max
    largest = int(values.max(initial=0))
    if int(values.min(initial=0)) < 0 or largest > limit:
        raise ValueError(f"only integers from 0 to {limit} can be encoded, received {values}.")
    width = np.min_scalar_type(largest).itemsize
    raw = np.ascontiguousarray(values).astype(f"<u{width}").tobytes()
    return {"bytes": width, "data": base64.b64encode(zlib.compress(raw, 9)).decode("ascii")}


def quantize(values: FloatArray, low: float, high: float, steps: int) -> IntArray:
    """Round values to the integers ``0 .. steps`` that divide ``[low, high]`` evenly, clipped."""
    if not high > low:
        return np.zeros(values.shape, dtype=np.int64)
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.rint(steps * share), dtype=np.int64)
