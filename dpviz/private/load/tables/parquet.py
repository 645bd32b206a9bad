"""Parquet and GeoParquet: only the needed columns are read, row group by row group.

A column of bytes that no schema declares as geometry is WKB where it is named as the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dpviz.files import limits
from dpviz.lazy import pa, pq
from dpviz.private.load.tables.base import (
    BLOCK_ROWS,
    ENDS,
    LINES,
    Block,
    Column,
    Table,
    parsing,
    refuse_other_types,
    refuse_release,
)
from dpviz.private.load.tables.geometry import declared_geometries, typed_blocks, typed_columns


class ParquetTable(Table):
    """Parquet file; of several geometry columns, the primary or first one is read."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        with parsing(self.name, "Parquet"):
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
            self.metadata: dict[bytes, bytes] = schema.metadata or {}
            refuse_release(self.metadata, self.name)
            leaves = map(self._file.schema.column, range(len(self._file.schema.names)))
            declared = declared_geometries(schema, self._file.metadata.metadata, leaves)
            self._geometry = declared[0] if declared else None
            self.crs = self._geometry.crs if self._geometry else None
            others = self._geometry.others if self._geometry else frozenset()
            self.lines = bool(others) and others <= LINES
            self.columns = typed_columns(schema, declared)
            if self.lines:
                plain = [each for each in self.columns if each.kind != "geometry"]
                self.columns = [*plain, *(Column(end, "number") for end in ENDS)]
        limits.ROWS.check(self._file.metadata.num_rows, self.name)

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the rows, a quarter of a million at a time."""
        place = self._geometry if geometry else None
        shape = self._geometry.name if self._geometry else ""
        ends = shape if self.lines and not {*names}.isdisjoint(ENDS) else None
        plain = [name for name in names if not (ends and name in ENDS)]
        wanted = [*dict.fromkeys([*plain, *([shape] if place or ends else [])])]
        if place is not None:
            refuse_other_types(self.name, {*place.others})
        with parsing(self.name, "Parquet"):
            refuse_bombs(self._file.metadata, wanted, self._size, self.name)
            rows = self._file.iter_batches(BLOCK_ROWS, columns=wanted)
            yield from typed_blocks(self._file.schema_arrow, rows, names, place, ends)


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
