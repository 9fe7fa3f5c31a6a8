"""
How sure is a number?
=====================

Of 442 patients 150 have a label: how far their diabetes went within a year. The others are
unlabeled rows, and here the test of the intervals. Each interval comes from fits that had not seen
a label, and 90% of them should hold the true value, whatever the data.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from twinviews import XNVRegressor
from twinviews.plots import IntervalDisplay

X, y = load_diabetes(return_X_y=True)
others = np.random.default_rng(0).permutation(442)[150:]
labels = y.copy()
labels[others] = np.nan

model = XNVRegressor(random_state=0).fit(X, labels)
display = IntervalDisplay.from_estimator(model, X[others], y[others], random_state=0)

# %%
# A narrower promise gives narrower intervals.
for coverage in (0.5, 0.8, 0.9, 0.95):
    low, high = model.predict_interval(X[others], coverage=coverage).T
    inside = np.mean((low <= y[others]) & (y[others] <= high))
    print(f"asked for {coverage:.0%}: {inside:.0%} inside, width {np.mean(high - low):.0f} on average")
