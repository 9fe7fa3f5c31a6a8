import datetime
import hashlib
import math
import os
import shutil
import string
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from messy.truth import TRUTH
from twinviews.labeling import table_copy as copy_module
from twinviews.labeling.candidate_rows import nearest, typical_distance
from twinviews.labeling.cards import ColumnDistributions, number_text, text_of
from twinviews.labeling.table_copy import TableCopy, row_fingerprints, search_rows
from twinviews.reading import Reading, read, write


def copy_of(columns, n_rows=None):
    table = pa.table(columns)
    return TableCopy(Reading("a table", ds.dataset(table), (), n_rows or table.num_rows))


@pytest.fixture
def small_batches(monkeypatch):
    """As if seven rows were many."""
    monkeypatch.setattr(copy_module, "BATCH_ROWS", 7)


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 200
    return pa.table(
        {
            "age": rng.integers(0, 90, n),
            "height": pa.array(np.where(rng.random(n) < 0.1, np.nan, rng.normal(1.7, 0.1, n))),
            "city": pa.array(rng.choice(["Berlin", "New York", "ROM", "köln", None], n).tolist()),
            "note": [f"came by {way}" for way in rng.choice(["train", "Boat", "air"], n)],
            "member": pa.array(rng.random(n) < 0.3),
            "since": pa.array(rng.integers(0, 10**9, n), pa.timestamp("s")),
            "born": pa.array(rng.integers(0, 10_000, n).astype(np.int32), pa.date32()),
        }
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".jsonl", ".xlsx"])
def test_rows_are_those_of_the_table_whatever_its_format(ending, tmp_path, small_batches):
    table = pa.table(TRUTH)
    write(table.to_batches(), table.schema, tmp_path / f"t{ending}")
    with TableCopy(read(tmp_path / f"t{ending}")) as copy:
        places = np.random.default_rng(0).integers(0, table.num_rows, 30)
        assert copy.n_rows == table.num_rows
        assert copy.rows(places).to_pylist() == table.take(pa.array(places)).to_pylist()
        whole = pa.Table.from_batches(copy.batches())
        assert whole.to_pylist() == table.to_pylist()


