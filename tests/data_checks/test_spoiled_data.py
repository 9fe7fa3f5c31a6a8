"""Data as people spoil them; each must be found, with its row and its value."""

import numpy as np
import pytest

from twinviews.data_checks import check_classes, check_inputs, check_numbers, check_text

_RANDOM = np.random.default_rng(0)
ENERGY = np.round(_RANDOM.normal(20, 2, 80), 1)  # MJ/kg, about 14 to 25
PRICES = np.round(np.exp(_RANDOM.normal(12, 0.5, 200)))
COUNTS = _RANDOM.poisson(8, 60).astype(float) + 1
SHARES = _RANDOM.uniform(0.05, 0.95, 90)
RATINGS = _RANDOM.integers(1, 6, 60).astype(float)
RETURNS = _RANDOM.standard_t(4, 150) / 100


def marked(values, mark, count):
    """The values, and a mark in place of a label after the first five."""
    return np.r_[values[:5], np.full(count, mark), values[5:]]


def with_label(values, value, at):
    return np.insert(values, at, value)


NUMBERS = {
    "-1 in most rows": (marked(ENERGY, -1, 456), "blank mark", ["456 of 536 labels are -1 ", "row 6)"]),
    "-1 in a fifth": (marked(ENERGY, -1, 20), "blank mark", ["20 of 100 labels are -1 ", "row 6)"]),
    "-1 beside shares": (marked(SHARES, -1, 30), "blank mark", ["30 of 120 labels are -1 ", "row 6)"]),
    "-1 beside prices": (marked(PRICES, -1, 50), "blank mark", ["50 of 250 labels are -1 ", "row 6)"]),
    "-1 beside counts": (marked(COUNTS, -1, 90), "blank mark", ["90 of 150 labels are -1 ", "row 6)"]),
    "-9": (marked(ENERGY, -9, 7), "blank mark", ["7 of 87 labels are -9 ", "row 6)"]),
    "-99": (marked(ENERGY, -99, 2), "blank mark", ["2 of 82 labels are -99 ", "row 6)"]),
    "-999": (marked(ENERGY, -999, 300), "blank mark", ["300 of 380 labels are -999 ", "row 6)"]),
    "-999 once": (marked(ENERGY, -999, 1), "blank mark", ["1 of 81 labels is -999 ", "row 6)"]),
    "-999 beside returns": (marked(RETURNS, -999, 4), "blank mark", ["4 of 154 labels are -999 "]),
    "-9999 beside prices": (marked(PRICES, -9999, 40), "blank mark", ["40 of 240 labels are -9999 "]),
    "999": (marked(ENERGY, 999, 3), "blank mark", ["3 of 83 labels are 999 ", "row 6)"]),
    "9999": (marked(ENERGY, 9999, 10), "blank mark", ["10 of 90 labels are 9999 ", "row 6)"]),
    "99 beside ratings": (marked(RATINGS, 99, 5), "blank mark", ["5 of 65 labels are 99 ", "row 6)"]),
    "-99.9": (marked(ENERGY, -99.9, 5), "blank mark", ["5 of 85 labels are -99.9 ", "row 6)"]),
    "65535": (marked(ENERGY, 65535, 5), "blank mark", ["5 of 85 labels are 65535 ", "row 6)"]),
    "a code of one's own": (
        marked(ENERGY, -555, 9),
        "blank mark",
        ["9 of 89 labels are -555 ", "row 6)"],
    ),
    "0 in most rows": (marked(ENERGY, 0, 456), "blank mark", ["456 of 536 labels are 0 ", "row 6)"]),
    "0 beside degrees below": (marked(-ENERGY, 0, 90), "blank mark", ["90 of 170 labels are 0 "]),
    "the mean filled in": (
        marked(SHARES, SHARES.mean(), 200),
        "blank mark",
        [f"200 of 290 labels are {float(SHARES.mean())!r} ", "row 6)"],
    ),
    "a total": (np.r_[ENERGY, ENERGY.sum()], "far label", ["row 81 is 1", "sum of all others"]),
    "a total of prices": (
        np.r_[PRICES.sum(), PRICES],
        "far label",
        ["row 1 is 3", "sum of all others"],
    ),
    "a total of counts": (
        np.r_[COUNTS, COUNTS.sum()],
        "far label",
        ["row 61 is 5", "sum of all others"],
    ),
    "a decimal sign lost": (with_label(ENERGY, 34512, 80), "far label", ["row 81 is 34,512,", "slip"]),
    "another unit": (with_label(SHARES, 1e5, 3), "far label", ["row 4 is 100,000,", "slip"]),
    "two slips": (
        with_label(with_label(ENERGY, 20500, 9), 31400, 2),
        "far label",
        ["row 3 is 31,400 (and 1 more such)"],
    ),
    "a slip among few": (with_label(ENERGY[:25], 20300, 5), "far label", ["row 6 is 20,300,"]),
    "a slip below": (with_label(ENERGY, -1.2e6, 7), "far label", ["row 8 is -1,200,000,"]),
    "a slip among returns": (with_label(RETURNS, 400.5, 0), "far label", ["row 1 is 400.5,"]),
    "thousands read as decimals": (
        np.where(np.arange(200) % 9 == 3, PRICES / 1000, PRICES),
        "two units",
        ["22 of 200 labels are ", "row 4)", "a factor of 1,000 below"],
    ),
    "per cent and fractions": (
        np.where(np.arange(80) % 10 == 5, 0.02 * ENERGY, 2 * ENERGY),
        "two units",
        ["8 of 80 labels are 0.", "row 6)", "a factor of 100 below"],
    ),
    "grams among kilograms": (
        np.where(np.arange(80) % 20 == 0, 1000 * ENERGY, ENERGY),
        "two units",
        ["4 of 80 labels are ", "row 1)", "a factor of 1,000 above"],
    ),
    "metres and centimetres": (
        np.where(np.arange(80) % 3 == 0, ENERGY / 10, 10 * ENERGY),
        "two units",
        ["27 of 80 labels are ", "a factor of 100 below"],
    ),
}


