"""What one fit leaves behind does not reach the next, and fits that differ are not merged."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from twinviews import XNVClassifier, XNVRegressor
from twinviews.estimators import _table_methods
from twinviews.reading import ReadingOptions


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(200, 3))
    return X, np.where(np.arange(200) < 60, X[:, 0], np.nan)


def test_scaled_and_unscaled_fits_are_not_merged(rows):
    X, y = rows
    given = {"landmarks": X[:40], "sigma": 1.0, "members": None}
    plain = XNVRegressor(scale=None, **given).fit(X, y)
    scaled = XNVRegressor(scale="standard", **given).fit(X, y)
    for one, other in ((plain, scaled), (scaled, plain)):
        with pytest.raises(ValueError, match="cannot be merged"):
            one.merge(other)


def test_a_table_after_sparse_rows_is_fitted_as_if_it_came_first(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    model = XNVRegressor(random_state=0).fit(csr_array(X), y)
    assert any("directions" in name for name, _ in model.members_)
    alone = XNVRegressor(random_state=0).fit_table(frame, target="y")
    assert model.fit_table(frame, target="y").members_ == alone.members_
    assert not any("directions" in name for name, _ in alone.members_)


def test_a_table_after_partial_fit_has_its_own_classes(rows):
    X, _ = rows
    y = np.where(X[:, 0] > 0, "p", "n").astype(object)
    model = XNVClassifier(members=None, random_state=0).partial_fit(X, y, classes=["n", "p", "q"])
    assert model.classes_.tolist() == ["n", "p", "q"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    assert model.fit_table(frame, target="y").classes_.tolist() == ["n", "p"]


def test_intervals_of_sparse_rows_with_an_ensemble(rows):
    X, y = rows
    model = XNVRegressor(members=["built-in"], scale=None, random_state=0).fit(X, y)
    dense = model.predict_interval(X[:5])
    assert_allclose(model.predict_interval(csr_array(X[:5])), dense)


def test_a_checkpoint_of_another_reading_is_not_continued(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)))
    seen = []
    original = _table_methods.Checkpoint

    def noted(where, fingerprint, kinds):
        seen.append(fingerprint)
        return original(where, fingerprint, kinds)

    monkeypatch.setattr(_table_methods, "Checkpoint", noted)
    for missing in (None, ["4"]):
        XNVRegressor(members=None, n_components=2, random_state=0).fit_table(
            path, target="y", reading=ReadingOptions(missing=missing), checkpoint=tmp_path / "notes"
        )
    assert len(set(seen)) == 2
    assert not os.path.exists(tmp_path / "notes")
