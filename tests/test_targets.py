import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from twinviews.targets import (
    check_missing_label,
    missing_labels,
    one_against_rest,
    read_classes,
    read_numbers,
)

NUMBERS = {
    "list with None": [1.0, None, 3.0],
    "array": np.array([1.0, np.nan, 3.0]),
    "pandas float": pd.Series([1.0, np.nan, 3.0]),
    "pandas nullable": pd.Series([1, pd.NA, 3], dtype="Int64"),
    "polars": pl.Series([1, None, 3]),
    "pyarrow": pa.chunked_array([[1, None, 3]]),
    "pyarrow array": pa.array([1, None, 3]),
}
WORDS = {
    "list with None": ["a", None, "b"],
    "pandas": pd.Series(["a", None, "b"]),
    "pandas nullable": pd.Series(["a", pd.NA, "b"], dtype="string"),
    "pandas categorical": pd.Series(["a", None, "b"], dtype="category"),
    "polars": pl.Series(["a", None, "b"]),
    "pyarrow": pa.chunked_array([["a", None, "b"]]),
    "pyarrow array": pa.array(["a", None, "b"]),
    "list with NaN": ["a", float("nan"), "b"],
    "object with NaN": np.array(["a", np.nan, "b"], dtype=object),
}


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_every_library(y):
    assert_array_equal(read_numbers(y), [1, np.nan, 3])


@pytest.mark.parametrize("y", WORDS.values(), ids=WORDS)
def test_classes_of_every_library(y):
    classes = read_classes(y)
    assert classes.labels.tolist() == ["a", "b"]
    assert_array_equal(classes.code, [0, -1, 1])


def test_a_named_missing_label_is_missing_and_nothing_else_is():
    assert_array_equal(missing_labels(np.array([-1, 0, 1]), -1), [True, False, False])
    assert_array_equal(missing_labels(np.array([-1, 0, 1])), [False, False, False])
    assert_array_equal(missing_labels(np.array(["?", "a"]), "?"), [True, False])
    assert_array_equal(missing_labels(np.array([1.0, 2.0]), "?"), [False, False])


def test_a_missing_label_of_another_type_than_the_classes():
    assert read_classes(["a", -1, "b"], missing_label=-1).labels.tolist() == ["a", "b"]
    assert_array_equal(missing_labels(np.array([1, 0]), True), [False, False])
    assert_array_equal(missing_labels(np.array([True, False]), True), [True, False])
    assert_array_equal(missing_labels(np.array([1.0, 0.0]), 1), [True, False])


@pytest.mark.parametrize("missing_label", [["?", ""], np.array([1, 2])])
def test_several_missing_labels_are_refused(missing_label):
    with pytest.raises(ValueError, match="must be one value"):
        check_missing_label(missing_label)


def test_minus_one_is_a_class_unless_it_is_named():
    assert read_classes([-1, 1, -1]).labels.tolist() == [-1, 1]
    assert read_classes([-1, 1, 0], missing_label=-1).labels.tolist() == [0, 1]


def test_integer_classes_stay_integers_beside_none():
    assert read_classes([3, None, 1]).labels.dtype.kind == "i"


def test_two_classes_have_one_column_and_more_have_one_each():
    assert_array_equal(one_against_rest(np.array([0, 1]), 2), [[-1], [1]])
    assert_array_equal(one_against_rest(np.array([2, 0]), 3), [[-1, -1, 1], [1, -1, -1]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.inf], "y contains infinity"),
        (["1", "x"], "y holds a label that is not a number"),
        (np.array([1j, 2]), "Complex data not supported"),
    ],
)
def test_what_is_no_number_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(y)


def test_mixed_types_of_classes_are_refused():
    with pytest.raises(ValueError, match="y mixes labels of type int, str"):
        read_classes(["a", 1, None])
