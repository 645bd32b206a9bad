"""Arrow columns from NumPy's memory and back, without pandas.

pyarrow's own conversions import pandas, which takes a second and blocks Ctrl-C meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.lazy import pa

FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Types with different names in Arrow and NumPy."""


def numbers(values: NDArray[Any]) -> pa.Array:
    """A column of numbers or truth values of shape (n,); other types as ``pa.array`` has them."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind == "b":
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])
    if values.dtype.kind not in "iuf":
        return pa.array(values.tolist())
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def binaries(cells: Sequence[bytes | None]) -> pa.Array:
    """A column of bytes (n,), some of them null."""
    start = np.cumsum([0, *(len(cell or b"") for cell in cells)], dtype=np.int64)
    valid = numbers(np.array([cell is not None for cell in cells], dtype=np.bool_)).buffers()[1]
    content = b"".join(cell or b"" for cell in cells)
    buffers = [valid, pa.py_buffer(start), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_binary(), len(cells), buffers)


def number_array(column: Any, null: float = np.nan) -> NDArray[Any]:
    """The inverse of :func:`numbers`, of a column in one piece or several.

    ``null``: replaces a null number; NaN turns integers into floats. A missing truth value is
    False.

    >>> import pyarrow as pa
    >>> number_array(pa.array([1, None])), number_array(pa.chunked_array([[True, None]]))
    (array([ 1., nan]), array([ True, False]))
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    known, data = column.buffers()
    size, start = len(column), column.offset
    if pa.types.is_boolean(column.type):
        values = _bits(data, start, size)
        return values & _bits(known, start, size) if column.null_count else values
    kind = np.dtype(FLOATS.get(str(column.type), str(column.type)))
    values = np.frombuffer(data or b"", kind, size if data else 0, start * kind.itemsize)
    return np.where(_bits(known, start, size), values, null) if column.null_count else values


def _bits(buffer: Any, start: int, size: int) -> NDArray[np.bool_]:
    """Truth values (n,) of a buffer with one bit for each."""
    packed = np.frombuffer(buffer or b"", np.uint8)
    return np.unpackbits(packed, count=start + size, bitorder="little")[start:].astype(np.bool_)


def tuples(values: NDArray[Any]) -> pa.Array:
    """A column of fixed-size lists from shape (n, k)."""
    values = np.ascontiguousarray(values)
    kind = pa.list_(pa.from_numpy_dtype(values.dtype), values.shape[1])
    return pa.Array.from_buffers(kind, len(values), [None], children=[numbers(values.ravel())])


def lists(items: pa.Array, lengths: ArrayLike) -> pa.Array:
    """A column of lists, the items of row i being the next ``lengths[i]``."""
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
    buffers = [None, pa.py_buffer(starts)]
    return pa.Array.from_buffers(pa.list_(items.type), len(starts) - 1, buffers, children=[items])
