"""Label next: rows of a table on a page, the most useful first, with a model that learns at once."""
