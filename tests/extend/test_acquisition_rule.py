"""An acquisition rule from outside the package, by function, by name and by entry point."""

import sys
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from twinviews import ShiftWarning, XNVRegressor, suggest
from twinviews.active import acquisition
from twinviews.active.acquisition import AcquisitionRule, register_rule
from twinviews.cli import main
from twinviews.cli.errors import UNUSABLE
from twinviews.labeling import session as session_module
from twinviews.labeling.entries import Entry, LabelTarget
from twinviews.labeling.live_model import fit_fully
from twinviews.labeling.session import LabelingSession
from twinviews.reading import Reading

N = 200


def most_variance(candidates, k, rng):
    """The rows of largest predictive variance, whatever the ensemble thinks."""
    variance = np.square(candidates.directions).sum(axis=1)
    chosen = np.argsort(-variance)[:k]
    return chosen, variance[chosen]


@pytest.fixture
def rules(monkeypatch):
    """Names that a test registers are forgotten after it."""
    monkeypatch.setattr(acquisition, "_RULES", dict(acquisition._RULES))


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(-3, 3, size=(N, 2))


@pytest.fixture(scope="module")
def model(rows):
    y = np.where((np.arange(N) < 60) & (rows[:, 0] < 1), np.sin(rows[:, 0]), np.nan)
    with pytest.warns(ShiftWarning, match="column 0"):  # there is no label above 1
        return XNVRegressor(committee=False, random_state=0).fit(rows, y)


def test_a_function_and_a_registered_name_suggest_the_same(model, rows, rules):
    register_rule("most variance", most_variance)
    found = suggest(model, rows, 5, rule=most_variance, random_state=0, random_share=0)
    by_name = suggest(model, rows, 5, rule="most variance", random_state=0, random_share=0)
    assert_array_equal(found.places, by_name.places)
    # Without an ensemble, the uncertainty of a number is this variance.
    expected = suggest(model, rows, 5, rule="uncertainty", random_share=0)
    assert_array_equal(found.places, expected.places)
    np.testing.assert_allclose(found.worth, expected.worth)
    with pytest.raises(ValueError, match="a rule 'most variance' already"):
        register_rule("most variance", most_variance)


def test_the_page_suggests_what_the_rule_chooses(tmp_path, rows, rules, monkeypatch):
    seen = []

    def first_rows(candidates, k, rng):
        """The smallest first column, of all rows that have no answer."""
        seen.append(len(candidates.X))
        assert candidates.directions.shape[0] == len(candidates.uncertainty) == len(candidates.X)
        chosen = np.argsort(candidates.X[:, 0])[:k]
        return chosen, -candidates.X[chosen, 0]

    class AtOnce:
        busy = False

        def __init__(self, X, done):
            self._X, self._done = X, done

        def request(self, job):
            self._done(job.target, fit_fully(job.task, self._X, job.labels, job.n_rows))

        def close(self):
            pass

    monkeypatch.setattr(session_module, "FittingProcess", AtOnce)
    register_rule("first rows", first_rows)
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    reading = Reading("t.csv", ds.dataset(table), (), N)
    target = LabelTarget("y", "regression")
    with LabelingSession(reading, "t.csv", tmp_path / "l", [target], rule="first rows") as session:
        for card in session.batch("y", 30):
            value = float(np.sin(rows[card.row, 0]))
            session.record(Entry(uuid4().hex, "y", card.row, "label", value, card.origin, card.event))
        answered = set(session._targets["y"].labels.rows.tolist())
        suggested = [card.row for card in session.batch("y", 4) if card.origin == "suggested"]
    free = [int(row) for row in np.argsort(rows[:, 0]) if row not in answered]
    assert len(suggested) >= 3
    assert set(suggested) <= set(free[:5])  # one of them may have been drawn at random
    assert min(seen) >= N - 30 - 4


PACKAGE = """
def nearest_to_zero(candidates, k, rng):
    distance = (candidates.X ** 2).sum(axis=1)
    chosen = distance.argsort()[:k]
    return chosen, -distance[chosen]
"""


def test_a_rule_of_an_installed_package_is_found_by_name(tmp_path, model, rows, monkeypatch):
    (tmp_path / "my_rules.py").write_text(PACKAGE)
    metadata = tmp_path / "my_rules-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-rules\nVersion: 1.0\n")
    group = "[twinviews.acquisition_rules]\nnearest to zero = my_rules:nearest_to_zero\n"
    (metadata / "entry_points.txt").write_text(group)
    monkeypatch.syspath_prepend(tmp_path)
    found = suggest(model, rows, 3, rule="nearest to zero", random_share=0)
    assert set(found.places) <= set(np.argsort(np.square(rows).sum(axis=1))[:20].tolist())
    with pytest.raises(ValueError, match=r"rule='nearest' must be one of .*random, nearest to zero"):
        suggest(model, rows, 3, rule="nearest", random_share=0)
    sys.modules.pop("my_rules")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (([0, 0], [1.0, 1.0]), r"places \[0, 0\] for k=2\. Return at most k different"),
        (([0, N], [1.0, 1.0]), "from 0 to 199"),
        (([-1], [1.0]), "from 0 to 199"),
        (([0, 1, 2], [1.0, 1.0, 1.0]), "at most k"),
        (([0, 1], [1.0]), r"Return whole numbers \(k,\) and scores \(k,\)"),
        (([0.5], [1.0]), "Return whole numbers"),
    ],
)
def test_a_rule_that_returns_nonsense_is_told(choice, message, model, rows):
    with pytest.raises(ValueError, match=message):
        suggest(model, rows, 2, rule=lambda candidates, k, rng: choice, random_share=0)


def test_a_rule_may_want_the_most_uncertain_rows_of_a_large_table(model, monkeypatch):
    rows = np.random.default_rng(1).uniform(-3, 3, size=(5000, 2))
    kept = []

    def keep(candidates, k, rng):
        kept.append(candidates)
        return np.arange(k), candidates.uncertainty[:k]

    found = suggest(model, rows, 5, rule=AcquisitionRule(keep, most_uncertain=True), random_share=0)
    assert_array_equal(found.places, suggest(model, rows, 5, rule="uncertainty", random_share=0).places)
    suggest(model, rows, 5, rule=keep, random_state=0, random_share=0)
    assert kept[0].uncertainty.min() > np.median(kept[1].uncertainty)


def test_the_command_names_the_rules_that_there_are(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n2,3\n")
    wrong = ["--target", "y", "--task", "regression", "--rule", "best", "--no-browser"]
    result = CliRunner().invoke(main, ["label", str(table), *wrong])
    assert result.exit_code == UNUSABLE
    assert "rule='best' must be one of best of handfuls, uncertainty, random" in result.output
