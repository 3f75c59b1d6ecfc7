"""Arrays of integers as compact text for JSON: smallest byte width, deflated, in base64."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray, IntArray


def encode_array(values: NDArray[Any]) -> dict[str, Any]:
    """Encode nonnegative integers, in row-major order, as ``{"bytes": width, "data": text}``.

    The browser decodes them as little-endian unsigned integers of 1, 2 or 4 bytes.

    Raises
    ------
    ValueError
        A negative number, or one that needs more than 32 bits.

    Examples
    --------
    >>> encode_array(np.array([1, 2, 300]))["bytes"]
    2
    """
    limit = np.iinfo(np.uint32).max
    largest = int(values.max(initial=0))
    if int(values.min(initial=0)) < 0 or largest > limit:
        raise ValueError(f"only integers from 0 to {limit} can be encoded, received {values}.")
    width = np.min_scalar_type(largest).itemsize
    raw = np.ascontiguousarray(values).astype(f"<u{width}").tobytes()
    return {"bytes": width, "data": base64.b64encode(zlib.compress(raw, 9)).decode("ascii")}


def quantize(values: FloatArray, low: float, high: float, steps: int) -> IntArray:
    """Round values to the integers ``0 .. steps`` that divide ``[low, high]`` evenly.

    Values outside are clipped; if the range is empty, all results are 0.

    Examples
    --------
    >>> quantize(np.array([0.0, 0.5, 2.0]), 0.0, 1.0, 10)
    array([ 0,  5, 10])
    """
    if not high > low:
        return np.zeros(values.shape, dtype=np.int64)
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.rint(steps * share), dtype=np.int64)
