"""What the commands do, as functions: read, fit or predict, write, and say what was found."""
