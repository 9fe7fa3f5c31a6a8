"""Plots: what is drawn is what was computed, where it was asked for, and nothing else."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import KRRClassifier, KRRRegressor, XKSRegressor, XNVClassifier, XNVRegressor
from twinviews.evaluation.draws import Case, LabeledTable, errors_over_draws, make_draws
from twinviews.evaluation.measures import share_inside
from twinviews.evaluation.paired_comparison import paired_ratio
from twinviews.plots import (
    CorrelationSpectrumDisplay,
    IntervalDisplay,
    LabelCurveDisplay,
    MethodComparisonDisplay,
    ReliabilityDisplay,
    UnlabeledCurveDisplay,
)

KRR = KRRRegressor(sigma=2.0, ridge=1e-2)
XNV = XNVRegressor(n_components=20, sigma=2.0, ridge=1e-2, correlation_ridge=1e-3, random_state=0)
GIVEN = {"n_components": 20, "sigma": 2.0, "ridge": 1e-2, "correlation_ridge": 1e-3}


@pytest.fixture(autouse=True)
def no_figure_is_left():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=240)
    return X, y


@pytest.fixture
def classes(numbers):
    X, y = numbers
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [-0.7, 0.7])]


def every_display(numbers, classes):
    """A function of axes for each display, on fits that take milliseconds."""
    X, y = numbers
    X_classes, words = classes
    krr, xnv = clone(KRR).fit(X, y), clone(XNV).fit(X, y)
    sure = KRRClassifier(sigma=2.0, ridge=1e-2).fit(X_classes, words)
    few = {"n_draws": 2, "random_state": 0}
    return {
        "correlations": lambda **at: CorrelationSpectrumDisplay.from_estimator(xnv, **at),
        "intervals": lambda **at: IntervalDisplay.from_estimator(krr, X, y, **at),
        "reliability": lambda **at: ReliabilityDisplay.from_estimator(sure, X_classes, words, **at),
        "labels": lambda **at: LabelCurveDisplay.from_estimator(KRR, X, y, **few, **at),
        "unlabeled": lambda **at: UnlabeledCurveDisplay.from_estimator(
            XNV, X, y, n_labels=50, **few, **at
        ),
        "comparison": lambda **at: MethodComparisonDisplay.from_estimators(
            {"ridge": Ridge(), "kernel ridge": KRR}, X, y, n_labels=50, **few, **at
        ),
    }


DISPLAYS = ["correlations", "intervals", "reliability", "labels", "unlabeled", "comparison"]


# --- conventions of every display --------------------------------------------------------------------


@pytest.mark.parametrize("which", DISPLAYS)
def test_given_axes_are_used_and_no_figure_is_made_besides(which, numbers, classes):
    figure, (left, right) = plt.subplots(1, 2)
    display = every_display(numbers, classes)[which](ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()
    assert right.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("which", DISPLAYS)
def test_without_axes_one_figure_is_made_and_plot_draws_again(which, numbers, classes):
    display = every_display(numbers, classes)[which]()
    assert len(plt.get_fignums()) == 1
    first = display.ax_
    assert first.get_xlabel()
    assert display.plot() is display
    assert display.ax_ is not first
    assert len(plt.get_fignums()) == 2
    assert first.get_xlabel() == display.ax_.get_xlabel()
    for ours, theirs in zip(first.get_lines(), display.ax_.get_lines(), strict=True):
        assert_array_equal(ours.get_xydata(), theirs.get_xydata())


@pytest.mark.parametrize("which", DISPLAYS)
@pytest.mark.parametrize("word", ["c", "color"])
def test_looks_by_either_name_win_over_ours(which, word, numbers, classes):
    display = every_display(numbers, classes)[which](**{word: "#123456"})
    drawn = [getattr(display, name, None) for name in ("line_", "inside_", "marks_")]
    line = next(artist for artist in drawn if hasattr(artist, "get_xdata"))
    assert line.get_color() == "#123456"


@pytest.mark.parametrize("which", DISPLAYS)
def test_every_picture_can_be_drawn_and_says_what_its_axes_are(which, numbers, classes, tmp_path):
    display = every_display(numbers, classes)[which]()
    display.figure_.savefig(tmp_path / "picture.svg")
    assert display.ax_.get_xlabel()
    assert not display.ax_.spines["top"].get_visible()


def test_without_matplotlib_the_import_works_and_the_error_names_the_extra():
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from twinviews.plots import CorrelationSpectrumDisplay\n"
        "try:\n"
        "    CorrelationSpectrumDisplay(correlations=[0.5], effective_dimension=0.25).plot()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    run = [sys.executable, "-c", program]
    output = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "pip install twinviews[plots]" in output


def test_importing_the_plots_does_not_import_matplotlib():
    program = "import sys, twinviews.plots; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# --- correlations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [XNV, XKSRegressor(**GIVEN, random_state=0)])
def test_the_spectrum_is_that_of_the_fit(model, numbers):
    model = clone(model).fit(*numbers)
    display = CorrelationSpectrumDisplay.from_estimator(model)
    assert_array_equal(display.line_.get_ydata(), model.correlations_)
    assert_array_equal(display.line_.get_xdata(), np.arange(1, len(model.correlations_) + 1))
    assert display.dimension_line_.get_xdata()[0] == np.square(model.correlations_).sum()


def test_a_pipeline_shows_the_spectrum_of_its_last_step(numbers):
    model = make_pipeline(StandardScaler(), clone(XNV)).fit(*numbers)
    display = CorrelationSpectrumDisplay.from_estimator(model)
    assert_array_equal(display.correlations, model[-1].correlations_)
    assert display.estimator_name == "XNVRegressor"


def test_a_model_of_one_view_has_no_spectrum(numbers):
    with pytest.raises(ValueError, match="KRRRegressor has no correlations"):
        CorrelationSpectrumDisplay.from_estimator(clone(KRR).fit(*numbers))


# --- intervals ---------------------------------------------------------------------------------------


def test_intervals_from_an_estimator_are_those_from_its_predictions(numbers):
    X, y = numbers
    model = clone(KRR).fit(X[:120], y[:120])
    ours = IntervalDisplay.from_estimator(model, X, y, coverage=0.8, random_state=3)
    ends = model.predict_interval(X, coverage=0.8)
    theirs = IntervalDisplay.from_predictions(y, model.predict(X), ends, coverage=0.8, random_state=3)
    for name in ("inside_", "outside_"):
        first, second = getattr(ours, name), getattr(theirs, name)
        assert_array_equal(first.get_xydata(), second.get_xydata())
        assert first.get_label() == second.get_label()
    assert_array_equal(ours.bars_.get_segments(), theirs.bars_.get_segments())


def test_marks_are_the_true_values_and_those_outside_are_told_apart(numbers):
    X, y = numbers
    model = clone(KRR).fit(X[:60], y[:60])
    display = IntervalDisplay.from_estimator(model, X, y, coverage=0.5, subsample=None)
    low, high = model.predict_interval(X, coverage=0.5).T
    inside = (low <= y) & (y <= high)
    assert_array_equal(display.inside_.get_ydata(), y[inside])
    assert_array_equal(display.outside_.get_ydata(), y[~inside])
    assert_array_equal(display.outside_.get_xdata(), model.predict(X)[~inside])
    assert display.share_inside == inside.mean() == share_inside(y, low, high)
    assert f"{inside.mean():.1%} of 240 rows" in display.inside_.get_label()
    segments = np.array(display.bars_.get_segments())
    assert_array_equal(segments[:, :, 1], np.column_stack([low, high]))


def test_a_sample_is_drawn_but_all_rows_are_counted(numbers):
    X, y = numbers
    model = clone(KRR).fit(X[:60], y[:60])
    some = IntervalDisplay.from_estimator(model, X, y, subsample=30, random_state=0)
    drawn = len(some.inside_.get_xdata()) + len(some.outside_.get_xdata())
    assert drawn == len(some.bars_.get_segments()) == 30
    everything = IntervalDisplay.from_estimator(model, X, y, subsample=None)
    assert some.share_inside == everything.share_inside


def test_rows_without_a_true_value_are_passed_over(numbers):
    X, y = numbers
    model = clone(KRR).set_params(missing_label=-1).fit(X[:60], y[:60])
    holes = np.where(np.arange(240) % 3 == 0, -1, y)
    known = np.flatnonzero(holes != -1)
    ours = IntervalDisplay.from_estimator(model, X, holes, subsample=None)
    theirs = IntervalDisplay.from_estimator(model, X[known], y[known], subsample=None)
    assert ours.share_inside == theirs.share_inside
    assert_array_equal(ours.y_true, theirs.y_true)
    with pytest.raises(ValueError, match="no value at all"):
        IntervalDisplay.from_estimator(model, X, np.full(240, np.nan))


def test_a_pipeline_has_the_intervals_of_its_last_step_on_scaled_rows(numbers):
    X, y = numbers
    scaler, krr = StandardScaler(), clone(KRR)
    model = make_pipeline(scaler, krr).fit(X * 100, y)
    ours = IntervalDisplay.from_estimator(model, X * 100, y, subsample=None)
    assert_array_equal(ours.intervals, krr.predict_interval(scaler.transform(X * 100)))
    assert_array_equal(ours.y_pred, model.predict(X * 100))


def test_intervals_without_end_are_drawn_over_the_whole_picture(numbers):
    X, y = numbers
    model = clone(KRR).fit(X[:6], y[:6])
    display = IntervalDisplay.from_estimator(model, X, y, coverage=0.99, subsample=None)
    assert np.isinf(display.intervals).all()
    assert display.share_inside == 1
    segments = np.array(display.bars_.get_segments())
    assert_array_equal(segments[:, :, 1], np.tile([y.min(), y.max()], (240, 1)))


def test_intervals_that_are_none_are_refused(numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="Ridge has no predict_interval"):
        IntervalDisplay.from_estimator(Ridge().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"intervals \(240, 3\)"):
        IntervalDisplay.from_predictions(y, y, X)


# --- reliability -------------------------------------------------------------------------------------


def test_reliability_from_an_estimator_is_that_from_its_probabilities(classes):
    X, words = classes
    model = KRRClassifier(sigma=2.0, ridge=1e-2).fit(X[:120], words[:120])
    ours = ReliabilityDisplay.from_estimator(model, X[120:], words[120:], n_bins=7)
    theirs = ReliabilityDisplay.from_predictions(words[120:], model.predict_proba(X[120:]), n_bins=7)
    assert_array_equal(ours.line_.get_xydata(), theirs.line_.get_xydata())
    assert ours.calibration_error == theirs.calibration_error
    filled = ours.bins.counts > 0
    assert_array_equal(ours.line_.get_xdata(), ours.bins.confidence[filled])
    assert_array_equal(ours.line_.get_ydata(), ours.bins.accuracy[filled])
    assert_array_equal(ours.marks_.get_offsets(), ours.line_.get_xydata())
    told = [int(text.get_text()) for text in ours.ax_.texts]
    assert told == ours.bins.counts[filled].tolist()
    assert f"calibration error {ours.calibration_error:.3f}, 120 rows" in ours.line_.get_label()


def test_rows_whose_class_is_marked_as_missing_are_passed_over(classes):
    X, words = classes
    model = KRRClassifier(sigma=2.0, ridge=1e-2, missing_label="?").fit(X, words)
    holes = words.astype(object)
    holes[::4] = "?"
    known = np.flatnonzero(holes != "?")
    ours = ReliabilityDisplay.from_estimator(model, X, holes)
    theirs = ReliabilityDisplay.from_estimator(model, X[known], words[known])
    assert_array_equal(ours.bins.counts, theirs.bins.counts)
    assert ours.calibration_error == theirs.calibration_error


def test_one_column_of_probabilities_is_that_of_the_second_class():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=100)
    truth = rng.uniform(size=100) < p
    one = ReliabilityDisplay.from_predictions(truth, p)
    two = ReliabilityDisplay.from_predictions(truth, np.column_stack([1 - p, p]))
    assert_array_equal(one.line_.get_xydata(), two.line_.get_xydata())


def test_a_class_that_the_model_does_not_know_is_always_wrong():
    p = np.array([[0.9, 0.1], [0.9, 0.1]])
    display = ReliabilityDisplay.from_predictions(["a", "zebra"], p, classes=["a", "b"])
    assert display.bins.accuracy[9] == 0.5
    with pytest.raises(ValueError, match="2 columns and there are 3 classes"):
        ReliabilityDisplay.from_predictions(["a", "b", "c"], np.full((3, 2), 0.5))


def test_several_classifiers_share_axes_and_one_diagonal(classes):
    X, words = classes
    first = ReliabilityDisplay.from_estimator(LogisticRegression().fit(X, words), X, words)
    model = KRRClassifier(sigma=2.0, ridge=1e-2).fit(X, words)
    second = ReliabilityDisplay.from_estimator(model, X, words, ax=first.ax_)
    labels = first.ax_.get_legend_handles_labels()[1]
    assert sum(label == "as sure as right" for label in labels) == 1
    assert len(labels) == 3
    assert first.line_.get_color() != second.line_.get_color()


# --- draws -------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), n=st.integers(3, 60), u=st.integers(0, 300), hidden=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_a_draw_keeps_test_rows_apart_and_numbers_of_labels_nested(seed, n, u, hidden):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=200).astype(object)
    y[rng.uniform(size=200) < hidden / 20] = None
    table = LabeledTable.of([KRRClassifier()], np.arange(200)[:, None], y)
    (draw,) = make_draws(table, 1, 0.3, seed)
    assert len(np.intersect1d(draw.train, draw.test)) == 0
    assert len(draw.train) + len(draw.test) == 200
    assert table.known[draw.test].all()
    assert table.known[draw.labeled].all()
    rows = draw.rows(n, u)
    assert len(np.unique(rows)) == len(rows) == min(n + u, len(draw.train))
    assert_array_equal(rows[:n], draw.rows(n + 1, None)[:n])
    assert_array_equal(rows, draw.rows(n, u + 1)[: len(rows)])
    labels = table.labels(rows, n)
    assert all(label is None for label in labels[n:])
    assert_array_equal(labels[:n], y[rows[:n]])
    assert set(labels[:n]) == set(y[draw.labeled])  # one of each class is among any three


def test_errors_are_those_of_fits_by_hand(numbers):
    X, y = numbers
    table = LabeledTable.of([XNV], X, y)
    draws = make_draws(table, 3, 60, random_state=5)
    errors = errors_over_draws([Case(XNV, 40, 25), Case(XNV, 40)], table, draws)
    draw = draws[1]
    rows = draw.rows(40, 25)
    labels = np.where(np.arange(65) < 40, y[rows], np.nan)
    model = clone(XNV).fit(X[rows], labels)
    assert (model.n_labeled_, model.n_unlabeled_) == (40, 25)
    residual = y[draw.test] - model.predict(X[draw.test])
    assert errors[0, 1] == np.mean(residual**2) / np.var(y[draw.test])
    assert errors.shape == (2, 3)
    assert errors[1, 1] != errors[0, 1]


def test_an_estimator_that_knows_no_missing_labels_gets_the_labeled_rows(numbers):
    X, y = numbers
    table = LabeledTable.of([Ridge()], X, y)
    (draw,) = draws = make_draws(table, 1, 0.3, random_state=0)
    error = errors_over_draws([Case(Ridge(), 30)], table, draws)[0, 0]
    rows = draw.labeled[:30]
    predicted = Ridge().fit(X[rows], y[rows]).predict(X[draw.test])
    assert error == np.mean((y[draw.test] - predicted) ** 2) / np.var(y[draw.test])


@pytest.mark.parametrize("form", [np.asarray, csr_array, pd.DataFrame])
def test_rows_may_come_in_any_form(form, numbers):
    X, y = numbers
    plain = LabelCurveDisplay.from_estimator(KRR, X, y, n_labels=[30], n_draws=2, random_state=0)
    other = LabelCurveDisplay.from_estimator(KRR, form(X), y, n_labels=[30], n_draws=2, random_state=0)
    assert_allclose(other.errors, plain.errors, rtol=1e-8)


def test_what_marks_a_missing_label_is_found_inside_a_pipeline(numbers):
    X, y = numbers
    holes = np.where(np.arange(240) % 2 == 0, y, -99)
    model = make_pipeline(StandardScaler(), clone(XNV).set_params(missing_label=-99))
    table = LabeledTable.of([model], X, holes)
    assert_array_equal(table.known, np.arange(240) % 2 == 0)
    display = LabelCurveDisplay.from_estimator(model, X, holes, n_labels=[40], random_state=0)
    assert np.isfinite(display.errors).all()
    assert display.errors.max() < 1


def test_wrong_numbers_are_refused_with_the_limit(numbers, classes):
    X, y = numbers
    with pytest.raises(ValueError, match=r"n_labels=500 is more than the 168 labeled rows"):
        LabelCurveDisplay.from_estimator(KRR, X, y, n_labels=[500])
    with pytest.raises(ValueError, match=r"n_unlabeled=300 is more than the 128 rows"):
        UnlabeledCurveDisplay.from_estimator(XNV, X, y, n_labels=40, n_unlabeled=[300])
    with pytest.raises(ValueError, match=r"test_size=1.0 makes 240 of 240"):
        LabelCurveDisplay.from_estimator(KRR, X, y, test_size=1.0)
    with pytest.raises(ValueError, match="n_draws=0 must be"):
        LabelCurveDisplay.from_estimator(KRR, X, y, n_draws=0)
    with pytest.raises(ValueError, match="y has 2 dimensions"):
        LabelCurveDisplay.from_estimator(KRR, X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="classifiers and some are regressors"):
        MethodComparisonDisplay.from_estimators({"a": KRR, "b": KRRClassifier()}, X, y)
    with pytest.raises(ValueError, match="baseline='c' is none of 'a', 'b'"):
        MethodComparisonDisplay.from_estimators({"a": KRR, "b": Ridge()}, X, y, baseline="c")


# --- curves ------------------------------------------------------------------------------------------


def test_the_label_curve_is_mean_and_spread_of_the_errors(numbers):
    display = LabelCurveDisplay.from_estimator(
        KRR, *numbers, n_labels=[80, 20, 40], n_draws=4, random_state=0
    )
    assert_array_equal(display.n_labels, [20, 40, 80])
    assert display.errors.shape == (3, 4)
    mean, spread = display.errors.mean(axis=1), display.errors.std(axis=1)
    assert_array_equal(display.line_.get_xydata(), np.column_stack([[20, 40, 80], mean]))
    corners = display.fill_.get_paths()[0].vertices
    for edge in (mean - spread, mean + spread):
        assert np.isin(edge, corners[:, 1]).all()
    assert mean[2] < mean[0]


def test_curves_are_the_same_again_and_side_by_side(numbers):
    once, again, parallel = (
        LabelCurveDisplay.from_estimator(
            XNV, *numbers, n_labels=[20, 40], n_draws=2, random_state=1, n_jobs=jobs
        )
        for jobs in (None, None, 2)
    )
    assert_array_equal(once.errors, again.errors)
    assert_allclose(once.errors, parallel.errors, rtol=1e-9)


def test_the_second_curve_has_another_colour_and_room(numbers):
    first = LabelCurveDisplay(n_labels=np.array([10, 20]), errors=np.array([[0.2], [0.1]])).plot(
        name="first"
    )
    second = LabelCurveDisplay(n_labels=np.array([10, 20]), errors=np.array([[2.0], [1.0]])).plot(
        first.ax_, name="second"
    )
    assert first.line_.get_color() != second.line_.get_color()
    bottom, top = first.ax_.get_ylim()
    assert bottom == 0
    assert top > 2


def test_the_unlabeled_curve_draws_each_draw_and_their_mean(numbers):
    display = UnlabeledCurveDisplay.from_estimator(
        XNV, *numbers, n_labels=40, n_unlabeled=[0, 60, 120], n_draws=3, random_state=0
    )
    assert_array_equal(display.line_.get_ydata(), display.errors.mean(axis=1))
    drawn = np.array([line.get_ydata() for line in display.draw_lines_])
    assert_array_equal(drawn, display.errors.T)
    assert "beside 40 with one" in display.ax_.get_xlabel()


def test_without_unlabeled_rows_the_two_curves_meet(numbers):
    X, y = numbers
    given = {"n_draws": 2, "random_state": 0}
    few = UnlabeledCurveDisplay.from_estimator(KRR, X, y, n_labels=40, n_unlabeled=[0, 50], **given)
    labels = LabelCurveDisplay.from_estimator(KRR, X, y, n_labels=[40], **given)
    # Kernel ridge with numbers given does not look at unlabeled rows.
    assert_allclose(few.errors[0], labels.errors[0], rtol=1e-9)
    assert_allclose(few.errors[1], labels.errors[0], rtol=1e-9)


def test_a_measure_of_the_users_own_names_the_axis(numbers):
    def mean_absolute_error(truth, predicted):
        return np.abs(truth - predicted).mean()

    display = LabelCurveDisplay.from_estimator(
        KRR, *numbers, n_labels=[30], measure=mean_absolute_error, random_state=0
    )
    assert display.ax_.get_ylabel() == "mean absolute error on held-out rows"


def test_classes_are_judged_by_the_share_of_wrong_ones(classes):
    X, words = classes
    model = XNVClassifier(**GIVEN, random_state=0)
    display = LabelCurveDisplay.from_estimator(model, X, words, n_labels=[30], random_state=0)
    assert display.ax_.get_ylabel() == "error rate on held-out rows"
    assert_allclose(display.errors * 72, np.round(display.errors * 72), atol=1e-9)  # 72 test rows


# --- comparison --------------------------------------------------------------------------------------


def test_the_comparison_draws_paired_ratios_the_best_on_top(numbers):
    methods = {"linear": Ridge(), "kernel ridge": KRR, "views": XNV}
    display = MethodComparisonDisplay.from_estimators(
        methods, *numbers, n_labels=60, n_draws=6, baseline="kernel ridge", random_state=0
    )
    assert display.errors.shape == (3, 6)
    order = display.errors.mean(axis=1).argsort()
    expected = [paired_ratio(errors, display.errors[1]) for errors in display.errors]
    assert display.comparisons == expected
    assert_array_equal(display.marks_.get_xdata(), [expected[j].ratio for j in order])
    told = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert [label.split(" (")[0] for label in told] == [list(methods)[j] for j in order]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top
    segments = display.bars_.get_segments()
    ends = {tuple(segment[:, 0]) for segment in segments}
    assert ends == {(one.low, one.high) for one in expected if one.low < one.high}
    assert len(segments) == 2  # the baseline is level with itself without doubt


def test_a_method_against_itself_is_level(numbers):
    display = MethodComparisonDisplay.from_estimators(
        {"one": KRR, "same": clone(KRR)}, *numbers, n_labels=60, n_draws=3, random_state=0
    )
    assert [one.ratio for one in display.comparisons] == [1, 1]
    assert_array_equal(display.errors[0], display.errors[1])
