"""Releases of sequences: models of the next symbol, and their files."""
