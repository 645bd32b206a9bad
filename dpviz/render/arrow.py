"""Arrow columns straight from NumPy memory: ``pa.array`` would import pandas, a second at start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray


def numbers(values: NDArray[Any]) -> pa.Array:
    """A numeric column of shape (n,), without a copy; other types as ``pa.array`` has them."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind not in "iuf":
        return pa.array(values.tolist())
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


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
