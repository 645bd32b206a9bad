"""Columns of tables: their names in messages, text types, and plain Arrow arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.lazy import pa

MAX_LINE = 1 << 20
"""Bytes of the longest line of a file, and of the longest text that is read as a list: a longer one
is left out, like any line that cannot be split."""


def is_text(arrow_type: Any) -> bool:
    """True if a pyarrow type holds text, or the bytes of text."""
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


def plain(column: Any) -> Any:
    """One pyarrow array of a column in any form, without dictionary encoding."""
    if isinstance(column, np.ndarray):
        column = pa.array(column, from_pandas=True)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):  # its dictionary may repeat values
        column = column.cast(column.type.value_type)
    return column
