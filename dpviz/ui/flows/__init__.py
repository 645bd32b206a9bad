"""Releases of flows on page Trips."""
