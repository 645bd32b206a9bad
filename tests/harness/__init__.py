"""Digests of what the engine releases, answers, draws and reads, to compare two versions.

``uv run python -m tests.harness OUT.json`` writes them; with ``--compare A.json B.json`` it prints
what differs by name. Public built-in or synthetic data and fixed seeds only.
"""
