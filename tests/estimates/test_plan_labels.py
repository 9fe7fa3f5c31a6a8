"""Plans of the next labels through the public function: laws, engines, errors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from twinviews import ShiftWarning, XNVClassifier, XNVRegressor, estimate, plan_labels
from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.residual_size import ResidualSize

N, LABELS = 900, 60


@pytest.fixture(scope="module")
def frame():
    """900 rows, 60 labels; the noise grows with column b."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 2, size=(N, 2))
    every = np.sin(2 * X[:, 0]) + X[:, 1] ** 3 * 0.3 * rng.normal(size=N)
    known = rng.permutation(N) < LABELS
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "region": np.where(X[:, 1] > 1.2, "north", np.where(X[:, 0] > 1, "east", "west")),
            "key": np.arange(N) + 1000,
            "every": every,
            "y": np.where(known, every, np.nan),
            "good": np.where(known, np.where(every > 0.5, "yes", "no"), None),
            "w": rng.integers(1, 4, size=N).astype(float),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return XNVRegressor(random_state=0).fit_table(frame, target="y", columns=["a", "b"])


def test_rows_without_a_label_each_once_and_where_residuals_are_large(model, frame):
    plan = plan_labels(model, frame, 80, target="y", random_state=0)
    assert len(set(plan.places)) == 80
    assert frame.y[plan.places].isna().all()
    assert frame.b[plan.places].mean() > frame.b.mean() + 0.1
    assert plan.rows.column("a").to_pylist() == frame.a[plan.places].tolist()
    (told,) = plan.groups
    assert (told.n_rows, told.n_labels, told.n_next) == (N, LABELS, 80)
    found = estimate(model, frame, target="y")[0]
    assert told.half_width_now == pytest.approx((found.high - found.low) / 2)
    assert told.half_width < told.half_width_random < told.half_width_now


def test_probabilities_are_of_both_phases(model, frame):
    plan = plan_labels(model, frame, 80, target="y", random_state=0)
    p = plan.label_probability
    assert p.shape == (N,)
    assert (p >= LABELS / N).all()
    free = frame.y.isna().to_numpy()
    now = (p[free] - LABELS / N) / (1 - LABELS / N)
    assert_allclose(now.sum(), 80, rtol=1e-6)
    # Labels of both phases together stand for about all rows.
    has = ~free
    has[plan.places] = True
    assert np.sum(1 / p[has]) == pytest.approx(N, rel=0.2)


def test_labeled_rows_are_looked_at_by_fits_that_have_not_seen_them(model, frame):
    size = ResidualSize(CrossPredictions(model, 0))
    problem, predictions = size.predictions.problem, size.predictions
    own = predictions.without_folds(problem.X)[np.arange(LABELS), predictions.fold_of, 0]
    residual = np.abs(predictions.labels_of_fit() - own)
    assert np.corrcoef(size.at_labels(), residual)[0, 1] > 0.1
    assert np.mean(residual**2) == pytest.approx(np.mean(size.at_labels() ** 2))


def test_order_of_rows_changes_nothing(model, frame):
    plan = plan_labels(model, frame, 30, target="y", keep=["key"], random_state=3)
    mixed = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    again = plan_labels(model, mixed, 30, target="y", keep=["key"], random_state=3)
    assert again.rows.column("key").to_pylist() == plan.rows.column("key").to_pylist()
    assert_allclose(again.label_probability[again.places], plan.label_probability[plan.places])


def test_parquet_dask_and_arrays_plan_what_frames_do(model, frame, tmp_path):
    import dask
    import dask.dataframe as dd

    ask = {"target": "y", "by": "region", "random_state": 1}
    plan = plan_labels(model, frame, 30, **ask)
    file = tmp_path / "rows.parquet"
    frame.to_parquet(file, row_group_size=250)
    with dask.config.set(scheduler="synchronous"):
        others = [
            plan_labels(model, file, 30, **ask),
            plan_labels(model, dd.from_pandas(frame, npartitions=3), 30, **ask),
        ]
        for other in others:
            assert other.places.tolist() == plan.places.tolist()
            assert_allclose(other.label_probability, plan.label_probability)
            for one, same in zip(other.groups, plan.groups, strict=True):
                assert one[:4] == same[:4]
                assert_allclose(one[4:], same[4:])
    X = frame[["a", "b"]].to_numpy()
    by_array = XNVRegressor(random_state=0).fit(X, frame.y)
    found = plan_labels(by_array, X, 10, y=frame.y, random_state=1)
    assert_allclose(found.rows, X[found.places])


