"""Labels that are hidden to judge a model by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from twinviews.report.trial import hidden_labels

FEW_LABELS = 40


@pytest.fixture(scope="module", autouse=True)
def one_split_for_small_tables():
    """So that both ways of hiding labels are tried on few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("twinviews.report.trial.FEW_LABELS", FEW_LABELS)
        yield


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6), seed=st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_every_class_is_hidden_in_its_share_and_never_all_of_it(sizes, seed):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    splits = hidden_labels(strata, seed)
    few = len(strata) < FEW_LABELS
    assert len(splits) == (5 if few else 1)
    for train, test in splits:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(strata)))
        assert set(strata[test]) <= set(strata[train])
        hidden = np.bincount(strata[test], minlength=len(sizes))
        part = np.array(sizes) / (5 if few else 4)
        assert (np.abs(hidden - np.where(np.array(sizes) == 1, 0, part)) < 1).all()
    if few:
        tests = np.sort(np.concatenate([split.test for split in splits]))
        assert_array_equal(tests, np.flatnonzero(np.repeat(np.array(sizes) > 1, sizes)))
