"""Tables as people have them: one truth, written in many ways, and tables that are wrong."""
