"""Labels and weights of every kind: a right answer or one clear error, and nothing changed."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from counts import tried
from outcomes import Refused, outcome
from strange_tables import ESTIMATORS, bits, small
from test_bad_input import KINDS, SEEDS, estimators, examples, said

N = 18
MISSING = [None, float("nan"), np.nan, pd.NA]
KNOWN = {
    "numbers": [0.5, -2.0, 1.25],
    "whole numbers": [3, 1, 2],
    "booleans": [True, False],
    "words": ["b", "a", "c"],
    "words that look like numbers": ["10", "9"],
    "NumPy words": [np.str_("a"), "b"],
    "bytes": [b"a", b"b"],
    "huge": [1e300, -1e200, 1.0],
    "tiny": [1e-310, 0.0],
    "infinite": [np.inf, 1.0],
    "huge whole numbers": [10**400, 1],
    "decimals": [Decimal("0.5"), Decimal(2)],
    "decimals that are none": [Decimal("snan"), Decimal(2)],
    "dates": [dt.date(2024, 1, 1), dt.date(2025, 1, 1)],
    "instants": [np.datetime64("2024-01-01"), np.datetime64("2025-01-01")],
    "complex": [1j, 2.0],
    "lists": [[1, 2], [3]],
    "tuples": [(1, 2), (3, 4)],
    "mixed": ["a", 1],
    "words and bytes": ["a", b"a"],
    "true and one": [True, 1, 0],
    "dictionaries": [{}, {"a": 1}],
    "objects": [object(), object()],
    "one value": [5],
    "zeros": [0.0, -0.0],
    "many": list(range(N)),
}


@st.composite
def label_lists(draw):
    """Entries of one kind, and some missing."""
    values = KNOWN[draw(st.sampled_from(list(KNOWN)))]
    share = draw(st.sampled_from([0, 0.3, 0.9, 1]))
    rng = np.random.default_rng(draw(SEEDS))
    missing = draw(st.sampled_from(MISSING))
    return [missing if rng.random() < share else values[rng.integers(len(values))] for _ in range(N)]


def as_objects(labels):
    column = np.empty(len(labels), dtype=object)
    column[:] = labels
    return column


# Some libraries cannot hold some labels at all; those are no input, then.
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": as_objects,
    "pandas": pd.Series,
    "pandas, another index": lambda y: pd.Series(y, index=range(100, 100 + len(y))),
    "pandas, categories": lambda y: pd.Series(y, dtype="category"),
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow, in chunks": lambda y: pa.chunked_array([pa.array(y)[:5], pa.array(y)[5:]]),
    "one column": lambda y: as_objects(y)[:, None],
    "two columns": lambda y: np.column_stack([as_objects(y), as_objects(y[::-1])]),
    "three dimensions": lambda y: as_objects(y)[:, None, None],
    "a frame": lambda y: pd.DataFrame({"y": y}),
    "masked": lambda y: np.ma.masked_array(as_objects(y), mask=np.arange(len(y)) % 3 == 0),
    "too short": lambda y: y[:-1],
    "too long": lambda y: [*y, y[0]],
    "empty": lambda y: [],
    "nothing": lambda y: None,
    "one label": lambda y: y[0],
    "sparse": lambda y: sparse.csr_array(np.array(y, dtype=float)[:, None]),
    "a generator": lambda y: (label for label in y),
    "a dictionary": lambda y: dict(enumerate(y)),
}
CANNOT_HOLD = (
    TypeError,
    ValueError,
    ArithmeticError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def column_of(form, labels):
    try:
        return COLUMNS[form](labels)
    except CANNOT_HOLD:
        return labels


def rows(seed):
    return np.random.default_rng(seed).integers(-40, 41, size=(N, 2)) / 8


def is_missing(label):
    return label is None or label is pd.NA or (isinstance(label, float) and np.isnan(label))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_type(kind):
    """Labels of any type in any kind of column give predictions among them, or finite numbers, or one
    clear error; a missing one is never taken for a label, and the column is not changed."""

    @examples(27, 1200)
    @given(label_lists(), st.sampled_from(list(COLUMNS)), estimators(kind), SEEDS)
    def law(labels, form, name, seed):
        X, y = rows(seed), column_of(form, labels)
        before = None if form == "a generator" else bits(y)
        model = outcome(small(name).fit, X, y)
        if not isinstance(model, Refused):
            found = outcome(model.predict, X)
            if kind == "Classifier":
                given_ones = [label for label in labels if not is_missing(label)]
                assert all(label in given_ones for label in found)
            else:
                assert np.isfinite(found).all()
            score = outcome(model.score, X, y)
            assert isinstance(score, Refused) or np.isfinite(score)
        if form != "a generator":
            assert bits(y) == before
        tried("label columns")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_form_of_the_labels(kind):
    """The same labels as a list, an array or a column of any library give the same model, bit for
    bit."""

    @examples(7, 250)
    @given(
        st.sampled_from(["whole numbers", "words", "booleans"]),
        st.sampled_from(["tuple", "objects", "pandas", "polars", "Arrow", "Arrow, in chunks"]),
        estimators(kind),
        SEEDS,
    )
    def law(values, form, name, seed):
        rng = np.random.default_rng(seed)
        labels = [KNOWN[values][rng.integers(2)] if i % 3 else None for i in range(N)]
        plain = outcome(lambda: said(small(name).fit(rows(seed), labels), rows(seed)))
        found = outcome(lambda: said(small(name).fit(rows(seed), COLUMNS[form](labels)), rows(seed)))
        if isinstance(plain, Refused):
            assert isinstance(found, Refused)
        else:
            assert_array_equal(found, plain)
        tried("label columns")

    law()


WEIGHTS = {
    "ones": lambda w: np.ones(N),
    "whole numbers": lambda w: w,
    "single precision": lambda w: w.astype(np.float32),
    "a list": lambda w: w.tolist(),
    "words of numbers": lambda w: w.astype(str).tolist(),
    "pandas": pd.Series,
    "polars": pl.Series,
    "Arrow": pa.array,
    "one number": lambda w: 2.0,
    "some zero": lambda w: np.where(w > 2, w, 0),
    "all zero": lambda w: np.zeros(N),
    "one row": lambda w: np.where(np.arange(N) == 0, 1.0, 0),
    "negative": lambda w: -w,
    "NaN": lambda w: np.where(w > 2, np.nan, w),
    "None": lambda w: [None] * N,
    "NA": lambda w: [pd.NA] * N,
    "infinite": lambda w: np.where(w > 2, np.inf, w),
    "huge": lambda w: w * 1e305,
    "tiny": lambda w: w * 1e-320,
    "of every size": lambda w: 10.0 ** (40 * w - 120),
    "huge whole numbers": lambda w: [10**400] * N,
    "words": lambda w: ["heavy"] * N,
    "complex": lambda w: w * 1j,
    "dates": lambda w: w.astype("M8[s]"),
    "too short": lambda w: w[:-1],
    "too long": lambda w: [*w, 1],
    "empty": lambda w: [],
    "two columns": lambda w: np.column_stack([w, w]),
    "of several lengths": lambda w: [[1], [1, 2]] * (N // 2),
    "masked": lambda w: np.ma.masked_array(w, mask=w > 2),
    "sparse": lambda w: sparse.csr_array(w[:, None]),
    "a dictionary": lambda w: {},
    "a word": lambda w: "heavy",
}


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_every_kind(kind):
    """Weights of any kind, in fit, relabel and score, give finite answers or one clear error, and after
    an error the model is as it was."""

    @examples(20, 700)
    @given(st.sampled_from(list(WEIGHTS)), estimators(kind), SEEDS)
    def law(form, name, seed):
        X, rng = rows(seed), np.random.default_rng(seed)
        y = X[:, 0] if kind == "Regressor" else np.where(X[:, 0] > 0, "a", "b")
        weight = WEIGHTS[form](rng.integers(1, 5, size=N))
        before = bits(weight)
        found = outcome(lambda: said(small(name).fit(X, y, sample_weight=weight), X))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        frame = pd.DataFrame(X).assign(word=list("uvw") * (N // 3))
        found = outcome(lambda: said(small(name).fit(frame, y, sample_weight=weight), frame))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        model = outcome(small(name).fit, X, y)
        expected = said(model, X)
        score = outcome(model.score, X, y, sample_weight=weight)
        assert isinstance(score, Refused) or np.isfinite(score)
        if isinstance(outcome(model.relabel, X, y, sample_weight=weight), Refused):
            assert_array_equal(said(model, X), expected)
        assert bits(weight) == before
        tried("weights")

    law()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_class_or_number_of_one_row(name):
    """With one label of its own per row, and with two labels in all, every estimator answers or says
    what is missing."""

    @examples(2, 30)
    @given(SEEDS, st.integers(2, 5))
    def law(seed, n_labels):
        X, labels = rows(seed), np.full(N, None)
        labels[:n_labels] = range(n_labels) if name.endswith("Regressor") else list("abcde")[:n_labels]
        found = outcome(lambda: said(small(name).fit(X, labels), X))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        tried("label columns")

    law()


def test_several_targets_are_each_their_own():
    """A target beside others of any size and any missing rows is predicted as alone, numbers given."""
    regressors = [name for name in ESTIMATORS if name.endswith("Regressor")]

    @examples(3, 200)
    @given(st.sampled_from(regressors), SEEDS, st.integers(-200, 200))
    def law(name, seed, step):
        X, rng = rows(seed), np.random.default_rng(seed)
        given = {"sigma": 2.0, "ridge": 0.1, "correlation_ridge": 1e-3, "manifold_ridge": 0.01}
        given["n_eigenfunctions"] = 3
        Y = np.column_stack([X[:, 0], np.ldexp(X[:, 1] + rng.normal(size=N), step)])
        Y[rng.random(Y.shape) < 0.2] = np.nan
        both = small(name, **given).fit(X, Y).predict(X)
        for target in (0, 1):
            alone = small(name, **given).fit(X, Y[:, target]).predict(X)
            size = np.abs(alone).max()
            assert_allclose(both[:, target], alone, rtol=1e-7, atol=1e-7 * size)
        tried("tables of targets")

    law()
