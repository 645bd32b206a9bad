"""File formats: their names, and the table class of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpviz.files.foreign import BLANK, PACKED, recognised
from dpviz.private.load.tables import feather, parquet, vector, workbook
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
        root: root element of XML files.
        zipped: True if a file may be a zip archive.
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
    root: bytes = b""
    zipped: bool = False
    lines: bool = False
    geometry: bool = False
    tables: Callable[[Path], list[str]] | None = None


def _vector(title: str, ending: str, *, several: bool = False, **how: Any) -> Format:
    """A format that GDAL reads.

    Args:
        title: its title.
        ending: ending of its files.
        several: True if a file may hold several layers.
        **how: further fields of the format.
    """
    return Format(
        endings=(ending,),
        container=lambda path, layer: vector.VectorLayer(path, title, layer),
        needs=("pyarrow", "pyogrio.raw", "shapely"),
        geometry=True,
        tables=partial(vector.point_layers, title) if several else None,
        **how,
    )


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
    "Feather": Format(
        endings=(".feather", ".arrow"),
        container=lambda path, layer: feather.ArrowFile(path),
        needs=("pyarrow", "shapely"),
        magic=b"ARROW1",
        geometry=True,
    ),
    "GeoPackage": _vector("GeoPackage", ".gpkg", several=True),
    "Shapefile": _vector("Shapefile", ".shp"),
    "FlatGeobuf": _vector("FlatGeobuf", ".fgb", magic=b"fgb\x03"),
    "GPX": _vector("GPX", ".gpx", several=True, root=b"<gpx"),
    "KML": _vector("KML", ".kml", several=True, root=b"<kml"),
    "KMZ": _vector("KMZ", ".kmz", several=True, zipped=True),
    "workbook": Format(
        endings=(".xlsx", ".xlsm", ".xls", ".ods"),
        container=workbook.Workbook,
        needs=("pyarrow", "python_calamine"),
        magic=b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        zipped=True,
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
        if each.root and head.lstrip(BLANK)[:1] == b"<" and each.root in head.lower():
            return title
    return recognised(head)


def may_hold_places(path: Path) -> bool:
    """True if a file of this name may hold geometry besides plain columns."""
    title = title_of(path)
    return path.suffix.lower() not in PACKED if title is None else FORMATS[title].geometry
