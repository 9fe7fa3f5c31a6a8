"""The command line as a person uses it: files in, files out, one line for what is wrong."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import twinviews
from messy.tables import GOOD, WRONG
from report_tables import classes_table, numbers_table
from twinviews import KRRClassifier, XNVRegressor, cli, load_model, save_model
from twinviews.cli import main
from twinviews.cli.actions.demo_tables import write_patients
from twinviews.cli.actions.report_sample import sample_rows
from twinviews.ensemble import builtin_members
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import MemberSpec

README = Path(__file__).parents[2] / "README.md"
COMMANDS = ["fit", "predict", "inspect", "compare", "replicate", "demo"]


def run(*arguments, code=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def error_line(result):
    """What a failed command says: one line."""
    last = result.stderr.strip().splitlines()[-1]
    assert "Traceback" not in result.output
    assert last.startswith("Error: ")
    return last


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The demo's table of patients, a model of it, and the labels that were blanked."""
    place = tmp_path_factory.mktemp("desk")
    write_patients(place / "patients.csv")
    run(
        "fit", place / "patients.csv", "--target", "progression", "-o", place / "m.twinviews", "--quick"
    )
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    shown = run(command, "--help").output
    assert shown.startswith(f"Usage: main {command}")
    assert command in run("--help").output


def test_a_fit_says_what_it_found_and_how_to_say_otherwise(folder):
    table = ("fit", folder / "patients.csv", "--target", "progression", "--quick")
    said = run(*table, "-o", folder / "again.twinviews").stderr
    assert "delimiter ';' (--delimiter); encoding utf-8 (--encoding); decimal ',' (--decimal)" in said
    assert "progression: 120 labels in 442 rows; regression (--task)" in said
    assert "left out: patient (nearly every row has a value of its own) (--kind)" in said
    assert "Error to expect: " in said
    same = (folder / "again.twinviews").read_bytes() == (folder / "m.twinviews").read_bytes()
    assert same, "the same table gives the same model file"


def test_predictions_stand_beside_the_rows(folder):
    run("predict", folder / "m.twinviews", folder / "patients.csv", "-o", folder / "out.parquet")
    found = pq.read_table(folder / "out.parquet").to_pandas()
    model = load_model(folder / "m.twinviews")
    assert_array_equal(found["prediction"], model.predict(found))
    assert_allclose(found[["lower", "upper"]], model.predict_interval(found), rtol=1e-12)
    assert found.columns[0] == "patient"
    assert len(found) == 442


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "xlsx", "arrow"])
def test_every_format_holds_the_same_predictions(folder, suffix):
    whole = ("predict", folder / "m.twinviews", folder / "patients.csv", "--keep", "patient", "-o")
    run(*whole, folder / f"out.{suffix}")
    run(*whole, folder / "as.parquet")
    readers = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "jsonl": lambda path: pd.read_json(path, lines=True),
        "xlsx": lambda path: pd.read_excel(path, engine="calamine"),
        "arrow": pd.read_feather,
    }
    found = readers[suffix](folder / f"out.{suffix}")
    expected = pd.read_parquet(folder / "as.parquet")
    assert found.columns.tolist() == ["patient", "prediction", "lower", "upper", "outside"]
    assert found["outside"].isna().all()  # it is the table of the fit
    assert_allclose(found["prediction"], expected["prediction"], rtol=1e-12)


def test_standard_streams(folder):
    table = (folder / "patients.csv").read_bytes()
    result = run("predict", folder / "m.twinviews", "-", "-o", "-", "--keep", "patient", input=table)
    lines = result.stdout.splitlines()
    assert lines[0] == '"patient","prediction","lower","upper","outside"'
    assert len(lines) == 443
    run("fit", "-", "--target", "progression", "-o", folder / "piped.twinviews", "--quick", input=table)
    assert load_model(folder / "piped.twinviews").n_labeled_ == 120


def test_machines_read_json(folder):
    done = json.loads(
        run(
            "fit", folder / "patients.csv", "--target", "progression", "-o", folder / "j.twinviews",
            "--quick", "--json",
        ).stdout
    )  # fmt: skip
    assert (done["task"], done["n_labeled"], done["n_unlabeled"]) == ("regression", 120, 322)
    assert done["error"]["root_mean_squared_error"] > 0
    facts = json.loads(run("inspect", folder / "j.twinviews", "--json").stdout)
    assert facts["about"]["target"] == "progression"
    assert facts["columns"][0]["name"] == "patient"
    kept = (
        "predict",
        folder / "j.twinviews",
        folder / "patients.csv",
        "-o",
        folder / "j.csv",
        "--json",
    )
    added = json.loads(run(*kept).stdout)["predictions"]
    assert added == ["prediction", "lower", "upper", "outside"]


