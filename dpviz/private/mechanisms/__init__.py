"""Mechanisms: every draw of noise, and the choices made by it."""