@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any),
    places=st.lists(st.integers(0, 10**6), max_size=20),
)
@settings(max_examples=40, deadline=None)
def test_any_rows_in_any_order_from_any_batches(lengths, places):
    n = sum(lengths)
    batches = np.split(np.arange(n), np.cumsum(lengths)[:-1])
    table = pa.Table.from_batches(
        [
            pa.record_batch({"i": rows, "text": pa.array([f"row {i}" for i in rows], pa.string())})
            for rows in batches
        ],
        pa.schema([("i", pa.int64()), ("text", pa.string())]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copy_module, "BATCH_ROWS", 16)
        with TableCopy(Reading("a table", ds.dataset(table), (), n)) as copy:
            wanted = np.array(places, dtype=int) % n
            found = copy.rows(wanted)
            assert_array_equal(found["i"].to_numpy(), wanted)
            assert found["text"].to_pylist() == [f"row {i}" for i in wanted]
            assert {batch.num_rows for batch in copy.batches()} <= {16, n % 16}
            with pytest.raises(ValueError, match=f"There is no row {n + 1}: the table has {n} rows"):
                copy.rows([0, n])


def test_nothing_is_left_behind(tmp_path, monkeypatch, people):
    monkeypatch.setattr(copy_module.tempfile, "tempdir", str(tmp_path))
    with copy_of(people) as copy:
        handed_out = copy.rows([5, 3])
    assert not list(tmp_path.iterdir())
    assert handed_out.to_pylist() == people.take([5, 3]).to_pylist()
    forgotten = copy_of(people)
    del forgotten
    assert not list(tmp_path.iterdir())


KILLED = """
import sys
import pyarrow as pa
import pyarrow.dataset as ds
from twinviews.labeling.table_copy import TableCopy
from twinviews.reading import Reading

def batches():
    for i in range(3):
        yield pa.record_batch({"x": range(100_000)})
        if i == 1 and sys.argv[1] == "copying":
            print("now", flush=True)
            input()

rows = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
copy = TableCopy(Reading("a table", ds.dataset(rows), (), 300_000))
assert copy.rows([299_999])["x"].to_pylist() == [99_999]
print("now", flush=True)
input()
"""


@pytest.mark.parametrize("moment", ["copying", "at work"])
def test_a_kill_leaves_no_copy_behind(moment, tmp_path):
    """Not even in the middle of making it."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, moment],
        env=os.environ | {"TMPDIR": str(tmp_path), "TEMP": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"now\n"
        process.kill()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("batches", [[], [pa.record_batch({"x": pa.array([], pa.int64())})]])
def test_a_table_without_rows_is_refused(batches):
    empty = ds.dataset(pa.Table.from_batches(batches, pa.schema([("x", pa.int64())])))
    with pytest.raises(ValueError, match=r"empty\.csv has no rows\. Check the file"):
        TableCopy(Reading("empty.csv", empty, (), 0))


class Usage(NamedTuple):
    free: int


def test_too_little_room_is_told_before_the_copy(tmp_path, monkeypatch, people):
    monkeypatch.setattr(copy_module.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=3 * 10**9))
    with pytest.raises(OSError, match=r"takes about [4-9]\.\d GB, and .* has 3\.0 GB left\. Make room"):
        copy_of(people, n_rows=10**8)
    assert not list(tmp_path.iterdir())
    copy_of(people).close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("n_rows", [1, 10_000])
def test_a_disk_that_fills_up_is_told(n_rows, monkeypatch):
    full = partial(open, "/dev/full", "wb")
    monkeypatch.setattr(copy_module.tempfile, "TemporaryFile", lambda **options: full())
    with pytest.raises(OSError, match=r"No room is left in .* TMPDIR"):
        copy_of({"x": range(n_rows)})


def fingerprint(copy, row=0, excluded=()):
    (found,) = row_fingerprints(copy, [row], excluded)
    return found


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.booleans(),
    st.datetimes(),
    st.dates(),
)


@given(row=st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=4), other=VALUES)
@settings(max_examples=60, deadline=None)
def test_a_fingerprint_is_of_names_and_values_and_nothing_else(row, other):
    table = {name: [value] for name, value in row.items()}
    turned = dict(reversed(table.items()))
    name = max(row)
    with copy_of(table) as copy, copy_of(turned) as same, copy_of({**table, name: [other]}) as third:
        assert fingerprint(copy) == fingerprint(same)
        assert (fingerprint(copy) == fingerprint(third)) == _is_same(row[name], other)
        assert fingerprint(copy, excluded=[name]) == fingerprint(third, excluded=[name])


def _is_same(one, other):
    if isinstance(one, datetime.date) and isinstance(other, datetime.date):
        moments = [
            value
            if isinstance(value, datetime.datetime)
            else datetime.datetime.combine(value, datetime.time())
            for value in (one, other)
        ]
        return moments[0] == moments[1]
    number = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    return one == other if all(number) or type(one) is type(other) else False


def test_fingerprints_do_not_depend_on_types_or_on_the_library():
    day = datetime.date(2024, 2, 29)
    one = {"a": [3, None], "b": [day, None], "c": ["x", None], "d": [True, False], "e": [0.1, 2.0]}
    other = {
        "a": pa.array([3.0, math.nan]),
        "b": pa.array([day, None]).cast(pa.timestamp("ns")).cast(pa.timestamp("ns", "UTC")),
        "c": pa.array(["x", None], pa.large_string()),
        "d": [True, False],
        "e": [0.1, 2],
    }
    with copy_of(one) as copy, copy_of(other) as same:
        assert row_fingerprints(copy, [0, 1]) == row_fingerprints(same, [0, 1])
        # Fingerprints are in label files: no version may change them.
        days = (day - datetime.date(1970, 1, 1)).days
        first = [*("a", "number", "3"), *("b", "moment", f"{days * 86_400_000_000_000}")]
        first += [*("c", "text", "x"), *("d", "boolean", "True"), *("e", "number", "0.1")]
        second = [*("a", "blank", ""), *("b", "blank", ""), *("c", "blank", "")]
        second += [*("d", "boolean", "False"), *("e", "number", "2")]
        for row, parts in enumerate((first, second)):
            content = b"".join(len(part).to_bytes(8, "big") + part.encode() for part in parts)
            assert fingerprint(copy, row) == hashlib.sha256(content).hexdigest()[:16]


def found(copy, query, most=10_000):
    return search_rows(copy, query, most)


def where(table, condition):
    return [i for i, row in enumerate(table.to_pylist()) if condition(row)]


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("rom", lambda row: row["city"] == "ROM"),
        ("KÖLN", lambda row: row["city"] == "köln"),
        ("rom boat", lambda row: row["city"] == "ROM" and "Boat" in row["note"]),
        ('"new york" air', lambda row: row["city"] == "New York" and "air" in row["note"]),
        ('"by train"', lambda row: "train" in row["note"]),
        ("1980-", lambda row: 1980 in (row["since"].year, row["born"].year)),
        ("1980-05", lambda row: (1980, 5) in [(d.year, d.month) for d in (row["since"], row["born"])]),
        ("berlin 1.7", lambda row: row["city"] == "Berlin" and repr(row["height"]).startswith("1.7")),
        ("", lambda row: False),
        ('"', lambda row: False),
        ("nowhere", lambda row: False),
        ("age>30", lambda row: False),
    ],
)
def test_search_finds_the_rows_that_are_meant(people, query, condition, small_batches):
    with copy_of(people) as copy:
        assert found(copy, query) == where(people, condition)
        assert search_rows(copy, query, 3) == where(people, condition)[:3]


def test_search_finds_every_row_by_its_values_and_its_number(people, small_batches):
    with copy_of(people) as copy:
        for i, row in enumerate(people.slice(0, 20).to_pylist()):
            assert found(copy, f"#{i + 1}") == found(copy, f" {i + 1} ") == [i]
            assert i in found(copy, f'{row["since"].date()} "{row["note"]}" {row["born"]}')
            assert i in found(copy, f'"{row["since"].isoformat(" ")}"')
        assert found(copy, "#201") == found(copy, "0") == []


WORDS = st.text(st.sampled_from(string.ascii_letters + 'äÖé "=<>#.'), min_size=1, max_size=6)


@given(cells=st.lists(WORDS, min_size=1, max_size=12), word=WORDS)
@settings(max_examples=80, deadline=None)
def test_quoted_text_is_found_as_it_stands(cells, word):
    quoted = '"' + word.replace('"', '""') + '"'
    with copy_of({"a b": cells, "n": range(len(cells))}) as copy:
        inside = [i for i, cell in enumerate(cells) if word.lower() in cell.lower()]
        assert found(copy, quoted) == inside


def test_search_takes_any_column(small_batches):
    columns = {
        "id": [2**60, 2**60 + 1],
        "blank": pa.nulls(2),
        "truth": [True, False],
        "level": pa.array(["Low", "high"]).dictionary_encode(),
        "late": pa.array([2**55, 0], pa.timestamp("s")),
        "zone": pa.array([0, 1], pa.timestamp("s", "Europe/Berlin")),
    }
    with copy_of(columns) as copy:
        assert found(copy, f"id {2**60 + 1}") == []
        assert found(copy, f'"{2**60 + 1}"') == [1]
        assert found(copy, "-1") == found(copy, "true") == []
        assert found(copy, "LOW") == [0]


def test_a_place_is_the_share_of_rows_below(people):
    with copy_of(people) as copy:
        places = ColumnDistributions(copy)
        for row in range(20):
            facts = {fact.name: fact for fact in places.facts(copy.rows([row]))}
            values = people.slice(row, 1).to_pylist()[0]
            for name in ("age", "since", "born"):
                column = people[name].to_pylist()
                below = sum(value < values[name] for value in column) / len(column)
                assert facts[name].place == pytest.approx(below, abs=1e-12)
                assert sum(facts[name].bars) == len(column)
            for name in ("city", "member", "note"):
                column = people[name].to_pylist()
                assert facts[name].share == pytest.approx(column.count(values[name]) / len(column))
                assert facts[name].place is None
            assert facts["member"].text == ("yes" if values["member"] else "no")
        blank = places.fact("height", pa.scalar(math.nan))
        share = np.isnan(people["height"].to_numpy()).mean()
        assert (blank.text, blank.place, blank.share) == (None, None, pytest.approx(share))


def test_bars_are_a_histogram_of_the_usual_range(people):
    with copy_of(people) as copy:
        fact = ColumnDistributions(copy).fact("age", pa.scalar(30))
    ages = people["age"].to_numpy()
    low, high = np.quantile(ages, [0.01, 0.99])
    counts, edges = np.histogram(ages.clip(low, high), 24, (low, high))
    assert fact.bars == tuple(counts)
    assert edges[fact.bar] <= 30 <= edges[fact.bar + 1]


def test_places_of_a_large_table_are_close_and_its_words_are_counted():
    n = 100_000
    rng = np.random.default_rng(1)
    x = rng.lognormal(size=n)
    word = rng.choice(["common", "rare"], n, p=[0.9999, 0.0001])
    columns = {"x": x, "word": word, "id": [f"id {i}" for i in range(n)], "none": pa.nulls(n)}
    with copy_of(columns) as copy:
        places = ColumnDistributions(copy)
        for value in (0.1, 1.0, 5.0):
            fact = places.fact("x", pa.scalar(value))
            assert fact.place == pytest.approx((x < value).mean(), abs=0.02)
            assert sum(fact.bars) == pytest.approx(n, abs=24)
        assert places.fact("x", pa.scalar(1e9)).bar == 23
        assert places.fact("x", pa.scalar(-1e9)).bar == 0
        assert places.fact("word", pa.scalar("rare")).share == (word == "rare").mean()
        for i in range(0, n, 100):  # each row has a name of its own, and nobody has counted them
            assert places.fact("id", pa.scalar(f"id {i}")).share is None
        assert places.fact("none", pa.scalar(None)).share == 1


def test_constant_columns_have_no_bars():
    with copy_of({"one": [3.0] * 10, "most": [0.0] * 199 + [9.0]} | {"one": [3.0] * 200}) as copy:
        places = ColumnDistributions(copy)
        assert places.fact("one", pa.scalar(3.0)).bars == ()
        assert places.fact("most", pa.scalar(0.0)).bars == (199, *[0] * 22, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2024, "2024"), (12345, "12,345"), (-7, "−7"), (2**60, "1,152,921,504,606,846,976"),
        (3.0, "3"), (-0.0, "0"), (0.1 + 0.2, "0.3"), (math.pi, "3.14159"), (-1234.5678, "−1234.57"),
        (123456.789, "123,457"), (98765.4321, "98,765.4"), (0.000123456789, "0.000123457"),
        (1.5e-9, "1.5e−9"), (6.02214076e23, "6.02214e23"), (1e15, "1e15"), (math.inf, "∞"),
    ],
)  # fmt: skip
def test_numbers_are_written_for_people(value, text):
    assert number_text(value) == text


@given(x=st.floats(allow_nan=False, allow_infinity=False))
def test_what_a_person_reads_is_the_number_to_six_digits(x):
    text = number_text(x).replace("−", "-").replace(",", "")
    assert float(text) == pytest.approx(x, rel=5.1e-6, abs=0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pa.scalar(None, pa.float64()), None),
        (pa.scalar(math.nan), None),
        (pa.scalar(0.1, pa.float32()), "0.1"),
        (pa.scalar(datetime.date(2024, 2, 29)), "2024-02-29"),
        (pa.scalar(datetime.datetime(2024, 2, 29)), "2024-02-29"),
        (pa.scalar(datetime.datetime(2024, 2, 29, 13, 5)), "2024-02-29 13:05"),
        (pa.scalar(1, pa.timestamp("s", "Europe/Berlin")), "1970-01-01 00:00:01 UTC"),
        (pa.scalar(1_500_000_001, pa.timestamp("ns")), "1970-01-01 00:00:01.500000"),
        (pa.scalar(2**55, pa.timestamp("s")), None),
        (pa.scalar("<b>"), "<b>"),
        (pa.scalar("x" * 5000), "x" * 1999 + "…"),
    ],
)
def test_values_are_written_for_people(value, text):
    if text is None and value.is_valid and value.type == pa.timestamp("s"):
        assert text_of(value).endswith("days after 1970")
    else:
        assert text_of(value) == text


@given(seed=st.integers(0, 100), n=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_neighbours_are_the_nearest_rows_and_likeness_falls_with_distance(seed, n):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    z = Z[0] if seed % 2 else rng.normal(size=4)
    typical = typical_distance(rng.normal(size=(500, 4)))
    near = nearest(z, Z, typical, most=5)
    distances = np.linalg.norm(Z - z, axis=1)
    assert [one.place for one in near] == np.argsort(distances)[:5].tolist()
    assert [one.likeness for one in near] == pytest.approx(2 ** -(np.sort(distances)[:5] / typical))
    for one in near:
        gaps = np.abs(Z[one.place] - z)
        assert list(one.columns) == [j for j in np.argsort(-gaps)[:3] if gaps[j] > 0]


def test_half_of_all_pairs_are_less_than_half_alike():
    Z = np.random.default_rng(0).normal(size=(150, 5))
    typical = typical_distance(Z)
    likeness = [one.likeness for z in Z for one in nearest(z, Z, typical, most=150) if one.likeness < 1]
    assert np.median(likeness) == pytest.approx(0.5, abs=1e-9)


def test_numbers_of_one_column_differ_together():
    z, Z = np.zeros(4), np.array([[0.6, 0.6, 0.6, 1.0]])
    groups = np.array([0, 0, 0, 1])
    assert nearest(z, Z, 1.0, groups=groups)[0].columns == (0, 1)
    assert nearest(z, Z, 1.0)[0].columns == (3, 0, 1)


def test_likeness_stays_above_nothing():
    (far,) = nearest(np.zeros(2), np.array([[1e100, 0.0]]), 1e-3)
    assert 0 < far.likeness < 1e-300
    assert nearest(np.zeros(2), np.empty((0, 2)), 1.0) == []
    assert typical_distance(np.ones((5, 2))) == typical_distance(np.ones((1, 2))) == 1.0
