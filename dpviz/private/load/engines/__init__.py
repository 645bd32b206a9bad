"""Engines that count records by cell where the records are: DuckDB, PostgreSQL, Spark.

An engine is opened by a URL, which may hold a password: no message, name or header quotes any part
of it but its scheme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

from dpviz.errors import DataError
from dpviz.private.load.engines.base import Engine

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # two letters at least: C:/ is a path


def scheme_of(source: str) -> str | None:
    """The scheme of a URL in lower case; None for a path or a name.

    >>> scheme_of("postgresql://host/db"), scheme_of("C:/data.csv"), scheme_of("city-50k")
    ('postgresql', None, None)
    """
    match = _SCHEME.match(source)
    return match[1].lower() if match else None


SCHEMES = ("postgresql", "postgres", "duckdb", "spark")
"""Of the URLs that open an engine."""


def table_of(url: str, table: str | None) -> str:
    """The table of a database that is read, which has to be named.

    Raises:
        DataError: it is not, or the URL is of something else.
    """
    if scheme_of(url) not in SCHEMES:
        raise _unknown(url)
    if table is None:
        raise DataError("a database holds many tables: name one with table=… (--table)")
    return table


def _unknown(url: str) -> DataError:
    """The error of any other URL."""
    return DataError(
        f"{scheme_of(url)}: is not among the sources: give a file that you have downloaded, "
        "postgresql://…, duckdb:///FILE, spark://…, or run the query of 'dpviz sql' there and give "
        "its result"
    )


@contextmanager
def connected(url: str) -> Iterator[Engine]:
    """An engine by its URL, closed at the end.

    Raises:
        DataError: an unknown scheme, a missing extra, or no connection.
    """
    scheme = scheme_of(url)
    engine: Engine
    if scheme in ("postgresql", "postgres"):
        from dpviz.private.load.engines.postgres import Postgres

        engine = Postgres(url)
    elif scheme == "duckdb":
        from dpviz.private.load.engines.duck import Duck

        engine = Duck.of_url(url)
    elif scheme == "spark":
        from dpviz.private.load.engines.spark import Spark

        engine = Spark(url)
    else:
        raise _unknown(url)
    with closing(engine):
        yield engine