@pytest.mark.parametrize("n", [14, 40, 200])
@pytest.mark.parametrize("make", [numbers_table, classes_table])
def test_one_error_is_told_by_the_model_its_file_json_and_the_report(make, n, tmp_path):
    table, file, page = tmp_path / "t.parquet", tmp_path / "m", tmp_path / "page.html"
    pq.write_table(make(n=n, N=300), table)
    fit = ("fit", table, "--target", "y", "-o", file, "--report", page, "--quick", "--json")
    done = run(*fit)
    told, model = json.loads(done.stdout)["error"], load_model(file)
    name = "error_rate" if make is classes_table else "root_mean_squared_error"
    low, high = model.cv_error_interval_
    assert (told[name], told["low"], told["high"]) == (model.cv_error_, low, high)
    others = ("auc", "log_loss") if make is classes_table else ("r2",)
    assert [told[other] for other in others] == [getattr(model, f"cv_{other}_") for other in others]
    facts = json.loads(run("inspect", file, "--json").stdout)
    assert facts["error"] == [told] == [facts["about"]["error"]]
    (words,) = facts["error_in_words"]
    assert f"Error to expect: {words}" in done.stderr
    assert words in run("inspect", file).stdout
    shown = page.read_text(encoding="utf-8")
    assert f"<p>Error to expect: {words}.</p>" in shown
    number = words.partition(" (")[0].partition(":")[0]
    answer = re.search('<dd class="short">(.*?)</dd>', shown)[1].lower()
    assert answer in (number, f"error {number}", f"{number} wrong")


def test_a_terminal_gets_no_commands_from_strangers(tmp_path):
    """Names of columns, classes and targets are shown, and their control characters spelled out."""
    hostile = "\x1b]0;owned\x07\x9b2J\u202e"
    X = pd.DataFrame({hostile: np.arange(12.0), "b": 1.0})
    model = KRRClassifier(sigma=1.0, ridge=0.1).fit(X, [f"{hostile}{i % 2}" for i in range(12)])
    save_model(model, tmp_path / "m", about={"target": hostile})
    for arguments in ([], ["--json"]):
        shown = run("inspect", tmp_path / "m", *arguments).stdout
        assert not set("\x1b\x07\x9b\u202e") & set(shown)
        assert "\\u001b]0;owned\\u0007" in shown
    assert json.loads(shown)["about"] == {"target": hostile}
    pq.write_table(pa.table({hostile: [1.0, 2.0], "b": [1.0, 2.0]}), tmp_path / "t.parquet")
    told = run("fit", tmp_path / "t.parquet", "--target", "c", "-o", tmp_path / "n", code=3).stderr
    assert "\x1b" not in told
    assert "\\u001b]0;owned" in told


