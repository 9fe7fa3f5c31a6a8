"""Probabilities of the next labels, against brute force and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews.estimates.sampling_design import (
    UNIFORM_PART,
    RowSizes,
    curve_of,
    draws_by_group,
    draws_for_width,
    expected_draws,
    over_phases,
    rule_for,
    systematic_draw,
    variance_before,
    variance_of_total,
)


def some_rows(m=400, before=0.1, share=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return RowSizes(rng.exponential(size=m), np.full(m, before), np.ones(m), share)


def chances(rows, k):
    rule = rule_for(rows, k)
    return rule.chance(rows.size * rows.weight, rows.before)


def test_each_row_is_drawn_as_often_as_its_chance_says():
    chance = chances(some_rows(60), 20)
    starts = (np.arange(20_000) + 0.5) / 20_000
    drawn = np.array([systematic_draw(chance, 20, start) for start in starts])
    assert all(len(set(one)) == 20 for one in drawn[::100])
    assert_allclose(np.bincount(drawn.ravel(), minlength=60) / len(starts), chance, atol=2e-4)


@pytest.mark.parametrize("k", [1, 17, 150, 399, 400])
@pytest.mark.parametrize(("before", "share"), [(0.0, 1.0), (0.1, 1.0), (0.05, 0.3)])
def test_chances_sum_to_the_rows_wanted(k, before, share):
    rows = some_rows(before=before, share=share)
    assert_allclose(chances(rows, k).sum() / share, k, rtol=1e-9)
    assert chances(rows, k).max() <= share


def test_rows_of_larger_residuals_are_more_probable_and_none_is_improbable():
    rows = some_rows(before=0.0)
    p = chances(rows, 40)
    order = np.argsort(rows.size)
    assert (np.diff(p[order]) >= 0).all()
    # Random labels would have 40 / 400.
    assert p.min() >= 0.9 * UNIFORM_PART * 0.1


def test_rows_that_are_all_alike_are_a_random_sample():
    rows = some_rows()._replace(size=np.full(400, 3.0))
    assert_allclose(chances(rows, 50), 50 / 400)
    # n of N rows: the total has the variance N^2 (1/n - 1/N) s^2.
    p = 0.1 + 0.9 * 50 / 400
    assert_allclose(variance_of_total(rows, rule_for(rows, 50)), 400 * (1 / p - 1) * 9)
    assert_allclose(variance_before(rows), 400 * (1 / 0.1 - 1) * 9)


def test_labels_so_far_count_for_rows_that_need_no_more():
    """Where a row was probable enough before, it is left alone."""
    size = np.array([1.0] * 50 + [10.0] * 50)
    rows = RowSizes(size, np.full(100, 0.3), np.ones(100), 1.0)
    p = chances(rows, 5)
    assert_allclose(p[:50], 0, atol=1e-12)
    assert_allclose(p[50:], 0.1)


def test_weights_are_part_of_the_size():
    rows = some_rows()
    heavy = rows._replace(weight=rows.size, size=np.ones(400))
    assert_allclose(chances(heavy, 40), chances(rows, 40))


def test_the_design_beats_random_labels_where_residuals_differ():
    rows = some_rows(before=0.0)
    alike = rows._replace(size=np.full(400, np.sqrt(np.mean(rows.size**2))))
    p = chances(alike, 40)
    at_random = np.sum((1 / p - 1) * rows.size**2)
    assert variance_of_total(rows, rule_for(rows, 40)) < 0.8 * at_random


def test_labels_of_two_phases_stand_for_all_rows():
    """With probabilities over both phases, totals are unbiased, and their variance is the formula's."""
    rng = np.random.default_rng(0)
    N, n, k = 60, 12, 18
    r = rng.normal(size=N) * np.linspace(0.2, 3, N) + 1.0
    rows = RowSizes(np.linspace(0.2, 3, N), np.full(N, n / N), np.ones(N), 1.0)
    totals, labels = [], []
    rule = rule_for(RowSizes(rows.size, rows.before, rows.weight, 1.0), k)
    now = rule.chance(rows.size, rows.before)
    p = over_phases(rows.before, now)
    for _ in range(20_000):
        first = rng.random(N) < n / N
        has = first | (rng.random(N) < now)
        totals.append((r / p)[has].sum())
        labels.append(has.sum())
    assert_allclose(np.mean(labels), p.sum(), rtol=0.01)
    variance = np.sum((1 / p - 1) * r**2)
    assert abs(np.mean(totals) - r.sum()) < 4 * np.sqrt(variance / 20_000)
    assert_allclose(np.var(totals), variance, rtol=0.05)


def test_groups_reach_the_same_width():
    groups = [some_rows(m, before, seed=m) for m, before in ((100, 0.2), (400, 0.05), (900, 0.1))]
    curves = [curve_of(rows) for rows in groups]
    scale = 1 / np.array([100, 400, 900])
    draws = draws_by_group(curves, scale, 120)
    assert draws.sum() == 120
    widths = [
        s * np.sqrt(variance_of_total(rows, rule_for(rows, int(k))))
        for rows, s, k in zip(groups, scale, draws, strict=True)
    ]
    needed = [k for k in draws if k > 0]
    reached = [w for w, k in zip(widths, draws, strict=True) if k > 0]
    assert len(needed) >= 2
    assert_allclose(reached, np.mean(reached), rtol=0.03)
    assert_allclose(draws_for_width(curves, scale, max(widths)), draws, atol=2)


def test_a_curve_falls_to_nothing_with_a_label_for_every_row():
    rows = some_rows(before=0.0)
    curve = curve_of(rows)
    assert (np.diff(curve.draws) >= -1e-9).all()
    assert (np.diff(curve.variance) <= 1e-9).all()
    assert curve.draws[-1] == pytest.approx(400)
    assert curve.variance[-1] == pytest.approx(0)
    assert curve.draws_for(0.0) == pytest.approx(400)
    k = curve.draws_for(float(curve.variance[100]))
    assert k == pytest.approx(expected_draws(rows, rule_for(rows, round(k))), abs=1)
