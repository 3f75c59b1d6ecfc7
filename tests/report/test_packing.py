"""Packed arrays come back as they were, in no more bytes than they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convexhc.report.packing import packed, quantized, unpacked


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_unpacked_is_what_was_packed(values):
    assert unpacked(packed(np.array(values, dtype=np.int64))).tolist() == values


@pytest.mark.parametrize(("largest", "width"), [(0, 1), (255, 1), (256, 2), (65535, 2), (65536, 4)])
def test_the_largest_number_sets_the_width(largest, width):
    assert packed(np.array([0, largest]))["bytes"] == width


@pytest.mark.parametrize("value", [-1, 2**32])
def test_what_does_not_fit_is_refused(value):
    with pytest.raises(ValueError, match="only numbers from 0"):
        packed(np.array([value]))


@given(
    st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=20),
    st.integers(1, 65535),
)
def test_a_quantized_value_is_the_nearest_step(values, steps):
    found = quantized(np.array(values), -5.0, 5.0, steps)
    back = -5.0 + 10.0 * found / steps
    assert found.min() >= 0
    assert found.max() <= steps
    assert np.abs(back - values).max() <= 5.0 / steps * (1 + 1e-9)


def test_values_outside_go_to_the_ends_and_no_range_to_zero():
    assert quantized(np.array([-3.0, 9.0]), 0.0, 1.0, 7).tolist() == [0, 7]
    assert quantized(np.array([4.0, 4.0]), 4.0, 4.0, 7).tolist() == [0, 0]
