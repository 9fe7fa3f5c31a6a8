"""
Estimates for all rows
======================

Means by group, from 120 labels and predictions for 442 patients, beside those of the labels alone.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from twinviews import XNVRegressor, estimate
from twinviews.plots import EstimateDisplay

patients, truth = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
patients["age group"] = np.select(
    [patients["age"] < 40, patients["age"] < 55], ["below 40", "40 to 54"], "55 and more"
)
known = np.random.default_rng(0).permutation(len(truth)) < 120
patients["progression"] = truth.where(known)
inputs = [name for name in patients if name not in ("age group", "progression")]

# %%
# Labels are few in each group. Predictions of all patients, corrected by what they are off on labels
# that the fits have not seen, make intervals narrower.
model = XNVRegressor(random_state=0).fit_table(patients, target="progression", columns=inputs)
found = estimate(model, patients, target="progression", by="age group")
EstimateDisplay.from_estimates(found)
plt.show()

# %%
# In words:
print(found.words())
