"""Queries stated before a release is made: workloads, and wishes for answer errors."""
