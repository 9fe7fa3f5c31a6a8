"""Long service in one process: many fits, many predictions, many threads."""

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from counts import often, tried
from strange_tables import ESTIMATORS, labels_for, numbers_for, small
from twinviews import XNVClassifier, XNVRegressor, load_model, save_model

# What a process may grow by between its warm-up and its end. At the full count a leak of 1 kB a fit, or
# of 100 bytes a call, would show.
MOST_GROWTH = 4_000_000
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident():
    """Bytes of this process in memory, after everything that nobody holds is gone."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def held():
    """Open files and threads, which must not grow at all."""
    return len(os.listdir("/proc/self/fd")), threading.active_count()


def rows(seed, n_rows=20):
    return np.random.default_rng(seed).integers(-40, 41, size=(n_rows, 3)) / 8


def frame_of(X):
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=list("uvw" * len(X))[: len(X)])


def one_fit(name, seed, path):
    """A fit on another table each time, relabeled and, every tenth, through a file or from a frame."""
    X = rows(seed)
    y = labels_for(name, numbers_for(X, seed))
    model = small(name, sigma=2.0, ridge=0.01, correlation_ridge=1e-3, n_eigenfunctions=3)
    model.fit(frame_of(X) if seed % 10 == 1 else X, y)
    if seed % 10 == 2:
        model.relabel(X[::-1], y[::-1])
    if seed % 10 == 3:
        save_model(model, path)
        model = load_model(path)
    assert len(model.predict(frame_of(X) if seed % 10 == 1 else X)) == len(X)


@pytest.mark.long
@pytest.mark.parametrize("part", [0, 1])
def test_fits_do_not_pile_up(part, tmp_path):
    """Fit after fit in one process, of all estimators, with files and frames between, needs no more
    memory, open files or threads than the first ones."""
    n_fits = often(150, 5000)
    names = cycle(ESTIMATORS)
    path = tmp_path / "model.twinviews"
    for seed, name in enumerate(islice(names, n_fits // 5)):  # caches and pools fill up
        one_fit(name, seed + 100_000 * part, path)
    before, others = resident(), held()
    for seed, name in enumerate(islice(names, n_fits)):
        one_fit(name, seed + 1_000_000 * (part + 1), path)
    growth = resident() - before
    assert growth < MOST_GROWTH, f"{growth:,} bytes more after {n_fits:,} fits"
    assert held() == others
    tried("fits", n_fits)


def served(tmp_path, part):
    """Models as a service has them: fitted here, loaded from a file, of numbers and of frames."""
    X = rows(0, 60)
    y = X[:, 0] + X[:, 1] * X[:, 2]
    numbers = XNVRegressor(random_state=0).fit(X, y)  # with its committee
    words = np.where(y > 0, "a", "b")
    classes = XNVClassifier(random_state=0, committee=False).fit(X, words)
    save_model(numbers, tmp_path / "numbers.twinviews")
    loaded = load_model(tmp_path / "numbers.twinviews")
    if part == 0:
        return [numbers.predict, classes.predict_proba, small("KRRRegressor").fit(X, y).predict]
    of_frames = small("XNVRegressor").fit(frame_of(X), y)
    return [
        loaded.predict,
        small("SSSLClassifier").fit(X, words).predict,
        small("XKSRegressor").fit(X, y).predict,
        lambda X: of_frames.predict(frame_of(X)),
        lambda X: small_interval(numbers, X),
    ]


def small_interval(model, X):
    return model.predict_interval(X[:2], coverage=0.8)


@pytest.mark.long
@pytest.mark.parametrize("part", [0, 1])
def test_predictions_do_not_pile_up(part, tmp_path):
    """Prediction after prediction in one process, from models fitted there or loaded from a file, needs
    no more memory, open files or threads than the first ones."""
    calls = served(tmp_path, part)
    n_calls, n_rows = often(400, 50_000), 10

    def serve(n):
        for seed, call in enumerate(islice(cycle(calls), n)):
            call(rows(seed % 1000, n_rows))

    serve(n_calls // 5)
    before, others = resident(), held()
    serve(n_calls)
    growth = resident() - before
    assert growth < MOST_GROWTH, f"{growth:,} bytes more after {n_calls:,} calls"
    assert held() == others
    tried("predictions", n_calls * n_rows)


N_THREADS = 8


@pytest.mark.parametrize("name", ["committee", *ESTIMATORS])
def test_threads_give_the_answers_of_one(name):
    """Eight threads that ask one model at once, for predictions, intervals, probabilities and
    suggestions of rows of many sizes, get the answers of one thread, bit for bit."""
    X = rows(1, 60)
    numbers = X[:, 0] + X[:, 1] * X[:, 2]
    if name == "committee":
        model = XNVRegressor(random_state=0).fit(X, numbers)
    else:
        model = small(name).fit(X, labels_for(name, numbers))
    calls = [model.predict]
    if hasattr(model, "classes_"):
        calls += [model.predict_proba, model.decision_function]
    else:
        calls += [model.predict_interval, lambda rows: model.predict(rows, return_std=True)[1]]
    if hasattr(model, "transform"):
        calls.append(model.transform)
    # The largest is cut into blocks, which are spread over threads of the call's own.
    questions = [
        (call, rows(size, size)) for size in (1, 2, 7, 100, 5000) for call in calls if size < 5000
    ]
    questions.append((model.predict, rows(5, 5000)))
    expected = [call(some) for call, some in questions]
    gate = threading.Barrier(N_THREADS)

    def ask(start):
        gate.wait()
        turned = [*range(start, len(questions)), *range(start)]
        return {place: questions[place][0](questions[place][1]) for place in turned}

    n_rounds = often(2, 100)
    with ThreadPoolExecutor(N_THREADS) as pool:
        for _ in range(n_rounds):
            for answers in pool.map(ask, range(N_THREADS)):
                for place, answer in answers.items():
                    assert_array_equal(answer, expected[place])
    tried("answers", n_rounds * N_THREADS * len(questions))


def test_threads_may_fit_at_once():
    """Eight threads that each fit a model of its own at once get the models that one thread gets."""
    seeds = range(often(16, 400))
    names = list(islice(cycle(ESTIMATORS), len(seeds)))

    def answer(name, seed):
        X = rows(seed)
        model = small(name, sigma=2.0).fit(X, labels_for(name, numbers_for(X, seed)))
        return model.predict(X)

    expected = list(map(answer, names, seeds))
    with ThreadPoolExecutor(N_THREADS) as pool:
        for found, alone in zip(pool.map(answer, names, seeds), expected, strict=True):
            assert_array_equal(found, alone)
    tried("fits", len(seeds))
