"""Files, processes, threads and terminals: what is about the machine and not about data."""
