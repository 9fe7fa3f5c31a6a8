"""Parameters of every kind: a right answer or one clear error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counts import tried
from outcomes import Refused, outcome
from strange_tables import ESTIMATORS, bits, labels_for, numbers_for, small, tables
from test_bad_input import SEEDS, examples, said
from twinviews import TableEncoder, forecast_error, suggest

ODD = [
    *(None, True, False, "auto", "", "word", b"auto", [], [1.0], (), {}, {"a": 1}, set()),
    *(0, 1, 2, 3, 7, -1, 10**9, 10**400, -(10**400), 0.0, -0.0, 0.5, 1.0, 1.5, -2.5),
    *(np.nan, np.inf, -np.inf, 5e-324, 1e-300, 1e-160, 1e-100, 1e100, 1e160, 1e300, 1.7e308, 1j),
    *(np.float64(0.3), np.float32(0.3), np.float16(0.3), np.int8(3), np.uint64(3), np.bool_(True)),
    *(np.array(2.0), np.array([1.0, 2.0]), np.zeros((2, 2)), np.zeros(0), np.datetime64("2024-01-01")),
    *(
        "gaussian",
        "linear",
        "polynomial",
        "cosine",
        "laplace",
        "exact",
        "randomized",
        "standard",
        "rank",
    ),
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_of_every_kind(name):
    """Parameters of any type and size, two at a time, give finite answers or one clear error, in
    bounded time and memory."""
    names = sorted(set(small(name).get_params()) - {"progress"})

    @examples(4, 120)
    @given(
        tables(),
        st.sampled_from(names),
        st.sampled_from(ODD),
        st.sampled_from(names),
        st.sampled_from(ODD),
        SEEDS,
    )
    def law(X, first, value, second, other, seed):
        y = labels_for(name, numbers_for(X, seed))
        parameters = {first: value, second: other}
        found = outcome(lambda: said(small(name, **parameters).fit(X, y), X))
        assert isinstance(found, Refused) or np.isfinite(found).all()
        tried("parameters")

    law()


def test_options_of_methods():
    """Odd values for coverage, k, handful, rule, more, classes and kinds are refused with one clear
    error, or right."""

    @examples(20, 1000)
    @given(tables(), st.sampled_from(ESTIMATORS), st.sampled_from(ODD), st.integers(0, 10), SEEDS)
    def law(X, name, value, which, seed):
        y = labels_for(name, numbers_for(X, seed))
        model = outcome(small(name).fit, X, y)
        calls = [
            lambda: model.predict_interval(X, coverage=value),
            lambda: model.predict(X, value),
            lambda: suggest(model, X, value, random_state=0).worth,
            lambda: suggest(model, X, 2, handful=value, random_state=0).worth,
            lambda: suggest(model, X, 2, rule=value, random_state=0).worth,
            lambda: suggest(model, X, 2, random_state=value).worth,
            lambda: suggest(model, X, 2, y=value, random_state=0).worth,
            lambda: suggest(model, X, 2, random_share=value, random_state=0).worth,
            lambda: np.array(forecast_error(model, X, y, more=value).promised),
            lambda: small(name).partial_fit(X, y, classes=value).predict(X),
            lambda: TableEncoder(kinds=value).fit_transform(X),
        ]
        if which in (0, 1) and name.endswith("Classifier"):
            return
        if which == 9 and not hasattr(model, "partial_fit"):
            return
        before = bits(X)
        found = outcome(calls[which])
        if not isinstance(found, (Refused, tuple)) and found.dtype.kind == "f":
            assert not np.isnan(found).any()
        assert bits(X) == before
        tried("options")

    law()
