"""The section of the report that answers for all rows."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression, RidgeCV

from report_tables import classes_table, numbers_table, regressor
from twinviews import XNVClassifier, XNVRegressor, estimate
from twinviews.report.all_rows import AllRowsAnswers, answers_for_all_rows
from twinviews.report.all_rows_section import all_rows_section
from twinviews.report.rows import RawColumn


class Told:
    """Evidence, as far as the section looks at it."""

    def __init__(self, all_rows):
        self.all_rows = all_rows


COLUMNS = [
    RawColumn("strong", "number", "", 0, (0,)),
    RawColumn("group", "category", "", 0, (1, 2)),
]


@pytest.fixture(scope="module")
def numbers():
    table = numbers_table()
    model = XNVRegressor(members=[RidgeCV()], random_state=0).fit_table(table, target="y")
    return model, table


def text_of(section):
    return "\n".join(block for block in section.blocks if isinstance(block, str))


def test_it_says_what_estimate_says_and_by_the_first_column_of_words(numbers):
    model, table = numbers
    found = answers_for_all_rows(model, table, "y", COLUMNS, is_sample=False)
    assert found.overall == tuple(estimate(model, table, target="y"))
    assert found.by == "group"
    assert [row.group["group"] for row in found.groups] == ["a", "b"]
    section = all_rows_section(Told(found))
    assert found.overall[0].words(0.95) in text_of(section)
    overall, groups = section.blocks[-3].charts
    assert [bar.name for bar in overall.bars] == ["with predictions", "labels alone"]
    assert overall.bars[0].interval == (found.overall[0].low, found.overall[0].high)
    assert [bar.name for bar in groups.bars] == ["a", "b"]


def test_shares_are_bars_from_zero():
    table = classes_table()
    members = [("linear", LogisticRegression())]
    model = XNVClassifier(members=members, random_state=0).fit_table(table, target="y")
    found = answers_for_all_rows(model, table, "y", COLUMNS, is_sample=False)
    assert len(found.overall) == 3
    section = all_rows_section(Told(found))
    assert section.blocks[-3].charts[0].axis.low == 0


def test_why_it_is_refused_stands_on_the_page(numbers):
    _, table = numbers
    strong = table["strong"].to_numpy()
    y = np.where(strong < -0.2, np.nan_to_num(table["y"].to_numpy(), nan=1.0) + strong, np.nan)
    shifted = table.set_column(table.num_columns - 1, "y", pa.array(y, from_pandas=True))
    model = XNVRegressor(members=[RidgeCV()], random_state=0)
    with pytest.warns(UserWarning, match="labeled rows"):
        model.fit_table(shifted, target="y")
    found = answers_for_all_rows(model, shifted, "y", COLUMNS, is_sample=False)
    assert found.overall == ()
    section = all_rows_section(Told(found))
    assert "No mean or share of all rows is told." in text_of(section)
    assert "--assume-random" in text_of(section)


def test_there_is_none_without_an_ensemble(numbers):
    _, table = numbers
    model = regressor().fit_table(table, target="y")
    assert answers_for_all_rows(model, table, "y", COLUMNS, is_sample=False) is None
    assert all_rows_section(Told(None)) is None


def test_groups_without_labels_enough_are_not_asked_about(numbers):
    model, table = numbers
    rare = ["x"] * 295 + ["z"] * 5
    with_rare = table.append_column("rare", pa.array(rare))
    columns = [RawColumn("rare", "category", "", 0, (3,)), COLUMNS[0]]
    found = answers_for_all_rows(model, with_rare, "y", columns, is_sample=False)
    assert (found.by, found.groups) == ("", ())
    assert isinstance(found, AllRowsAnswers)
