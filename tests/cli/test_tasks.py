"""`twinviews fit --task ordinal` and `--task count`: what is found out, predicted and refused."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from twinviews.cli import main

N, LABELED = 200, 60
WORDS = ["poor", "fair", "good", "best"]
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2)).round(3)
RANK = np.digitize(X[:, 0] + 0.5 * rng.normal(size=N), [-1, 0, 1])
COUNT = rng.poisson(np.exp(2 + 0.6 * X[:, 0]))


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def fit(tmp_path):
    """What `twinviews fit` ends with on these labels, and what it says."""

    def fit(labels, *options):
        with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["a", "b", "y"])
            for row in range(N):
                writer.writerow([*X[row], labels[row] if row < LABELED else ""])
        model = tmp_path / "m.twinviews"
        return run("fit", tmp_path / "t.csv", "--target", "y", "-o", model, "--quick", *options)

    return fit


def predicted(tmp_path, *options):
    out = tmp_path / "p.csv"
    done = run("predict", tmp_path / "m.twinviews", tmp_path / "t.csv", "-o", out, *options)
    assert done.exit_code == 0, done.output
    with out.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_ratings_are_asked_about_and_fitted_in_their_order(fit, tmp_path):
    found = fit(RANK + 1)
    assert "classification (--task)" in found.stderr
    assert "--task ordinal if they are ratings, --task count if something was counted" in found.stderr
    found = fit(RANK + 1, "--task", "ordinal", "--json")
    assert found.exit_code == 0, found.output
    assert "mean absolute error in steps" in found.stderr
    assert "if they are ratings" not in found.stderr
    told = json.loads(found.stdout)
    assert told["task"] == "ordinal"
    assert 0 < told["error"]["mean_absolute_error_in_steps"] < 1
    rows = predicted(tmp_path)
    assert {"prediction", "probability_1", "probability_4"} <= set(rows[0])
    assert {row["prediction"] for row in rows} <= {"1", "2", "3", "4"}
    about = run("inspect", tmp_path / "m.twinviews").output
    assert "XNVOrdinalClassifier" in about
    assert "(ordinal)" in about
    assert "mean absolute error in steps" in about


def test_words_need_their_order(fit, tmp_path):
    words = np.array(WORDS)[RANK]
    found = fit(words, "--task", "ordinal")
    assert found.exit_code == 3
    assert "nothing says in what order they are: best, fair, good, poor. Say --classes" in found.stderr
    assert fit(words, "--task", "ordinal", "--classes", ",".join(WORDS)).exit_code == 0
    names = [name for name in predicted(tmp_path)[0] if name.startswith("probability_")]
    assert names == [f"probability_{word}" for word in WORDS]
    found = fit(words, "--task", "ordinal", "--classes", "poor,good,best")
    assert found.exit_code == 3
    assert "'fair', which is not among --classes" in found.stderr
    found = fit(words, "--classes", ",".join(WORDS))
    assert "say --task ordinal, too" in found.stderr


def test_numbers_may_have_an_order_with_more_classes(fit, tmp_path):
    found = fit(RANK + 1, "--task", "ordinal", "--classes", "1,2,3,4,5")
    assert found.exit_code == 0, found.output
    assert "probability_5" in predicted(tmp_path)[0]


def test_counts_are_remarked_on_and_have_whole_intervals(fit, tmp_path):
    many = 7 * COUNT + np.arange(N) % 7  # more than 20 of them differ
    many[0] = 0
    found = fit(many)
    assert "regression (--task)" in found.stderr
    assert "Say --task count if something was counted" in found.stderr
    found = fit(COUNT, "--task", "count")
    assert found.exit_code == 0, found.output
    assert "of the Poisson deviance" in found.stderr
    assert "if something was counted" not in found.stderr
    rows = predicted(tmp_path)
    for name in ("lower", "upper"):
        assert all(float(row[name]) == int(float(row[name])) >= 0 for row in rows)
    assert all(float(row["prediction"]) > 0 for row in rows)


def test_what_is_no_count_and_what_goes_with_no_order(fit, tmp_path):
    assert "no counts: they are below 0" in fit(COUNT - 9, "--task", "count").stderr
    assert "no counts: they are not whole" in fit(COUNT / 2, "--task", "count").stderr
    words = np.array(WORDS)[RANK]
    assert "cannot be regressed on" in fit(words, "--task", "count").stderr
    assert "no classes" in fit(COUNT / 2, "--task", "ordinal").stderr
    found = fit(RANK, "--task", "ordinal", "--class-weight", "balanced")
    assert "--class-weight is for --task classification" in found.stderr
    found = fit(RANK, "--task", "ordinal", "--report", tmp_path / "r.html")
    assert "no page on ordered classes" in found.stderr
