"""Names of coordinate columns."""

from __future__ import annotations


def default_columns(dims: int) -> tuple[str, ...]:
    """Default column names: a place, or a pickup and a drop-off."""
    names = {1: ("x",), 2: ("lon", "lat"), 4: ("plon", "plat", "dlon", "dlat")}
    return names.get(dims, tuple(f"x{axis}" for axis in range(dims)))
