"""The validators of options: what they accept, and the errors they raise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from convexhc._checks import check_one_of, checked_count, checked_number, named


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.5), np.int64(1), Fraction(1, 2)])
def test_real_numbers_become_floats(value):
    number = checked_number("share", value, upper=1.0)
    assert type(number) is float
    assert number == value


def test_infinity_is_accepted_on_request():
    assert checked_number("lam", np.inf, finite=False) == np.inf


@pytest.mark.parametrize(
    ("value", "options", "error", "message"),
    [
        ("1", {}, TypeError, "x must be a number, received '1'."),
        (True, {}, TypeError, "x must be a number, received True."),
        (None, {}, TypeError, "x must be a number, received None."),
        (-1, {}, ValueError, "x must be finite and not negative, received -1."),
        (np.inf, {}, ValueError, "x must be finite and not negative, received inf."),
        (0, {"positive": True}, ValueError, "x must be finite and positive, received 0."),
        (2, {"upper": 1.0}, ValueError, "x must be between 0 and 1, received 2."),
        (float("nan"), {"upper": 1.0}, ValueError, "x must be between 0 and 1, received nan."),
        (float("nan"), {"finite": False}, ValueError, "x must be at least 0, received nan."),
    ],
)
def test_other_values_are_rejected(value, options, error, message):
    with pytest.raises(error) as caught:
        checked_number("x", value, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [1, np.int32(7), np.array(3)])
def test_integers_become_ints(value):
    count = checked_count("k", value)
    assert type(count) is int
    assert count == value


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (2.0, TypeError, "k must be an integer, received 2.0."),
        (True, TypeError, "k must be an integer, received True."),
        ("2", TypeError, "k must be an integer, received '2'."),
        (0, ValueError, "k must be at least 1, received 0."),
    ],
)
def test_other_counts_are_rejected(value, error, message):
    with pytest.raises(error) as caught:
        checked_count("k", value)
    assert str(caught.value) == message


def test_a_choice_is_looked_up_by_name():
    assert named("form", "b", {"a": 1, "b": 2}) == 2
    with pytest.raises(ValueError, match=r"form must be one of 'a', 'b', received 'c'\."):
        named("form", "c", {"a": 1, "b": 2})


def test_exactly_one_of_two_options_is_required():
    check_one_of("lam", 1.0, "n_clusters", None)
    with pytest.raises(ValueError, match="either lam or n_clusters; received neither"):
        check_one_of("lam", None, "n_clusters", None)
    with pytest.raises(ValueError, match="received both"):
        check_one_of("lam", 1.0, "n_clusters", 2)
