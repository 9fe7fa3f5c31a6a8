"""Methods that give 90% prediction intervals: the default, and what users of other packages would take.

Each is a function of what it is given, and returns the ends (rows, 2) of the intervals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from twinviews import XNVRegressor

COVERAGE = 0.9
QUANTILES = (0.05, 0.95)
DEFAULT, MAPIE, CATBOOST = "default", "MAPIE", "CatBoost"


class Given(NamedTuple):
    """What a method is given, and the rows whose intervals are asked for."""

    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,)
    unlabeled: np.ndarray  # (rows, D) all hidden rows
    asked: np.ndarray  # (at most 3,000, D) the first of them
    seed: int


def ours(given: Given) -> np.ndarray:
    model = XNVRegressor(random_state=given.seed, n_threads=1, progress=False)
    model.fit(given.X, given.y, X_unlabeled=given.unlabeled)
    return model.predict_interval(given.asked, coverage=COVERAGE)


def conformal_forest(given: Given) -> np.ndarray:
    return cross_conformal(
        RandomForestRegressor(200, max_features=0.33, random_state=given.seed), given
    )


def conformal_boosting(given: Given) -> np.ndarray:
    from lightgbm import LGBMRegressor

    options = {"learning_rate": 0.05, "min_child_samples": 5, "num_leaves": 15}
    return cross_conformal(
        LGBMRegressor(**options, n_jobs=1, verbose=-1, random_state=given.seed), given
    )


def cross_conformal(base: Any, given: Given) -> np.ndarray:
    """CV+ with ten folds, the many-fold form of the jackknife+."""
    from mapie.regression import CrossConformalRegressor

    model = CrossConformalRegressor(base, confidence_level=COVERAGE, cv=10, random_state=given.seed)
    return ends_of(model.fit_conformalize(given.X, given.y).predict_interval(given.asked))


def conformal_bootstrap(given: Given) -> np.ndarray:
    """The jackknife+ after bootstrap, of trees: a forest whose rows out of the bag are the evidence."""
    from mapie.regression import JackknifeAfterBootstrapRegressor
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_features=0.33, min_samples_leaf=2, random_state=given.seed)
    model = JackknifeAfterBootstrapRegressor(
        tree, confidence_level=COVERAGE, resampling=100, random_state=given.seed
    )
    return ends_of(model.fit_conformalize(given.X, given.y).predict_interval(given.asked))


def conformal_quantiles(given: Given) -> np.ndarray:
    """Conformalised quantile regression, by folds: a fifth of few labels would be too few."""
    from mapie.regression import CrossConformalizedQuantileRegressor

    base = GradientBoostingRegressor(
        loss="quantile", max_depth=3, min_samples_leaf=5, random_state=given.seed
    )
    model = CrossConformalizedQuantileRegressor(
        base, confidence_level=COVERAGE, fit_central_estimator=False, random_state=given.seed
    )
    return ends_of(model.fit_conformalize(given.X, given.y).predict_interval(given.asked))


def ends_of(predicted: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(rows, 2) from MAPIE's pair of predictions and intervals (rows, 2, levels)."""
    return predicted[1][:, :, 0]


def two_quantiles(X: np.ndarray, y: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    return np.column_stack(
        [catboost(f"Quantile:alpha={level}", seed).fit(X, y).predict(asked) for level in QUANTILES]
    )


def many_quantiles(X: np.ndarray, y: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    loss = f"MultiQuantile:alpha={','.join(map(str, QUANTILES))}"
    return catboost(loss, seed).fit(X, y).predict(asked)


def catboost(loss: str, seed: int) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(
        loss_function=loss, random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
    )


def plain(quantiles: Callable[..., np.ndarray]) -> Callable[[Given], np.ndarray]:
    def ends(given: Given) -> np.ndarray:
        return np.sort(quantiles(given.X, given.y, given.asked, given.seed), axis=1)

    return ends


def conformalised(quantiles: Callable[..., np.ndarray]) -> Callable[[Given], np.ndarray]:
    """Quantiles of four fifths of the labels, moved as the last fifth shows (Romano et al. 2019)."""

    def ends(given: Given) -> np.ndarray:
        kept = len(given.y) // 5
        X, y = given.X[:-kept], given.y[:-kept]
        both = np.sort(quantiles(X, y, np.vstack([given.X[-kept:], given.asked]), given.seed), axis=1)
        off = np.sort(np.maximum(both[:kept, 0] - given.y[-kept:], given.y[-kept:] - both[:kept, 1]))
        rank = min(int(np.ceil(COVERAGE * (kept + 1))), kept)
        return both[kept:] + np.array([-1, 1]) * off[rank - 1]

    return ends


METHODS: dict[str, Callable[[Given], np.ndarray]] = {
    DEFAULT: ours,
    f"{MAPIE}: forest": conformal_forest,
    f"{MAPIE}: boosting": conformal_boosting,
    f"{MAPIE}: bootstrap": conformal_bootstrap,
    f"{MAPIE}: quantiles": conformal_quantiles,
    f"{CATBOOST}: two losses": plain(two_quantiles),
    f"{CATBOOST}: MultiQuantile": plain(many_quantiles),
    f"{CATBOOST}: two losses, conformal": conformalised(two_quantiles),
    f"{CATBOOST}: MultiQuantile, conformal": conformalised(many_quantiles),
}
