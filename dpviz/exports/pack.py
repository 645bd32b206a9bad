"""Pack columns into one block of bytes with an index: a map in a file has no Arrow reader."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpviz.files.arrow import number_array

KINDS = {
    "float32": "Float32Array",
    "float64": "Float64Array",
    "int32": "Int32Array",
    "uint32": "Uint32Array",
    "uint8": "Uint8Array",
}


class Packer:
    """Collect columns; ``index`` says where each lies in the bytes of ``block()``."""

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._buffers: list[bytes] = []
        self._length = 0
        self._starts: dict[bytes, int] = {}

    def add(
        self,
        name: str,
        values: NDArray[Any],
        starts: NDArray[Any] | None = None,
        *,
        delta: bool = False,
    ) -> None:
        """Add a column of shape (n,) or (n, size); with ``starts``, of lists of such items.

        ``delta`` stores differences between rows of whole numbers, which compress better.
        """
        values = np.asarray(values)
        rows = len(values) if starts is None else len(starts) - 1
        entry = {"length": rows, "size": values.shape[1] if values.ndim == 2 else 1}
        if delta:
            first = np.zeros_like(values[:1])
            values = np.diff(values, axis=0, prepend=first)  # differences of integers wrap around
            entry["delta"] = True
        entry["value"] = self._placed(values)
        if starts is not None:
            entry["startIndices"] = self._placed(np.asarray(starts, np.int32))
        self.index[name] = entry

    def add_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Add every column of the tables of a scene, named ``table.column``."""
        for table_name, table in tables.items():
            for name in table.column_names:
                column = table.column(name).combine_chunks()
                if pa.types.is_string(column.type):
                    coded = column.dictionary_encode()
                    at = number_array(coded.indices).astype(np.int32)
                    texts = {"texts": coded.dictionary.to_pylist(), "value": self._placed(at)}
                    self.index[f"{table_name}.{name}"] = {"length": len(at), "size": 1} | texts
                    continue
                self.add(f"{table_name}.{name}", *_arrays(column))

    def block(self) -> bytes:
        """All columns, one after the other."""
        return b"".join(self._buffers)

    def _placed(self, values: NDArray[Any]) -> dict[str, Any]:
        """Append values to the block unless they are in it; return their type, place and number."""
        kind = KINDS.get(values.dtype.name)
        if kind is None:
            raise TypeError(f"columns of {values.dtype} cannot be packed: {', '.join(KINDS)} can")
        flat = np.ascontiguousarray(values).ravel()
        # All first bytes, then all second bytes, and so on: similar bytes compress better together.
        data = flat.view(np.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()
        digest = hashlib.sha256(data).digest()
        if digest not in self._starts:  # all frames share the same outlines
            self._starts[digest] = self._length
            self._buffers.append(data)
            self._length += len(data)
        return {"kind": kind, "at": self._starts[digest], "items": values.size}


def _arrays(column: pa.Array) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Values of shape (n,) or (n, size), and the starts of a column of lists."""
    if pa.types.is_list(column.type):
        items, _ = _arrays(column.values)
        return items, number_array(column.offsets)
    if pa.types.is_fixed_size_list(column.type):
        flat = number_array(column.values)
        return flat.reshape(-1, column.type.list_size), None
    return number_array(column), None


def compressed(data: bytes) -> bytes:
    """Bytes packed by gzip, the same for the same bytes."""
    return gzip.compress(data, 9, mtime=0)


def base64_of(data: bytes) -> str:
    """Bytes as text, for an element of a page."""
    return base64.b64encode(data).decode("ascii")


@cache
def deck() -> bytes:
    """deck.gl from the installed pydeck: 4 MB, packed to 1.1."""
    import pydeck

    path = Path(pydeck.__file__).parent / "nbextension" / "static" / "index.js"
    return compressed(path.read_bytes())