@pytest.mark.parametrize(("y", "check", "words"), NUMBERS.values(), ids=NUMBERS)
def test_numbers(y, check, words):
    findings = check_numbers(y, rows=np.arange(1, len(y) + 1))
    [found] = [one for one in findings if not one.command_line_only]
    assert found.check == check
    assert all(word in found.message for word in words), found.message


REMARKS = {  # of the command line only
    "one value": (np.full(30, 3.5), "one value", ["All 30 labels are 3.5"]),
    "row numbers": (np.arange(60) + 1.0, "row numbers", ["1 in row 1, 2 in row 2"]),
    "an id": (np.arange(60) + 100001.0, "row numbers", ["100,001 in row 1, 100,002 in row 2"]),
    "a block pasted twice": (
        np.r_[PRICES[:60], PRICES[10:30], PRICES[60:90]],
        "a block twice",
        ["From row 61 on, ", "those from row 11 on"],
    ),
    "rounded to tens": (np.round(ENERGY[:60], -1) + 10.0 * (np.arange(60) % 4), "ratings", ["numbers"]),
}


@pytest.mark.parametrize(("y", "check", "words"), REMARKS.values(), ids=REMARKS)
def test_remarks_on_numbers(y, check, words):
    [found] = check_numbers(y, rows=np.arange(1, len(y) + 1))
    assert found.command_line_only
    assert found.check == check
    assert all(word in found.message for word in words), found.message


