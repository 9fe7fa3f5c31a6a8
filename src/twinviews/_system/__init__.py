"""Files, processes, threads and terminals: everything that is about the machine and not about data."""
