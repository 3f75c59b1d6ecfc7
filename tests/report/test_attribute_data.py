"""Attributes of the nodes in the report."""

from __future__ import annotations

import numpy as np
import pytest
from report.examples import decode_array, twelve
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from convexhc.report.path_data import attribute_data


def test_agreement_is_that_of_scikit_learn_over_the_known_nodes():
    values = ["a", "b", None, "a", float("nan"), "c", "", "b", "b", "c", "a", "a"]
    (found,) = attribute_data(twelve(), [], {"kind": values})
    assert found["values"] == ["a", "b", "", "c"]
    known = np.array([isinstance(value, str) and value != "" for value in values])
    words = np.array([str(value) for value in values])[known]
    for level, pair in zip(twelve().levels, found["agreement"], strict=True):
        labels = level.labels[known]
        scores = [adjusted_mutual_info_score(words, labels), adjusted_rand_score(words, labels)]
        assert pair == pytest.approx(scores, abs=1e-4)


def test_numbers_with_many_values_are_a_quantity_and_unknown_ones_apart():
    values = [*range(10), None, float("inf")]
    (found,) = attribute_data(twelve(), [], {"size": values})
    assert (found["kind"], found["low"], found["high"]) == ("number", 0.0, 9.0)
    codes = decode_array(found["codes"])
    assert codes[[10, 11]].tolist() == [0, 0]
    assert codes[:10].min() == 1
    assert (np.diff(codes[:10]) > 0).all()
    (few,) = attribute_data(twelve(), [], {"size": [1, 2] * 6})
    assert few["kind"] == "category"


def test_one_value_per_node_is_needed():
    with pytest.raises(ValueError, match="11 values for 12 nodes"):
        attribute_data(twelve(), [], {"kind": ["a"] * 11})
