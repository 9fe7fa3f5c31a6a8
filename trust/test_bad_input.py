"""Rows of every kind: a right answer or one clear error, bounded time and memory, nothing changed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from counts import often, tried
from outcomes import Refused, outcome
from strange_tables import (
    DENSE_FORMS,
    ESTIMATORS,
    EXTREME,
    GIVEN,
    LOOSE_FORMS,
    NOT_FINITE,
    ORDINARY,
    UNSIGNED_FORMS,
    WHOLE_FORMS,
    bits,
    labels_for,
    numbers_for,
    small,
    tables,
)
from twinviews import forecast_error, load_model, save_model, suggest

KINDS = ["Regressor", "Classifier"]


def examples(quick, full):
    return settings(
        max_examples=often(quick, full),
        deadline=None,  # outcome() bounds the time, of the processor
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # a failing example is small enough, and to shrink it takes minutes
        suppress_health_check=list(HealthCheck),
    )


def estimators(kind):
    return st.sampled_from([name for name in ESTIMATORS if name.endswith(kind)])


SEEDS = st.integers(0, 1000)


def said(model, X):
    """All that a model says of rows, as numbers."""
    if hasattr(model, "classes_"):
        assert np.isin(model.predict(X), model.classes_).all()
        p = model.predict_proba(X)
        assert_allclose(p.sum(axis=1), 1)
        return np.column_stack([p, model.decision_function(X)])
    low, high = model.predict_interval(X, coverage=0.5).T
    assert (low <= high).all()
    predicted, deviation = model.predict(X, return_std=True)
    assert (deviation >= 0).all()
    return np.column_stack([predicted, model.predict(X)])


def fitted_and_asked(name, X, y, **parameters):
    model = small(name, **parameters).fit(X, y)
    return said(model, X)


@pytest.mark.parametrize("kind", KINDS)
def test_form_of_the_rows(kind):
    """Rows of any type, order, stride, byte order or library give, to the last bit, what plain float64
    rows give, and are not changed."""

    @examples(12, 1500)
    @given(tables(), st.sampled_from(list(DENSE_FORMS)), estimators(kind), SEEDS)
    def law(X, form, name, seed):
        rows, y = DENSE_FORMS[form](X), labels_for(name, numbers_for(X, seed))
        before = bits(rows), bits(y)
        expected = outcome(fitted_and_asked, name, X, y)
        found = outcome(fitted_and_asked, name, rows, y)
        assert_array_equal(found, expected)
        assert (bits(rows), bits(y)) == before
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers(kind):
    """Whole numbers of any width give, to the last bit, what the same numbers as float64 give."""
    forms = {**WHOLE_FORMS, **UNSIGNED_FORMS, "bool": lambda X: X > 0}

    @examples(6, 500)
    @given(tables(), st.sampled_from(list(forms)), estimators(kind), SEEDS)
    def law(X, form, name, seed):
        rows, y = forms[form](8 * X), labels_for(name, numbers_for(X, seed))
        before = bits(rows)
        found = outcome(fitted_and_asked, name, rows, y)
        assert_array_equal(found, outcome(fitted_and_asked, name, rows.astype(np.float64), y))
        assert bits(rows) == before
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_and_single_precision_rows(kind):
    """Sparse rows of any format, with stored zeros, unsorted or repeated entries, and float32 rows give
    what plain rows give, but for rounding."""

    @examples(12, 1000)
    @given(tables(), st.sampled_from(list(LOOSE_FORMS)), estimators(kind), SEEDS)
    def law(X, form, name, seed):
        X = np.where(np.abs(X) < 2, 0, X)
        rows, y = LOOSE_FORMS[form](X), labels_for(name, numbers_for(X, seed))
        before = bits(rows)
        expected = outcome(fitted_and_asked, name, X, y, **GIVEN)
        found = outcome(fitted_and_asked, name, rows, y, **GIVEN)
        assert bits(rows) == before
        if isinstance(expected, Refused):
            assert found == expected
        else:
            assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_every_size(kind):
    """Tables of huge, tiny, denormal, equal and repeated values give finite answers or one clear error,
    and after an error the model is as it was."""

    @examples(12, 1200)
    @given(
        tables(elements=st.one_of(ORDINARY, ORDINARY, ORDINARY, EXTREME)),
        tables(),
        st.sampled_from(["as it is", "one size", "equal rows", "equal columns", "twice"]),
        EXTREME,
        estimators(kind),
        st.sampled_from([None, "standard", "robust", "rank"]),
        SEEDS,
    )
    def law(wild, X, how, size, name, scale, seed):
        rows = {
            "as it is": wild,
            "one size": (X / 8).clip(-1, 1) * size,
            "equal rows": np.tile(wild[:1], (len(wild), 1)),
            "equal columns": np.tile(wild[:, :1], (1, 3)),
            "twice": np.vstack([wild, wild]),
        }[how]
        before = bits(rows)
        y = labels_for(name, numbers_for(rows, seed))
        found = outcome(fitted_and_asked, name, rows, y, scale=scale)
        assert isinstance(found, Refused) or np.isfinite(found).all()
        # A model of ordinary rows, asked about these, and refused a fit on them.
        model = small(name, scale=scale).fit(X, labels_for(name, numbers_for(X, seed)))
        expected = said(model, X)
        if rows.shape[1] == X.shape[1]:
            found = outcome(said, model, rows)
            assert isinstance(found, Refused) or np.isfinite(found).all()
        if isinstance(outcome(model.fit, rows, y), Refused):
            assert_array_equal(said(model, X), expected)
        assert bits(rows) == before
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_nan_and_infinity(kind):
    """One NaN or infinity anywhere in an array is refused by every method, and the model is as it
    was."""

    @examples(6, 250)
    @given(tables(), NOT_FINITE, st.data(), estimators(kind), SEEDS)
    def law(X, bad, data, name, seed):
        y = labels_for(name, numbers_for(X, seed))
        model = small(name).fit(X, y)
        expected = said(model, X)
        rows = X.copy()
        rows[data.draw(st.integers(0, len(X) - 1)), data.draw(st.integers(0, X.shape[1] - 1))] = bad
        before = bits(rows)
        for call in asked_of(model, y):
            assert "NaN" in (words := outcome(call, rows)) or "infinity" in words
            assert isinstance(words, Refused)
        assert_array_equal(said(model, X), expected)
        assert bits(rows) == before
        tried("tables")

    law()


def asked_of(model, y):
    """Every method that takes rows."""
    calls = [
        model.predict,
        lambda X: model.score(X, y),
        lambda X: model.relabel(X, y),
        lambda X: model.fit(X, y),
        lambda X: suggest(model, X, 2, random_state=0),
        lambda X: forecast_error(model, X, y),
    ]
    if hasattr(model, "partial_fit"):
        calls.append(lambda X: model.partial_fit(X, y))
    if hasattr(model, "transform"):
        calls.append(model.transform)
    if hasattr(model, "classes_"):
        return [*calls, model.predict_proba, model.predict_log_proba, model.decision_function]
    return [*calls, model.predict_interval, lambda X: model.predict(X, return_std=True)]


NONSENSE = {
    "a matrix, which NumPy is giving up": lambda X: np.array(X).view(np.matrix),
    "nothing": lambda X: None,
    "a number": lambda X: 3.5,
    "a word": lambda X: "rows",
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one column more": lambda X: np.column_stack([X, X[:, 0]]),
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[None],
    "rows of several lengths": lambda X: [[1.0, 2.0], [1.0]],
    "words": lambda X: np.full(X.shape, "word"),
    "a word among numbers": lambda X: np.where(X.max() == X, "word", X.astype(object)),
    "None among numbers": lambda X: np.where(X.max() == X, None, X.astype(object)),
    "a huge whole number": lambda X: np.where(X.max() == X, 10**400, X.astype(object)),
    "lists": lambda X: [[[1, 2]] * X.shape[1]] * len(X),
    "dictionaries": lambda X: [{"a": 1}] * len(X),
    "a set": lambda X: {1, 2},
    "a generator": lambda X: (row for row in X),
    "complex": lambda X: X + 1j,
    "dates": lambda X: X.astype("M8[s]"),
    "spans of time": lambda X: X.astype("m8[s]"),
    "records": lambda X: np.zeros(len(X), dtype=[("a", float), ("b", int)]),
    "masked": lambda X: np.ma.masked_array(X, mask=X.max() == X),
    "beyond float64": lambda X: X.astype(np.longdouble) + np.longdouble("1e400"),
    "sparse that points outside": lambda X: pointing_outside(X),
    "a column": lambda X: pd.Series(X[:, 0]),
    "equal names": lambda X: pd.DataFrame(np.column_stack([X, X]), columns=["a"] * 2 * X.shape[1]),
    "a frame without columns": lambda X: pd.DataFrame(index=range(len(X))),
}


def pointing_outside(X):
    found = LOOSE_FORMS["csr with zeros"](X)
    found.indices[1] = 7
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_table(kind):
    """What is no table of numbers is refused by every method with one clear error, and the model is as
    it was."""

    @examples(8, 400)
    @given(tables(), st.sampled_from(list(NONSENSE)), estimators(kind), SEEDS)
    def law(X, what, name, seed):
        y = labels_for(name, numbers_for(X, seed))
        model = small(name).fit(X, y)
        expected = said(model, X)
        for call in asked_of(model, y):
            if what == "one column more" and call is not model.predict:
                continue  # to fit on more columns is fine
            assert isinstance(outcome(call, NONSENSE[what](X)), Refused)
        assert_array_equal(said(model, X), expected)
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_units(kind):
    """Rows and labels in other units, from 1e-120 to 1e120 times as large, give the same predictions in
    the unit of the labels."""

    @examples(6, 400)
    @given(tables(), st.integers(-400, 400), st.integers(-400, 400), estimators(kind), SEEDS)
    def law(X, step, label_step, name, seed):
        y = numbers_for(X, seed)
        # Landmarks are drawn by the values of the rows, so in another unit they would be others.
        some, all_rows = X[:12], len(X) if name.startswith("SSSL") else 6
        expected = outcome(
            fitted_and_asked, name, X, labels_for(name, y), landmarks=some, n_components=all_rows
        )
        y = np.ldexp(y, label_step) if kind == "Regressor" else y
        found = outcome(
            fitted_and_asked,
            name,
            np.ldexp(X, step),
            labels_for(name, y),
            landmarks=np.ldexp(some, step),
            n_components=all_rows,
        )
        if isinstance(expected, Refused):
            assert isinstance(found, Refused)
        else:
            found = np.ldexp(found, -label_step) if kind == "Regressor" else found
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        tried("tables")

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_through_a_file(kind, tmp_path):
    """A model of any form of rows, saved and loaded, says and suggests the same to the last bit."""

    @examples(4, 200)
    @given(tables(), st.sampled_from(list(DENSE_FORMS)), estimators(kind), SEEDS)
    def law(X, form, name, seed):
        rows, y = DENSE_FORMS[form](X), labels_for(name, numbers_for(X, seed))
        model = outcome(small(name).fit, rows, y)
        if isinstance(model, Refused):
            return
        path = tmp_path / "model.twinviews"
        save_model(model, path)
        loaded = load_model(path)
        assert_array_equal(said(loaded, rows), said(model, rows))
        ours, theirs = (outcome(suggest, one, rows, 3, random_state=seed) for one in (model, loaded))
        if not isinstance(ours, Refused):
            assert np.isfinite(ours.worth).all()
            assert_array_equal(ours.places, theirs.places)
        found = outcome(forecast_error, model, rows, y, more=[10])
        assert isinstance(found, Refused) or np.isfinite(found.now).all()
        tried("models")

    law()
