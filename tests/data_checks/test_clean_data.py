"""Honest data, on which a check must not say a word."""

import numpy as np
import pytest
from sklearn import datasets

from twinviews.data_checks import check_classes, check_inputs, check_numbers, check_text

_RANDOM = np.random.default_rng(0)
_N = 300
_SOME = _RANDOM.random(_N) < 0.3
_NORMAL = _RANDOM.normal(size=_N)

NUMBERS = {
    "normal": _NORMAL,
    "rounded": np.round(20 + 3 * _NORMAL),
    "uniform": _RANDOM.random(_N),
    "prices": np.exp(_RANDOM.normal(12, 0.8, _N)),
    "lognormal, sigma 2": np.exp(2 * _NORMAL),
    "lognormal, sigma 3": np.exp(3 * _NORMAL),
    "Cauchy": _RANDOM.standard_cauchy(_N),
    "Student": _RANDOM.standard_t(3, _N),
    "Pareto": _RANDOM.pareto(1, _N),
    "Poisson": _RANDOM.poisson(2, _N),
    "many zeros, counts": _RANDOM.poisson(3, _N) * _SOME,
    "many zeros, claims": np.exp(_RANDOM.normal(7, 1, _N)) * _SOME,
    "many zeros, rain": _RANDOM.gamma(0.7, 8, _N) * _SOME,
    "many zeros, deductible": (200 + _RANDOM.exponential(800, _N)) * _SOME,
    "no change in most rows": _NORMAL * _SOME,
    "overdispersed counts": _RANDOM.negative_binomial(0.3, 0.05, _N),
    "ratings": _RANDOM.integers(1, 6, _N),
    "ratings from -2": _RANDOM.integers(-2, 3, _N),
    "sentiment": _RANDOM.integers(-1, 2, _N),
    "0 and 1": _RANDOM.integers(0, 2, _N),
    "few ones": _RANDOM.random(_N) < 0.05,
    "-1 and 1": 2 * _RANDOM.integers(0, 2, _N) - 1,
    "mostly -1, and 1": np.where(_SOME, 1, -1),
    "capped": np.minimum(_RANDOM.gamma(2, 100, _N), 300),
    "limit of detection": np.maximum(_NORMAL, 0.5),
    "two clusters": np.where(_SOME, 50 + _NORMAL, _NORMAL),
    "years": _RANDOM.integers(1950, 2020, _N),
    "percent": np.round(100 * _RANDOM.beta(5, 2, _N)),
    "ages to 99": np.r_[_RANDOM.integers(18, 95, _N), 99, 99],
    "numbers around -1": -1 + _NORMAL / 10,
    "balance": 2 * _RANDOM.beta(1, 1, _N) - 1,
    "constant": np.full(_N, 3.0),
    "one label": np.array([1.0]),
    "no label": np.full(5, np.nan),
    "two labels": np.array([-999.0, 3.0]),
    "mostly unlabeled": np.where(_SOME, _NORMAL, np.nan),
    "tiny numbers": 1e-20 * _NORMAL,
    "huge numbers": 1e20 * _NORMAL,
}


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS)
def test_numbers(y):
    assert [one for one in check_numbers(y) if not one.command_line_only] == []


CLASSES = {
    "words": ["setosa", "versicolor", "virginica"] * 20,
    "booleans": [True, False] * 20,
    "0 and 1": [0, 1] * 20,
    "-1 and 1": [-1, 1] * 20,
    "mostly -1, and 1": [-1] * 40 + [1] * 5,
    "sentiment": [-1, 0, 1] * 20,
    "sentiment, mostly bad": [-1] * 25 + [0] * 15 + [1] * 20,
    "steps from -2": [-2, -1, -1, -1, -1, -1, -1, 0, 1, 2] * 5,
    "letters of both cases": [*"aAbBmM"] * 9,
    "plus and minus": ["+", "-"] * 20,
    "no drug": ["None", "aspirin", "nil"] * 20,
    "Namibia": ["NA", "DE", "FR"] * 20,
    "words alike": ["cat", "cats", "car", "cart"] * 20,
    "accents": ["cote", "coté", "côte", "côté"] * 20,
    "digits as text": [*"0123456789"] * 5,
    "only NaN in text": ["nan"] * 9,
    "dates": ["2024-01-01", "2024-02-01", "2023-01-01"] * 20,
    "with None": ["a", None, "b", np.nan] * 20,
    "bytes": [b"a", b"b"] * 20,
    "none": [],
}


