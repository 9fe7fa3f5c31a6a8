"""
Do probabilities mean what they say?
====================================

A classifier that says 0.8 should be right in 80 of 100 such rows. Here a digit is to be told from
nine others, with 100 labels and 1,697 rows without. Marks on the diagonal are as sure as they are
right; their area and the number beside them tell how many rows are that sure.
"""

import numpy as np
from sklearn.datasets import load_digits

from twinviews import XNVClassifier
from twinviews.plots import ReliabilityDisplay

X, y = load_digits(return_X_y=True)
hidden = np.random.default_rng(0).permutation(1797)[100:]
labels = y.astype(object)
labels[hidden] = None

model = XNVClassifier(random_state=0).fit(X, labels)
display = ReliabilityDisplay.from_estimator(model, X[hidden], y[hidden])

# %%
# What the model itself thinks of its error, from labels that were left out, and the truth.
print(f"its own guess {model.loo_error_:.1%}, in truth {1 - model.score(X[hidden], y[hidden]):.1%}")
