import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import (
    KRRRegressor,
    XNVClassifier,
    XNVRegressor,
    forecast_error,
    label_probabilities,
)
from twinviews.active.learning_curve import forecast, mean_loss, share_wrong
from twinviews.active.model_view import views_alone

SMALL = {"n_components": 40, "committee": False, "random_state": 0}
N = 80  # labels


@pytest.fixture(scope="module")
def regressor(table):
    return XNVRegressor(**SMALL).fit(table.X, np.where(np.arange(1200) < N, table.y, np.nan))


@pytest.fixture(scope="module")
def kinds(table):
    return np.array(["down", "even", "up"])[np.digitize(table.y, [-0.5, 0.5])]


@pytest.fixture(scope="module")
def classifier(table, kinds):
    return XNVClassifier(**SMALL).fit(table.X, np.where(np.arange(1200) < N, kinds, None))


def tenth_by_tenth(model, X, y):
    """What the model, solved again without each tenth of the labels, says of that tenth."""
    said = np.empty(len(y), dtype=object)  # classes or numbers
    for fold in range(10):
        out = np.arange(len(y)) % 10 == fold
        again = pickle.loads(pickle.dumps(model)).relabel(X[~out], y[~out])
        said[out] = again.predict(X[out])
    return said


def squares_after(model, X, y, size):
    """Squared errors after so many labels: of those rows, and of the rest."""
    said = tenth_by_tenth(model, X[:size], y[:size])
    if size < len(y):
        first = pickle.loads(pickle.dumps(model)).relabel(X[:size], y[:size])
        said = np.append(said, first.predict(X[size:]))
    return np.square(said - y).astype(float)


# --- the error now ----------------------------------------------------------------------------------


def test_the_error_now_is_that_of_ten_folds(regressor, classifier, table, kinds):
    X, y, k = table.X[:N], table.y[:N], kinds[:N]
    squares = np.square(tenth_by_tenth(regressor, X, y).astype(float) - y)
    found = forecast_error(regressor, X, y)
    assert_allclose(found.now, mean_loss(squares).root(), rtol=1e-9)
    assert found.baseline == pytest.approx(np.std(y))
    wrong = (tenth_by_tenth(classifier, X, k) != k).astype(float)
    found = forecast_error(classifier, X, k)
    assert_allclose(found.now, share_wrong(wrong), rtol=1e-9)
    commonest = max(map(list(k).count, set(k)))
    assert found.baseline == pytest.approx(1 - commonest / N)


def test_it_is_the_cross_validation_of_a_ridge_that_scikit_learn_knows(table):
    X, y = table.X[:60], table.y[:60]
    model = KRRRegressor(kernel="linear", sigma=1.0, ridge=0.1).fit(
        table.X, np.append(y, [np.nan] * 1140)
    )
    ridge = Ridge(alpha=0.1 * 54)  # a mean over the nine tenths
    folds = PredefinedSplit(np.arange(60) % 10)
    expected = mean_squared_error(y, cross_val_predict(ridge, X, y, cv=folds)) ** 0.5
    assert forecast_error(model, X, y).now.value == pytest.approx(expected, rel=1e-6)


def test_an_earlier_point_is_of_the_first_labels_and_judged_on_all(regressor, table):
    X, y = table.X[:N], table.y[:N]
    found = forecast_error(regressor, X, y)
    assert found.labels[0] == 10
    assert found.labels[-1] == N
    assert (np.diff(found.labels) > 0).all()
    for size, estimate in zip(found.labels, found.curve, strict=True):
        assert_allclose(estimate, mean_loss(squares_after(regressor, X, y, size)).root(), rtol=1e-9)