@pytest.mark.parametrize("labels", CLASSES.values(), ids=CLASSES)
def test_classes(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    assert [one for one in check_classes(array) if not one.command_line_only] == []


_MEASURED = [f"{value:.2f}" for value in 20 + _NORMAL]
TEXTS = {
    "numbers": _MEASURED,
    "numbers and blanks": [*_MEASURED, "n/a", "-", "?", "", "NA", None, " n/a "],
    "decimal comma": [value.replace(".", ",") for value in _MEASURED],
    "thousands": ["1,234.5", "12.25", "2,000", "3,400,100", "7", "1,000.25"],
    "thousands, comma": ["1.234,5", "12,25", "2.000", "3.400.100", "7", "1.000,25"],
    "exponents": ["1e5", "2.5E-3", "-4e+2", "7", "8.25", ".5"],
    "codes with zeros": ["01234", "12345", "23456", "98765", "A1234", "55555"] * 9,
    "words": ["red", "green", "blue"] * 9,
    "words and some numbers": ["red", "green", "blue", "7.5"] * 9,
    "classes with numbers": ["1", "2", "3", "3+"] * 9,
    "doors": ["2", "3", "4", "5more"] * 9,
    "groups of ages": ["<18", "18-25", "26-35", "36-65", ">65"] * 9,
    "drives": ["2WD", "4WD", "AWD"] * 9,
    "courses": [f"{number}B" for number in range(100, 140)]
    + [str(number) for number in range(200, 230)],
    "names with numbers": ["A1", "A2", "B7"] * 9,
    "dates": [f"2024-01-{day:02d}" for day in range(1, 29)],
    "times": [f"{hour}:30" for hour in range(1, 13)],
    "too few": ["1.5", "<2", "tbd"],
    "none": [],
}


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_texts(texts):
    assert check_text(texts) == []


_X = _RANDOM.normal(size=(_N, 6))
_Y = _X[:, 0] + _X[:, 1] + _RANDOM.normal(size=_N)
COLUMNS = {
    "noise": (_X, _RANDOM.normal(size=_N), False),
    "a model": (_X, _Y, False),
    "two classes": (_X, _Y > 0, True),
    "three classes": (_X, np.digitize(_Y, [-1, 1]), True),
    "one good column": (_X, 5 * _X[:, 2] + _Y, False),
    "rare class": (_X, np.arange(_N) % 100 == 0, True),
    "one class": (_X, np.zeros(_N, int), True),
    "constant columns": (np.ones((_N, 3)), _Y, False),
    "flags": ((_X > 1).astype(float), _Y, False),
    "signs": (np.sign(_X) * (np.abs(_X) > 0.5), _Y, False),
    "one column": (_Y[:, None], _Y, False),
    "many good columns": (_Y[:, None] + _X / 50, _Y, False),
    "few labels": (_X[:15], _X[:15, 0], False),
    "no labels": (_X[:0], _Y[:0], False),
    "many zeros": (np.exp(_X) * _SOME[:, None], _Y, False),
    "heavy tails": (np.exp(3 * _X), _Y, False),
    "filled with the mean": (np.where(_SOME[:, None], _X, 0.123), _Y, False),
    "blanks": (np.where(_SOME[:, None], _X, np.nan), _Y, False),
    "all blank": (np.full((_N, 2), np.nan), _Y, False),
    "capped": (np.clip(_X, -0.5, 0.5), _Y, False),
    "many columns, few rows": (_RANDOM.normal(size=(30, 3000)), np.arange(30) % 2, True),
    "many numbers, few rows": (_RANDOM.normal(size=(30, 3000)), _Y[:30], False),
}


@pytest.mark.parametrize(("X", "y", "classes"), COLUMNS.values(), ids=COLUMNS)
def test_columns(X, y, classes):
    assert check_inputs(X, y, [f"x{at}" for at in range(X.shape[1])], classes=classes) == []


@pytest.mark.parametrize("n_labels", [30, 100, 150])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_tables_of_scikit_learn(name, n_labels):
    table = getattr(datasets, f"load_{name}")()
    classes = name != "diabetes"
    names = [f"x{at}" for at in range(table.data.shape[1])]
    for seed in range(10):
        drawn = np.random.default_rng(seed).choice(len(table.target), n_labels, replace=False)
        X, y = table.data[drawn], table.target[drawn]
        found = check_inputs(X, y, names, classes=classes)
        found += check_classes(y) if classes else check_numbers(y)
        assert [one for one in found if not one.command_line_only] == []


CLEAN_NAMES = {
    "numbered": ["type 1"] * 50 + ["type 2"],
    "letters": ["stage a"] * 50 + ["stage b"],
    "prefix": ["symptomatic"] * 50 + ["asymptomatic"],
    "another word": ["mouse"] * 50 + ["house"],
    "both common": ["plain"] * 9 + ["plait"] * 9,
    "letters for other things": ["y", "n", "x"] * 9,
    "yes and no": ["yes", "no"] * 9,
    "many classes": [f"kind {name}" for name in "abcdefghijklmnopqrstuvwxyz"] * 3,
}


@pytest.mark.parametrize("names", CLEAN_NAMES.values(), ids=CLEAN_NAMES)
def test_names_of_classes(names):
    assert check_classes(np.array(names, object)) == []


@pytest.mark.parametrize("factor", [2, 10, 50, 200, 2000])
def test_groups_that_no_unit_explains(factor):
    y = np.where(np.arange(90) % 9 == 0, 1.0, factor) * np.random.default_rng(0).uniform(1, 1.5, 90)
    assert [one.check for one in check_numbers(y)] == []
