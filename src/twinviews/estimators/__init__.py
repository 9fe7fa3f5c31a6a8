"""What the user holds: the scikit-learn face of the method."""
