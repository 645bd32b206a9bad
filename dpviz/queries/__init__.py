"""Queries stated before a release is made: workloads, and wishes for the error of answers."""
