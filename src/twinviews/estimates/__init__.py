"""Answers about all rows of a table, from few labels and predictions: prediction-powered inference."""
