"""Numbers as short text: whole numbers in as few bytes as they need, deflated, in base64."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexhc._types import FloatArray

# Bytes a number, with the largest that fits; the browser reads them as little-endian.
_WIDTHS = ((1, 0xFF), (2, 0xFFFF), (4, 0xFFFFFFFF))


def packed(values: NDArray[Any]) -> dict[str, Any]:
    """An array of nonnegative whole numbers as ``{"bytes": width, "data": text}``, in row order.

    Raises
    ------
    ValueError
        A negative number, or one that needs more than 32 bits.

    Examples
    --------
    >>> unpacked(packed(np.array([1, 2, 300])))
    array([  1,   2, 300])
    """
    largest = int(values.max(initial=0))
    if int(values.min(initial=0)) < 0 or largest > _WIDTHS[-1][1]:
        raise ValueError(f"only numbers from 0 to {_WIDTHS[-1][1]} can be packed; got {values}.")
    width = next(width for width, most in _WIDTHS if largest <= most)
    raw = np.ascontiguousarray(values).astype(f"<u{width}").tobytes()
    return {"bytes": width, "data": base64.b64encode(zlib.compress(raw, 9)).decode("ascii")}


def unpacked(text: dict[str, Any]) -> NDArray[np.int64]:
    """The numbers that `packed` wrote, as one row; the page does the same in its own language."""
    raw = zlib.decompress(base64.b64decode(text["data"]))
    return np.frombuffer(raw, dtype=f"<u{text['bytes']}").astype(np.int64)


def quantized(values: FloatArray, low: float, high: float, steps: int) -> NDArray[np.int64]:
    """The nearest of the whole numbers ``0 .. steps`` that stand for ``low .. high``.

    Values outside are moved to the end they passed; without a range everything is 0.

    Examples
    --------
    >>> quantized(np.array([0.0, 0.5, 2.0]), 0.0, 1.0, 10)
    array([ 0,  5, 10])
    """
    if not high > low:
        return np.zeros(values.shape, dtype=np.int64)
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.rint(steps * share), dtype=np.int64)
