"""Encoded arrays: lossless, in the smallest byte width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.examples import decode_array

from convexhc.report.array_encoding import encode_array, quantize


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_decoding_inverts_encoding(values):
    assert decode_array(encode_array(np.array(values, dtype=np.int64))).tolist() == values


@pytest.mark.parametrize(("largest", "width"), [(0, 1), (255, 1), (256, 2), (65535, 2), (65536, 4)])
def test_the_largest_number_determines_the_byte_width(largest, width):
    assert encode_array(np.array([0, largest]))["bytes"] == width


@pytest.mark.parametrize("value", [-1, 2**32])
def test_numbers_outside_32_bits_are_refused(value):
    with pytest.raises(ValueError, match="only integers from 0"):
        encode_array(np.array([value]))


@given(
    st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=20),
    st.integers(1, 65535),
)
def test_values_are_rounded_to_the_nearest_step(values, steps):
    found = quantize(np.array(values), -5.0, 5.0, steps)
    back = -5.0 + 10.0 * found / steps
    assert found.min() >= 0
    assert found.max() <= steps
    assert np.abs(back - values).max() <= 5.0 / steps * (1 + 1e-9)


def test_values_outside_the_range_are_clipped_and_an_empty_range_gives_zero():
    assert quantize(np.array([-3.0, 9.0]), 0.0, 1.0, 7).tolist() == [0, 7]
    assert quantize(np.array([4.0, 4.0]), 4.0, 4.0, 7).tolist() == [0, 0]
