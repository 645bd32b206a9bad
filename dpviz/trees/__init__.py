"""Forests of boxes as columns of numbers: pure functions that know no release and no record."""
