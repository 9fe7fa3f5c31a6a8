"""Are the labeled rows like all rows? Covariate shift between labels and table, found and told."""
