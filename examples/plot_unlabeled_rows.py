"""
Do unlabeled rows help?
=======================

Threes, fives and eights, 30 of them with a label. Labels and test rows of a draw stay the same
while rows without labels are added, so each thin line shows what those rows alone did. Digits form
clusters, and more rows show them better.
"""

import numpy as np
from sklearn.datasets import load_digits

from twinviews import XNVClassifier
from twinviews.plots import UnlabeledCurveDisplay

X, y = load_digits(return_X_y=True)
some = np.isin(y, [3, 5, 8])

display = UnlabeledCurveDisplay.from_estimator(
    XNVClassifier(random_state=0),
    X[some],
    y[some],
    n_labels=30,
    n_unlabeled=[0, 100, 300],
    n_draws=3,
    random_state=0,
)
