"""Columns of tables: what one is called in a message, and whether its type is text."""

from __future__ import annotations

from typing import Any

from dpviz.lazy import pa


def is_text(arrow_type: Any) -> bool:
    """Whether a pyarrow type holds text, or the bytes of text."""
    types = pa.types
    return bool(
        types.is_string(arrow_type)
        or types.is_large_string(arrow_type)
        or types.is_string_view(arrow_type)
        or types.is_binary(arrow_type)
        or types.is_large_binary(arrow_type)
        or types.is_binary_view(arrow_type)
        or types.is_fixed_size_binary(arrow_type)
    )


def shown(name: object) -> str:
    """A column name for a message: quoted, on one line, at most 40 characters."""
    text = repr(str(name))
    return text if len(text) <= 42 else f"{text[:40]}…'"
