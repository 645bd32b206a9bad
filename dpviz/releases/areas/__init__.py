"""Releases of areas: counts of a public partition. Nothing here reads a record."""
