"""Workloads, metrics, exact answers for public data, experiments and audits."""
