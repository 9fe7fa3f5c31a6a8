import csv
import io
import math
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_label_store import counts as stored_counts
from test_label_store import in_memory_folder

from twinviews.labeling import table_copy as copy_module
from twinviews.labeling.entries import ConflictError, Entry, LabelTarget
from twinviews.labeling.label_files import export_labels, export_table, import_labels
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity
from twinviews.labeling.table_copy import TableCopy, row_fingerprints, table_labels
from twinviews.reading import Reading, read

PRICE = LabelTarget("price", "regression")
COLOUR = LabelTarget("colour", "classification")
N_ROWS = 30


def columns():
    rng = np.random.default_rng(0)
    return {
        "size": rng.normal(size=N_ROWS),
        "city": rng.choice(["Köln", "=Rom", "a, b"], N_ROWS).tolist(),
        "sold": pa.array(rng.integers(0, 10**9, N_ROWS), pa.timestamp("s")),
    }


class Bench:
    """A table and its labels."""

    def __init__(self, folder, columns):
        self.table = pa.table(columns)
        self.copy = TableCopy(Reading("homes.csv", ds.dataset(self.table), (), self.table.num_rows))
        identity = TableIdentity("homes.csv", self.table.num_rows, tuple(self.table.schema.names))
        self.store = LabelStore(folder / f"{uuid4().hex}.sqlite", identity)
        for target in (PRICE, COLOUR):
            self.store.add_target(target)

    def say(self, row, value, target="price", answer="label", origin="suggested"):
        last = self.store.current(target, row)
        expects = 0 if last is None else last.number
        entry = Entry(uuid4().hex, target, row, answer, value, origin, expects)
        return self.store.record(entry, *row_fingerprints(self.copy, [row], [target]))

    def take(self, content, target="price", name="more.csv"):
        return import_labels(self.store, self.copy, target, name, content.encode())

    def labels(self, target="price"):
        return {
            row: event.entry.value
            for row, event in self.store.answers(target).items()
            if event.entry.answer == "label"
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.copy.close()
        self.store.close()


@pytest.fixture
def bench(tmp_path):
    with Bench(tmp_path, columns()) as bench:
        yield bench


@pytest.fixture
def other(tmp_path):
    with Bench(tmp_path, columns()) as bench:
        yield bench


def counts(imported):
    return imported.added, imported.unchanged, imported.conflicts


def test_labels_of_the_table_itself():
    price, colour = [None, 2.5, math.nan, 4.0], ["red", None, "blue", "red"]
    with TableCopy(
        Reading("t", ds.dataset(pa.table({"price": price, "colour": colour})), (), 4)
    ) as copy:
        rows, values = table_labels(copy, PRICE)
        assert (rows.tolist(), values.tolist()) == ([1, 3], [2.5, 4.0])
        rows, values = table_labels(copy, COLOUR)
        assert (rows.tolist(), values.tolist()) == ([0, 2, 3], ["red", "blue", "red"])
        rows, values = table_labels(copy, LabelTarget("price", "classification"))
        assert (rows.tolist(), values.tolist()) == ([1, 3], ["2.5", "4"])
        rows, values = table_labels(copy, LabelTarget("weight", "regression"))
        assert (rows.tolist(), values.tolist()) == ([], [])
        with pytest.raises(ValueError, match="'colour' holds values of kind category"):
            table_labels(copy, LabelTarget("colour", "regression"))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("batch_rows", [4, 65_536])
def test_an_export_is_the_table_with_the_labels(bench, ending, batch_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(copy_module, "BATCH_ROWS", batch_rows)
    bench.say(3, 0.1 + 0.2)
    bench.say(29, -4.0)
    bench.say(3, "red", "colour")
    bench.say(7, None, "price", "skip")
    out = tmp_path / f"out{ending}"
    assert export_table(bench.store, bench.copy, out) == N_ROWS
    found = read(out).dataset.to_table()
    assert found.schema.names == ["size", "city", "sold", "price", "colour"]
    price, colour = [None] * N_ROWS, [None] * N_ROWS
    price[3], price[29], colour[3] = 0.1 + 0.2, -4.0, "red"
    assert found["price"].to_pylist() == price
    assert found["colour"].to_pylist() == colour
    city = found["city"].to_pylist()
    assert [text.removeprefix("'") for text in city] == bench.table["city"].to_pylist()
    assert (
        found.select(["size", "sold"]).to_pylist() == bench.table.select(["size", "sold"]).to_pylist()
    )


def test_labels_of_the_table_stay_where_nobody_has_answered(tmp_path):
    given = {"price": [1, 2, None, 4], "x": [0.5, 1.5, 2.5, 3.5], "colour": [7.0, None, 8.0, 8.0]}
    with Bench(tmp_path, given) as bench:
        bench.say(0, 10.0)
        bench.say(2, 30.0)
        bench.say(3, None, answer="unsure")
        bench.say(1, "9", "colour")
        export_table(bench.store, bench.copy, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.names == ["price", "x", "colour"]
    assert found["price"].to_pylist() == [10.0, 2.0, 30.0, 4.0]
    assert found["colour"].to_pylist() == ["7", "9", "8", "8"]


def test_an_exported_list_names_rows_from_1(bench, tmp_path):
    bench.say(0, 2.0, origin="random")
    last = bench.say(4, None, answer="unsure")
    bench.say(5, 1.0)
    bench.store.undo("price", "u")
    assert export_labels(bench.store, bench.copy, tmp_path / "labels.csv") == 2
    first, second = csv.DictReader(io.StringIO((tmp_path / "labels.csv").read_text()))
    time = first.pop("time")
    assert float(first.pop("probability")) == pytest.approx(1 / N_ROWS)
    assert first == {
        "row": "1", "target": "price", "answer": "label", "value": "2", "origin": "random"
    }  # fmt: skip
    assert time.startswith("20")
    assert (second["row"], second["answer"], second["value"]) == ("5", "unsure", "")
    assert second["time"] == last.time


ROWS = st.integers(0, N_ROWS - 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
# Not the apostrophe in front of a formula: that is how a formula is written.
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\r'"), min_size=1, max_size=5
).filter(str.strip)


@given(
    prices=st.dictionaries(ROWS, st.none() | NUMBERS, min_size=1, max_size=8),
    colours=st.dictionaries(ROWS, st.none() | WORDS, max_size=8),
)
@settings(max_examples=30, deadline=None)
def test_a_list_is_read_back_into_the_same_answers(prices, colours):
    with in_memory_folder() as name:
        folder = Path(name)
        with Bench(folder, columns()) as bench, Bench(folder, columns()) as other:
            for target, said in (("price", prices), ("colour", colours)):
                for row, value in said.items():
                    text = value.strip() if isinstance(value, str) else value
                    answer, origin = ("skip", "random") if value is None else ("label", "chosen")
                    bench.say(row, text, target, answer, origin)
            export_labels(bench.store, bench.copy, folder / "labels.csv")
            content = (folder / "labels.csv").read_bytes()
            for target, said in (("price", prices), ("colour", colours)):
                if not said:
                    continue
                for expected in ((len(said), 0, 0), (0, len(said), 0)):  # and again
                    found = import_labels(other.store, other.copy, target, "labels.csv", content)
                    assert counts(found) == expected
                answers = [
                    {row: (e.entry.answer, e.entry.value, e.entry.origin) for row, e in found.items()}
                    for found in (bench.store.answers(target), other.store.answers(target))
                ]
                assert answers[0] == answers[1]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_an_exported_table_is_read_back(bench, other, ending, tmp_path):
    for row in (0, 3, 29):
        bench.say(row, row / 7)
        bench.say(row, "-" if row else "red", "colour")
    out = tmp_path / f"out{ending}"
    export_table(bench.store, bench.copy, out)
    other.say(0, 99.0)
    found = import_labels(other.store, other.copy, "price", out.name, out.read_bytes())
    assert counts(found) == (2, 0, 1)
    assert found.words == "2 added; 1 not taken, because another label is here."
    assert other.labels() == {0: 99.0, 3: pytest.approx(3 / 7), 29: pytest.approx(29 / 7)}
    assert counts(import_labels(other.store, other.copy, "price", "x", out.read_bytes())) == (0, 2, 1)


def test_a_table_in_another_order_is_refused(bench, tmp_path):
    turned = bench.table.append_column("price", pa.array(np.arange(N_ROWS) * 1.0)).sort_by("size")
    pq.write_table(turned, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(ValueError, match=r"t\.parquet, row 1 below the header: size is .* column row"):
        import_labels(bench.store, bench.copy, "price", "t.parquet", content)
    assert bench.labels() == {}


def test_a_column_of_labels_alone_goes_by_its_order(bench):
    lines = "\n".join(["price", *(f"{row}" for row in range(N_ROWS))])
    assert counts(bench.take(lines)) == (N_ROWS, 0, 0)
    assert bench.labels() == {row: float(row) for row in range(N_ROWS)}
    assert all(event.entry.origin == "imported" for event in bench.store.answers("price").values())
    with pytest.raises(ValueError, match=r"more\.csv has 29 rows, and the table has 30\. Give it"):
        bench.take(lines.rpartition("\n")[0])


def test_row_numbers_say_which_rows(bench):
    assert counts(bench.take("row;price\n2;1,5\n30;NA\n1;-2\n")) == (2, 0, 0)
    assert bench.labels() == {1: 1.5, 0: -2.0}
    assert counts(bench.take("row,colour,x\n3,red,1\n4,n/a,2\n5,blue,3\n", "colour")) == (2, 0, 0)
    assert bench.labels("colour") == {2: "red", 4: "blue"}


def test_in_a_list_every_letter_counts(bench):
    found = bench.take("row,target,value\n1,colour,NA\n2,colour,-\n3,colour,'=x\n4,price,7\n", "colour")
    assert found.words == "3 added; 1 of other targets left out."
    assert bench.labels("colour") == {0: "NA", 1: "-", 2: "=x"}
    assert bench.labels() == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("row,price\n1,2\n2,cheap\n", r"more\.csv, row 2 below the header: price must be a number"),
        ("row,price\n1,2\n31,3\n", "row 2 below .*: row '31' must be a whole number from 1 to 30"),
        ("row,price\n1,2\n1.5,3\n", "row 2 below the header: row '1.5' must be"),
        ("row,price\n1,2\n,3\n", "row 2 below the header: row '' must be"),
        ("row,price\n1,2\n1,3\n", "row 2 below the header: row 1 of the table is named twice, as 2.0"),
        ("row,value\n1,2\n", "more.csv has no column 'price'"),
        ("row,target,value\n1,size,2\n", "has no labels of 'price', but of 'size'"),
        ("row,target,value\n1,price,\n", "row 1 below the header: price is blank"),
        ("row,target,answer,value\n1,price,maybe,2\n", "answer 'maybe' must be label, skip or unsure"),
        ("row,target,value,origin\n1,price,2,dream\n", "origin 'dream' must be one of"),
        ("%PDF-1.4", "more.csv is a PDF, not a table"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_explained_and_nothing_of_it_is_taken(bench, content, words):
    with pytest.raises(ValueError, match=words):
        bench.take(content)
    assert bench.store.events() == []


def test_labels_here_win_and_skipped_rows_are_filled(bench):
    bench.say(0, 1.0)
    bench.say(1, 1.0)
    bench.say(2, None, answer="skip")
    bench.say(3, 1.0)
    bench.store.undo("price", "u")
    found = bench.take("row,price\n1,1\n2,2\n3,3\n4,4\n5,5\n")
    assert counts(found) == (3, 1, 1)
    assert bench.labels() == {0: 1.0, 1: 1.0, 2: 3.0, 3: 4.0, 4: 5.0}
    skipped = "row,target,answer,value\n1,price,skip,\n6,price,unsure,\n"
    assert counts(bench.take(skipped)) == (1, 1, 0)
    assert stored_counts(bench.store) == (5, 0, 1)


def test_labels_of_the_table_itself_win_too(tmp_path):
    with Bench(tmp_path, {"price": [1.0, 2.0, None, None], "x": [0.0, 1.0, 2.0, 3.0]}) as bench:
        assert counts(bench.take("row,price\n1,1\n2,5\n3,6\n")) == (1, 1, 1)
        assert bench.labels() == {2: 6.0}


def test_what_others_say_meanwhile_is_seen(bench, monkeypatch):
    record_all = bench.store.record_all
    tries = []

    def somebody_was_faster(entries, fingerprints):
        tries.append(len(entries))
        if len(tries) == 1:
            bench.say(1, 50.0)
        return record_all(entries, fingerprints)

    monkeypatch.setattr(bench.store, "record_all", somebody_was_faster)
    assert counts(bench.take("row,price\n1,10\n2,20\n3,30\n")) == (2, 0, 1)
    assert tries == [3, 2]
    assert bench.labels() == {0: 10.0, 1: 50.0, 2: 30.0}

    def always(entries, fingerprints):
        raise ConflictError("Row 5 has been answered in the meantime.", None)

    monkeypatch.setattr(bench.store, "record_all", always)
    with pytest.raises(ConflictError):
        bench.take("row,price\n5,10\n")


def test_rows_that_have_changed_are_noticed(tmp_path):
    given = {"x": [0.0, 1.0, 2.0], "price": [None, 5.0, None]}
    with Bench(tmp_path, given) as bench:
        for row in range(3):
            bench.say(row, float(row))
        bench.take("row,colour\n1,red\n", "colour")
        assert bench.store.changed_rows(bench.copy) == []
        for now, changed in (
            ({"x": [0.0, 1.5, 2.0], "price": [None, 5.0, None]}, [1]),
            ({"x": [0, 1, 2], "price": [None, 5.0, None]}, []),
            # What a target's column holds is no value of the row, be it this target's or another's.
            ({"x": [0.0, 1.0, 2.0], "price": [9.0, 9.0, 9.0]}, []),
        ):
            with TableCopy(Reading("t", ds.dataset(pa.table(now)), (), 3)) as copy:
                assert bench.store.changed_rows(copy) == changed
