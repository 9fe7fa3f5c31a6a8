"""The paper's mathematics: plain functions of arrays, from kernel values to coefficients."""
