"""A committee on the few labeled rows: methods that differ, each weighed by rows it has not seen."""
