"""JSON lines: one object or feature per line. A line that holds none is left out by itself.

Text sequences of GeoJSON (RFC 8142) begin each line with a record separator, which is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from dpviz.private.load.columns import MAX_LINE
from dpviz.private.load.tables.base import Block, Column, LineFile, parsing, whole_rows
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.tables.geojson import (
    columns_of_first,
    columns_of_objects,
    feature_places,
    json_value,
)

FEATURES = (".geojsonl", ".geojsons")
"""Endings of files whose records are features."""


class JsonLines(LineFile):
    """A file of one JSON object per line; it declares no columns, so a record may lack any.

    The columns of a feature are its properties, and of another object its own members. Those that
    are listed are the names in the first line, for a form.
    """

    declares = False
    crs = "OGC:CRS84"

    def __init__(self, path: Path, opened: Callable[[], IO[bytes]] | None = None) -> None:
        super().__init__(path, opened)
        self.guesses_geometry = not {*path.suffixes} & {*FEATURES}
        first: dict[str, Any] = next((row for row in self._rows() if row is not None), {})
        self.columns = columns_of_first(_properties(first))
        if _is_feature(first) or not self.guesses_geometry:
            self.columns = [*self.columns, Column("geometry", "geometry")]

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The objects."""
        for rows, broken in whole_rows(self._rows()):
            columns = columns_of_objects([*map(_properties, rows)], names, numeric)
            places = feature_places(rows, self.crs) if geometry else None
            yield Block(len(rows), columns, places, broken)

    def _rows(self) -> Iterator[dict[str, Any] | None]:
        """The object of each line that is not blank; None for a line without one."""
        with parsing(self.name, "JSON lines"), self._open() as file:
            long = False
            while line := file.readline(MAX_LINE):
                if not line.endswith(b"\n") and len(line) == MAX_LINE:
                    if not long:
                        yield None
                    long = True
                    continue
                if long:
                    long = False
                elif line := line.strip(b" \t\n\r\v\f\x1e"):
                    yield _object(line)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json_value(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_feature(record: dict[str, Any]) -> bool:
    return record.get("type") == "Feature" and "geometry" in record


def _properties(record: dict[str, Any]) -> dict[str, Any]:
    """The properties of a feature; another object as it is."""
    if not _is_feature(record):
        return record
    properties = record.get("properties")
    return properties if isinstance(properties, dict) else {}


FORMATS = (
    Format(
        title="JSON lines",
        endings=(".jsonl", ".ndjson"),
        opened=lambda path, name, layer: JsonLines(path),
        lines=True,
    ),
    Format(
        title="GeoJSON lines",
        endings=FEATURES,
        opened=lambda path, name, layer: JsonLines(path),
        lines=True,
        geometry=True,
    ),
)
