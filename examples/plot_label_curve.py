"""
How many labels are enough?
===========================

Error on rows that no fit has seen, as labels are added: the line is the mean over five draws, the
band one standard deviation. Where it lies flat, more labels of the same kind bring little.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV

from twinviews import XNVRegressor
from twinviews.plots import LabelCurveDisplay

X, y = load_diabetes(return_X_y=True)
draws = {"n_labels": [25, 50, 100, 200], "n_draws": 5, "random_state": 0}

# The views alone, to be quick; the default adds an ensemble.
views = XNVRegressor(members=None, scale="standard", random_state=0)
display = LabelCurveDisplay.from_estimator(views, X, y, name="correlated views", **draws)

# Another estimator may join the same axes. One that knows nothing of missing labels, as this one of
# scikit-learn, is given the labeled rows alone.
display = LabelCurveDisplay.from_estimator(
    RidgeCV(), X, y, name="linear ridge", ax=display.ax_, **draws
)

# %%
# The errors behind the picture, a row for each number of labels and a column for each draw.
print(display.errors.round(2))
