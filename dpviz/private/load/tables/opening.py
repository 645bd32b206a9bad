"""Detect the format of a file and open it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.foreign import BLANK, LAYER, PACKED
from dpviz.private.load.columns import shown
from dpviz.private.load.source import BuiltIn, Database, File, Folder, InMemory, source_of
from dpviz.private.load.tables.archive import (
    COMPRESSED,
    opened_compressed,
    opened_zip,
    zipped_text,
)
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tables.confined import ConfinedTable, listed_tables
from dpviz.private.load.tables.delimited import TextLines
from dpviz.private.load.tables.formats import FORMATS, looks_like, title_of
from dpviz.private.load.tables.memory import MemoryTable

_ARCHIVES = {".zip": "zip", **PACKED}


def open_table(given: Any, table: str | None = None, *, header: bool = True) -> Table:
    """Open a file of records by its content, or a table in memory.

    Args:
        given: a source, a path, a data frame, or a table that is open.
        table: a layer of a GeoPackage, a sheet of a workbook.
        header: True if the first line of text holds names; otherwise each line is a record in the
            column ``line``.

    Raises:
        DataError: no such file, too large, or of another format than its name says.
    """
    if isinstance(given, Table):
        return given
    match source_of(given, table):
        case InMemory() as frame:
            return MemoryTable(frame.table, "the table")
        case Database() as database:
            raise DataError(
                f"{database.name}: a database gives points only, which it counts by cell: export "
                "the table to Parquet"
            )
        case Folder() as folder:
            raise DataError(f"{folder.path.name or folder.path} is a folder: give a file")
        case File() as file:
            return _open_file(file.path, file.layer, header)
        case BuiltIn() as built_in:
            raise DataError(f"{built_in.name} is built in, and holds points: give a file")


def _open_file(path: Path, layer: str | None, header: bool) -> Table:
    title, inner, opened = _title_of_file(path, header), path, None
    if title in COMPRESSED:
        inner, opened = Path(path.stem), partial(opened_compressed, path, title)
    elif title == "zip":
        member = zipped_text(path)
        title = "Shapefile"
        if member is not None:
            inner, opened = Path(member), partial(opened_zip, path, member)
    if opened is not None:
        title = title_of(inner) or "text"
    known = FORMATS[title]
    if layer is not None and known.tables is None:
        raise DataError(
            f"table {shown(layer)}: {path.name} is one table; only a database, a GeoPackage and a "
            "workbook hold several"
        )
    if known.text is None and opened is not None:
        raise DataError(f"{path.name} is a compressed {title}: unpack it first")
    if known.text is None:
        return ConfinedTable(path, title, layer)
    return (TextLines if title == "text" and not header else known.text)(path, opened)


def tables_in(path: Path) -> tuple[str, ...]:
    """Layers or sheets of a file that may hold records; empty if the file is one table.

    The file's name alone decides whether it may have several: the first bytes of a text may belong
    to a record, which must decide nothing.

    Raises:
        DataError: the file cannot be read.
    """
    title = title_of(path)
    return () if title is None or FORMATS[title].tables is None else listed_tables(path, title)


def _title_of_file(path: Path, header: bool) -> str:
    """Return the format of a file; its first bytes must agree with its name.

    Where the first line is a record, it decides nothing.
    """
    try:
        if not path.is_file():
            remedy = "check the name" if LAYER not in path.name else "name its layer as the table"
            raise DataError(f"no file {path.name!r}: {remedy}")
        limits.FILE.check(path.stat().st_size, path.name)
        with path.open("rb") as file:
            head = file.read(1024)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path.name!r} cannot be opened: check its name and permissions") from None
    looks, named = looks_like(head), title_of(path) or _ARCHIVES.get(path.suffix.lower())
    if not header and not named:
        raise DataError(
            f"{path.name} has no known file ending: use .txt for one sequence per line, "
            ".csv, .parquet or the like for a table"
        )
    promised = named or looks
    if promised == "GeoJSON" and looks == "text" and head.lstrip(BLANK)[:1] == b"[":
        looks = promised  # an array of objects
    record_first = promised in FORMATS and FORMATS[promised].lines
    if (
        record_first
        or (promised == "text" and not header)
        or (looks == "zip" and promised in FORMATS and FORMATS[promised].zipped)
    ):
        looks = promised
    if looks != promised:
        if not head.strip(BLANK):
            raise DataError(
                f"{path.name} is empty, so not {_named_format(promised)}: write it again"
            )
        raise DataError(
            f"{path.name} is not {_named_format(promised)}, as its name says: "
            f"it looks like {_named_format(looks)}; rename it, or write it again"
        )
    return looks


def _named_format(kind: str) -> str:
    names = {"text": "delimited text", "zip": "a zip archive", "workbook": "a workbook"}
    return names.get(kind, kind)
