"""Releases of flows: counts of pairs of public areas. Nothing here reads a record."""
