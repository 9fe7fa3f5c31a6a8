"""Data frames of every kind, and with columns reordered, renamed or missing."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from counts import tried
from outcomes import Refused, outcome
from strange_tables import EXTREME, bits, labels_for, numbers_for, small
from test_bad_input import KINDS, SEEDS, estimators, examples, said
from twinviews import TableEncoder

N = 18
DAY = dt.datetime(2024, 2, 29)
VALUES = {
    "numbers": [0.5, -2.25, 1.0, 7.5],
    "whole numbers": [3, 1, 2],
    "numbers in order": None,
    "booleans": [True, False],
    "words": ["Oslo", "Rome", "Bern"],
    "words of another script": ["наука", "科学", "🙂", ""],
    "long words": ["u" * 5000, "v"],
    "control characters": ["\0", "\n", "\u202e"],
    "half a character": ["\ud800", "a"],
    "one value": ["kg"],
    "nothing": [None],
    "dates": [DAY.date(), DAY.date() + dt.timedelta(days=400)],
    "dates of every age": [dt.date(1, 1, 1), dt.date(9999, 12, 31), DAY.date()],
    "instants": [DAY, DAY + dt.timedelta(hours=30, microseconds=1)],
    "spans of time": [dt.timedelta(days=1), dt.timedelta(seconds=-3)],
    "times": [dt.time(3, 4), dt.time(23, 59, 59, 999_999)],
    "decimals": [Decimal("1.5"), Decimal("-2")],
    "huge whole numbers": [10**30, 1],
    "bytes": [b"a", b"b"],
    "lists": [[1, 2], [3]],
    "dictionaries": [{"a": 1}, {"a": 2}],
    "complex": [1j, 2.0],
    "mixed": ["a", 1, 2.5],
    "objects": [object(), object()],
    "infinite": [np.inf, 1.0, 2.0],
    "numbers of every size": None,
}


@st.composite
def columns(draw):
    """A list of values of one kind, some of them blank."""
    kind = draw(st.sampled_from(list(VALUES)))
    rng = np.random.default_rng(draw(SEEDS))
    values = VALUES[kind]
    if kind == "numbers in order":
        found = list(range(N))
    elif kind == "numbers of every size":
        found = draw(st.lists(EXTREME, min_size=N, max_size=N))
    else:
        found = [values[rng.integers(len(values))] for _ in range(N)]
    if draw(st.booleans()):
        found = [None if rng.random() < 0.2 else value for value in found]
    return found


def pandas_column(values):
    """As pandas takes it, or the way that holds anything."""
    try:
        return pd.Series(values)
    except (UnicodeError, OverflowError):
        return pd.Series(values, dtype=object)


def pandas_frame(table):
    return pd.DataFrame({name: pandas_column(values) for name, values in table.items()})


FRAMES = {
    "pandas": pandas_frame,
    "pandas, another index": lambda table: pandas_frame(table).set_index(pd.Index(range(50, 50 + N))),
    "pandas, nullable": lambda table: pandas_frame(table).convert_dtypes(),
    "pandas, categories": lambda table: pandas_frame(table).astype("category"),
    "pandas, objects": lambda table: pandas_frame(table).astype(object),
    "polars": lambda table: pl.DataFrame(table, strict=True),
    "polars, categories": lambda table: pl.DataFrame(table).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars, lazy": lambda table: pl.DataFrame(table).lazy(),
    "Arrow": pa.table,
    "Arrow, dictionaries": lambda table: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in table.items()}
    ),
}
CANNOT_HOLD = (
    TypeError,
    ValueError,
    OverflowError,
    NotImplementedError,
    UnicodeError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def frame_of(form, table):
    """The frame, or, where that library cannot hold the values, one of pandas."""
    try:
        return FRAMES[form](table)
    except CANNOT_HOLD:
        return pandas_frame(table)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_kind(kind):
    """Frames of any library, with columns of any values and blanks, give finite answers or one clear
    error, and are not changed."""

    @examples(20, 1200)
    @given(
        st.lists(columns(), min_size=1, max_size=4),
        st.sampled_from(list(FRAMES)),
        estimators(kind),
        st.sampled_from(["auto", None, "standard", "robust", "rank"]),
        SEEDS,
    )
    def law(values, form, name, scale, seed):
        frame = frame_of(form, {f"column {j}": column for j, column in enumerate(values)})
        before = bits(frame) if "objects" not in form else None
        y = labels_for(name, numbers_for(np.empty(N), seed))
        scale = None if scale == "auto" and not name.startswith("XNV") else scale
        found = outcome(lambda: said(small(name, scale=scale).fit(frame, y), frame))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        encoded = outcome(lambda: TableEncoder().fit_transform(frame))
        assert isinstance(encoded, Refused) or np.isfinite(encoded).all()
        assert before is None or bits(frame) == before
        tried("frames")

    law()


def plain_table(seed):
    rng = np.random.default_rng(seed)
    return {"age": rng.normal(size=N), "size": rng.normal(size=N), "dose": rng.normal(size=N)}


def messy_table(seed):
    rng = np.random.default_rng(seed)
    words = rng.choice(["Oslo", "Rome", "Bern"], N).tolist()
    return {**plain_table(seed), "town": words, "blank": [None, 1.0, 2.0] * (N // 3)}


CHANGES = {
    "reordered": lambda table: dict(reversed(table.items())),
    "renamed": lambda table: {name.replace("age", "Age"): table[name] for name in table},
    "missing": lambda table: {name: column for name, column in table.items() if name != "size"},
    "one more": lambda table: {**table, "more": [1.0] * N},
    "words for numbers": lambda table: {**table, "age": ["old"] * N},
    "numbers for words": lambda table: {**table, "dose": [b"a"] * N},
    "all blank": lambda table: {**table, "age": [None] * N},
}
LIBRARIES = ["pandas", "polars", "Arrow"]


@pytest.mark.parametrize("table_of", [plain_table, messy_table], ids=["plain", "messy"])
def test_columns_that_are_not_those_of_the_fit(table_of):
    """A frame with columns reordered or added is predicted by name or refused, one with columns
    renamed or missing is refused with their names, and none is ever read by position."""

    @examples(13, 500)
    @given(
        st.sampled_from(list(CHANGES)),
        st.sampled_from(LIBRARIES),
        st.sampled_from(LIBRARIES),
        estimators(""),
        SEEDS,
    )
    def law(change, library, other, name, seed):
        table = table_of(seed)
        y = labels_for(name, numbers_for(np.empty(N), seed))
        model = small(name).fit(FRAMES[library](table), y)
        expected = said(model, FRAMES[library](table))
        assert_array_equal(said(model, FRAMES[other](table)), expected)
        frame = frame_of(other, CHANGES[change](table))
        before = bits(frame)
        found = outcome(said, model, frame)
        if change in ("renamed", "missing"):
            assert ("age" if change == "renamed" else "size") in found
            assert isinstance(found, Refused)
        elif change in ("reordered", "one more"):
            assert isinstance(found, Refused) or np.array_equal(found, expected)
        else:
            assert isinstance(found, Refused) or np.isfinite(found).all()
        assert bits(frame) == before
        assert_array_equal(said(model, FRAMES[library](table)), expected)
        tried("frames")

    law()


NAMES = st.one_of(
    st.text(max_size=5),
    st.integers(-3, 3),
    st.floats(allow_nan=True),
    st.booleans(),
    st.none(),
    st.tuples(st.integers(0, 1), st.text(max_size=1)),
)


def test_names_of_every_type():
    """Columns of any names, of any types, equal or not, give the answer of the bare numbers or one
    clear error."""

    @examples(13, 500)
    @given(st.lists(NAMES, min_size=1, max_size=4), estimators(""), st.booleans(), SEEDS)
    def law(names, name, messy, seed):
        X = np.random.default_rng(seed).normal(size=(N, len(names)))
        frame = pd.DataFrame(X)
        if messy:
            frame[0] = list("uvw") * (N // 3)
        frame.columns = pd.Index(names, tupleize_cols=False)
        y = labels_for(name, numbers_for(X, seed))
        found = outcome(lambda: said(small(name).fit(frame, y), frame))
        if not messy and not isinstance(found, Refused):
            assert_array_equal(found, said(small(name).fit(X, y), X))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        tried("frames")

    law()
