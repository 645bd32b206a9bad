"""Releases of trips on roads: noisy counts of edges, their files and their queries."""
