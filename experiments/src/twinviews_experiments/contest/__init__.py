"""The fair contest: every method tuned on the same few labels, judged on rows that none has seen."""
