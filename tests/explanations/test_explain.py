"""Explanations of fitted models: they sum to predictions, in raw columns, of every task."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import (
    XNVClassifier,
    XNVCountRegressor,
    XNVOrdinalClassifier,
    XNVRegressor,
    explain,
    load_model,
    save_model,
)

N, KNOWN = 240, np.arange(240) < 60


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(8).normal(size=(N, 3))


def labels_for(name, X):
    if name.startswith("Class") or name.endswith("Classifier"):
        names = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]
        return np.where(KNOWN, names, None)
    return np.where(KNOWN, np.sin(X[:, 0]) + X[:, 1], np.nan)


def assert_sums(found, expected):
    sums = np.array([one.base + one.contributions.sum(axis=0) for one in found])
    assert_allclose(sums, expected, atol=1e-6)
    assert_allclose([one.predicted for one in found], expected, atol=1e-9)


@pytest.mark.parametrize("name", [*REGRESSORS, *CLASSIFIERS])
def test_contributions_sum_to_what_every_estimator_predicts(name, X):
    model = make(name).fit(X, labels_for(name, X))
    found = explain(model, X[-4:], random_state=0)
    if name in CLASSIFIERS:
        assert_sums(found, model.predict_proba(X[-4:]))
        assert found[0].outputs == tuple(model.classes_)
    else:
        assert_sums(found, model.predict(X[-4:])[:, None])
    assert not found[0].standard_errors.any()  # of three columns every set is asked


@pytest.mark.parametrize("kind", [XNVRegressor, XNVClassifier])
def test_ensembles_and_their_files_give_the_same(kind, X, tmp_path):
    model = kind(random_state=0).fit(X, labels_for(kind.__name__[3:], X))
    (one,) = explain(model, X[-1:], random_state=0)
    save_model(model, tmp_path / "model")
    (again,) = explain(load_model(tmp_path / "model"), X[-1:], random_state=0)
    assert_allclose(again.contributions, one.contributions, atol=1e-12)
    assert again.similar == one.similar
    ranked = one.ranked()
    assert ranked[0][0] in ("column 0", "column 1")
    assert [abs(amount) for _, amount in ranked] == sorted((abs(a) for _, a in ranked), reverse=True)


def test_ratings_counts_and_several_targets(X):
    stars = np.where(KNOWN, 1.0 + np.digitize(X[:, 0], [-0.5, 0.5]), np.nan)
    ratings = XNVOrdinalClassifier(random_state=0, members=None).fit(X, stars)
    assert_sums(explain(ratings, X[-3:]), ratings.predict_proba(X[-3:]))
    counts = XNVCountRegressor(random_state=0, members=None).fit(X, np.where(KNOWN, stars, np.nan))
    assert_sums(explain(counts, X[-3:]), counts.predict(X[-3:])[:, None])
    y = np.column_stack([np.where(KNOWN, X[:, 0], np.nan), np.where(KNOWN, X[:, 1], np.nan)])
    both = XNVRegressor(random_state=0, members=None).fit(X, y)
    found = explain(both, X[-3:])
    assert found[0].outputs == ("prediction_0", "prediction_1")
    assert found[0].similar == ()
    assert "column 1" in found[0].words("prediction_1").split(",")[1]
    with pytest.raises(ValueError, match="output=None is not there; there are prediction_0"):
        found[0].words()
    assert_sums(found, both.predict(X[-3:]))


def test_numbers_that_a_column_became_count_together(X):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["town"] = np.array(["Bern", "Basel", "Zug"])[np.arange(N) % 3]
    frame.loc[::7, "b"] = np.nan
    y = np.where(KNOWN, X[:, 0] + 2.0 * (frame["town"] == "Zug"), np.nan)
    model = XNVRegressor(random_state=0, members=None).fit(frame, y)
    found = explain(model, frame[-5:], random_state=0)
    assert found[0].columns == ("a", "b", "c", "town")
    assert_sums(found, model.predict(frame[-5:])[:, None])
    lines = pd.DataFrame(found.as_columns())
    assert len(lines) == 5 * 4
    of_row = lines.groupby("row")
    assert_allclose(of_row["contribution"].sum() + of_row["base"].first(), of_row["predicted"].first())
    towns = lines[lines.column == "town"].contribution.to_numpy()
    assert (towns > 0).tolist() == (frame["town"][-5:] == "Zug").tolist()


def test_the_background_is_what_rows_are_compared_with(X):
    model = XNVRegressor(random_state=0, members=None).fit(X, labels_for("Regressor", X))
    background = X[100:150]
    (one,) = explain(model, X[:1], background=background)
    assert_allclose(one.base, model.predict(background).mean())
    (same,) = explain(model, X[:1], background=X[:1])
    assert_allclose(same.contributions, 0, atol=1e-9)
    few = explain(model, X[:1], background=background, n_background=7, random_state=1)[0]
    again = explain(model, X[:1], background=background, n_background=7, random_state=1)[0]
    assert_allclose(few.contributions, again.contributions)
    assert abs(few.base - one.base) > 1e-6


def test_similar_rows_are_the_nearest_and_a_labeled_row_is_most_like_itself(X):
    y = labels_for("Regressor", X)
    model = XNVRegressor(random_state=0).fit(X, y)
    (one,) = explain(model, X[5:6], labeled=(X, y), n_similar=4)
    assert (one.similar[0].place, one.similar[0].distance) == (5, 0)
    assert one.similar[0].label == y[5]
    scaled = model._prepared(X)
    distance = np.square(scaled[KNOWN] - scaled[5]) @ model.learned_metric_
    assert [each.place for each in one.similar] == np.argsort(distance)[:4].tolist()
    (kept,) = explain(model, X[5:6], n_similar=4)
    assert_allclose(*([each.label for each in found.similar] for found in (kept, one)), rtol=1e-11)
    assert kept.similar[0].place is None
    assert explain(model, X[5:6], n_similar=0)[0].similar == ()


def test_words_name_the_columns_that_count_most(X):
    wide = np.hstack([X, np.random.default_rng(9).normal(size=(N, 4))])
    model = XNVRegressor(random_state=0, members=None).fit(wide, labels_for("Regressor", X))
    (one,) = explain(model, wide[-1:], n_similar=2)
    said = one.words(most=2)
    assert said.startswith(f"{one.predicted[0]:.4g} = {one.base[0]:.4g} on average, column ")
    assert "5 others" in said
    assert "The labeled rows most like it: " in said
    classes = XNVClassifier(random_state=0, members=None).fit(X, labels_for("Classifier", X))
    (one,) = explain(classes, X[-1:])
    assert one.words("low").startswith("low: ")
    with pytest.raises(ValueError, match="output='none' is not there; there are high, low, middle"):
        one.words("none")


def test_the_output_in_words_is_what_is_predicted(X):
    """Ratings are predicted by their median, and classes by what errors cost: not the likeliest."""
    stars = np.where(KNOWN, 1.0 + np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7]), np.nan)
    ratings = XNVOrdinalClassifier(random_state=0, members=None).fit(X, stars)
    rare = np.where(KNOWN, np.where(X[:, 0] > 1, "yes", "no"), None)
    costly = XNVClassifier(random_state=0, members=None, class_weight={"yes": 20}).fit(X, rare)
    for model in (ratings, costly):
        found = explain(model, X[-60:], n_background=5, n_similar=0)
        said = [one.outputs[one.chosen] for one in found]
        assert said == [str(label).removesuffix(".0") for label in model.predict(X[-60:])]
    likeliest = [one.outputs[np.argmax(one.predicted)] for one in found]
    assert said != likeliest  # where errors cost


def test_classes_that_look_alike_are_told_apart(X):
    names = np.where(X[:, 0] > 0, "1", "1.0").astype(object)
    model = XNVClassifier(random_state=0, members=None).fit(X, np.where(KNOWN, names, None))
    (one,) = explain(model, [[3.0, 0, 0]])
    assert one.outputs == ("1", "1.0")
    assert one.words().startswith("1: ")
    assert one.ranked()[0][1] > 0


def test_columns_of_other_units_count_alike_where_no_metric_is_learned(X):
    units = X * [1, 1000, 1]
    model = XNVRegressor(random_state=0, members=None).fit(units, labels_for("Regressor", X))
    plain = XNVRegressor(random_state=0, members=None).fit(X, labels_for("Regressor", X))
    ask = {"labeled": (units, labels_for("Regressor", X)), "background": units, "n_background": N}
    places = [each.place for each in explain(model, units[-1:], **ask)[0].similar]
    ask = {"labeled": (X, labels_for("Regressor", X)), "background": X, "n_background": N}
    assert places == [each.place for each in explain(plain, X[-1:], **ask)[0].similar]


def test_what_cannot_be_explained_is_refused(X):
    y = labels_for("Regressor", X)
    model = XNVRegressor(random_state=0, members=None).fit(X, y)
    with pytest.raises(ValueError, match="n_background=0 must be a whole number of at least 1"):
        explain(model, X[:1], n_background=0)
    with pytest.raises(ValueError, match="n_similar=-1 must be"):
        explain(model, X[:1], n_similar=-1)
    with pytest.raises(ValueError, match="labeled has 240 rows and labels of shape"):
        explain(model, X[:1], labeled=(X, y[:5]))
    with pytest.raises(TypeError, match="model is a Pipeline, and explain takes"):
        explain(make_pipeline(Ridge()).fit(X, X[:, 0]), X[:1])
    same = explain(model, sparse.csr_array(X[:1]), random_state=0)[0]
    assert_allclose(same.contributions, explain(model, X[:1], random_state=0)[0].contributions)
    with pytest.raises(ValueError, match="fitted to sparse rows"):
        explain(make("KRRRegressor", scale=None).fit(sparse.csr_array(X), y), sparse.csr_array(X[:1]))
