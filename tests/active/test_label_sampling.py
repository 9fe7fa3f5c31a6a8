import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews import label_probabilities

WORDS = ["random", "given", "suggested", "chosen"]


@pytest.mark.parametrize("seed", range(5))
def test_labels_stand_for_all_rows_of_the_table(seed):
    """Weights 1 / probability add up to all rows: a suggested one is one, the rest are the others."""
    rng = np.random.default_rng(seed)
    how = np.array([*rng.choice(WORDS, 50), "random"], dtype=object)
    weights = 1 / label_probabilities(how, 700)
    assert_allclose(weights.sum(), 700)
    assert_allclose(weights[np.isin(how, ["suggested", "chosen"])], 1)
    assert np.ptp(weights[np.isin(how, ["random", "given"])]) == 0


def test_the_mean_over_a_table_is_unbiased_whatever_is_suggested():
    """The rule takes the largest values; a quarter of the labels and all of the first are random."""
    rng = np.random.default_rng(0)
    values = np.square(rng.normal(size=400))
    found = []
    for _ in range(2000):
        order = rng.permutation(400)
        suggested = order[np.argsort(-values[order[:100]])[:30]]  # the largest of 100 rows
        others = np.setdiff1d(order, suggested)
        drawn = rng.choice(others, 40, replace=False)
        how = ["suggested"] * 30 + ["random"] * 40
        weights = 1 / label_probabilities(how, 400)
        found.append(np.average(values[[*suggested, *drawn]], weights=weights))
    deviation = np.std(found) / np.sqrt(2000)
    assert abs(np.mean(found) - values.mean()) < 4 * deviation


def test_random_labels_alone_have_all_the_same_probability():
    assert_allclose(label_probabilities(["random"] * 20, 80), 0.25)
    assert_allclose(label_probabilities(["given"] * 10 + ["imported"] * 10, 80), 0.25)
    assert_allclose(label_probabilities(["random"] * 5, 5), 1)


def test_without_a_random_label_nothing_is_known_of_the_other_rows():
    assert_allclose(label_probabilities(["suggested", "chosen"], 1000), 1)
    assert label_probabilities([], 10).shape == (0,)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"how holds 'guessed'. Use one of random, given"):
        label_probabilities(["random", "guessed"], 10)
    with pytest.raises(ValueError, match="how holds None"):
        label_probabilities([None], 10)
    with pytest.raises(ValueError, match="n_rows=1 must be the number of all rows"):
        label_probabilities(["random", "random"], 1)
    with pytest.raises(ValueError, match="Give one word for each labeled row"):
        label_probabilities([["random"]], 10)
