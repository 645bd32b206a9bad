"""PostgreSQL, and PostGIS for columns of points (extra ``dpviz[postgres]``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.private.load.engines.base import NOT_NUMBERS, Engine, Rows, column_of, engine_errors
from dpviz.private.load.tables.base import Column

_POINTS = ("geometry", "geography")
_UNREACHABLE = (
    "no connection: check the server's address, user and database; "
    "the password may come from PGPASSWORD or ~/.pgpass"
)

_IN_BLOCKS = """
SELECT string_agg({row}, ''::bytea) FROM (
  SELECT {names}, (row_number() OVER () - 1) / 65536 AS block FROM ({query}) AS counted ({names})
) AS numbered GROUP BY block
"""
"""Rows as blocks of big-endian numbers: the driver would fetch rows one by one."""


class Postgres(Engine):
    """A read-only connection that sees one snapshot, taken when the first query begins."""

    dialect = "postgres"
    title = "PostgreSQL"

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise DataError("PostgreSQL needs an extra: pip install 'dpviz[postgres]'") from None
        with engine_errors(self.title, _UNREACHABLE):
            self._engine = psycopg.connect(url, connect_timeout=10, application_name="dpviz")
            self._engine.read_only = True
            self._engine.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def columns(self, relation: Any) -> Sequence[Column]:
        """The columns of a table, a view or a foreign table."""
        return [self._column(*described) for described in self._described(relation)]

    def _column(self, name: str, kind: str, modifier: int) -> Column:
        if kind not in _POINTS:
            return column_of(name, kind, self.dialect)
        with (
            engine_errors("PostGIS", "its functions may not be called"),
            self._engine.cursor() as cursor,
        ):
            cursor.execute(
                "SELECT postgis_typmod_srid(%s), postgis_typmod_type(%s)", [modifier, modifier]
            )
            srid, shape = cursor.fetchone() or (0, "")
        if not str(shape).upper().startswith(("POINT", "MULTIPOINT", "GEOMETRY")):
            return Column(name, "other")
        srid = int(srid) or (4326 if kind == "geography" else 0)
        return column_of(name, kind, self.dialect, f"EPSG:{srid}" if srid else None)

    def rows(self, query: str) -> Rows:
        """Run a query that returns columns of whole numbers."""
        with (
            engine_errors(self.title, f"{NOT_NUMBERS}, or are points"),
            self._engine.cursor("dpviz", binary=True) as cursor,
        ):
            first = self._engine.execute(f"SELECT * FROM ({query}) AS counted LIMIT 0".encode())
            names = [f"c{at}" for at in range(len(first.description or ()))]
            row = " || ".join(f"int8send({name})" for name in names)
            cursor.itersize = 16
            text = _IN_BLOCKS.format(query=query, row=row, names=", ".join(names))
            cursor.execute(text.encode())
            blocks = [np.empty(0, ">i8"), *(np.frombuffer(each, ">i8") for (each,) in cursor)]
        return tuple(np.concatenate(blocks).reshape(-1, len(names)).T.astype(np.int64))

    def cancel(self) -> None:
        """Ask the server to cancel."""
        self._engine.cancel_safe(timeout=5)

    def close(self) -> None:
        """End the connection."""
        self._engine.close()

    def _described(self, relation: Any) -> list[tuple[str, str, int]]:
        """Name, type and type modifier of each column; the table name is a query parameter."""
        name = relation.sql(dialect=self.dialect)
        with (
            engine_errors(self.title, "the catalogue cannot be read"),
            self._engine.cursor() as cursor,
        ):
            cursor.execute("SELECT to_regclass(%s)::oid", [name])
            description = (cursor.fetchone() or (None,))[0]
            if description is None:
                raise DataError(f"no table {name[:80]} in the database: check its name and schema")
            cursor.execute(
                "SELECT a.attname, t.typname, a.atttypmod FROM pg_attribute a "
                "JOIN pg_type t ON t.oid = a.atttypid "
                "WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
                [description],
            )
            return [(str(a), str(b), int(c)) for a, b, c in cursor.fetchall()]
