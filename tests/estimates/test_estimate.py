"""Estimates through the public function: laws, engines, errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from twinviews import XNVClassifier, XNVRegressor, estimate, load_model, save_model

FIELDS = ("estimate", "low", "high", "labels_alone", "labels_alone_low", "labels_alone_high")


def numbers(found):
    return np.array([[getattr(row, name) for name in FIELDS] for row in found])


@pytest.fixture(scope="module")
def frame():
    """900 rows, 90 labels: a number, a class, words, weights and strata."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(900, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=900)
    known = rng.permutation(900) < 90
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "region": np.where(X[:, 0] > 0.5, "north", np.where(X[:, 1] > 0, "east", "west")),
            "every": y,
            "y": np.where(known, y, np.nan),
            "good": np.where(known, np.where(y > 0, "yes", "no"), None),
            "w": rng.integers(1, 4, size=900).astype(float),
            "stratum": rng.integers(2, size=900),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return XNVRegressor(random_state=0).fit_table(frame, target="y", columns=["a", "b"])


@pytest.fixture(scope="module")
def classifier(frame):
    return XNVClassifier(random_state=0).fit_table(frame, target="good", columns=["a", "b"])


QUESTIONS = [
    {},
    {"what": "total"},
    {"above": 0.5},
    {"what": "quantile", "quantile": 0.25},
    {"by": "region"},
    {"by": ["region", "stratum"]},
    {"by": "region", "versus": "west"},
    {"what": "coefficients", "columns": ["a", "b"]},
    {"weight": "w", "by": "region"},
    {"strata": "stratum"},
    {"population": True},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_order_of_rows_changes_nothing(model, frame, question):
    found = estimate(model, frame, target="y", **question)
    again = estimate(model, frame.sample(frac=1, random_state=1), target="y", **question)
    assert_allclose(numbers(again), numbers(found), rtol=1e-8)
    assert [row.words(0.95) for row in again] == [row.words(0.95) for row in found]


def test_the_truth_is_inside_and_intervals_are_narrow(model, frame):
    (found,) = estimate(model, frame, target="y")
    assert found.low < frame.every.mean() < found.high
    assert found.high - found.low < 0.6 * (found.labels_alone_high - found.labels_alone_low)
    assert found.more_labels > 90
    known = frame.y.dropna()
    half = (found.labels_alone_high - found.labels_alone_low) / 2
    assert_allclose(found.labels_alone, known.mean())
    assert half == pytest.approx(1.987 * known.std() * np.sqrt(0.9 / 90), rel=1e-3)


def test_a_total_is_the_mean_times_the_rows(model, frame):
    mean, total = (numbers(estimate(model, frame, target="y", what=what)) for what in ("mean", "total"))
    assert_allclose(total, 900 * mean)


def test_shares_above_and_at_most_are_complements(model, frame):
    above = numbers(estimate(model, frame, target="y", above=0.3))[0]
    below = numbers(estimate(model, frame, target="y", below=0.3))[0]
    assert_allclose(above, 1 - below[[0, 2, 1, 3, 5, 4]])


def test_shares_of_classes_sum_to_one_and_totals_count_rows(classifier, frame):
    shares = estimate(classifier, frame, target="good")
    assert [row.what for row in shares] == ["share = no", "share = yes"]
    assert_allclose(sum(row.estimate for row in shares), 1)
    counts = estimate(classifier, frame, target="good", what="total")
    assert_allclose(numbers(counts), 900 * numbers(shares))
    assert shares[1].low < (frame.every > 0).mean() < shares[1].high


def test_the_median_is_where_half_the_rows_are(model, frame):
    (median,) = estimate(model, frame, target="y", what="quantile")
    assert median.low < frame.every.median() < median.high
    (share,) = estimate(model, frame, target="y", below=median.estimate)
    assert share.estimate == pytest.approx(0.5, abs=0.02)


def test_groups_make_up_the_whole(model, frame):
    (whole,) = estimate(model, frame, target="y")
    groups = estimate(model, frame, target="y", by="region")
    assert [row.group["region"] for row in groups] == ["east", "north", "west"]
    assert sum(row.n_rows for row in groups) == whole.n_rows == 900
    assert sum(row.n_labels for row in groups) == whole.n_labels == 90
    together = sum(row.estimate * row.n_rows for row in groups) / 900
    assert abs(together - whole.estimate) < (whole.high - whole.low) / 4


def test_groups_with_few_labels_are_shrunk_and_say_so(model, frame):
    rare = frame.assign(rare=np.where(np.arange(900) < 40, "few", "many"))
    few, many = estimate(model, rare, target="y", by="rare")
    assert few.n_labels < 10
    assert few.is_shrunk
    assert "drawn towards all rows" in few.words(0.95)
    assert not many.is_shrunk
    none = rare.assign(rare=np.where(frame.y.isna() & (np.arange(900) < 40), "none", "some"))
    without, _ = estimate(model, none, target="y", by="rare")
    assert without.n_labels == 0
    assert np.isfinite([without.low, without.high]).all()
    assert without.as_dict()["labels_alone_low"] is None


def test_a_difference_is_that_of_two_groups(model, frame):
    groups = {row.group["region"]: row for row in estimate(model, frame, target="y", by="region")}
    found = estimate(model, frame, target="y", by="region", versus="west")
    for row in found:
        own = groups[row.group["region"]]
        assert_allclose(row.estimate, own.estimate - groups["west"].estimate)
        assert row.high - row.low > own.high - own.low


def test_weights_of_one_change_nothing_and_weights_of_two_are_copies(model, frame):
    once = estimate(model, frame, target="y")
    assert_allclose(
        numbers(estimate(model, frame.assign(w=1.0), target="y", weight="w")), numbers(once)
    )
    unlabeled = frame[frame.y.isna()].head(100)
    copies = estimate(model, pd.concat([frame, unlabeled]), target="y")
    weighted = frame.assign(w=np.where(frame.index.isin(unlabeled.index), 2.0, 1.0))
    assert_allclose(
        numbers(estimate(model, weighted, target="y", weight="w")), numbers(copies), rtol=1e-8
    )


def test_arrays_and_frames_are_the_same(model, frame):
    X, y = frame[["a", "b"]].to_numpy(), frame.y.to_numpy()
    plain = XNVRegressor(random_state=0).fit(X, y)
    expected = numbers(estimate(model, frame, target="y"))
    assert_allclose(numbers(estimate(plain, X, y=y)), expected, rtol=1e-8)
    named = frame[["a", "b"]]
    assert_allclose(numbers(estimate(model, named, y=y, target="y")), expected, rtol=1e-8)


def test_a_stored_model_tells_the_same(classifier, model, frame, tmp_path):
    for one, target in ((model, "y"), (classifier, "good")):
        save_model(one, tmp_path / "model.twinviews")
        again = estimate(load_model(tmp_path / "model.twinviews"), frame, target=target)
        assert_allclose(numbers(again), numbers(estimate(one, frame, target=target)), rtol=1e-9)


ENGINE_QUESTIONS = [
    {"by": "region", "weight": "w"},
    {"what": "quantile", "strata": "stratum"},
    {"what": "coefficients", "columns": ["a"]},
]


@pytest.mark.parametrize("question", ENGINE_QUESTIONS, ids=str)
def test_parquet_and_dask_tell_what_memory_tells(model, frame, question, tmp_path):
    import dask
    import dask.dataframe as dd

    expected = numbers(estimate(model, frame, target="y", **question))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    found = estimate(model, tmp_path / "rows.parquet", target="y", **question)
    assert_allclose(numbers(found), expected, rtol=1e-8)
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=4)
        assert_allclose(numbers(estimate(model, parts, target="y", **question)), expected, rtol=1e-8)


