"""Checkpoints: a pass that was stopped goes on to the identical model. trust/test_kills.py kills."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal, assert_equal

from twinviews import ExactSSSLRegressor, XNVClassifier, XNVRegressor
from twinviews.method.moments import Moments
from twinviews.passes.first_pass import SUMMARIES, first_pass_of
from twinviews.tables import Block
from twinviews.tables.checkpoint import Checkpoint

GIVEN = {"n_components": 100, "sigma": 3.0, "ridge": 1e-2, "correlation_ridge": 1e-4}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """300,000 rows in 100 row groups; a pass takes long enough to be killed in the middle."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 6))
    y = np.where(np.arange(300_000) % 1000 == 0, X[:, 0] + X[:, 1] ** 2, np.nan)
    names = [f"x{j}" for j in range(6)]
    columns = dict(zip(names, X.T, strict=True)) | {"y": pa.array(y, from_pandas=True)}
    columns["kind"] = [None if np.isnan(v) else ("up" if v > 1 else "down") for v in y]
    pq.write_table(pa.table(columns), path, row_group_size=3_000)
    return path, names, pd.DataFrame(X[:1000], columns=names)


@pytest.mark.parametrize("target", ["y", "kind"])
def test_a_checkpoint_holds_summaries_exactly(target, rows, tmp_path, monkeypatch):
    """Stop after some pieces, as a kill would; go on in the same process."""
    path, names, X = rows
    method = XNVRegressor if target == "y" else XNVClassifier
    whole = method(**GIVEN, random_state=0).fit_table(path, target=target, columns=names)
    monkeypatch.setattr("twinviews.tables.checkpoint._SECONDS_BETWEEN", 0.0)
    notes = tmp_path / "notes.npz"
    for stop_after in (30, 130):
        saves = []
        real = Checkpoint.save

        def stop(self, done, summary, *, complete=False, saves=saves, real=real, last=stop_after):
            real(self, done, summary, complete=complete)
            saves.append(done)
            if len(saves) == last:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "save", stop)
            with pytest.raises(KeyboardInterrupt):
                method(**GIVEN, random_state=0).fit_table(
                    path, target=target, columns=names, checkpoint=notes
                )
    model = method(**GIVEN, random_state=0)
    model.fit_table(path, target=target, columns=names, checkpoint=notes)
    assert_array_equal(model.predict(X), whole.predict(X))
    assert_array_equal(model.coef_, whole.coef_)
    assert not notes.exists()


def test_a_checkpoint_of_another_fit_is_refused(rows, tmp_path):
    path, names, _ = rows
    notes = tmp_path / "notes.npz"
    other = Checkpoint(notes, "another fit", SUMMARIES)
    other.next_fold()
    other.save(1, Moments(np.zeros(1), 1.0, np.zeros(1), np.zeros((1, 1))), complete=True)
    with pytest.raises(ValueError, match=r"belongs to another fit.*delete this one"):
        XNVRegressor(**GIVEN, random_state=0).fit_table(
            path, target="y", columns=names, checkpoint=notes
        )
    assert notes.exists()
    with pytest.raises(ValueError, match="checkpoint needs a number as random_state"):
        XNVRegressor(**GIVEN).fit_table(path, target="y", columns=names, checkpoint=notes)


WORDS = np.array([["a"], [None], ["b"]], dtype=object)


@pytest.mark.parametrize("Y", [np.array([[1.5], [np.nan], [3.0]]), WORDS, None])
@pytest.mark.parametrize("scaled", [True, False])
def test_summaries_are_the_same_in_a_checkpoint(Y, scaled, tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    options = {"sample_size": 4, "seed": 0, "column_moments": scaled}
    chances, strata = np.array([0.1, 0.5, 1.0]), np.arange(3, dtype=np.uint64)
    blocks = (
        Block(X, Y, np.array([1.0, 2.0, 3.0]), chances, strata, strata // np.uint64(2) + np.uint64(1)),
        Block(X + 9, Y, None, chances, strata + np.uint64(1), strata + np.uint64(1)),
    )
    first, second = (first_pass_of(block, **options) for block in blocks)
    there = first.merge(second)
    moments = Moments.of(X.copy(), np.ones(2), np.arange(1.0, 4))
    written = Checkpoint(tmp_path / "notes.npz", "a fit", SUMMARIES)
    for summary in (there, moments):
        written.next_fold()
        written.save(1, summary, complete=True)
    read = Checkpoint(tmp_path / "notes.npz", "a fit", SUMMARIES)
    back, same = read.next_fold().summary, read.next_fold().summary
    assert_equal(vars(same), vars(moments))
    assert isinstance(same.count, float)
    assert (back.n_rows, back.labeled.count) == (6, there.labeled.count)
    assert_equal(vars(back.sample), vars(there.sample))
    assert_equal(back.columns and vars(back.columns), there.columns and vars(there.columns))
    assert_equal(vars(back.strata), vars(there.strata))
    for name, parts in vars(there.labeled).items():
        after = getattr(back.labeled, name)
        if not isinstance(parts, tuple):
            assert after == parts
            continue
        assert bool(after) == bool(parts)
        if parts:
            before, after = np.concatenate(parts), np.concatenate(after)
            assert_array_equal(before, after)
            assert before.dtype == after.dtype
    assert back.merge(first).labeled.count == there.labeled.count + first.labeled.count
    assert read.next_fold() == (0, None)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"", b"PK\x03\x04 and no more"])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(content, rows, tmp_path):
    path, names, _ = rows
    notes = tmp_path / "notes.npz"
    notes.write_bytes(content)
    with pytest.raises(ValueError, match=r"is no checkpoint, or damaged\. Name another file"):
        XNVRegressor(**GIVEN, random_state=0).fit_table(
            path, target="y", columns=names, checkpoint=notes
        )
    assert notes.read_bytes() == content


def test_every_bit_of_a_checkpoint_counts(tmp_path):
    notes = tmp_path / "notes.npz"
    written = Checkpoint(notes, "a fit", SUMMARIES)
    written.next_fold()
    written.save(1, Moments(np.zeros(1), 1.0, np.zeros(1), np.zeros((1, 1))), complete=True)
    whole = notes.read_bytes()
    for place in np.random.default_rng(0).integers(len(whole), size=200):
        wrong = bytearray(whole)
        wrong[place] ^= 1 << int(place % 8)
        notes.write_bytes(wrong)
        try:
            found = Checkpoint(notes, "a fit", SUMMARIES).next_fold()
        except ValueError:
            continue
        # A bit of which nothing depends: a time, or a note on who packed it.
        assert found is not None
        assert found.done == -1
        assert_array_equal(found.summary.mean, np.zeros(1))


def test_a_checkpoint_without_a_folder_is_told_before_the_first_pass(rows, tmp_path):
    path, names, _ = rows
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*missing.* Make it first"):
        XNVRegressor(**GIVEN, random_state=0).fit_table(
            path, target="y", columns=names, checkpoint=tmp_path / "missing" / "notes.npz"
        )


def test_a_method_that_needs_all_rows_has_checkpoints_too(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(np.arange(300) < 50, X[:, 0], np.nan))
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    noted, plain = ExactSSSLRegressor(), ExactSSSLRegressor()
    noted.fit_table(tmp_path / "rows.parquet", target="y", checkpoint=tmp_path / "notes.npz")
    plain.fit_table(tmp_path / "rows.parquet", target="y")
    assert_array_equal(noted.predict(rows[["a", "b"]]), plain.predict(rows[["a", "b"]]))
