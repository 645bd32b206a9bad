"""Parquet and GeoParquet: only the needed columns are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.private.load.tables.base import (
    MAX_BYTES,
    MAX_RECORDS,
    Column,
    as_numbers,
    kind_of,
    parsing,
    pick,
    point_coordinates,
)


class ParquetTable:
    """A Parquet file; one with `geo` metadata has a geometry column."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.name = path.name
        with parsing(self.name, "Parquet"):
            self._file = pq.ParquetFile(path, memory_map=True)
            schema = self._file.schema_arrow
            self._geometry, self.crs, self._encoding = _geo(self._file.metadata.metadata)
            self.columns: Sequence[Column] = [
                Column(
                    field.name,
                    "geometry" if field.name == self._geometry else kind_of(field.type),
                )
                for field in schema
            ]
        if self._file.metadata.num_rows > MAX_RECORDS:
            raise DataError(
                f"{self.name} holds more than {MAX_RECORDS:,} records: aggregate it in DuckDB"
            )

    def read(self, names: Sequence[str], numeric: Sequence[str]) -> dict[str, Any]:
        """The named columns; those in `numeric` as float64."""
        pick(self.columns, names, self.name)
        table = self._read(names)
        return {
            name: as_numbers(table[name], name) if name in numeric else table[name]
            for name in names
        }

    def places(self) -> NDArray[np.float64]:
        """Coordinates (n, 2) of the primary geometry column."""
        import shapely

        if self._geometry is None:
            raise DataError(f"{self.name} has no geometry: name the columns of the coordinates")
        column = self._read([self._geometry])[self._geometry].combine_chunks()
        with parsing(self.name, "GeoParquet"):
            if self._encoding == "point":
                return np.column_stack(
                    [as_numbers(column.field(axis), axis) for axis in ("x", "y")]
                )
            wkb = column.to_numpy(zero_copy_only=False)
            return point_coordinates(shapely.from_wkb(wkb), self.name)

    def _read(self, names: Sequence[str]) -> Any:
        with parsing(self.name, "Parquet"):
            metadata = self._file.metadata
            size = sum(
                metadata.row_group(group).column(k).total_uncompressed_size
                for group in range(metadata.num_row_groups)
                for k in range(metadata.num_columns)
                if metadata.row_group(group).column(k).path_in_schema.split(".")[0] in names
            )
            if size > MAX_BYTES:
                raise DataError(
                    f"{self.name} is over {MAX_BYTES >> 30} GiB: aggregate it in DuckDB"
                )
            return self._file.read(columns=list(names))


def _geo(metadata: dict[bytes, bytes] | None) -> tuple[str | None, str | None, str]:
    """Geometry column, CRS and encoding from GeoParquet metadata."""
    if not metadata or b"geo" not in metadata:
        return None, None, ""
    geo = json.loads(metadata[b"geo"])
    name = geo["primary_column"]
    column = geo["columns"][name]
    crs = column.get("crs", "OGC:CRS84")  # absent means longitude and latitude, null means unknown
    return name, json.dumps(crs) if isinstance(crs, dict) else crs, column.get("encoding", "WKB")
