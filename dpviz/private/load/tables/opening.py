"""Find out what a file is and open it."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path

from dpviz.errors import DataError
from dpviz.private.load.tables.archive import unpack_shapefile
from dpviz.private.load.tables.base import MAX_BYTES, Table
from dpviz.private.load.tables.delimited import DelimitedText
from dpviz.private.load.tables.geojson import GeoJson
from dpviz.private.load.tables.parquet import ParquetTable
from dpviz.private.load.tables.vector import VectorFile

_MAGIC = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"SQLite format 3\0": "GeoPackage",
    b"\0\0\x27\x0a": "Shapefile",
}
_SUFFIXES = {
    ".parquet": "Parquet",
    ".geoparquet": "Parquet",
    ".pq": "Parquet",
    ".zip": "zip",
    ".gpkg": "GeoPackage",
    ".shp": "Shapefile",
    ".geojson": "GeoJSON",
    ".json": "GeoJSON",
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
}


def open_table(path: str | Path) -> Table:
    """Open a file of records by its content.

    Raises:
        DataError: no such file, too large, or not what its name says.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise DataError(f"{path.name} is a folder: give a file")
        if not path.is_file():
            raise DataError(f"no file {path.name!r}: check the name")
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path.name} is over {MAX_BYTES >> 30} GiB: aggregate it in DuckDB")
        with path.open("rb") as file:
            head = file.read(1024)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path.name!r} cannot be opened: check its name and permissions") from None
    found = _recognised(head)
    promised = _SUFFIXES.get(path.suffix.lower(), found)
    if found != promised:
        raise DataError(
            f"{path.name} is not {_called(promised)}, as its name says: "
            f"it looks like {_called(found)}"
        )
    if found == "Parquet":
        return ParquetTable(path)
    if found == "GeoJSON":
        return GeoJson(path)
    if found == "zip":
        return _zipped_shapefile(path)
    if found in ("GeoPackage", "Shapefile"):
        return VectorFile(path, found)
    return DelimitedText(path)


def _recognised(head: bytes) -> str:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return "GeoJSON" if text[:1] == b"{" else "text"


def _called(kind: str) -> str:
    return {"text": "delimited text", "zip": "a zip archive"}.get(kind, kind)


def _zipped_shapefile(path: Path) -> Table:
    folder = tempfile.TemporaryDirectory(prefix="dpviz-")
    try:
        table = VectorFile(unpack_shapefile(path, Path(folder.name)), "Shapefile", path.name)
    except BaseException:
        folder.cleanup()
        raise
    weakref.finalize(table, folder.cleanup)
    return table
