"""Releases of areas: counts of a public partition and its hierarchy. Nothing here sees a record."""