def test_costs_of_classes(tmp_path):
    """A class that is never predicted is told with the option, and the option finds it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 4))
    y = np.where(random.random(1500) < 1 / (1 + np.exp(3.4 - 1.3 * X[:, 0])), "yes", "no")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(bought=np.where(np.arange(1500) < 300, y, ""))
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", tmp_path / "t.csv", "--target", "bought", "--quick", "-o", tmp_path / "m")
    plain = run(*asked).stderr
    assert re.search(
        r"predicted to be 'yes' \(\d.\d% of labels\).* use --class-weight balanced\.", plain
    )
    assert "what this model knows is which rows are likelier (AUC)" in plain
    balanced = run(*asked, "--class-weight", "Balanced").stderr
    assert "No held-out label" not in balanced
    assert re.search(r"Error to expect: (between )?[234]\d", balanced)  # more false alarms
    assert load_model(tmp_path / "m").class_weight == "balanced"
    run(*asked, "--class-weight", "yes=9, no=1")
    assert load_model(tmp_path / "m").class_weight == {"yes": 9.0, "no": 1.0}
    assert "which is not CLASS=COST" in run(*asked, "--class-weight", "yes=ten", code=3).stderr
    assert "no class of y" in run(*asked, "--class-weight", "maybe=3", code=3).stderr
    numbers = ("fit", tmp_path / "t.csv", "--target", "a", "--quick", "-o", tmp_path / "m")
    assert "is for --task classification" in run(*numbers, "--class-weight", "balanced", code=3).stderr


def test_unlabeled_rows_left_out_are_told_by_fit_inspect_and_report(folder):
    table, model, page = folder / "patients.csv", folder / "alone.twinviews", folder / "alone.html"
    asked = ("fit", table, "--target", "progression", "--quick", "--without-unlabeled", "--json")
    done = run(*asked, "-o", model, "--report", page)
    assert "Left out, as --without-unlabeled says: 322 rows without a label" in done.stderr
    facts = json.loads(done.stdout)
    assert (facts["n_labeled"], facts["n_unlabeled"], facts["n_left_out"]) == (120, 0, 322)
    assert facts["shift"] is not None
    shown = run("inspect", model).stdout
    assert "labels      120, and 0 rows without one; 322 were left out" in shown
    assert json.loads(run("inspect", model, "--json").stdout)["n_left_out"] == 322
    text = page.read_text(encoding="utf-8")
    assert "120 labeled and 322 unlabeled" in text
    assert "322 rows without a label were left out. The model was fitted without them." in text
    assert "0 unlabeled rows (322 were left out)" in text
    assert "this model, without unlabeled rows" not in text


def test_labels_beyond_those_that_are_held_are_told_by_fit_and_inspect(folder):
    table, model = folder / "patients.csv", folder / "held.twinviews"
    asked = ("fit", table, "--target", "progression", "--quick", "--max-labels", 50, "--json")
    done = run(*asked, "-o", model)
    assert "50 of 120 labels are used: a sample as good as random" in done.stderr
    assert "--max-labels 120 uses all" in done.stderr
    assert (json.loads(done.stdout)["n_labeled"], json.loads(done.stdout)["n_labels_unused"]) == (
        120,
        70,
    )
    assert "labels      120 (50 of 120 labels are used), and 322" in run("inspect", model).stdout
    assert json.loads(run("inspect", model, "--json").stdout)["n_labels_unused"] == 70


def test_inspect_tells_a_person(folder):
    shown = run("inspect", folder / "m.twinviews").stdout
    assert "predicts    progression (regression)" in shown
    assert "clinic          category  3 levels, a column each" in shown


def test_classes_are_found_out_and_whole_numbers_stay_whole(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    grade = pd.array(np.where(np.arange(80) % 2 == 0, (x[:, 0] > 0) + 1, None), dtype="Int64")
    pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "grade": grade}).to_csv(tmp_path / "t.csv", index=False)
    said = run("fit", tmp_path / "t.csv", "--target", "grade", "-o", tmp_path / "m", "--quick").stderr
    assert "grade: 40 labels in 80 rows; classification (--task)" in said
    run("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "out.csv", "--keep", "grade")
    found = pd.read_csv(tmp_path / "out.csv")
    probabilities = ["probability_1", "probability_2"]
    assert found.columns.tolist() == ["grade", "prediction", *probabilities, "outside"]
    assert set(found["prediction"]) == {1, 2}
    other = ("fit", tmp_path / "t.csv", "--target", "grade", "-o", tmp_path / "m", "--quick")
    assert "regression" in run(*other, "--task", "regression").stderr


def test_more_rows_without_labels(folder):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    rows.drop(columns="progression").to_parquet(folder / "more.parquet")
    table = ("fit", folder / "patients.csv", "--target", "progression", "--quick")
    run(*table, "--unlabeled", folder / "more.parquet", "--kind", "visit=skip", "-o", folder / "two")
    assert load_model(folder / "two").n_unlabeled_ == 322 + 442


def test_predictions_of_an_earlier_run_are_not_learned_from(folder):
    run("predict", folder / "m.twinviews", folder / "patients.csv", "-o", folder / "earlier.csv")
    table = ("fit", folder / "earlier.csv", "--target", "progression", "--quick", "-o", folder / "e")
    said = run(*table).stderr
    assert "Left out, as predictions of an earlier run: prediction, lower, upper, outside" in said
    assert "prediction" not in load_model(folder / "e").feature_names_in_


def test_words_for_missing_values_are_remembered(folder):
    text = (folder / "patients.csv").read_text()
    (folder / "odd.csv").write_text(text.replace("male;", "n.d.;").replace("fen.d.", "female"))
    table = ("fit", folder / "odd.csv", "--target", "progression", "--quick", "-o", folder / "o")
    run(*table, "--missing", "n.d.")
    run("predict", folder / "o", folder / "odd.csv", "-o", folder / "said.csv", "--missing", "n.d.")
    run("predict", folder / "o", folder / "odd.csv", "-o", folder / "kept.csv")
    assert (folder / "said.csv").read_text() == (folder / "kept.csv").read_text()


def test_the_order_of_day_and_month_is_remembered(tmp_path):
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 360, 80), "D")
    y = np.where(np.arange(80) < 40, when.day_of_year.to_numpy() + rng.normal(size=80), np.nan)
    frame = pd.DataFrame({"when": when.strftime("%m/%d/%Y"), "a": rng.normal(size=80), "y": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", "--quick")
    pd.DataFrame({"when": ["02/10/2021"], "a": [0.0]}).to_csv(tmp_path / "one.csv", index=False)
    run("predict", tmp_path / "m", tmp_path / "one.csv", "-o", tmp_path / "out.csv")
    assert abs(pd.read_csv(tmp_path / "out.csv")["prediction"][0] - 41) < 25  # 10 February


def test_values_that_were_never_seen_are_counted(folder):
    text = (folder / "patients.csv").read_text()
    n = text.count(";Harbour;")
    (folder / "moved.csv").write_text(text.replace(";Harbour;", ";Hafen;"))
    for keep in ([], ["--keep", "patient"]):
        args = ("predict", folder / "m.twinviews", folder / "moved.csv", "-o", folder / "h.csv", *keep)
        said = run(*args).stderr
        assert f"clinic: {n} of 442 rows hold a value that the fit has not seen: 'Hafen'." in said
    found = pd.read_csv(folder / "h.csv")
    assert found.columns.tolist() == ["patient", "prediction", "lower", "upper", "outside"]
    assert (found["outside"] == "clinic").sum() == n
    assert found["outside"].isna().sum() == 442 - n


def test_a_column_in_another_unit_is_told_and_the_table_of_the_fit_is_not(folder):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    rows.assign(**{"body mass": 100 * rows["body mass"]}).to_csv(folder / "unit.csv", index=False)
    predict = ("predict", folder / "m.twinviews")
    told = run(*predict, folder / "unit.csv", "-o", folder / "u.csv", "--json")
    n = rows["body mass"].notna().sum()
    assert f"body mass: {n} of 442 rows are outside the range of the fit, 18 to 42.2" in told.stderr
    assert "(here 1,800 to 4,220): another unit?" in told.stderr
    outside = json.loads(told.stdout)["outside"]
    assert outside["rows_by_column"] == {"body mass": n}
    assert list(outside["told"]) == ["body mass"]
    told = run(*predict, folder / "patients.csv", "-o", folder / "u.csv", "--json", "--no-outside")
    assert "outside" not in told.stderr
    assert json.loads(told.stdout)["outside"]["n_rows"] == 0
    assert "outside" not in pd.read_csv(folder / "u.csv").columns
    rows.loc[[7], "body mass"] *= 100
    rows.to_csv(folder / "unit.csv", index=False)
    said = run(*predict, folder / "unit.csv", "-o", folder / "u.csv").stderr
    assert "Single rows are outside what the fit has seen, in body mass (column outside)." in said


def test_a_useless_model_is_called_so(tmp_path):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    noise.assign(y=rng.normal(size=60)).to_csv(tmp_path / "t.csv", index=False)
    said = run("fit", tmp_path / "t.csv", "--target", "y ", "-o", tmp_path / "m", "--quick").stderr
    assert re.search(r"R² between -\d\.\d\d and \d\.\d\d: no better than always saying the mean", said)
    labels = np.where(rng.random(60) < 0.5, "up", "down")
    noise.assign(y=labels).to_csv(tmp_path / "c.csv", index=False)
    said = run("fit", tmp_path / "c.csv", "--target", "y", "-o", tmp_path / "m", "--quick").stderr
    share = min(np.mean(labels == "up"), np.mean(labels == "down"))
    assert f"always the commonest class would be wrong in {share:.1%}" in said


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_command_that_is_stopped_leaves_nothing_half_written(folder, tmp_path, name):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    pd.concat([rows] * 400).to_parquet(tmp_path / "long.parquet", row_group_size=442)
    command = [sys.executable, "-c", "from twinviews.cli import main; main()", "predict"]
    command += [
        str(folder / "m.twinviews"),
        str(tmp_path / "long.parquet"),
        "-o",
        str(tmp_path / "o.csv"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(name)
    assert process.wait(timeout=60) in (130, 143)
    assert [path.name for path in tmp_path.iterdir()] == ["long.parquet"]


def ended_soon(script, *arguments):
    """What a script said that would wait for longer than this does."""
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


IN_A_FINALIZER = """
import signal, sys, time, weakref
from twinviews.cli.errors import plain_errors
from twinviews._system.temporary_files import held_folder

