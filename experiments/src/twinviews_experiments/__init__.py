"""Experiments with twinviews: the paper's evaluation again, and a contest of methods."""
