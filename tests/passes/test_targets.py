import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from twinviews.passes.targets import (
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
    "pyarrow dictionary": pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()]),
    "pyarrow dictionaries": pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (["a", None], ["b"])]
    ),
    "polars categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
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


def test_classes_that_are_expected_are_there_without_a_row():
    classes = read_classes(["b", None, "d"], expected=["a", "b"])
    assert classes.labels.tolist() == ["a", "b", "d"]
    assert_array_equal(classes.code, [1, -1, 2])
    numbers = read_classes([5.0, np.nan, 1.0], expected=np.array([3.0]))
    assert_array_equal(numbers.labels, [1, 3, 5])
    assert_array_equal(numbers.code, [2, -1, 0])
    assert read_classes([None, None]).labels.tolist() == []


@pytest.mark.parametrize("missing_label", [None, np.nan, pd.NA, "?", b"?", -1, 2.5, True, np.int64(3)])
def test_one_missing_label_of_any_type_is_allowed(missing_label):
    check_missing_label(missing_label)


@pytest.mark.parametrize("missing_label", [None, np.nan, pd.NA, pd.NaT])
def test_what_is_always_missing_may_be_named(missing_label):
    y = np.array([1, None, 2], dtype=object)
    assert_array_equal(missing_labels(y, missing_label), [False, True, False])
    assert_array_equal(missing_labels(np.array([1, 2]), missing_label), [False, False])


def test_dates_without_a_day_are_missing():
    days = np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")
    assert_array_equal(missing_labels(days), [False, True])
    assert_array_equal(missing_labels(days - days[0]), [False, True])


def test_true_is_not_the_number_one():
    y = np.array([True, 1, 1.0, "1", None], dtype=object)
    assert_array_equal(missing_labels(y, True), [True, False, False, False, True])
    assert_array_equal(missing_labels(y, 1), [False, True, True, False, True])
    assert_array_equal(missing_labels(y, np.True_), [True, False, False, False, True])
    for kind in (np.int64, np.uint8, np.float32):
        ones = np.array([1, 0], dtype=kind)
        assert_array_equal(missing_labels(ones, 1), [True, False])
        assert_array_equal(missing_labels(ones, True), [False, False])
        assert_array_equal(missing_labels(ones, "1"), [False, False])
    assert_array_equal(missing_labels(np.array([[1.0, np.nan], [3.0, 4.0]]), 3), [[0, 1], [1, 0]])


def test_numbers_keep_their_shape_and_may_be_written_as_words():
    assert_array_equal(read_numbers([[1, None], [3, 4]]), [[1, np.nan], [3, 4]])
    assert_array_equal(read_numbers(["1.5", None, "2"]), [1.5, np.nan, 2])
    assert_array_equal(read_numbers([7, "?", 8], missing_label="?"), [7, np.nan, 8])
    assert_array_equal(read_numbers([7, -1, 8], missing_label=-1), [7, np.nan, 8])


@pytest.mark.parametrize(
    ("y", "kind"),
    [([True, None, False], "b"), ([1.0, None], "f"), ([1, None], "i"), (["a", None], "O")],
)
def test_classes_keep_their_type_beside_none(y, kind):
    assert read_classes(y).labels.dtype.kind == kind


def test_infinity_is_no_class():
    with pytest.raises(ValueError, match="y contains infinity"):
        read_classes([1.0, np.inf, 2.0])


def test_a_column_of_labels_may_be_two_dimensional_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector"):
        assert_array_equal(read_classes(np.array([[1], [2]])).code, [0, 1])


def test_numbers_and_booleans_are_classes_of_one_type():
    assert read_classes([1, 2.0, None]).labels.tolist() == [1, 2]
    assert_array_equal(one_against_rest(np.array([1, -1, 0]), 2), [[1], [-1], [-1]])
    assert_array_equal(one_against_rest(np.array([0, -1]), 1), [[1], [-1]])


@pytest.mark.parametrize("labels", [[1.0, 1.0 + 1e-15], [0.0, 1e-140], [3.0, 3.0], [5.0], []])
def test_labels_may_differ_by_little_or_nothing(labels):
    assert_array_equal(read_numbers(np.array(labels)), labels)


def test_labels_whose_differences_have_no_square_are_refused():
    with pytest.raises(ValueError, match="differ by 1e-170 at most"):
        read_numbers(np.array([[0.0, 1.0], [1e-170, 2.0], [np.nan, 7.0]]))


def test_a_missing_label_that_no_float_holds_is_no_label():
    assert_array_equal(read_numbers(np.array([1.0, 2.0]), 10**400), [1.0, 2.0])


def test_classes_that_are_expected_are_of_the_type_of_the_labels():
    with pytest.raises(ValueError, match="mixes labels of type int, str"):
        read_classes(np.array(["a", "b"]), expected=np.array([1, 2]))
    labels, code = read_classes(np.array(["b", "c"]), expected=np.array(["a", "b"], dtype=object))
    assert labels.tolist() == ["a", "b", "c"]
    assert code.tolist() == [1, 2]


def test_words_of_numpy_and_of_python_are_of_one_type():
    words = np.array([np.str_("b"), "a", None], dtype=object)
    assert read_classes(words).labels.tolist() == ["a", "b"]
