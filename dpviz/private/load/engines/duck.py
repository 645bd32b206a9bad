"""DuckDB: an embedded engine for folders of Parquet and for its own database files."""

from __future__ import annotations

import atexit
import glob
import re
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.sandbox import run_in_sandbox
from dpviz.lazy import duckdb, exp, pa
from dpviz.private.load.columns import shown
from dpviz.private.load.engines.base import NOT_NUMBERS, Engine, Rows, column_of, engine_errors
from dpviz.private.load.tables.base import Column

NOT_A_DATABASE = "is this its database file, and no other program writes it?"
MEMORY = "2GB"
"""DuckDB's memory limit; beyond it, DuckDB spills to its own temporary folder."""

_POLL = 0.1
"""Seconds between two interrupts of a connection that has used up its time."""

_FILES = "dpviz_files"


class Duck(Engine):
    """A connection to DuckDB, in memory unless a database file is given.

    A query that runs beyond the time limit for data of its size is interrupted.
    """

    dialect = "duckdb"
    title = "DuckDB"

    def __init__(self, path: Path | None = None, *, size: int = 0) -> None:
        """Connect.

        Args:
            path: path of a database file.
            size: in bytes of the files to read, if there is no database file.

        Raises:
            DataError: the file is no database, or cannot be opened in time.
        """
        if path is not None:
            size = path.stat().st_size
            where = (str(path.absolute()),)
            run_in_sandbox(
                f"{__name__}:try_open", *where, where=path.name, size=size, needs=("duckdb",)
            )
        self._closed = threading.Event()
        self._is_file = path is not None
        target = ":memory:" if path is None else str(path.absolute())
        self._spill = tempfile.TemporaryDirectory(prefix="dpviz-") if path is None else None
        config = {
            # The default is the current folder.
            "temp_directory": _shared_spill(target) if self._spill is None else self._spill.name,
            "memory_limit": MEMORY,
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",  # no extension is downloaded
        }
        try:
            with engine_errors(self.title, NOT_A_DATABASE):
                self._engine = duckdb.connect(target, read_only=self._is_file, config=config)
                # DuckDB measures progress only with this setting.
                self._engine.execute("SET enable_progress_bar = true")
                self._engine.execute("SET enable_progress_bar_print = false")
                if self._is_file:  # a table name must never open another file
                    self._engine.execute("SET enable_external_access = false")
        except BaseException:
            self._remove_spilled()
            raise
        threading.Thread(target=self._end, args=(seconds(size),), daemon=True).start()

    def _end(self, after: float) -> None:
        """Interrupt the running query after a timeout, until the connection is closed."""
        if not self._closed.wait(after):
            while not self._closed.wait(_POLL):
                with suppress(Exception):  # another thread may close it meanwhile
                    self._engine.interrupt()

    @classmethod
    def of_url(cls, url: str) -> Duck:
        """``duckdb:///FILE``: relative to the current folder, or absolute (also with four slashes).

        Raises:
            DataError: no such file.
        """
        written = unquote(url.partition("://")[2]).removeprefix("/")
        for path in (Path(written), Path(f"/{written}")):
            if written and path.is_file():
                return cls(path)
        raise DataError(f"no file {Path(written).name!r}: give duckdb:///FILE, a DuckDB database")

    def relation(self, name: str) -> Any:
        """A table; views, generated columns and macros of a database file are refused.

        A macro may also replace a function that the query means, such as ``floor``.

        Raises:
            DataError: the table is a view, holds a generated column, or stands beside a macro.
        """
        quoted = super().relation(name)
        if not self._is_file:
            return quoted
        with engine_errors(self.title, "is this its database file?"):
            macros = self._engine.execute(
                "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
            ).fetchall()
            texts = self._engine.execute(
                "SELECT sql FROM duckdb_tables() WHERE lower(table_name) = lower(?) AND "
                "lower(schema_name) = lower(?) AND NOT internal",
                [quoted.name, quoted.db or "main"],
            ).fetchall()
        if macros[0][0]:
            raise DataError("the DuckDB file holds a macro: give a file with tables only")
        if not texts:
            raise DataError(
                f"no table {shown(name)} in the DuckDB file: check its name; a view computes: "
                "write its rows as a table"
            )
        if any("GENERATED ALWAYS" in str(text).upper() for (text,) in texts):
            raise DataError(
                f"table {shown(name)} holds a generated column: write its values as a plain one"
            )
        return quoted

    def parquet(self, files: Sequence[Path]) -> Any:
        """Parquet files as a relation; a variable holds their paths, as there may be many."""
        patterns = exp.array(*(exp.Literal.string(glob.escape(str(each))) for each in files))
        with engine_errors(self.title, "give a folder of fewer files"):
            self._engine.execute(f"SET VARIABLE {_FILES} = {patterns.sql(dialect=self.dialect)}")
        given = exp.Anonymous(this="getvariable", expressions=[exp.Literal.string(_FILES)])
        # Folder names must not become columns: their types would be inferred from all of them.
        plain = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
        return exp.Table(this=exp.func("read_parquet", given, plain))

    def columns(self, relation: Any) -> Sequence[Column]:
        """The columns of a relation."""
        star = exp.select("*").from_(relation.copy()).sql(dialect=self.dialect)
        with engine_errors(self.title, "check the name of the table, or that the files are whole"):
            described = self._engine.execute(f"DESCRIBE {star}").fetchall()
        return [
            column_of(str(name), str(kind), self.dialect, _crs(str(kind)))
            for name, kind, *_ in described
        ]

    def rows(self, query: str) -> Rows:
        """Run a query that returns columns of whole numbers."""
        with engine_errors(self.title, NOT_NUMBERS):
            columns = self._engine.execute(query).fetchnumpy().values()
        return tuple(np.asarray(each, dtype=np.int64) for each in columns)

    def fraction(self) -> float:
        """DuckDB's own estimate."""
        return float(min(max(self._engine.query_progress(), 0.0), 100.0)) / 100

    def cancel(self) -> None:
        """Interrupt the running query."""
        self._engine.interrupt()

    def close(self) -> None:
        """Close the connection and remove its spill files."""
        self._closed.set()
        self._engine.close()
        self._remove_spilled()

    def _remove_spilled(self) -> None:
        if self._spill is not None:
            self._spill.cleanup()


@cache
def _shared_spill(_path: str) -> str:
    """Folder where all connections to a database file spill.

    In one process they share one instance, which refuses other settings. DuckDB removes its files
    there.
    """
    folder = tempfile.mkdtemp(prefix="dpviz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def seconds(size: int) -> int:
    """Timeout in seconds for DuckDB to read this many bytes."""
    return limits.ENGINE_SECONDS.most + size // limits.ENGINE_SPEED.most


def try_open(path: str) -> Any:
    """Run in the sandbox: open a database file, which may crash or hang; return no rows."""
    with engine_errors(Duck.title, NOT_A_DATABASE):
        duckdb.connect(path, read_only=True, config={"threads": 1}).close()
    return pa.table({})


def _crs(kind: str) -> str | None:
    """The CRS in a type such as ``GEOMETRY('EPSG:4326')``."""
    stated = re.fullmatch(r"GEOMETRY\('(.+)'\)", kind, re.DOTALL)
    return stated[1].replace("''", "'") if stated else None
