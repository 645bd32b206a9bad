"""Sources of records: files, folders, tables and built-in data, recognised once."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpviz.checks import require_path
from dpviz.datasets import DATASETS, Dataset
from dpviz.errors import DataError
from dpviz.private.ledger.names import stem
from dpviz.private.load.dialects import parts_of

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # two letters at least: C:/ is a path

SCHEMES = ("postgresql", "postgres", "duckdb", "spark")
"""URL schemes of databases."""


@dataclass(frozen=True, repr=False)
class InMemory:
    """A table in memory."""

    table: Any
    name: str = "table"


@dataclass(frozen=True)
class File:
    """One file; it need not exist. ``layer``: layer of a GeoPackage, or sheet of a workbook."""

    path: Path
    layer: str | None = None

    @property
    def name(self) -> str:
        """The public name: the file's name without its ending."""
        return stem(self.path.name)


@dataclass(frozen=True)
class Folder:
    """A folder of Parquet files."""

    path: Path

    @property
    def name(self) -> str:
        """The public name: the folder's."""
        return self.path.name


@dataclass(frozen=True, repr=False)
class Database:
    """A table of a database. ``url``: URL of the database, which may hold a password."""

    url: str
    table: str

    @property
    def scheme(self) -> str:
        """The kind of database."""
        return _scheme_of(self.url) or ""

    @property
    def name(self) -> str:
        """The public name: the last part of the table name, or of the path in its place."""
        return Path(parts_of(self.table)[-1]).name


@dataclass(frozen=True)
class BuiltIn:
    """A built-in data set of points."""

    dataset: Dataset

    @property
    def name(self) -> str:
        """The public name."""
        return self.dataset.name


Source = InMemory | File | Folder | Database | BuiltIn


def source_of(given: Any, table: str | None = None, *, built_in: bool = False) -> Source:
    """Recognise a source from a path, a URL, a table in memory or a name.

    Raises DataError: not a source, or a database without the name of a table.

    Args:
        table: table of a database, layer of a GeoPackage, or sheet of a workbook.
        built_in: True if a name may be that of a built-in data set of points.

    >>> source_of("C:/data.csv").name, source_of("city-50k", built_in=True).name
    ('data', 'city-50k')
    """
    if isinstance(given, Source):
        return given
    if callable(getattr(given, "collect", None)):
        raise DataError(f"source of type {type(given).__name__}: collect it first, .collect()")
    if isinstance(given, str) and len(given.splitlines()) > 1:  # it may hold records: not shown
        raise DataError("source is a text of several lines: give the path of a file")
    if hasattr(given, "columns") and hasattr(given, "shape"):  # a table of any library
        return InMemory(given)
    if not isinstance(given, (str, os.PathLike)):
        raise DataError(
            f"source of type {type(given).__name__}: give a path, the URL of a database, or a "
            "table in memory (several files: as a folder of Parquet; an array of coordinates: to "
            "dpviz.from_points)"
        )
    if is_url(given):
        return _database(str(given), table)
    text = os.fspath(given)
    require_path(given, DataError, "source")
    if built_in and text in DATASETS:
        return BuiltIn(DATASETS[text])
    path = Path(text)
    path = path.resolve() if path.name in ("", "..") else path  # the name of the data set
    return Folder(path) if path.is_dir() else File(path, table)


def is_url(given: Any) -> bool:
    """True if a text is the URL of a database, not a path."""
    return isinstance(given, str) and _scheme_of(given) is not None


def _scheme_of(text: str) -> str | None:
    """The scheme of a URL in lower case; None for a path or a name."""
    match = _SCHEME.match(text)
    return match[1].lower() if match else None


def _database(url: str, table: str | None) -> Database:
    scheme = _scheme_of(url)
    if scheme not in SCHEMES:
        raise DataError(
            f"{scheme}: is not a supported source: give a file that you have downloaded, "
            "postgresql://…, duckdb:///FILE, spark://…, or run the query of dpviz.cell_sql there "
            "and give its result"
        )
    if table is None:
        raise DataError("a database holds many tables: name one with table=… (--table)")
    return Database(url, table)