CLASSES = {
    "-1 of scikit-learn": (
        [0, 1] * 10 + [-1] * 80,
        "unlabeled class",
        ["80 of 100 labels are -1", "y[20]"],
    ),
    "-1 in half of the rows": (
        [0, 1, 2] * 8 + [-1] * 24,
        "unlabeled class",
        ["24 of 48 labels are -1"],
    ),
    "-1 three times as common": ([-1] * 30 + [*range(10)] * 4, "unlabeled class", ["30 of 70", "y[0]"]),
    "-1.0": ([0.0, 1.0] * 12 + [-1.0] * 30, "unlabeled class", ["30 of 54 labels are -1 ", "y[24]"]),
    "-1 from 1 on": (
        [1, 2, 3] * 9 + [-1] * 30,
        "unlabeled class",
        ["30 of 57 labels are -1 ", "y[27]"],
    ),
    "-999": ([0, 1] * 20 + [-999] * 5, "unlabeled class", ["5 of 45 labels are -999 ", "y[40]"]),
    "99": ([1, 2, 3] * 20 + [99] * 4, "unlabeled class", ["4 of 64 labels are 99 ", "y[60]"]),
    "text of NaN": (
        ["a", "b"] * 20 + ["nan"] * 9,
        "unlabeled class",
        ["9 of 49 labels are 'nan'", "y[40]"],
    ),
    "an empty string": (["a", "", "b"] * 20, "unlabeled class", ["20 of 60 labels are ''", "y[1]"]),
    "a question mark": (["a", "b", "?"] * 20, "unlabeled class", ["20 of 60 labels are '?'", "y[2]"]),
    "the word missing": (
        ["a", "b", "missing"] * 20,
        "unlabeled class",
        ["20 of 60 labels are 'missing'"],
    ),
    "not measured": (
        ["a"] * 20 + ["b"] * 15 + ["Not measured"] * 9,
        "unlabeled class",
        ["9 of 44 labels are 'Not measured'", "y[35]"],
    ),
    "an error of Excel": (
        ["a", "b", "#DIV/0!"] * 9,
        "unlabeled class",
        ["9 of 27 labels are '#DIV/0!'"],
    ),
    "yes and y": (
        ["yes", "y", "no", "no", "n"] * 9,
        "truth in two ways",
        ["'y' (9) and 'yes' (9); 'n' (9) and 'no' (18)"],
    ),
    "true, 1 and yes": (
        ["TRUE", "1", "Yes", "FALSE"] * 9,
        "truth in two ways",
        ["'1' (9) and 'TRUE' (9)"],
    ),
    "a letter for another": (
        ["malignant"] * 30 + ["malignent"] + ["benign"] * 20,
        "misspelled",
        ["'malignent' (1) beside 'malignant' (30)"],
    ),
    "a letter left out": (
        ["healthy"] * 30 + ["helthy"] * 2 + ["ill"] * 9,
        "misspelled",
        ["'helthy' (2)"],
    ),
    "letters exchanged": (
        ["red apple"] * 30 + ["red appel"] + ["green pear"] * 9,
        "misspelled",
        ["'red appel' (1) beside 'red apple' (30)"],
    ),
    "an id": ([f"P-{n}" for n in range(40)], "a class for each label", ["40 of 40", "'P-0' (y[0])"]),
    "free text": (
        [f"see page {n} of the notebook" for n in range(30)] + ["done"] * 9,
        "a class for each label",
        ["30 of 39 labels"],
    ),
    "two currencies": (
        [f"{'$' if n % 3 else '€'}{n + 1000}" for n in range(60)],
        "a class for each label",
        ["60 of 60 labels", "'€1000'"],
    ),
    "case": (["one"] * 20 + ["ONE"] * 3 + ["two"] * 9, "two spellings", ["'ONE' (3) and 'one' (20)"]),
    "a blank behind": (["one"] * 20 + ["one "] * 2, "two spellings", ["'one' (20) and 'one ' (2)"]),
    "two blanks inside": (["New York"] * 20 + ["New  York"], "two spellings", ["'New  York' (1)"]),
    "a blank that does not break": (["a b"] * 20 + ["a\u00a0b"], "two spellings", ["'a\\xa0b' (1)"]),
    "nothing to see": (["yes"] * 20 + ["yes\u200b"] * 4, "two spellings", ["'yes\\u200b' (4)"]),
    "a byte order mark": (["\ufeffyes"] + ["yes"] * 20, "two spellings", ["'\\ufeffyes' (1)"]),
    "two Unicode forms": (
        ["café"] * 20 + ["cafe\u0301"] * 5,
        "two spellings",
        ["'caf", "'cafe\\u0301' (5)"],
    ),
    "a tab": (["no\t"] + ["no"] * 20, "two spellings", ["'no' (20) and 'no\\t' (1)"]),
    "German": (["straße"] * 20 + ["STRASSE"] * 3, "two spellings", ["'STRASSE' (3) and 'straße' (20)"]),
    "three spellings": (
        ["One ", "one", "ONE"] * 9,
        "two spellings",
        ["'ONE' (9) and 'One ' (9) and 'one' (9)"],
    ),
    "text among numbers": ([f"{v}" for v in ENERGY] + ["<15"], "text among numbers", ["'<15' (y[80])"]),
}


