"""twinviews estimate and twinviews plan: what they print and write."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from twinviews import XNVRegressor, estimate, save_model
from twinviews.cli import main
from twinviews.cli.actions.demo_tables import write_patients
from twinviews.cli.actions.fit_model import columns_to_use
from twinviews.reading import read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    write_patients(folder / "patients.csv")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    """A model file of the same labels, so that most tests need no fit of their own."""
    fitted = CliRunner().invoke(
        main,
        ["fit", str(folder / "patients.csv"), "--target", "progression", "-o", str(folder / "model")],
    )
    assert fitted.exit_code == 0
    return folder / "model"


def run(folder, *options):
    table = str(folder / "patients.csv")
    return CliRunner().invoke(main, ["estimate", table, "--target", "progression", *map(str, options)])


def test_one_sentence_says_it(folder, tmp_path):
    rows = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    rows[["body mass", "triglycerides", "progression"]].to_csv(tmp_path / "patients.csv", index=False)
    done = run(tmp_path)
    assert done.exit_code == 0
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("Mean of progression: 1")
    for words in ("95% interval", "labels alone:", "the unlabeled rows count as", "more labels."):
        assert words in last


def test_json_csv_and_picture_have_the_same_numbers(folder, model):
    out, picture = folder / "found.csv", folder / "found.svg"
    done = run(folder, "--model", model, "--by", "clinic", "--json", "-o", out, "--picture", picture)
    assert done.exit_code == 0
    rows = json.loads(done.stdout)["estimates"]
    written = pd.read_csv(out)
    assert [row["group"]["clinic"] for row in rows] == written.clinic.tolist()
    np.testing.assert_allclose([row["low"] for row in rows], written.low)
    assert all(row["low"] < row["estimate"] < row["high"] for row in rows)
    text = picture.read_text()
    assert all(clinic in text for clinic in written.clinic)


def test_many_groups_are_a_table(folder, model):
    done = run(folder, "--model", model, "--by", "clinic", "--by", "sex")
    assert done.exit_code == 0
    lines = done.stderr.split("\n")
    head = next(line for line in lines if "labels alone" in line)
    assert "95% interval" in head
    assert any(line.startswith("Mean of progression, Harbour, female") for line in lines)
    assert "* fewer than 10 labels: drawn towards all rows." in lines


def test_shares_and_differences(folder, model):
    done = run(folder, "--model", model, "--above", 200, "--by", "clinic", "--versus", "South")
    assert "Difference from South in the share above 200 of progression, clinic North" in done.stderr


def test_a_plan_says_how_many_more_labels(folder, model):
    done = run(folder, "--model", model, "--half-width", 3, "--by", "clinic")
    assert "for plus or minus 3, about" in done.stderr
    assert (
        "Draw the rows to label at random within each clinic, then use --strata clinic." in done.stderr
    )


def test_mistakes_are_told(folder, model):
    assert "There is no column 'clinc'" in run(folder, "--by", "clinc").stderr
    assert (
        "has blanks"
        in run(folder, "--model", model, "--what", "coefficients", "--columns", "age").stderr
    )
    other = folder / "other"
    X = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    changed = X.assign(progression=X.progression + 1)
    plain = XNVRegressor(random_state=0)
    save_model(plain.fit_table(changed, target="progression", columns=["glucose"], encode=True), other)
    assert "labels are not those of the fit" in run(folder, "--model", other).stderr


def test_it_is_what_the_function_tells(folder, model):
    from twinviews import load_model

    told = json.loads(run(folder, "--model", model, "--json").stdout)["estimates"][0]
    (found,) = estimate(load_model(model), folder / "patients.csv", target="progression")
    assert told["low"] == pytest.approx(found.low, rel=1e-9)


def test_rows_of_a_patient_stay_together(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 3)
    age = rng.normal(50, 10, size=180).round(1)
    y = (age / 10 + rng.normal(size=60)[patient] + 0.1 * rng.normal(size=180)).round(2)
    rows = pd.DataFrame({"patient": [f"p{one}" for one in patient], "age": age, "y": y})
    rows.loc[patient >= 20, "y"] = np.nan
    table, model = str(tmp_path / "visits.csv"), str(tmp_path / "model")
    rows.to_csv(table, index=False)
    fit = ["fit", table, "--target", "y", "--quick", "-o", model]
    ask = ["estimate", table, "--target", "y", "--model", model, "--cluster", "patient", "--json"]
    assert CliRunner().invoke(main, [*fit, "--kind", "patient=skip"]).exit_code == 0
    refused = CliRunner().invoke(main, ask)
    assert refused.exit_code != 0
    assert "20 of 20 clusters are in several folds" in " ".join(refused.stderr.split())
    assert CliRunner().invoke(main, [*fit, "--cluster", "patient"]).exit_code == 0
    done = CliRunner().invoke(main, ask)
    assert done.exit_code == 0
    (found,) = json.loads(done.stdout)["estimates"]
    assert found["n_labels"] == 60
    assert found["low"] < y.mean() < found["high"]


# --- plan -------------------------------------------------------------------------------------------


def plan(folder, *options):
    table = str(folder / "patients.csv")
    return CliRunner().invoke(main, ["plan", table, "--target", "progression", *map(str, options)])


def test_a_plan_is_the_table_with_two_columns_and_a_list_of_rows(folder, model):
    out, rows = folder / "planned.csv", folder / "next.csv"
    done = plan(folder, "--model", model, "--more", 40, "--by", "clinic", "-o", out, "--rows", rows)
    assert done.exit_code == 0, done.output
    given = pd.read_csv(folder / "patients.csv", sep=";", decimal=",")
    planned, listed = pd.read_csv(out), pd.read_csv(rows)
    assert planned.columns.tolist() == [*given.columns, "label_next", "label_probability"]
    chosen = planned[planned.label_next.notna()]
    assert sorted(chosen.label_next) == list(range(1, 41))
    assert chosen.progression.isna().all()
    assert (planned.label_probability > 0).all()
    in_order = chosen.sort_values("label_next")
    assert listed.row.tolist() == (in_order.index + 1).tolist()
    assert listed.clinic.tolist() == in_order.clinic.tolist()
    np.testing.assert_allclose(listed.label_probability, in_order.label_probability)
    assert listed.progression.isna().all()
    for words in ("40 rows to label", "Harbour: ", "--label-probability label_probability"):
        assert words in done.stderr


def test_a_plan_goes_on_from_the_last_one(folder, model, tmp_path):
    first = tmp_path / "first.csv"
    assert plan(folder, "--model", model, "--more", 10, "-o", first).exit_code == 0
    before = pd.read_csv(first)
    ask = ["plan", str(first), "--target", "progression", "--model", str(model), "--more", "10"]
    ask += ["--label-probability", "label_probability", "--json", "-o", str(tmp_path / "second.csv")]
    done = CliRunner().invoke(main, ask)
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["n_rows"], facts["n_next"]) == (442, 10)
    after = pd.read_csv(tmp_path / "second.csv")
    assert after.columns.tolist() == before.columns.tolist()
    assert (after.label_probability >= before.label_probability - 1e-12).all()


def test_columns_of_a_plan_are_no_inputs(tmp_path):
    path = tmp_path / "planned.csv"
    path.write_text("a,y,label_next,label_probability\n1,2,,0.5\n2,,1,0.5\n")
    found = read(path)
    assert columns_to_use(found, ["y"], {}) == ["a"]
    assert columns_to_use(found, ["y"], {"label_next": "number"}) == ["a", "label_next"]


@pytest.mark.parametrize("options", [[], ["--more", "3", "--half-width", "2"]])
def test_a_plan_needs_a_number_of_rows_or_a_width(folder, options):
    done = plan(folder, *options, "-o", folder / "out.csv")
    assert done.exit_code == 2
    assert "--more K or --half-width NUMBER" in done.stderr


def test_ratings_in_words_need_their_order(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    words = np.array(["poor", "fair", "good"])[np.digitize(frame.a, [-0.5, 0.5])]
    frame["verdict"] = np.where(rng.permutation(200) < 40, words, None)
    frame.to_csv(tmp_path / "hotels.csv", index=False)
    ask = ["estimate", str(tmp_path / "hotels.csv"), "--target", "verdict", "--task", "ordinal"]
    done = CliRunner().invoke(main, ask)
    assert done.exit_code == 3
    assert "Say --classes, the lowest first" in done.stderr
    done = CliRunner().invoke(main, [*ask, "--classes", "poor,fair,good", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["estimates"]
    assert [row["what"] for row in rows] == [f"share = {name}" for name in ("poor", "fair", "good")]
    for row, name in zip(rows, ("poor", "fair", "good"), strict=True):
        assert row["low"] < np.mean(words == name) < row["high"]
    done = CliRunner().invoke(main, [*ask, "--classes", "poor,fair,good", "--model", "some"])
    assert "--task is for a fit" in done.stderr
