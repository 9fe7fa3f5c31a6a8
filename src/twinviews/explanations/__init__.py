"""Why a model predicts what it predicts for a row."""