def test_copies_of_rows_are_rows(frame):
    X = np.round(frame[["a", "b"]].to_numpy())  # 9 distinct rows
    y = frame.y.to_numpy()
    model = XNVRegressor(random_state=0).fit(X, y)
    plan = plan_labels(model, X, 100, y=y, random_state=0)
    assert len(set(plan.places)) == 100
    assert np.isnan(y[plan.places]).all()


def test_groups_get_what_they_need(model, frame):
    plan = plan_labels(model, frame, 90, target="y", by="region", random_state=0)
    assert [one.group for one in plan.groups] == [("east",), ("north",), ("west",)]
    assert sum(one.n_next for one in plan.groups) == 90
    labels = {one.group[0]: one.n_next for one in plan.groups}
    assert labels["north"] > 45  # where the noise is
    assert [group[0] for group in plan.row_groups] == frame.region[plan.places].tolist()
    widths = [one.half_width for one in plan.groups if one.n_next]
    assert max(widths) < 1.1 * min(widths)
    wanted = plan_labels(model, frame, half_width=max(widths), target="y", by="region", random_state=0)
    assert [one.n_next for one in wanted.groups] == pytest.approx(list(labels.values()), abs=6)


@pytest.mark.parametrize(
    "question", [{"what": "total"}, {"above": 1.0}, {"what": "quantile"}, {"weight": "w"}]
)
def test_every_question_has_a_plan(model, frame, question):
    plan = plan_labels(model, frame, 40, target="y", random_state=0, **question)
    now = estimate(model, frame, target="y", **question)[0]
    assert plan.groups[0].half_width_now == pytest.approx((now.high - now.low) / 2)
    assert plan.groups[0].half_width < plan.groups[0].half_width_now


def test_classes_are_planned_where_they_are_uncertain(frame):
    model = XNVClassifier(random_state=0).fit_table(frame, target="good", columns=["a", "b"])
    plan = plan_labels(model, frame, 50, target="good", random_state=0)
    p = model.predict_proba(frame[["a", "b"]])
    unsure = 1 - np.square(p).sum(axis=1)
    assert unsure[plan.places].mean() > unsure.mean()


def test_a_third_phase_goes_on_from_the_second(model, frame):
    plan = plan_labels(model, frame, 40, target="y", random_state=0)
    y = frame.y.copy()
    y[plan.places] = frame.every[plan.places]
    rows = frame.assign(y=y, p=plan.label_probability)
    ask = {"target": "y", "label_probability": "p"}
    fitted = XNVRegressor(random_state=0).fit_table(rows, columns=["a", "b"], **ask)
    (found,) = estimate(fitted, rows, **ask)
    assert found.low < frame.every.mean() < found.high
    then = plan_labels(fitted, rows, 40, random_state=0, **ask)
    assert (then.label_probability >= plan.label_probability - 1e-12)[rows.y.isna()].all()
    assert rows.y[then.places].isna().all()
    with pytest.raises(ValueError, match="Name the column: label_probability"):
        plan_labels(fitted, rows, 10, target="y")
    with pytest.raises(ValueError, match="for a row without a label"):
        plan_labels(fitted, rows.assign(p=rows.p.where(rows.y.notna())), 10, **ask)


def test_labels_that_are_no_random_sample_stand_for_themselves(frame):
    y = np.where(frame.b < 0.7, frame.every, np.nan)
    y[np.flatnonzero(~np.isnan(y))[60:]] = np.nan
    rows = frame.assign(y=y)
    with pytest.warns(ShiftWarning):
        model = XNVRegressor(random_state=0).fit_table(rows, target="y", columns=["a", "b"])
    plan = plan_labels(model, rows, 60, target="y", random_state=0)
    assert "stand for themselves" in plan.words()
    assert (plan.label_probability[rows.y.notna()] == 1).all()
    free = rows.y.isna()
    assert_allclose(plan.label_probability[free].sum(), 60, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Give either k"),
        ({"k": 3, "half_width": 1.0}, "Give either k"),
        ({"k": 0}, "whole number of at least 1"),
        ({"half_width": -1.0}, "above 0"),
        ({"k": 5, "by": "key"}, "more than 200 groups"),
    ],
)
def test_what_cannot_be_planned_is_an_error(model, frame, options, words):
    with pytest.raises(ValueError, match=words):
        plan_labels(model, frame, target="y", **options)


def test_a_table_of_labels_only_has_none_to_plan(model, frame):
    with pytest.raises(ValueError, match="have a label already"):
        plan_labels(model, frame[frame.y.notna()], 5, target="y")
