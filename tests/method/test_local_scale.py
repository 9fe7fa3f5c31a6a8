"""The scale of errors at a row: the likeliest, in any unit, and without a row's own label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from twinviews.method.local_scale import _PRIOR, _PRIOR_LABELS, _slopes, local_scale


def held_out_labels(m=200, seed=0):
    random = np.random.default_rng(seed)
    prediction, spread = random.normal(size=m), np.exp(random.normal(size=m))
    y = prediction + spread * np.exp(0.3 * prediction) * random.normal(size=m)
    return y, np.full(m, 1 / m), np.arange(m) % 5, prediction, spread


def test_slopes_are_the_likeliest():
    """Newton's method against a general minimiser."""
    random = np.random.default_rng(0)
    features, share = random.normal(size=(80, 3)), random.dirichlet(np.full(80, 5.0))
    features -= share @ features
    size = random.exponential(size=80) * np.exp(features @ [0.8, -0.3, 0.1])

    def loss(beta):
        u = beta[0] + features @ beta[1:]
        off = _PRIOR_LABELS * np.square(beta[1:] - _PRIOR).sum() / 2
        return 80 * share @ (u + size / (share @ size) * np.exp(-u)) + off

    found = minimize(loss, np.zeros(4), tol=1e-12)
    assert_allclose(_slopes(features, size, share), found.x[1:], atol=1e-5)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_the_scale_does_not_depend_on_the_unit(unit):
    y, weight, fold_of, prediction, spread = held_out_labels()
    scale, at_labels = local_scale(y, weight, fold_of, prediction, spread)
    other, there = local_scale(
        unit * y + 7 * unit, weight, fold_of, unit * prediction + 7 * unit, unit * spread
    )
    assert_allclose(there, at_labels, rtol=1e-6)
    at = np.repeat(prediction[:, None], 5, axis=1), np.repeat(spread[:, None], 5, axis=1)
    ours = other(unit * at[0] + 7 * unit, unit * at[1])
    assert_allclose(ours, scale(*at), rtol=1e-6)


def test_a_label_has_no_say_in_its_own_scale():
    y, weight, fold_of, prediction, spread = held_out_labels()
    _, before = local_scale(y, weight, fold_of, prediction, spread)
    y = y.copy()
    y[3], y[8] = y[8], y[3]  # of one fold
    _, after = local_scale(y, weight, fold_of, prediction, spread)
    assert fold_of[3] == fold_of[8]
    assert_allclose(after[fold_of == 3], before[fold_of == 3], rtol=0.02)
    assert np.abs(after / before - 1)[fold_of != 3].max() > 0.02


def test_errors_in_units_of_the_scale_are_more_alike():
    y, weight, fold_of, prediction, spread = held_out_labels(m=400)
    _, scale = local_scale(y, weight, fold_of, prediction, spread)
    size = np.abs(y - prediction)
    assert np.corrcoef(np.log(size), np.log(spread))[0, 1] > 0.5
    assert abs(np.corrcoef(np.log(size / scale), np.log(spread))[0, 1]) < 0.15


def test_a_wild_label_hardly_moves_the_scale():
    y, weight, fold_of, prediction, spread = held_out_labels()
    _, before = local_scale(y, weight, fold_of, prediction, spread)
    wild = y.copy()
    wild[0] += 50 * np.abs(y).max()
    _, after = local_scale(wild, weight, fold_of, prediction, spread)
    assert np.abs(np.log(after / before)).max() < 0.5


def test_nothing_to_learn_from_equal_labels():
    _, weight, fold_of, _, spread = held_out_labels()
    assert local_scale(np.ones(200), weight, fold_of, np.ones(200), spread) is None