def test_several_targets_are_estimated_one_by_one(frame):
    X = frame[["a", "b"]].to_numpy()
    y = np.column_stack([frame.y, -2 * frame.y])
    model = XNVRegressor(random_state=0).fit(X, y)
    first, second = estimate(model, X, y=y)
    assert (first.target, second.target) == ("y_0", "y_1")
    assert second.labels_alone == pytest.approx(-2 * first.labels_alone)


def test_labels_that_are_no_random_sample_are_weighted_or_refused(frame):
    def fitted(chosen):
        y = np.where(chosen, frame.every, np.nan)
        with pytest.warns(UserWarning, match="not like all rows"):
            return XNVRegressor(random_state=0).fit(frame[["a", "b"]].to_numpy(), y), y

    X = frame[["a", "b"]].to_numpy()
    rng = np.random.default_rng(0)
    far, y = fitted((X[:, 1] > 0.8) & (rng.uniform(size=900) < 0.5))
    with pytest.raises(ValueError, match=r"not like all rows.*assume_random=True"):
        estimate(far, X, y=y)
    assert "as was said" in estimate(far, X, y=y, assume_random=True).words()
    near, y = fitted(rng.uniform(size=900) < 0.25 / (1 + np.exp(-1.5 * X[:, 1])))
    found = estimate(near, X, y=y)
    assert "weighted to stand for all" in found.words()
    assert abs(found[0].estimate - frame.every.mean()) < abs(np.nanmean(y) - frame.every.mean()) / 2


