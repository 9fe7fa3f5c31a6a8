"""Which rows to label next, and what more labels would buy."""
