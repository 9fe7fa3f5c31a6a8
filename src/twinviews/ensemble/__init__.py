"""The default beyond the paper: several methods on the labeled rows, weighted by held-out error."""