def test_known_label_probabilities_are_used(frame):
    rng = np.random.default_rng(3)
    p = np.where(frame.a > 0, 0.25, 0.05)
    rows = frame.assign(y=np.where(rng.uniform(size=900) < p, frame.every, np.nan), p=p)
    model = XNVRegressor(random_state=0).fit_table(
        rows, target="y", columns=["a", "b"], label_probability="p"
    )
    by_fit = estimate(model, rows, target="y")
    assert_allclose(
        numbers(estimate(model, rows, target="y", label_probability="p")), numbers(by_fit), rtol=1e-6
    )
    assert by_fit[0].low < frame.every.mean() < by_fit[0].high


def test_a_plan_reaches_its_width(model, frame):
    (found,) = estimate(model, frame, target="y")
    half = (found.high - found.low) / 2
    assert found.labels_for(2 * half) == found.n_labels
    needed = found.labels_for(half / 2)
    assert 1 / needed - 1 / 900 == pytest.approx((1 / 90 - 1 / 900) / 4, rel=0.02)
    assert found.labels_for(1e-12) == 900
    with pytest.raises(ValueError, match="half_width=0 must be above 0"):
        found.labels_for(0)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"what": "mode"}, "what='mode' must be one of"),
        ({"what": "share"}, "needs either above"),
        ({"above": 1.0, "below": 0.0}, "needs either above"),
        ({"coverage": 1.0}, "coverage=1.0 must be above 0"),
        ({"what": "coefficients"}, "go together"),
        ({"by": "region", "versus": "south"}, "versus='south' is no value of region"),
        ({"versus": "north"}, "goes with one column in by"),
        ({"what": "total", "population": True}, "has no number of rows"),
        ({"what": "coefficients", "columns": ["region"]}, "not a number"),
        ({"by": "county"}, "There is no column 'county'"),
    ],
)
def test_questions_that_have_no_answer_are_refused(model, frame, question, message):
    with pytest.raises(ValueError, match=message):
        estimate(model, frame, target="y", **question)


def test_labels_must_be_those_of_the_fit(model, frame):
    with pytest.raises(ValueError, match="810 of 900 labeled rows were not among those of the fit"):
        estimate(model, frame.assign(y=frame.every), target="y")
    with pytest.raises(ValueError, match="labels are not those of the fit"):
        estimate(model, frame.assign(y=frame.y + 1), target="y")
    with pytest.raises(ValueError, match="have 0 labels"):
        estimate(model, frame.assign(y=np.nan), target="y")


def test_files_without_fits_of_folds_are_refused(classifier, frame):
    (ensemble,) = classifier._ensembles
    old = XNVClassifier()
    old.__dict__.update(classifier.__dict__)
    old._ensembles = [replace(ensemble, fold_of=None, fold_blends=None)]
    with pytest.raises(ValueError, match="Fit it again"):
        estimate(old, frame, target="good")


def test_labels_that_were_sure_to_be_given_count_in_a_quantile_too():
    """1,000 rows of large values all have labels; of the others 80 do."""
    rng = np.random.default_rng(5)
    large = np.arange(2000) < 1000
    X = np.column_stack([large + 0.1 * rng.normal(size=2000), rng.normal(size=2000)])
    y = np.where(large, rng.uniform(100, 200, 2000), rng.uniform(0, 50, 2000))
    p = np.where(large, 1.0, 0.08)
    labels = np.where(rng.uniform(size=2000) < p, y, np.nan)
    model = XNVRegressor(random_state=0, members=None).fit(X, labels, label_probability=p)
    for q in (0.3, 0.6, 0.9):
        (found,) = estimate(model, X, y=labels, what="quantile", quantile=q)
        assert found.low <= np.quantile(y, q) <= found.high
        assert found.high - found.low < 60
