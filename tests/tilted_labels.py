"""A table whose labels are likelier in some rows than in others."""

import numpy as np


def tilted(strength, n=200, N=3000, seed=0):
    """A curve with noise that grows along the first column, as the chance of a label does."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    y = np.sin(X[:, 0]) + 0.3 * np.exp(-0.4 * X[:, 0]) * rng.normal(size=N)
    chance = np.exp(np.clip(strength * X[:, 0], -3, 3))
    labeled = np.zeros(N, bool)
    labeled[rng.choice(N, n, replace=False, p=chance / chance.sum())] = True
    probability = np.minimum(n * chance / chance.sum(), 1)
    return X, y, np.where(labeled, y, np.nan), probability
