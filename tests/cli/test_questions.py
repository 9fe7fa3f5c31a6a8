"""What `twinviews fit` asks about a table before it learns, as a careful colleague would."""

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from twinviews.cli import main
from twinviews.reading import write

N, LABELED = 300, 80
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3)).round(3)
TRUTH = 20 + X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=N)
NUMBERS = [f"{value:.2f}" if row < LABELED else "" for row, value in enumerate(TRUTH)]


def fit(folder, target, *options, more=None):
    """What `twinviews fit` ends with, and what it says."""
    path = folder / "table.csv"
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], **(more or {}), "y": target}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    arguments = ["fit", str(path), "--target", "y", "-o", str(folder / "m.twinviews"), "--quick"]
    return CliRunner().invoke(main, [*arguments, *options])


def with_labels(**spoiled):
    """The numbers, with other labels in some rows: row_3='<15' is the third row."""
    labels = list(NUMBERS)
    for row, value in spoiled.items():
        labels[int(row.removeprefix("row_")) - 1] = value
    return labels


def test_numbers_with_strange_spellings_stop(tmp_path):
    spoiled = with_labels(row_3="<15", row_6="20.1*", row_10="19.2 MJ/kg", row_21="tbd")
    found = fit(tmp_path, spoiled)
    assert found.exit_code == 3
    assert "76 of 80 labels are numbers, and 4 are not: '<15' (row 3)" in found.stderr
    assert not (tmp_path / "m.twinviews").exists()
    assert fit(tmp_path, spoiled, "--task", "classification").exit_code == 0


@pytest.mark.parametrize("mark", ["-1", "-1.0", "-999", "-999.00"])
def test_a_mark_for_blanks_stops_and_the_remedy_works(mark, tmp_path):
    marked = [value or mark for value in NUMBERS]
    found = fit(tmp_path, marked)
    assert found.exit_code == 3
    number = mark.partition(".")[0]
    assert f"220 of 300 labels are {number} (the first is row 81)" in found.stderr
    assert f"--missing={number}" in found.stderr
    again = fit(tmp_path, marked, f"--missing={number}", "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["n_labeled"] == LABELED


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "xlsx"])
def test_the_remedy_for_a_mark_works_in_formats_with_types_of_their_own(ending, tmp_path):
    path, model = tmp_path / f"table.{ending}", str(tmp_path / "m.twinviews")
    columns = {name: X[:, at].tolist() for at, name in enumerate("abc")}
    table = pa.table({**columns, "y": [float(value) if value else -1.0 for value in NUMBERS]})
    write([table], table.schema, path)
    arguments = ["fit", str(path), "--target", "y", "-o", model, "--quick", "--json"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 3
    assert "220 of 300 labels are -1 (the first is row 81)" in found.stderr
    assert "--missing=-1" in found.stderr
    again = CliRunner().invoke(main, [*arguments, "--missing=-1"])
    assert json.loads(again.stdout)["n_labeled"] == LABELED


def test_yes_and_y_are_one_class_with_the_remedy(tmp_path):
    answers = [("yes", "y", "no", "n")[2 * (value < 20) + row % 2] for row, value in enumerate(TRUTH)]
    found = fit(tmp_path, answers)
    assert "Classes that mean the same, with their counts: 'y' (" in found.stderr
    assert "--kind COLUMN=boolean" in found.stderr
    again = fit(tmp_path, answers, "--kind", "y=boolean")
    assert again.exit_code == 0
    assert "Classes that mean the same" not in again.stderr


def test_an_id_as_target_stops(tmp_path):
    found = fit(tmp_path, [f"P-{row}" for row in range(N)])
    assert found.exit_code == 3
    assert "300 of 300 labels are classes with one row each, such as 'P-0' (row 1)" in found.stderr


def test_a_constant_target_is_said_to_be_one(tmp_path):
    found = fit(tmp_path, ["3.5" if row < 50 else "" for row in range(N)])
    assert found.exit_code == 0
    assert "All 50 labels are 3.5" in found.stderr
    assert "Error to expect: unknown, as all labels are the same." in found.stderr


def test_a_report_on_many_classes_has_no_warning_of_another_library(tmp_path, recwarn):
    names = [f"class {row % 25}" if row < 60 else "" for row in range(N)]
    found = fit(tmp_path, names, "--report", str(tmp_path / "r.html"))
    assert found.exit_code == 0
    assert [str(one.message) for one in recwarn] == []


def test_a_row_of_totals_is_named(tmp_path):
    total = sum(float(value) for value in NUMBERS if value)
    found = fit(tmp_path, with_labels(row_81=f"{total:.2f}"))
    assert found.exit_code == 0
    assert f"row 81 is {total:.2f}, the sum of all others" in found.stderr


def test_one_class_in_two_spellings_is_named(tmp_path):
    names = [("One ", "one", "two")[row % 3] if row < 90 else "" for row in range(N)]
    found = fit(tmp_path, names)
    assert found.exit_code == 0
    assert "'One ' (30) and 'one' (30)" in found.stderr


def test_a_column_that_gives_the_answer_away_is_named_once(tmp_path):
    found = fit(tmp_path, NUMBERS, more={"ct_result": (3 * TRUTH + 1).round(2)})
    assert found.exit_code == 0
    assert found.stderr.count("Column 'ct_result' alone nearly decides the label") == 1
    assert "--kind ct_result=skip" in found.stderr
    without = fit(tmp_path, NUMBERS, "--kind", "ct_result=skip", more={"ct_result": TRUTH.round(2)})
    assert "alone nearly decides" not in without.stderr


def test_a_mark_for_blanks_in_a_column_is_named(tmp_path):
    column = np.where(np.arange(N) % 5 == 0, -999, X[:, 2].round(2))
    found = fit(tmp_path, NUMBERS, more={"d": column})
    assert "'d' is -999 in 16 of 80 labeled rows" in found.stderr


def test_ratings_are_said_to_be_taken_as_classes(tmp_path):
    ratings = [
        str(int(np.clip(round(value - 17), 1, 5))) if row < 80 else ""
        for row, value in enumerate(TRUTH)
    ]
    found = fit(tmp_path, ratings)
    assert "--task regression" in found.stderr


def test_too_few_labels_are_not_judged(tmp_path):
    found = fit(tmp_path, [value if row < 10 else "" for row, value in enumerate(NUMBERS)], "--json")
    assert "Error to expect: unknown: 10 labels are too few to judge." in found.stderr
    assert json.loads(found.stdout)["error"]["too_few_labels"]


def test_a_clean_table_is_not_asked_about(tmp_path):
    said = fit(tmp_path, NUMBERS).stderr.splitlines()
    assert [line.partition(":")[0].split()[0] for line in said[1:]] == [
        "y",
        "3",
        "Error",
        "Wrote",
        "Next",
    ]


def test_missing_decimals_are_taken_as_they_are_written(tmp_path):
    labels = [{0: "9.000", 1: "9"}.get(row % 8, value) for row, value in enumerate(NUMBERS)]
    found = fit(tmp_path, labels, "--missing=9.000", "--task", "regression", "--json")
    assert json.loads(found.stdout)["n_labeled"] == sum(value not in ("", "9.000") for value in labels)