class Rows: pass

def release():
    signal.raise_signal(getattr(signal, sys.argv[1]))
    folder.release()

folder, rows = held_folder(), Rows()
(folder.path / "table").write_text("rows")
print(folder.path, flush=True)
weakref.finalize(rows, release)
with plain_errors():
    del rows
    time.sleep(100)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_stop_while_something_is_taken_away_comes_at_once(name, code):
    ended = ended_soon(IN_A_FINALIZER, name)
    assert not Path(ended.stdout.strip()).exists()
    check_stopped(ended, code)


def check_stopped(ended, code):
    assert ended.returncode == code
    assert ended.stderr.startswith("Error: Stopped. ")
    assert ended.stderr.count("\n") == 1


WHERE_PYTHON_IGNORES_EXCEPTIONS = """
import os, signal, sys, time
from twinviews.cli.errors import plain_errors

def stop():
    signal.raise_signal(getattr(signal, sys.argv[1]))

class Rows:
    def __del__(self):
        stop()

os.register_at_fork(after_in_parent=stop)
with plain_errors():
    if sys.argv[2] == "fork":
        if os.fork() == 0:
            os._exit(0)
    else:
        Rows()
    time.sleep(100)
"""


@pytest.mark.parametrize("where", ["fork", "finalizer"])
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_stop_where_python_ignores_exceptions_is_a_stop(name, code, where):
    check_stopped(ended_soon(WHERE_PYTHON_IGNORES_EXCEPTIONS, name, where), code)


