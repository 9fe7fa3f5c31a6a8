import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from scipy.stats import beta, t

from twinviews.active.learning_curve import (
    EXPONENTS,
    Estimate,
    forecast,
    mean_loss,
    power_law,
    share_wrong,
)

SIZES = np.array([10, 14, 20, 28, 40, 56, 80])
AHEAD = np.array([80, 90, 130, 300, 10_000])


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(("a", "b"), [(0.0, 2.0), (0.3, 5.0), (0.7, 0.0), (0.0, 0.0)])
def test_a_power_law_is_recovered(exponent, a, b):
    errors = a + b * SIZES[None] ** -exponent
    expected = a + b * AHEAD[None] ** -exponent
    assert_allclose(power_law(SIZES, errors, AHEAD), expected, rtol=1e-9, atol=1e-12)


@given(errors=st.lists(st.floats(0, 10), min_size=7, max_size=7))
@settings(max_examples=100, deadline=None)
def test_the_fit_is_the_best_that_neither_rises_nor_falls_below_zero(errors):
    errors = np.array(errors)
    root = np.sqrt(SIZES / SIZES.sum())
    fits = []
    for exponent in EXPONENTS:
        A = np.column_stack([np.ones(7), SIZES**-exponent])
        (a, b), misfit = nnls(root[:, None] * A, root * errors)
        fits.append((misfit, a + b * AHEAD**-exponent))
    found = power_law(SIZES, errors[None], AHEAD)[0]
    least = min(misfit for misfit, _ in fits)
    ties = [said for misfit, said in fits if misfit <= least + 1e-7]
    assert any(np.allclose(found, said, rtol=1e-6, atol=1e-6) for said in ties)
    assert (found >= 0).all()
    assert (np.diff(found) <= 0).all()


def test_many_curves_are_fitted_as_one_by_one():
    errors = np.random.default_rng(0).uniform(size=(30, 7)).cumsum(axis=1)[:, ::-1]
    together = power_law(SIZES, errors, AHEAD)
    assert_allclose(together, np.vstack([power_law(SIZES, row[None], AHEAD) for row in errors]))


def test_one_size_alone_promises_nothing():
    said = power_law(SIZES[:1], np.array([[0.4], [2.0]]), AHEAD)
    assert_allclose(said, np.repeat([[0.4], [2.0]], len(AHEAD), axis=1))


@given(losses=st.lists(st.floats(0, 1e6), min_size=1, max_size=40), scale=st.floats(1e-3, 1e3))
@settings(max_examples=100, deadline=None)
def test_a_mean_loss_lies_in_its_interval_and_has_its_unit(losses, scale):
    losses = np.array(losses)
    found = mean_loss(losses)
    assert found.value == losses.mean()
    assert 0 <= found.lower <= found.value <= found.upper
    assert_allclose(mean_loss(scale * losses), np.array(found) * scale, rtol=1e-9)
    narrow = mean_loss(losses, confidence=0.5)
    assert found.lower <= narrow.lower <= narrow.upper <= found.upper


