"""Releases of areas on the page Explore."""
