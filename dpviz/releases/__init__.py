"""Releases: what may be looked at, queried, saved and shared. No room here sees a record."""