def test_a_stop_that_a_library_would_make_another_error_of_is_a_stop():
    script = """
import signal
from twinviews.cli.errors import plain_errors
with plain_errors(), plain_errors(when_stopped="It goes on."):
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        raise ValueError("Invalid matrix")
"""
    ended = ended_soon(script)
    assert (ended.returncode, ended.stderr) == (143, "Error: Stopped. It goes on.\n")


def test_a_fork_that_is_stopped_leaves_the_files_of_its_parent():
    script = """
import os, signal
from twinviews.cli.errors import plain_errors
from twinviews._system.temporary_files import held_folder
folder = held_folder()
with plain_errors():
    if (child := os.fork()) == 0:
        signal.raise_signal(signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), folder.path.exists())
folder.release()
"""
    ended = ended_soon(script)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("143 True\n", "", 0)


def test_a_command_leaves_signals_as_they_were(folder):
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    run("inspect", folder / "m.twinviews")
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_signal_that_is_ignored_stays_ignored():
    script = """
import signal
from twinviews.cli.errors import plain_errors
signal.signal(signal.SIGINT, signal.SIG_IGN)
with plain_errors():
    signal.raise_signal(signal.SIGINT)
print("went on")
"""
    assert ended_soon(script).stdout == "went on\n"


@pytest.mark.parametrize("name", ["compare", "replicate"])
def test_without_the_experiments_their_commands_say_what_to_install(monkeypatch, name):
    monkeypatch.setattr(cli, "entry_points", lambda group: [])
    cli.added_commands.cache_clear()
    try:
        result = run(name, "prices.csv", "--target", "price", "--help", code=5)
        assert "pip install twinviews-experiments" in error_line(result)
        assert f"\n  {name} " in run("--help").stdout
    finally:
        cli.added_commands.cache_clear()


def test_a_kind_of_the_target_is_not_asked_of_the_other_tables(folder):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    rows.drop(columns="progression").to_csv(folder / "more.csv", index=False)
    table = ("fit", folder / "patients.csv", "--target", "progression", "--quick", "-o", folder / "t")
    run(
        *table,
        "--kind",
        "progression=number",
        "--unlabeled",
        folder / "more.csv",
        "--kind",
        "visit=skip",
    )


