"""The report on rare and on many classes: models are judged with their costs, and the page says how."""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score

from report_tables import PlainEncoder
from twinviews import XNVClassifier
from twinviews.report import gather
from twinviews.report.page import render


def table(codes=("no", "yes"), n=240, N=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + N, 3))
    p = 1 / (1 + np.exp(2.6 - 1.8 * X[:, 0]))
    y = np.where(random.random(n + N) < p, codes[1], codes[0]).astype(object)
    y[n:] = None
    columns = {f"x{j}": X[:, j] for j in range(3)}
    return pa.table({**columns, "y": pa.array(y.tolist())})


@cache
def evidence(class_weight):
    costs = dict(class_weight) if isinstance(class_weight, tuple) else class_weight
    model = XNVClassifier(members=None, class_weight=costs, random_state=0)
    return gather(table(), "y", "classification", PlainEncoder(), model)


def test_trial_fits_predict_by_the_costs_that_were_given():
    plain, costly = evidence(None), evidence((("yes", 20),))
    yes = [np.mean(one.outcome.held_out.predicted == 1) for one in (plain, costly)]
    assert yes[1] > 2 * yes[0] > 0
    assert_array_equal(costly.outcome.held_out.truth, plain.outcome.held_out.truth)
    assert_allclose(costly.outcome.held_out.p, plain.outcome.held_out.p, rtol=1e-9)


def test_balanced_classes_are_judged_by_the_balanced_error():
    found = evidence("balanced")
    held_out = found.outcome.held_out
    error = 1 - balanced_accuracy_score(held_out.truth, held_out.predicted)
    assert found.outcome.error.value == pytest.approx(error)
    assert found.outcome.error.low < error < found.outcome.error.high
    constant = found.outcome.baselines[-1]
    assert (constant.name, constant.verdict) == ("guessing one class", "better")
    assert constant.error.value == pytest.approx(0.5, abs=0.05)  # each part has its own
    assert "mean error rate of a class, larger by" in render(found)


def test_uncertain_rows_are_those_near_the_threshold():
    found = evidence((("yes", 20),))
    threshold = found.told.rarity.threshold
    p = [row.uncertainty if row.prediction == "no" else 1 - row.uncertainty for row in found.uncertain]
    assert np.abs(np.array(p) - threshold).max() < 0.05
    plain = [1 - row.uncertainty for row in evidence(None).uncertain]
    assert max(plain) < 0.6


def test_the_page_tells_how_well_the_rare_class_is_found():
    page = render(evidence("balanced"))
    told = evidence("balanced").told
    for words in (
        "How well is “yes” found?",
        "How well “yes” is told from the others",
        f"lift of the likeliest tenth {told.others['lift']:.1f}",
        "ROC curve, AUC",
        "Precision and recall, average precision",
        "(this model)",
    ):
        assert words in page


def test_of_many_classes_the_page_lists_the_largest_errors():
    random = np.random.default_rng(0)
    X = random.normal(size=(330, 2))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, 26)[1:-1])).astype(object)
    y[0], y[300:] = 99, None  # a class with one label is never hidden
    rows = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "y": pa.array([None if v is None else str(v) for v in y])}
    )
    model = XNVClassifier(members=None, random_state=0)
    page = render(gather(rows, "y", "classification", PlainEncoder(), model))
    assert "Confusion matrix" not in page
    assert "Classes taken for one another" in page
    assert "1 classes have no hidden row" in page or "none hidden" in page
