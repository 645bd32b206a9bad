"""Chapters of page Learn, one module each, imported automatically.

A chapter has TITLE, ORDER (any number: a new one goes between two), DO (the one thing to do),
TAKEAWAY (one sentence), SOURCE, and ``body(room)``, which shows one screen. It may name the methods
that it is about.
"""
