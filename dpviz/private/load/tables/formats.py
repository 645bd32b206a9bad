"""File formats: their names, and the table class of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dpviz.files.foreign import recognised
from dpviz.private.load.tables import parquet, vector, workbook
from dpviz.private.load.tables.base import Table, TextFile
from dpviz.private.load.tables.delimited import DelimitedText
from dpviz.private.load.tables.jsonfiles import FEATURES, JsonDocument, JsonLines


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format: either text, or a container that a child process parses.

    Attributes:
        endings: endings of file names, the most common one first.
        text: class that reads a file of text, also a compressed one; None for containers.
        container: function that opens a container by its path and the name of a layer or sheet.
        needs: libraries that the child process needs to open the container.
        magic: first bytes of a file, if :func:`recognised` does not know them.
        lines: True if a record is a line: then the first bytes belong to a record, and the format
            is decided by the file's name alone.
        geometry: True if a file may hold geometry besides plain columns.
        tables: function that lists the layers or sheets that may hold records.
    """

    endings: tuple[str, ...]
    text: type[TextFile] | None = None
    container: Callable[[Path, str | None], Table] | None = None
    needs: tuple[str, ...] = ()
    magic: bytes = b""
    lines: bool = False
    geometry: bool = False
    tables: Callable[[Path], list[str]] | None = None


_GDAL = ("pyarrow", "pyogrio.raw", "shapely")
FORMATS = {
    "text": Format(endings=(".csv", ".tsv", ".txt"), text=DelimitedText),
    "JSON lines": Format(endings=(".jsonl", ".ndjson"), text=JsonLines, lines=True),
    "GeoJSON lines": Format(endings=FEATURES, text=JsonLines, lines=True, geometry=True),
    "GeoJSON": Format(endings=(".geojson", ".json"), text=JsonDocument, geometry=True),
    "Parquet": Format(
        endings=(".parquet", ".geoparquet", ".pq"),
        container=lambda path, layer: parquet.ParquetTable(path),
        needs=("pyarrow.parquet", "shapely"),
        geometry=True,
    ),
    "GeoPackage": Format(
        endings=(".gpkg",),
        container=lambda path, layer: vector.VectorLayer(path, "GeoPackage", layer),
        needs=_GDAL,
        geometry=True,
        tables=vector.geopackage_layers,
    ),
    "Shapefile": Format(
        endings=(".shp",),
        container=lambda path, layer: vector.VectorLayer(path, "Shapefile"),
        needs=_GDAL,
        geometry=True,
    ),
    "workbook": Format(
        endings=(".xlsx", ".xlsm", ".xls", ".ods"),
        container=workbook.Workbook,
        needs=("pyarrow", "python_calamine"),
        magic=b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        tables=workbook.sheets,
    ),
}
"""Formats by title, the name in messages; :func:`dpviz.files.foreign.recognised` returns the same
titles for formats that it detects by their first bytes.
"""


def title_of(path: Path) -> str | None:
    """Format by a file's extension; None if the extension is unknown."""
    ending = path.suffix.lower()
    return next((title for title, each in FORMATS.items() if ending in each.endings), None)


def looks_like(head: bytes) -> str:
    """The format of a file by its first bytes: a format's title, an archive, or text."""
    for title, each in FORMATS.items():
        if each.magic and head.startswith(each.magic):
            return title
    return recognised(head)


def may_hold_places(path: Path) -> bool:
    """True if a file of this name may hold geometry besides plain columns."""
    title = title_of(path)
    return path.suffix.lower() != ".gz" if title is None else FORMATS[title].geometry
