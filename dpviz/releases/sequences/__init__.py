"""Releases of sequences: models of what comes next, and their files."""
