"""Interface of all engines; run a query, report its progress, and cancel it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.lazy import exp, sqlglot
from dpviz.private.load.dialects import table
from dpviz.private.load.tables.base import Column, Kind
from dpviz.progress import Progress

Rows = tuple[NDArray[np.int64], ...]
"""Cells, counts, and sums if values are added up: int64 of shape (n,) each."""

_ALMOST = 0.99
"""Largest progress that is reported before the rows have arrived."""

_POLL = 0.1
"""Seconds between two checks of a running query."""


class Engine(ABC):
    """A connection. Its methods raise DataError with one line that quotes no record and no URL."""

    dialect: str
    title: str

    def relation(self, name: str) -> Any:
        """A table or view as a sqlglot expression to select from."""
        return table(name)

    @abstractmethod
    def columns(self, relation: Any) -> Sequence[Column]:
        """The columns of a relation; geometry columns only if they may hold points."""

    @abstractmethod
    def rows(self, query: str) -> Rows:
        """Run a query that returns columns of whole numbers."""

    def fraction(self) -> float:
        """Progress of the running query, from 0 to 1, as far as the engine reports it."""
        return 0.0

    @abstractmethod
    def cancel(self) -> None:
        """Stop the running query; callable from another thread, also when no query runs."""

    @abstractmethod
    def close(self) -> None:
        """End the connection."""


def column_of(name: str, declared: str, dialect: str, crs: str | None = None) -> Column:
    """A column by its declared type, as the engine writes it."""
    try:
        sql_type = exp.DataType.build(declared, dialect=dialect).this.value
    except (sqlglot.errors.SqlglotError, RecursionError):
        sql_type = declared
    kind = next((each for each, types in _KINDS.items() if sql_type in types), "other")
    if dialect == "spark" and kind == "time":  # they have no zone: no cast
        kind = "other"
    return Column(name, cast(Kind, kind), crs, floating=sql_type in ("FLOAT", "DOUBLE"))


_SIZES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
_KINDS = {
    "number": {
        *_SIZES, *(f"U{each}" for each in _SIZES), "BIGNUM", "VARINT", "FLOAT", "DOUBLE", "DECIMAL",
        '"NULL"',  # DuckDB's type of a column without any value
    },
    "instant": {"TIMESTAMPTZ", "TIMESTAMPTZ_NS"},
    "time": {"DATE", *(f"TIMESTAMP{each}" for each in ("", "NTZ", "_S", "_MS", "_NS"))},
    "text": {"TEXT", "VARCHAR", "CHAR", "BPCHAR", "ENUM"},
    "nested": {"ARRAY", "LIST", "STRUCT", "MAP", "UNION", "VARIANT"},
    "geometry": {"GEOMETRY", "GEOGRAPHY"},
}  # fmt: skip
"""Kinds of columns, with sqlglot's names of their types."""


def rows_with_progress(engine: Engine, query: str, progress: Progress | None) -> Rows:
    """Run a query in a thread and report progress; cancel it if the report raises.

    Args:
        engine: the engine that runs the query.
        query: see :meth:`Engine.rows`.
        progress: called about ten times a second.
    """
    done = 0.0
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(engine.rows, query)
        try:
            while not wait([job], _POLL).done:
                if progress:
                    # The estimated total may grow; never report less than before.
                    done = max(done, engine.fraction())
                    progress(min(done, _ALMOST), f"counting in {engine.title}")
        except BaseException:
            while not wait([job], _POLL).done:  # the first cancel may come before the query starts
                engine.cancel()
            raise
        return job.result()


@contextmanager
def engine_errors(title: str, why: str) -> Iterator[None]:
    """Turn an engine's error into one line: its own text may quote records or the URL."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise DataError(f"{title} refused ({kind}): {_EXHAUSTED.get(kind, why)}") from None


NOT_NUMBERS = "check that the named columns hold numbers, or text in UTF-8, and may be read"
_NO_ROOM = "it ran out of memory, or of disk for temporary files: give fewer bits per axis"
_EXHAUSTED = dict.fromkeys(("OutOfMemoryException", "DiskFull", "OutOfMemory"), _NO_ROOM)
_EXHAUSTED["InterruptException"] = (
    f"it did not end within the time for data of this size: {limits.ENGINE_SECONDS.remedy}"
)