@given(j=st.integers(1, 60), data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_share_lies_in_its_interval_which_mirrors_when_right_and_wrong_do(j, data):
    wrong = data.draw(st.integers(0, j))
    losses = (np.arange(j) < wrong).astype(float)
    found = share_wrong(losses)
    assert found.value == wrong / j
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    assert found.upper > 0, "none was wrong, and that may have been luck"
    assert found.lower < 1
    mirrored = share_wrong(1 - losses)
    expected = (1 - mirrored.value, 1 - mirrored.upper, 1 - mirrored.lower)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimate", [mean_loss, share_wrong])
def test_more_rows_are_surer(estimate):
    losses = np.tile([0.0, 0.0, 1.0], 5)
    widths = []
    for times in (1, 4, 16):
        found = estimate(np.tile(losses, times))
        widths.append(found.upper - found.lower)
    assert widths[0] > widths[1] > widths[2]


def test_the_root_of_an_estimate_is_that_of_its_parts():
    assert Estimate(4.0, 1.0, 9.0).root() == Estimate(2.0, 1.0, 3.0)


def curves(rng, j=60, a=0.2, b=6.0, exponent=1.0, squared=True):
    """(sizes, j) losses of independent rows, whose mean is a power law."""
    mean = (a + b * SIZES**-exponent)[:, None]
    if squared:
        return mean * rng.chisquare(1, size=(len(SIZES), j))
    return (rng.uniform(size=(len(SIZES), j)) < mean).astype(float)


@pytest.mark.parametrize("squared", [True, False])
def test_more_labels_never_promise_more_error(squared):
    more = np.array([1, 10, 50, 100, 10_000])
    for seed in range(20):
        rng = np.random.default_rng(seed)
        losses = curves(rng, 20, *rng.uniform([0, 0, 0.2], [0.5, 3, 1.5]), squared=squared)
        promised = forecast(SIZES, losses, more, squared=squared)
        values = np.array([losses[-1].mean(), *(one.value for one in promised)])
        assert (np.diff(values) <= 1e-12).all()
        for part in ("lower", "upper"):
            assert (np.diff([getattr(one, part) for one in promised]) <= 1e-12).all()
        assert all(0 <= one.lower <= one.value <= one.upper for one in promised)


def test_a_forecast_has_the_unit_of_the_losses_and_is_the_same_again():
    losses = curves(np.random.default_rng(0))
    found = np.array(forecast(SIZES, losses, np.array([20, 80]), squared=True))
    again = np.array(forecast(SIZES, losses, np.array([20, 80]), squared=True))
    assert (found == again).all()
    scaled = forecast(SIZES, 1e4 * losses, np.array([20, 80]), squared=True)
    assert_allclose(scaled, 1e4 * found, rtol=1e-9)
    turned = losses[:, np.random.default_rng(1).permutation(60)]
    values = [one.value for one in forecast(SIZES, turned, np.array([20, 80]), squared=True)]
    assert_allclose(values, found[:, 0], rtol=1e-9)


def test_losses_that_do_not_vary_are_continued_exactly():
    mean = 0.1 + 3 * SIZES**-0.75
    for more, found in zip(
        [20, 80],
        forecast(SIZES, np.repeat(mean[:, None], 9, 1), np.array([20, 80]), squared=True),
        strict=True,
    ):
        assert_allclose(found, 0.1 + 3 * (80.0 + more) ** -0.75, rtol=1e-9)


def test_no_loss_at_all_stays_none_and_may_have_been_luck():
    nothing, more = np.zeros((7, 12)), np.array([10, 100])
    for found in forecast(SIZES, nothing, more, squared=True):
        assert found == Estimate(0.0, 0.0, 0.0)
    for found in forecast(SIZES, nothing, more, squared=False):
        assert found == share_wrong(nothing[-1])


@pytest.mark.parametrize("j", [10, 40, 160])
def test_intervals_of_independent_losses_hold_the_truth(j):
    rng = np.random.default_rng(j)
    held = [one.lower <= 1 <= one.upper for one in (mean_loss(rng.chisquare(1, j)) for _ in range(400))]
    assert np.mean(held) >= 0.9
    shares = (share_wrong((rng.uniform(size=j) < 0.15).astype(float)) for _ in range(400))
    assert np.mean([one.lower <= 0.15 <= one.upper for one in shares]) >= 0.9


@pytest.mark.parametrize("squared", [True, False])
def test_forecasts_of_independent_losses_hold_the_truth(squared):
    rng = np.random.default_rng(0)
    truth = 0.1 + 3.0 / (SIZES[-1] + 50)
    held = 0
    for _ in range(100):
        losses = curves(rng, 60, a=0.1, b=3.0, squared=squared)
        (found,) = forecast(SIZES, losses, np.array([50]), squared=squared)
        held += found.lower <= truth <= found.upper
    assert held >= 90


def test_the_interval_of_a_mean_is_students_of_its_logarithm():
    """As if a fourth of the rows were independent."""
    losses = np.array([1.0, 4.0, 2.0, 9.0, 0.5])
    reach = t.ppf(0.95, 4) * losses.std(ddof=1) * np.sqrt(4 / 5) / losses.mean()
    expected = losses.mean() * np.exp([0, -reach, reach])
    assert_allclose(mean_loss(losses), expected)
    assert mean_loss(losses[:1]) == (1.0, 0.0, np.inf)
    assert mean_loss(np.zeros(1)) == (0.0, 0.0, np.inf)
    assert mean_loss(np.zeros(2)) == (0.0, 0.0, 0.0)
    two = mean_loss(np.array([1.0, 2.0]))
    assert 0 < two.lower < 1.5 < two.upper < np.inf


@pytest.mark.parametrize(("wrong", "j"), [(0, 10), (3, 10), (7, 20)])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_interval_of_a_share_leaves_equal_tails(wrong, j, confidence):
    """Of the distribution that j / 2 rows leave of a share, by Jeffreys' prior."""
    found = share_wrong((np.arange(j) < wrong).astype(float), confidence=confidence)
    belief = beta(wrong / 2 + 0.5, (j - wrong) / 2 + 0.5)
    assert_allclose(belief.sf(found.upper), (1 - confidence) / 2)
    if wrong:
        assert_allclose(belief.cdf(found.lower), (1 - confidence) / 2)


@pytest.mark.parametrize("squared", [True, False])
def test_a_forecast_grows_surer_with_less_confidence(squared):
    losses = curves(np.random.default_rng(0), squared=squared)
    more = np.array([20, 200])
    wide = forecast(SIZES, losses, more, squared=squared, confidence=0.99)
    narrow = forecast(SIZES, losses, more, squared=squared, confidence=0.5)
    assert forecast(SIZES, losses, more, squared=squared) == forecast(
        SIZES, losses, more, squared=squared, confidence=0.9
    )
    for one, other in zip(wide, narrow, strict=True):
        assert one.value == other.value
        assert one.upper - one.lower > 1.5 * (other.upper - other.lower)


def test_with_next_to_no_confidence_the_interval_of_a_forecast_is_hardly_more_than_a_point():
    losses, more = curves(np.random.default_rng(0)), np.array([20])
    (point,) = forecast(SIZES, losses, more, squared=True, confidence=1e-9)
    (usual,) = forecast(SIZES, losses, more, squared=True)
    assert point.upper - point.lower < 0.2 * (usual.upper - usual.lower)


def test_a_forecast_of_a_share_is_no_surer_than_the_share_now():
    """Each end falls as the value does."""
    losses = curves(np.random.default_rng(3), j=12, a=0.1, b=3.0, squared=False)
    now = share_wrong(losses[-1])
    for found in forecast(SIZES, losses, np.array([10, 300]), squared=False):
        fall = found.value / now.value
        assert fall < 1
        assert found.lower <= fall * now.lower * (1 + 1e-9)
        assert found.upper >= fall * now.upper * (1 - 1e-9)


@pytest.mark.parametrize("estimate", [mean_loss, share_wrong])
def test_weights_count_as_losses_do(estimate):
    """Equal weights are none, and a loss of weight zero is not there."""
    losses = np.array([1.0, 0, 0, 1, 0, 0, 1, 0])
    assert_allclose(estimate(losses, np.full(8, 1 / 8)), estimate(losses))
    some = np.array([1.0, 1, 0, 1, 1, 0, 1, 1]) / 6
    assert_allclose(estimate(losses, some), estimate(losses[some > 0]))
    wide = estimate(losses, np.array([3.0, 1, 1, 1, 1, 1, 1, 1]) / 10)
    assert wide.upper > estimate(losses).upper  # as fewer losses tell less


@pytest.mark.parametrize("squared", [True, False])
def test_a_forecast_with_equal_weights_is_that_without(squared):
    losses = (np.random.default_rng(0).random((7, 16)) < 0.4).astype(float)
    more = np.array([10, 100])
    found = forecast(SIZES, losses, more, np.full(16, 1 / 16), squared=squared)
    assert_allclose(found, forecast(SIZES, losses, more, squared=squared))
