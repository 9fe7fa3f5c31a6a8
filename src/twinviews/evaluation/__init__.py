"""How models are judged: splits, draws, measures of error, paired comparisons, confidence intervals."""