@pytest.mark.parametrize(("labels", "check", "words"), CLASSES.values(), ids=CLASSES)
def test_classes(labels, check, words):
    [found] = [one for one in check_classes(np.array(labels, object)) if not one.command_line_only]
    assert found.check == check
    assert all(word in found.message for word in words), found.message


MEASURED = [f"{value}" for value in ENERGY[:78]]
GERMAN = [f"{value:.2f}".replace(".", ",") for value in ENERGY]
TEXTS = {
    "chemist": (
        ["18.2", "<15", *MEASURED, "20.1*", "19.2 MJ/kg", "tbd"],
        ["79 of 83", "4 are", "'<15' (row 2)"],
    ),
    "below a limit": ([*MEASURED, "<15"], ["78 of 79 labels", "1 is not", "'<15' (row 79)"]),
    "most below a limit": ([*MEASURED[:30], *["< 15"] * 50], ["50 are not", "'< 15' (row 31)"]),
    "a star": (["20.1*", *MEASURED], ["1 is not", "'20.1*' (row 1)"]),
    "a unit": ([*MEASURED, "19.2 MJ/kg"], ["'19.2 MJ/kg' (row 79)"]),
    "a unit without a blank": ([*MEASURED, "19.2kg"], ["'19.2kg' (row 79)"]),
    "to be done": ([*MEASURED[:40], "tbd", "n/a", "n.d."], ["40 of 42", "'tbd' (row 41), 'n.d.'"]),
    "two countries": (["1,234.5", "1.234,5", "2,500.1", *MEASURED], ["'1.234,5' (row 2)"]),
    "decimal comma": ([*GERMAN, "22.7"], ["80 of 81", "'22.7' (row 81)"]),
    "a sign for about": (["~18", *MEASURED], ["'~18' (row 1)"]),
    "per cent in some": ([*MEASURED, "12 %", "14 %"], ["2 are not", "'12 %' (row 79)"]),
    "a long minus": ([*MEASURED, "−3.5"], ["'−3.5' (row 79)"]),
    "an error": ([*MEASURED, "18.1 ± 0.3"], ["'18.1 ± 0.3' (row 79)"]),
    "a remark": ([*MEASURED, "see notebook 3"], ["'see notebook 3' (row 79)"]),
    "two points": ([*MEASURED, "19..2"], ["'19..2' (row 79)"]),
    "a letter for a digit": ([*MEASURED, "1O.5"], ["'1O.5' (row 79)"]),
    "currency in some": ([*MEASURED, "$ 19.20", "$ 18.10"], ["2 are not", "'$ 19.20' (row 79)"]),
    "none": ([*MEASURED, *["none"] * 9], ["9 are not", "'none' (row 79)"]),
    "missing": (["missing", *MEASURED], ["1 is not", "'missing' (row 1)"]),
    "not measured": ([*MEASURED, "not measured"], ["'not measured' (row 79)"]),
    "an error of Excel": ([*MEASURED, "#NAME?"], ["'#NAME?' (row 79)"]),
    "a range": ([*MEASURED, "18-20"], ["'18-20' (row 79)"]),
    "a fraction": ([*MEASURED, "37/2"], ["'37/2' (row 79)"]),
    "top of a scale": (
        [str(age) for age in range(18, 65)] + ["65+"] * 4,
        ["47 of 51", "'65+' (row 48)"],
    ),
}


@pytest.mark.parametrize(("texts", "words"), TEXTS.values(), ids=TEXTS)
def test_texts(texts, words):
    [found] = check_text(texts, rows=range(1, len(texts) + 1))
    assert found.check == "text among numbers"
    assert found.stops
    assert all(word in found.message for word in words), found.message


