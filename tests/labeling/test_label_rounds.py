"""Rounds of rows for an answer about all rows: their probabilities, and how they are kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import label_probabilities
from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.label_rounds import Round, Wish, draw_round, probability_of_rows
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity

N = 200
ROWS = np.arange(N)


def drawn_round(size, how, rounds=(), k=20, seed=0):
    before = probability_of_rows(ROWS, how, N, rounds)
    free = ~np.isin(ROWS, list(how))
    return draw_round(ROWS, size, before, free, k, 1.0, np.random.default_rng(seed))


def test_without_rounds_they_are_those_of_any_fit():
    how = {3: "random", 8: "given", 5: "suggested", 9: "chosen", 1: "imported"}
    found = probability_of_rows(ROWS, how, N, ())
    assert_allclose(found[list(how)], label_probabilities(list(how.values()), N))
    assert_allclose(found[[0, 100]], 3 / (N - 2))


def test_a_round_adds_its_chance_as_far_as_its_rows_have_labels():
    how = dict.fromkeys(range(20), "random")
    one = drawn_round(np.linspace(1, 3, N), how)
    assert len(set(one.drawn)) == 20
    assert min(one.drawn) >= 20
    half = how | dict.fromkeys(one.drawn[:10], "designed")
    whole = how | dict.fromkeys(one.drawn, "designed")
    b = 20 / N
    for labels, share in ((how, 0.0), (half, 0.5), (whole, 1.0)):
        found = probability_of_rows(ROWS, labels, N, [one])
        assert_allclose(found, 1 - (1 - b) * (1 - share * one.chance))
    assert_allclose(one.chance[20:].sum(), 20)
    assert one.chance[-1] > 1.3 * one.chance[20]


def test_labels_of_several_rounds_stand_for_all_rows():
    rng = np.random.default_rng(0)
    size = np.linspace(0.5, 3, N)
    y = size * rng.normal(size=N) + 1
    totals = []
    for trial in range(300):
        how = dict.fromkeys(rng.choice(N, 20, replace=False).tolist(), "random")
        rounds = []
        for number in range(3):
            rounds.append(drawn_round(size, how, rounds, 15, seed=[trial, number]))
            how |= dict.fromkeys(rounds[-1].drawn, "designed")
        known = np.array(list(how))
        totals.append(np.sum(y[known] / probability_of_rows(ROWS, how, N, rounds)[known]))
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - y.sum()) < 4 * error


def test_designed_labels_of_no_known_round_stand_for_themselves():
    found = probability_of_rows(ROWS, {4: "designed", 7: "random"}, N, ())
    assert found[4] == 1
    assert found[7] == pytest.approx(1 / (N - 1))


def test_rows_that_no_round_has_seen_have_no_known_probability():
    one = Round(0.5, np.arange(0, N, 2), np.full(N // 2, 0.1), (0, 2))
    found = probability_of_rows(ROWS, {0: "designed", 2: "designed", 5: "random"}, N, [one])
    assert np.isnan(found[1])
    assert np.isfinite(found[5])  # as the mean row
    assert found[0] == pytest.approx(1 - (1 - 1 / N) * (1 - 0.5 * 0.1))


def test_rounds_and_wishes_are_kept(tmp_path):
    one = Round(1.0, ROWS, np.linspace(0, 1, N), (5, 1, 7))
    identity = TableIdentity("rows.csv", N, ("a",))
    with LabelStore(tmp_path / "labels.sqlite", identity) as store:
        store.add_target(LabelTarget("y", "regression"))
        assert store.rounds("y") == ()
        assert store.wish("y") == Wish()
        store.add_round("y", one)
        store.set_wish("y", Wish(True, 2.5))
    with LabelStore(tmp_path / "labels.sqlite", identity) as store:
        assert store.n_rounds("y") == 1
        assert store.n_rounds("other") == 0
        (again,) = store.rounds("y")
        assert (again.share, again.drawn) == (1.0, (5, 1, 7))
        assert_array_equal(again.rows, one.rows)
        assert_array_equal(again.chance, one.chance)
        assert store.wish("y") == Wish(True, 2.5)
