"""
A kernel of your own
====================

An hour of the day is a circle: 23:30 is close to 0:30. A kernel that knows this is a function of
two arrays of rows, and any Nystroem estimator takes it. The demand below repeats every day. The
Gaussian kernel has to learn each of the 30 days by itself; the daily one needs a few labels for all
of them.
"""

import numpy as np

from twinviews import XNVRegressor
from twinviews.plots import LabelCurveDisplay


def daily(U, V):
    """Rows over sigma in, kernel matrix out; with sigma=1 the rows are hours."""
    apart = U[:, :1] - V[:, 0]
    return np.exp(-4 * np.square(np.sin(np.pi * apart / 24)))


rng = np.random.default_rng(0)
hours = rng.uniform(0, 24 * 30, size=(1500, 1))
turn = 2 * np.pi * hours[:, 0] / 24
demand = np.sin(turn) + 0.5 * np.cos(2 * turn) + 0.2 * rng.normal(size=1500)

given = {"n_components": 50, "ridge": 1e-4, "correlation_ridge": 1e-4, "random_state": 0}
models = {
    "Gaussian kernel, 2 hours wide": XNVRegressor(sigma=2.0, **given),
    "daily kernel": XNVRegressor(kernel=daily, sigma=1.0, **given),
}
ax = None
for name, model in models.items():
    ax = LabelCurveDisplay.from_estimator(
        model, hours, demand, n_labels=[20, 50, 100, 200], random_state=0, name=name, ax=ax
    ).ax_
