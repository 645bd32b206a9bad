"""Releases: what may be looked at, queried, saved and shared. Nothing here sees a record."""
