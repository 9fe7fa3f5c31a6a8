"""What a pass over the rows of a table collects: a sample, the labeled rows, column scales."""
