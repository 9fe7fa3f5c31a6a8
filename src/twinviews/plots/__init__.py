"""Plots in the style of scikit-learn's displays; they need matplotlib (extra ``plots``)."""

from twinviews.plots.correlation_spectrum import CorrelationSpectrumDisplay
from twinviews.plots.error_curves import LabelCurveDisplay, UnlabeledCurveDisplay
from twinviews.plots.estimate_intervals import EstimateDisplay
from twinviews.plots.interval import IntervalDisplay
from twinviews.plots.method_comparison import MethodComparisonDisplay
from twinviews.plots.reliability import ReliabilityDisplay

__all__ = [  # in the order a user meets them
    "IntervalDisplay",
    "ReliabilityDisplay",
    "LabelCurveDisplay",
    "UnlabeledCurveDisplay",
    "CorrelationSpectrumDisplay",
    "MethodComparisonDisplay",
    "EstimateDisplay",
]
