"""Numbers of labels and repetitions that suit a table of the user's."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from twinviews.cli import main
from twinviews_experiments.contest.one_round import (
    draw,
    few_labels,
    fewest_and_most_labels,
    rows_for,
)
from twinviews_experiments.contest.own_table import (
    UserTable,
    chosen_repetitions,
    suitable_labels,
    suitable_repetitions,
)
from twinviews_experiments.datasets.public_sources import RawTable

TABLE = UserTable(Path("prices.csv"), "price", None)


def raw(n_labels, n_others=0, classes=None):
    rng = np.random.default_rng(0)
    y = np.full(n_labels + n_others, np.nan)
    y[:n_labels] = rng.normal(size=n_labels) if classes is None else np.arange(n_labels) % classes
    return RawTable({"x": rng.normal(size=len(y))}, y)


@pytest.mark.parametrize(
    ("n_labels", "n_others"), [(30, 0), (20, 100), (400, 0), (3000, 50), (40_000, 0)]
)
def test_with_every_chosen_n_there_are_labels_and_rows_without(n_labels, n_others):
    table = raw(n_labels, n_others)
    counts, _ = chosen_repetitions(table, TABLE, "regression")
    for n in counts:
        rows = draw(table, "regression", 0, seed=1, most_rows=rows_for(n))
        few = few_labels(rows, "regression", n, seed=0)
        assert len(few.y) == n
        assert not np.isnan(few.y).any()
        assert len(few.unlabeled) >= min(n, 5000)


def test_one_more_label_than_there_is_room_for_leaves_too_few_rows():
    table = raw(401)
    _, most = fewest_and_most_labels(table, "regression")
    rows = draw(table, "regression", 0, seed=1)
    assert most <= len(rows.X) - most
    assert most + 1 > len(rows.X) - (most + 1)


def test_up_to_5000_labels_all_n_see_the_same_rows():
    assert len({rows_for(n) for n in (10, 500, 5000)}) == 1
    assert rows_for(20_000) == 25_000


def test_numbers_of_labels_go_from_10_to_20000_as_the_table_has_room():
    assert suitable_labels(10, 10) == [10]
    assert suitable_labels(10, 140) == [10, 20, 50, 100]
    assert suitable_labels(10, 1750) == [100, 200, 500, 1000]
    assert suitable_labels(10, 10**6) == [2000, 5000, 10_000, 20_000]
    assert suitable_labels(12, 15) == [15]  # twelve classes


def test_repetitions_never_grow_with_labels():
    counts = [suitable_repetitions(n) for n in (10, 100, 200, 500, 1000, 2000, 5000, 20_000)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 20
    assert counts[-1] >= 2


def test_what_is_given_is_not_chosen():
    counts, words = chosen_repetitions(raw(400), TABLE, "regression", [30, 60], 7)
    assert counts == {30: 7, 60: 7}
    assert words == "prices.csv: regression of 'price', 400 labels. n = 30 (7 repetitions), 60 (7)."


def test_what_is_left_out_is_told():
    counts, words = chosen_repetitions(raw(400), TABLE, "regression", [30, 500], 7)
    assert counts == {30: 7}
    assert "Left out is n = 500: there is room for 10 to 140." in words


def test_every_class_has_a_label():
    assert fewest_and_most_labels(raw(400, classes=26), "classification") == (26, 140)


@pytest.mark.parametrize(
    ("table", "task", "labels", "message"),
    [
        (raw(20), "regression", None, "too few to compare methods: there is room for n = 7"),
        (raw(60, classes=40), "classification", None, "n must be at least 40, with a label"),
        (raw(400), "regression", [500], "room for n from 10 to 140, not for n = 500. Use other --lab"),
    ],
)
def test_errors_name_the_value_the_limit_and_the_way_out(table, task, labels, message):
    with pytest.raises(ValueError, match=message):
        chosen_repetitions(table, TABLE, task, labels)


def test_the_command_says_what_it_has_chosen(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    lines = [f"{a},{b}" for a, b in rng.normal(size=(80, 2))]
    path.write_text("\n".join(["a,b", *lines]) + "\n")
    options = ["--methods", "ridge", "--jobs", "1", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, ["compare", str(path), "--target", "b", *options])
    assert done.exit_code == 0, done.output
    assert "80 labels. n = 10 (20 repetitions), 20 (20), as suits so many labels" in done.output
    assert "--labels and --repetitions would change it" in done.output
