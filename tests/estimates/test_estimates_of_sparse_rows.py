"""Estimates over sparse rows are those over the same rows that are dense."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from twinviews import XNVRegressor, estimate


def test_sparse_rows_are_estimated_as_they_are():
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 90), density=0.2, rng=rng, format="csr")
    y = X @ rng.normal(size=90) + np.sin(3 * X[:, [0]].toarray()[:, 0])
    labels = np.where(np.arange(len(y)) < 60, y, np.nan)
    model = XNVRegressor(random_state=0).fit(X, labels)
    found = estimate(model, X, y=labels)[0]
    again = estimate(model, X.toarray(), y=labels)[0]
    assert found.low < found.estimate < found.high
    for name in ("estimate", "low", "high"):
        assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-9)
