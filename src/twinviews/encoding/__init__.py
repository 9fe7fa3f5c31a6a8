"""Columns of any kind become numbers: facts of all rows, rules, and a code for each column."""
