"""Mechanisms: every draw of noise, and what is chosen by it."""
