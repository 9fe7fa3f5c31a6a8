"""Files of every released version load, predict what they predicted, and take new labels and rows."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from write_corpus import CORPUS

from twinviews import inspect_model, load_model, save_model
from twinviews.estimators._prediction_intervals import fits_without_labels

FILES = sorted(CORPUS.glob("*/*.twinviews"))
# The last bits of a prediction depend on the machine's linear algebra.
TOLERANCE = 1e-10


def read_answers(path):
    """What the corpus says of a file: rows, labels of theirs, and predictions."""
    answers = json.loads((path.parent / "answers.json").read_text(encoding="utf-8"))
    found = answers["files"][path.stem]
    return read_table(answers["tables"][found["table"]]), found, answers["coverage"]


def read_table(table):
    if table["form"] == "frame":
        rows = pd.DataFrame(table["columns"])
        return rows.assign(**{name: pd.to_datetime(rows[name]) for name in table["dates"]})
    rows = np.array(table["values"], dtype=table["dtype"])
    forms = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix}
    return forms[table["form"]](rows)


def determined_to(model):
    """What rounding leaves of an interval: a residual is divided by 1 - leverage to leave its row out.

    Processors differ in the last bit of exp. With 15 labels for 13 eigenfunctions and no ridge, as in
    one file, 1 - leverage is 5e-5, so a hundred such bits are 5e-10; for nearly all it is TOLERANCE.
    """
    if model._ensembles is not None:
        return TOLERANCE
    freedom = np.inf
    for target in range(len(model._solution.intercept)):
        problem, place = model._solution.problem_of(target)
        within = problem.Y[:, place] - model._solution(problem.X)[:, target]
        left_out = np.abs(fits_without_labels(model, target).residual)
        some = left_out > 0
        freedom = min(freedom, np.min(np.abs(within)[some] / left_out[some], initial=np.inf))
    return max(TOLERANCE, 100 * np.finfo(float).eps / freedom)


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def path(request):
    return request.param


def test_there_are_files_of_the_first_version():
    assert len([path for path in FILES if path.parent.name == "0.1.0"]) > 90


def test_an_old_file_predicts_what_it_predicted(path):
    rows, expected, coverage = read_answers(path)
    model = load_model(path)
    assert model.about_ == {"case": path.stem}
    if hasattr(model, "classes_"):
        assert_array_equal(model.predict(rows).tolist(), expected["predict"])
        assert_allclose(model.predict_proba(rows), expected["predict_proba"], atol=TOLERANCE)
    else:
        assert_allclose(model.predict(rows), expected["predict"], rtol=TOLERANCE, atol=TOLERANCE)
        interval, told = model.predict_interval(rows, coverage), determined_to(model)
        assert_allclose(interval, expected["predict_interval"], rtol=told, atol=told)


def test_an_old_file_says_which_version_wrote_it(path):
    assert inspect_model(path).twinviews == path.parent.name


def test_an_old_file_is_written_anew_as_the_same_model(path, tmp_path):
    rows, _, _ = read_answers(path)
    model = load_model(path)
    save_model(model, tmp_path / "again", whole=inspect_model(path).whole)
    assert_array_equal(load_model(tmp_path / "again").predict(rows), model.predict(rows))


def test_an_old_file_takes_new_labels(path):
    rows, expected, _ = read_answers(path)
    labels = np.array(expected["labels"], dtype=expected["dtype"])
    model = load_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows
        model.relabel(rows, labels)
    assert model.n_labeled_ == len(labels)
    assert_finite(model, rows)


def test_an_old_whole_file_takes_new_rows(path):
    if not inspect_model(path).whole:
        return
    rows, expected, _ = read_answers(path)
    labels = np.array(expected["labels"], dtype=expected["dtype"])
    model = load_model(path)
    n_rows = model.n_labeled_ + model.n_unlabeled_
    other = pickle.loads(pickle.dumps(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows
        model.partial_fit(rows, labels)
        assert model.n_labeled_ + model.n_unlabeled_ == n_rows + len(labels)
        model.merge(other)
    assert_finite(model, rows)


def assert_finite(model, rows):
    predict = model.predict_proba if hasattr(model, "classes_") else model.predict
    assert np.isfinite(predict(rows)).all()
