"""Releases: safe to look at, query, save and share. Nothing here reads a record."""
