"""Recognise untrusted data files by their first bytes; refuse databases with views.

A view or a virtual table is a program in a data file: it may read files that it should not.
"""

from __future__ import annotations

import io
import os
import sqlite3
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath

from dpviz.errors import DataError
from dpviz.files import limits

MAGIC = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"SQLite format 3\0": "GeoPackage",
    b"\0\0\x27\x0a": "Shapefile",
}
PACKED = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
"""Formats that compress one file, by the ending of its name."""

SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
LAYER = "|layername="
"""Separator between a file's path and a layer name, as in QGIS."""
BLANK = b"\xef\xbb\xbf \t\r\n"


def recognised(head: bytes) -> str:
    """Return the format of a file by its first bytes, or "text".

    >>> recognised(b'  {"type": "Feature"'), recognised(b"PAR1...")
    ('GeoJSON', 'Parquet')
    """
    for magic, kind in MAGIC.items():
        if head.startswith(magic):
            return kind
    return "GeoJSON" if head.lstrip(BLANK)[:1] == b"{" else "text"


@contextmanager
def parsing(name: str, what: str) -> Iterator[None]:
    """Turn any parser error into one line that quotes no record; drop parser warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DataError:
        raise
    except MemoryError:  # also Arrow files: no footer states the size of a long repeated text
        raise DataError(f"{name} has more than {limits.SMALL}: {limits.SMALL.remedy}") from None
    except Exception:
        raise DataError(
            f"{name} cannot be read as {what}: it is damaged or cut short; write it again"
        ) from None


def file_of(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """A file of areas and the layer of it that a path names.

    >>> file_of("towns.gpkg|layername=wards")[1]
    'wards'
    """
    file, named, layer = os.fspath(path).partition(LAYER)
    return Path(file), layer if named else None


def readable(path: Path) -> Path | bytes:
    """A path, or the file's bytes if the path resolves to nothing, such as of an open file."""
    return path if Path(os.path.realpath(path)).exists() else path.read_bytes()


def shapefiles(path: Path) -> bytes:
    """Repack the Shapefiles of a zip archive without folders, into which GDAL does not look.

    GDAL detects formats by content: other files in the archive might make it open files of this
    machine.

    Raises DataError: no Shapefile, too large, or two files of one name.
    """
    flat = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(flat, "w") as target:
        members = archive.infolist()
        limits.MEMBERS.check(len(members), path.name)
        chosen = [
            each
            for each in members
            if PurePosixPath(each.filename).suffix.lower() in SHAPEFILE_PARTS
            and not each.filename.startswith("__MACOSX/")
        ]
        names = [PurePosixPath(each.filename).name for each in chosen]
        if len(set(names)) < len(names):
            raise DataError(f"{path.name} holds two files of one name: zip one Shapefile only")
        size = sum(each.file_size for each in chosen)  # zipfile reads no more than this from each
        limits.decoded(size, path.stat().st_size, path.name)
        for name, each in zip(names, chosen, strict=True):
            content = archive.read(each)
            # GDAL detects formats by content, not by name.
            if name.lower().endswith(".shp") and recognised(content) != "Shapefile":
                raise DataError(
                    f"{path.name} holds a .shp that is no Shapefile: zip .shp, .shx, .dbf and .prj"
                )
            target.writestr(name, content)
    if not any(name.lower().endswith(".shp") for name in names):
        raise DataError(f"{path.name} holds no Shapefile: zip its .shp, .shx, .dbf and .prj")
    return flat.getvalue()


def database(path: Path) -> sqlite3.Connection:
    """Open a SQLite file for reading only, with changes that are still in its write-ahead log."""
    place = readable(path)
    if isinstance(place, Path):
        changes = Path(f"{place}-wal").exists()
        how = "mode=ro" if changes else "mode=ro&immutable=1"  # immutable: SQLite takes no lock
        return sqlite3.connect(f"{place.absolute().as_uri()}?{how}", uri=True)
    db = sqlite3.connect(":memory:")
    db.deserialize(place[:18] + b"\1\1" + place[20:])  # sets its header to "no write-ahead log"
    return db


def quoted(name: str) -> str:
    """The name of a table or a column in SQL.

    >>> quoted('the "old" id')
    '"the ""old"" id"'
    """
    return '"' + name.replace('"', '""') + '"'


def refuse_computing(path: Path, name: str) -> None:
    """Raise unless a SQLite file holds plain tables only, and the spatial index of a GeoPackage."""
    try:
        with closing(database(path)) as db:
            rows = db.execute("SELECT type, sql FROM sqlite_master").fetchall()
    except (sqlite3.Error, UnicodeError):
        raise DataError(
            f"{name} cannot be read as GeoPackage: it is damaged, cut short, or open in another "
            "program; close that, or write it again"
        ) from None
    for kind, text in rows:
        words = " ".join(str(text).split()).upper()
        if kind == "view":
            raise DataError(f"{name} holds a view: write its rows as a table of their own")
        if words.startswith("CREATE VIRTUAL") and " USING RTREE" not in words:
            raise DataError(f"{name} holds a virtual table: write its rows as a plain one")


def refuse_texts(path: Path, layer: str, columns: list[str]) -> None:
    """Raise if a numeric column of a GeoPackage holds a text.

    GDAL would read it as 0.

    Raises DataError: names the column; called for public files only.
    """
    with closing(database(path)) as db:
        for name in columns:
            odd = f"typeof({quoted(name)}) IN ('text', 'blob')"
            if db.execute(f"SELECT 1 FROM {quoted(layer)} WHERE {odd} LIMIT 1").fetchone():
                raise DataError(
                    f"column {name!r} of {path.name} is declared to hold numbers and holds a text: "
                    "declare it as text, or correct the cell"
                )
