"""Parquet and GeoParquet: only the needed columns are read, row group by row group.

A column of bytes that no schema declares as geometry is WKB where it is named as the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dpviz.files import limits
from dpviz.lazy import pa, pq
from dpviz.private.load.tables.base import (
    BLOCK_ROWS,
    parsing,
)
from dpviz.private.load.tables.geometry import DeclaredTable, declared_geometries


class ParquetTable(DeclaredTable):
    """Parquet file; of several geometry columns, the primary or first one is read."""

    title = "Parquet"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        with parsing(self.name, self.title):
            self._size = path.stat().st_size
            self._file = pq.ParquetFile(
                path,
                memory_map=True,
                # In nanoseconds, times of this old type after 2262 would wrap to 1677–2262.
                coerce_int96_timestamp_unit="us",
                # Also for texts stored as categories: one invalid UTF-8 text among them would make
                # the file unreadable.
                binary_type=pa.large_binary(),
            )
            schema = self._file.schema_arrow
            leaves = map(self._file.schema.column, range(len(self._file.schema.names)))
            declared = declared_geometries(schema, self._file.metadata.metadata, leaves)
            self._declare(schema, declared)
        limits.ROWS.check(self._file.metadata.num_rows, self.name)

    def _batches(self, names: list[str]) -> tuple[Any, Iterable[Any]]:
        refuse_bombs(self._file.metadata, names, self._size, self.name)
        return self._file.schema_arrow, self._file.iter_batches(BLOCK_ROWS, columns=names)


def refuse_bombs(metadata: Any, names: Sequence[str], size: int, name: str) -> None:
    """Raise if columns of a Parquet file decode to too many bytes, by its own metadata.

    Args:
        metadata: metadata of the file.
        names: names of the columns that will be read.
        size: bytes of the file.
        name: name of the file, for the message.

    Raises:
        DataError: naming the limit.
    """
    decoded = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(metadata.num_columns)):
            if chunk.path_in_schema.split(".")[0] in names:
                # A decoded value takes 8 bytes, even if run-length encoded, and a list item 24; a
                # text also takes its bytes in the file.
                width = 24 if "." in chunk.path_in_schema else 8
                decoded += width * max(chunk.num_values, group.num_rows)
                if chunk.physical_type.endswith("BYTE_ARRAY"):
                    decoded += chunk.total_uncompressed_size
    limits.decoded(decoded, size, name)