X = np.random.default_rng(1).normal(size=(120, 5))
NOISE = np.random.default_rng(2).normal(size=120)
Y = X[:, 0] + X[:, 1] + NOISE
TRUTH = Y > 0.3
THREE = np.digitize(Y, [-1, 1])


def replaced(column):
    return np.column_stack([X, column])


def some(mark, every=6, column=NOISE):
    column = column.copy()
    column[::every] = mark
    return column


COLUMNS = {
    "the target itself": (replaced(Y), Y, "gives the answer away", ["Column 'f' alone", "1.000"]),
    "its exponential": (replaced(np.exp(3 * Y)), Y, "gives the answer away", ["Column 'f' alone"]),
    "its negative": (replaced(-Y), Y, "gives the answer away", ["Column 'f' alone"]),
    "nearly it": (replaced(Y + NOISE / 50), Y, "gives the answer away", ["Column 'f' alone"]),
    "it folds": (replaced(np.arctan(Y)), Y**2, "gives the answer away", ["Column 'f' alone"]),
    "in two units": (np.c_[replaced(Y), 2.2 * Y], Y, "gives the answer away", ["Column 'f' alone"]),
    "the class": (replaced(TRUTH), TRUTH, "gives the answer away", ["Column 'f' alone", "0.0%"]),
    "a cut of it": (replaced(Y), TRUTH, "gives the answer away", ["Column 'f' alone", "0.0%"]),
    "three classes": (replaced(THREE), THREE, "gives the answer away", ["Column 'f' alone"]),
    "three classes cut": (replaced(Y), THREE, "gives the answer away", ["Column 'f' alone"]),
    "-999": (
        replaced(some(-999)),
        Y,
        "blank mark in a column",
        ["'f' is -999 in 20 of 120 labeled rows"],
    ),
    "9999": (replaced(some(9999)), Y, "blank mark in a column", ["'f' is 9999 in 20 of 120"]),
    "-1": (
        replaced(some(-1, 3, np.abs(NOISE))),
        Y,
        "blank mark in a column",
        ["'f' is -1 in 40 of 120"],
    ),
    "-9 in ratings": (
        replaced(some(-9, 8, np.arange(120) % 5)),
        Y,
        "blank mark in a column",
        ["-9 in 15"],
    ),
    "a code of one's own": (replaced(some(-555, 10)), Y, "blank mark in a column", ["-555 in 12 of"]),
}


@pytest.mark.parametrize(("X", "y", "check", "words"), COLUMNS.values(), ids=COLUMNS)
def test_columns(X, y, check, words):
    classes = y.dtype.kind != "f"
    [found] = check_inputs(X, y, "abcdefgh"[: X.shape[1]], classes=classes)
    assert found.check == check
    assert all(word in found.message for word in words), found.message


@pytest.mark.parametrize("n_labels", [20, 30, 120])
def test_few_labels_suffice_for_an_exact_copy(n_labels):
    X_few, y = replaced(3 - 2 * Y)[:n_labels], Y[:n_labels]
    [found] = check_inputs(X_few, y, "abcdef", classes=False)
    assert "Column 'f' alone" in found.message
    assert check_inputs(X_few[:19], y[:19], "abcdef", classes=False) == []


def test_words_that_give_three_classes_away_are_judged_together():
    levels = np.eye(3)[THREE]
    [found] = check_inputs(np.c_[X, levels], THREE, [*"abcde", *["word"] * 3], classes=True)
    assert "Column 'word' alone nearly decides the label" in found.message
    [found] = check_inputs(np.c_[X, levels], THREE, "abcdefgh", classes=True)
    assert "alone nearly decides class '0'" in found.message


def test_a_result_may_give_one_of_three_classes_away():
    random = np.random.default_rng(4)
    result = random.choice(["negative", "positive", "invalid"], 400, p=[0.85, 0.1, 0.05])
    cycles = np.where(result == "positive", random.uniform(14, 44, 400), 45)
    X_tests = np.c_[random.normal(size=(400, 3)), cycles]
    [found] = check_inputs(X_tests, result, ["age", "day", "hours", "ct_result"], classes=True)
    assert found.message.startswith("Column 'ct_result' alone nearly decides class 'positive'")
    assert "--kind ct_result=skip" in found.remedy_command_line