def test_a_model_of_the_library_is_told_about_too(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = XNVRegressor(n_components=5, random_state=0).fit(X, X[:, 0])
    save_model(model, tmp_path / "m", about={"target": "price", "error": "none"})
    shown = run("inspect", tmp_path / "m").stdout
    assert "predicts    price" in shown


def test_a_wide_table_with_long_names_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"expression of the gene number {j:05d} in the liver" for j in range(2500)]
    frame = pd.DataFrame(rng.normal(size=(40, 2500)), columns=names).assign(y=rng.normal(size=40))
    frame.to_parquet(tmp_path / "wide.parquet")
    run("fit", tmp_path / "wide.parquet", "--target", "y", "-o", tmp_path / "m", "--quick")
    assert load_model(tmp_path / "m").n_features_in_ == 2500


def test_a_report_on_a_sample_speaks_of_the_whole(monkeypatch, tmp_path):
    monkeypatch.setattr("twinviews.cli.actions.report_sample.MOST_UNLABELED", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": np.where(np.arange(600) < 30, X[:, 0], np.nan)})
    dataset = ds.dataset(table)
    rows, drawn = sample_rows([dataset], ["a", "b", "y"], "y", 30, 570, seed=0)
    assert 60 < len(rows) < 250
    assert_array_equal(rows["a"], X[drawn.number - 1, 0])
    assert (drawn.n_labeled, drawn.n_unlabeled) == (30, 570)
    assert len(set(range(1, 31)) & set(drawn.number.tolist())) == 30


def test_a_kind_that_is_said_is_believed(folder):
    table = ("fit", folder / "patients.csv", "--target", "progression", "--quick", "-o", folder / "k")
    run(*table, "--kind", "visit=skip", "--kind", "sex=skip", "--kind", "age=category")
    columns = json.loads(run("inspect", folder / "k", "--json").stdout)["columns"]
    assert {column["name"] for column in columns}.isdisjoint({"visit", "sex"})
    assert next(column["kind"] for column in columns if column["name"] == "age") == "category"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "no.csv", "--target", "y", "-o", "m"], 4, "There is no file 'no.csv'"),
        (
            ["fit", "{table}", "--target", "progresion", "-o", "m"],
            3,
            "'progresion' may be 'progression'",
        ),
        (["fit", "{table}", "--target", "visit", "-o", "m"], 3, "'visit' holds dates"),
        (["fit", "{table}", "--target", "sex", "--task", "regression", "-o", "m"], 3, "holds words"),
        (["fit", "{table}", "--target", "age", "-o", "no/m"], 4, "There is no folder 'no'"),
        (["fit", "{table}", "--target", "age", "-o", "{table}"], 3, "is read or written already"),
        (
            ["fit", "{table}", "--target", "age", "-o", "m", "--report", "m"],
            3,
            "read or written already",
        ),
        (["fit", "{table}", "--target", "age", "-o", "-"], 3, "does not go to standard output"),
        (
            ["fit", "{model}", "--target", "age", "-o", "m"],
            3,
            "is a model file, and a table is expected",
        ),
        (["fit", "{table}", "--target", "ratio", "--task", "classification", "-o", "m"], 3, "decimals"),
        (["predict", "{model}", "{table}", "-o", "{table}"], 3, "is read or written already"),
        (["predict", "{model}", "{table}", "-o", "{model}"], 3, "is read or written already"),
        (["fit", "{table}", "--target", "age", "--kind", "zip", "-o", "m"], 2, "must be a column, ="),
        (["predict", "{table}", "{table}", "-o", "out.csv"], 3, "not a valid model file"),
        (["predict", "no.twinviews", "{table}", "-o", "out.csv"], 4, "No such file"),
        (["predict", "{model}", "{table}", "-o", "out.doc"], 3, "says no format that is written"),
        (
            ["predict", "{model}", "{table}", "-o", "o.csv", "--keep", "nam"],
            3,
            "There is no column 'nam'",
        ),
        (
            ["predict", "{model}", "{table}", "-o", "o.csv", "--coverage", "1.5"],
            2,
            "1.5 is not in the range",
        ),
        (["predict", "{model}", "{table}", "-o", "-", "--json"], 2, "both mean standard output"),
        (["inspect", "{table}"], 3, "not a valid model file"),
        (["compare", "{table}"], 2, "TABLE and --target go together"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    names = {"table": folder / "patients.csv", "model": folder / "m.twinviews"}
    result = run(*(argument.format(**names) for argument in arguments), code=code)
    assert message in error_line(result)
    assert not any(tmp_path.iterdir()), "nothing is left behind"


def test_a_table_without_the_columns_of_the_fit(folder):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    rows.drop(columns=["glucose", "sex"]).to_csv(folder / "less.csv", index=False)
    result = run("predict", folder / "m.twinviews", folder / "less.csv", "-o", folder / "x.csv", code=3)
    assert "There are no columns 'sex', 'glucose'" in error_line(result)
    assert not (folder / "x.csv").exists()


@pytest.mark.parametrize("messy", GOOD, ids=str)
def test_a_messy_table_goes_all_the_way(messy, tmp_path):
    table = tmp_path / f"t{messy.suffix}"
    table.write_bytes(messy.content)
    said = reading_arguments(messy.options)
    page = tmp_path / "page.html"
    run("fit", table, "--target", "y", "-o", tmp_path / "m", "--quick", "--report", page, *said)
    run("predict", tmp_path / "m", table, "-o", tmp_path / "out.parquet", *said)
    found = pq.read_table(tmp_path / "out.parquet").to_pandas()
    assert found["prediction"].notna().all()
    assert "</html>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("messy", WRONG, ids=str)
def test_a_wrong_table_ends_in_one_line(messy, tmp_path):
    table = tmp_path / f"t{messy.suffix}"
    table.write_bytes(messy.content)
    said = reading_arguments(messy.options)
    result = run("fit", table, "--target", "y", "-o", tmp_path / "m", "--quick", *said, code=3)
    assert len(error_line(result)) > 40
    assert not (tmp_path / "m").exists()


def reading_arguments(options):
    said = []
    for name in ("delimiter", "quote", "encoding", "decimal", "sheet"):
        value = getattr(options, name)
        said += [] if value is None else [f"--{name}", value]
    if options.missing is not None:
        said += ["--missing", ",".join(options.missing)]
    for column, kind in options.kinds.items():
        said += ["--kind", f"{column}={kind}"]
    return said


@pytest.mark.long
def test_the_demo_says_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("demo", "-o", tmp_path).stderr.replace(f"{tmp_path}/", "")
    for line in shown_of_the_demo():
        assert line.removeprefix("$ ") in said
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def shown_of_the_demo():
    block = README.read_text().partition("$ twinviews fit patients.csv")[2].partition("\n```")[0]
    shown = [line for line in block.splitlines()[1:] if line and line != "..."]
    assert len(shown) == 8
    return shown


def test_the_demo_says_what_the_readme_shows_but_for_figures(tmp_path, monkeypatch):
    """With few members, which take a tenth of the time: the whole of it is a law of make trust."""
    quick = lambda context: [MemberSpec("standard", LinearRidge())]  # noqa: E731
    monkeypatch.setitem(builtin_members._FACTORIES, "built-in", quick)
    monkeypatch.chdir(tmp_path)
    said = without_figures(run("demo", "-o", tmp_path).stderr.replace(f"{tmp_path}/", ""))
    for line in shown_of_the_demo():
        assert without_figures(line.removeprefix("$ ")) in said
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def without_figures(text):
    return re.sub(r"[\d,.]*\d", "#", text)


def test_what_a_report_needs_is_asked_for_before_the_fit(folder, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("twinviews.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    table = ("fit", folder / "patients.csv", "--target", "progression", "--quick")
    result = run(*table, "-o", tmp_path / "m", "--report", tmp_path / "r.html", code=5)
    assert "jinja2 is not installed. Use: pip install 'twinviews[report]'" in error_line(result)
    assert not any(tmp_path.iterdir())


def test_help_needs_no_heavy_package():
    look = (
        "import sys; from twinviews.cli import main\n"
        "try: main(['fit', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'sklearn', 'pyarrow', 'scipy') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert shown.stdout.strip().splitlines()[-1] == "[]"


def test_every_public_name_is_there_when_asked_for():
    assert set(twinviews.__all__) <= set(dir(twinviews))
    with pytest.raises(AttributeError, match="no attribute 'XNV'"):
        twinviews.XNV  # noqa: B018