def test_the_error_now_is_about_what_new_rows_meet():
    """On average over draws of the labels; sigma, which they chose, flatters them by a few per cent."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = np.sin(X[:, 0]) + np.cos(X[:, 1]) * X[:, 2] + 0.5 * rng.normal(size=6000)
    now, truth = [], []
    for start in range(0, 1000, 100):
        some, others = slice(start, start + 100), slice(1000, 1500)
        model = XNVRegressor(**SMALL).fit(X[some], y[some], X_unlabeled=X[others])
        now.append(forecast_error(model, X[some], y[some]).now.value ** 2)
        truth.append(mean_squared_error(y[1500:], model.predict(X[1500:])))
    assert np.mean(now) ** 0.5 == pytest.approx(np.mean(truth) ** 0.5, rel=0.1)


def test_only_rows_drawn_at_random_are_judged(regressor, classifier, table, kinds):
    X, y, k = table.X[:N], table.y[:N], kinds[:N]
    random = np.random.default_rng(0).random(N) < 0.3
    squares = np.square(tenth_by_tenth(regressor, X, y).astype(float) - y)[random]
    found = forecast_error(regressor, X, y, random=random)
    assert_allclose(found.now, mean_loss(squares).root(), rtol=1e-9)
    assert found.baseline == pytest.approx(np.std(y[random]))
    everything = forecast_error(regressor, X, y, random=np.ones(N, dtype=bool).tolist())
    assert everything.curve == forecast_error(regressor, X, y).curve
    wrong = (tenth_by_tenth(classifier, X, k) != k)[random].astype(float)
    assert_allclose(forecast_error(classifier, X, k, random=random).now, share_wrong(wrong))


def test_losses_are_weighted_by_the_rows_that_labels_stand_for(regressor, classifier, table, kinds):
    X, y, k = table.X[:N], table.y[:N], kinds[:N]
    how = np.where(np.random.default_rng(0).random(N) < 0.3, "random", "suggested")
    p = label_probabilities(how, 1200)
    stands_for = np.maximum((1 - p) / p, 1e-6)  # rows without a label, as in fit
    weight = stands_for / stands_for.sum()
    squares = np.square(tenth_by_tenth(regressor, X, y).astype(float) - y)
    found = forecast_error(regressor, X, y, label_probability=p)
    assert_allclose(found.now, mean_loss(squares, weight).root(), rtol=1e-9)
    assert found.now.value == pytest.approx(np.sqrt(weight @ squares))
    spread = weight @ np.square(y - weight @ y)
    assert found.baseline == pytest.approx(np.sqrt(spread))
    wrong = (tenth_by_tenth(classifier, X, k) != k).astype(float)
    found = forecast_error(classifier, X, k, label_probability=p)
    assert_allclose(found.now, share_wrong(wrong, weight), rtol=1e-9)
    assert found.baseline == pytest.approx(1 - max(weight[k == one].sum() for one in set(k)))


def test_equal_probabilities_change_nothing(regressor, table):
    X, y = table.X[:N], table.y[:N]
    found = forecast_error(regressor, X, y, label_probability=np.full(N, 0.01))
    assert found.curve == forecast_error(regressor, X, y).curve


def test_the_rows_drawn_at_random_decide_in_a_large_table(regressor, table):
    """Each suggested row stands for one of a million, so it is as if only the others were judged."""
    X, y = table.X[:N], table.y[:N]
    random = np.random.default_rng(0).random(N) < 0.4
    p = label_probabilities(np.where(random, "random", "suggested"), 10**9)
    found = forecast_error(regressor, X, y, more=[20], label_probability=p)
    expected = forecast_error(regressor, X, y, more=[20], random=random)
    assert_allclose(found.curve, expected.curve, rtol=1e-5)
    assert found.promised[0].value == pytest.approx(expected.promised[0].value, rel=1e-5)


def test_the_promise_is_the_forecast_of_the_same_losses(regressor, table):
    X, y = table.X[:N], table.y[:N]
    found = forecast_error(regressor, X, y, more=[5, 40])
    squares = np.array([squares_after(regressor, X, y, size) for size in found.labels])
    expected = forecast(found.labels, squares, np.array([5, 40]), squared=True)
    assert_allclose(found.promised, [one.root() for one in expected], rtol=1e-7)
    assert_array_equal(found.more, [5, 40])


# --- the model --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_every_estimator_is_judged_and_not_changed(name, table, kinds):
    y = kinds[:200] if name in CLASSIFIERS else table.y[:200]
    X, labels = table.X[:200].copy(), np.where(np.arange(200) < 40, y, None)
    model = make(name, sigma=2.0).fit(X, labels if name in CLASSIFIERS else labels.astype(float))
    before = joblib.hash([vars(model), X, y])
    found = forecast_error(model, X[:40], y[:40], more=[10])
    assert joblib.hash([vars(model), X, y]) == before
    assert 0 < found.promised[0].value <= found.now.value
    assert found.now.value < 1.5 * found.baseline
    assert forecast_error(model, X[:40], y[:40], more=[10]).curve == found.curve


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_a_committee_is_judged_at_its_own_level(task, table, kinds):
    y = table.y if task == "numbers" else kinds
    kind = XNVRegressor if task == "numbers" else XNVClassifier
    labels = np.where(np.arange(300) < 60, y[:300], np.nan if task == "numbers" else None)
    model = kind(n_components=40, random_state=0).fit(table.X[:300], labels)
    assert model.committee_
    before = joblib.hash(vars(model))
    everything = forecast_error(model, table.X[:60], y[:60])
    assert everything.now == (model.cv_error_, *model.cv_error_interval_)
    assert everything.promised[-1].value <= everything.now.value
    random = np.arange(60) % 3 > 0
    found = forecast_error(model, table.X[:60], y[:60], random=random)
    assert joblib.hash(vars(model)) == before
    views = views_alone(model).relabel(table.X[:60], y[:60])
    assert not views.committee_
    alone = forecast_error(views, table.X[:60], y[:60], random=random)
    one_error = 0 if task == "numbers" else 1 / 60  # added to both, so that none is not no risk
    level = (model.loo_error_ + one_error) / (views.loo_error_ + one_error)
    assert abs(level - 1) > 1e-6
    ratio = found.now.value / alone.now.value
    assert (ratio**2 if task == "numbers" else ratio) == pytest.approx(level, rel=1e-6)
    assert found.baseline == alone.baseline


# --- what may be given ------------------------------------------------------------------------------


def test_data_frames_lists_and_missing_labels(regressor, table):
    names = list("abcd")
    y = table.y[:N]
    frame = pd.DataFrame(table.X, columns=names)
    model = XNVRegressor(**SMALL).fit(frame, np.where(np.arange(1200) < N, table.y, np.nan))
    expected = forecast_error(regressor, table.X[:N], y)
    for rows in (frame[:N], pl.DataFrame(frame[:N])):
        found = forecast_error(model, rows, pd.Series(y))
        assert_allclose(found.curve, expected.curve, rtol=1e-9)
    some = np.sort(np.random.default_rng(0).permutation(200)[:N])  # others between them have no label
    spaced, where = np.full((200, 4), 7.0), np.full(200, np.nan)
    spaced[some], where[some] = table.X[:N], y
    random = np.random.default_rng(1).random(200) < 0.5
    for at_random, those in ((None, None), (random, random[some])):
        found = forecast_error(regressor, spaced, where, random=at_random)
        expected = forecast_error(regressor, table.X[:N], y.tolist(), random=those)
        assert found.curve == expected.curve


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_rows(form, table):
    X = np.where(np.abs(table.X) > 0.5, table.X, 0)
    model = XNVRegressor(**SMALL).fit(X, np.where(np.arange(1200) < N, table.y, np.nan))
    expected = forecast_error(model, X[:N], table.y[:N])
    assert_allclose(forecast_error(model, form(X[:N]), table.y[:N]).curve, expected.curve, rtol=1e-6)


def test_words_dates_and_blanks(table):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": table.X[:300, 0], "city": rng.choice(["Rom", "Köln", None], 300)})
    frame.loc[rng.random(300) < 0.1, "a"] = np.nan
    y = table.X[:300, 0] + (frame["city"] == "Rom")
    model = XNVRegressor(**SMALL).fit(frame, np.where(np.arange(300) < 60, y, np.nan))
    found = forecast_error(model, frame[:60], y[:60])
    assert found.now.value < found.baseline


@pytest.mark.parametrize(
    "names", [[0, 1, 2], [True, False, True], ["no", "yes", "may be"], [1.0, 2.0, 5.0]]
)
def test_classes_of_any_type(names, table):
    y = np.array(names)[np.digitize(table.y, [-0.5, 0.5])]
    labels = y.astype(object)
    labels[N:] = None
    found = [
        forecast_error(XNVClassifier(**SMALL).fit(table.X, labels), table.X[:N], given).now
        for given in (y[:N], labels[:N], y[:N].tolist())
    ]
    assert found[0] == found[1] == found[2]
    assert found[0].value < 0.5


def test_the_curve_begins_where_there_are_two_classes(classifier, table, kinds):
    """The first labels are of one class; what a fold knows one class of, it says everywhere."""
    order = np.argsort(kinds[:N] == "up", kind="stable")[::-1]
    X, y = table.X[:N][order], kinds[:N][order]
    n_first = int((y == "up").sum())
    assert n_first > 10
    found = forecast_error(classifier, X, y)
    assert found.labels[0] == n_first + 1
    others = y[n_first:]
    assert found.curve[0].value >= (len(np.unique(others)) - 1) / N


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (9, {}, "9 labels, 9 of them of rows drawn at random, are too few"),
        (40, {"random": np.arange(40) < 4}, "40 labels, 4 of them .* at least 5 of them at random"),
        (40, {"more": [10, 0]}, r"more=\[10, 0\] must be whole numbers of at least 1"),
        (40, {"more": 10}, "more=10 must be whole numbers of at least 1"),
        (40, {"more": [1.5]}, r"more=\[1\.5\] must be whole numbers"),
        (40, {"random": [True, False]}, "random has 2 entries and there are 40 rows"),
        (40, {"label_probability": [1.0]}, r"label_probability has shape \(1,\) and there are 40 rows"),
        (
            40,
            {"label_probability": np.arange(40) / 9},
            "label_probability is 0 for a row that has a label",
        ),
        (40, {"label_probability": np.ones(40), "random": np.ones(40, bool)}, "Give one"),
    ],
)
def test_wrong_options_are_named(labels, options, message, regressor, table):
    with pytest.raises(ValueError, match=message):
        forecast_error(regressor, table.X[:labels], table.y[:labels], **options)


def test_wrong_labels_and_models_are_named(regressor, classifier, table):
    X, y = table.X[:40], table.y[:40]
    with pytest.raises(NotFittedError, match="not fitted yet"):
        forecast_error(XNVRegressor(), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        forecast_error(regressor, X, y[:30])
    with pytest.raises(ValueError, match=r"y has 2 dimensions\. Forecast one target at a time"):
        forecast_error(regressor, X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"one class, 'up'\. Label rows of another"):
        forecast_error(classifier, X, np.repeat("up", 40))
