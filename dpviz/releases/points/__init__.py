"""Releases of points: boxes with noisy counts, their files and their queries."""
