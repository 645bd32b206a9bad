"""Releases of areas on page Explore."""
