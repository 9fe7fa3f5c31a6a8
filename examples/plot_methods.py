"""
Which method for this table?
============================

Draws of labels differ much more than methods do. So all methods get the same labels and the same
test rows in every draw, and each error is set against that of kernel ridge in the same draw. A bar
that does not touch 1 is a difference.

XNV by default, with its ensemble, takes seconds for each fit and is left out here: ``twinviews
compare`` runs it, and thirteen others, on a table of yours.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import KRRClassifier, SSSLClassifier, XNVClassifier
from twinviews.plots import MethodComparisonDisplay

X, y = load_breast_cancer(return_X_y=True)

display = MethodComparisonDisplay.from_estimators(
    {
        "kernel ridge": KRRClassifier(scale="standard"),
        "one view": SSSLClassifier(scale="standard", random_state=0),
        "correlated views": XNVClassifier(members=None, scale="standard", random_state=0),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "random forest": RandomForestClassifier(random_state=0),
    },
    X,
    y,
    n_labels=50,
    n_draws=10,
    random_state=0,
)

# %%
# Verdicts at 95%, for those who prefer words.
for name, comparison in zip(display.names, display.comparisons, strict=True):
    print(f"{name}: {comparison.verdict}")
