"""Engines that count records by cell where the records are: DuckDB, PostgreSQL, Spark.

An engine is opened by a URL, which may hold a password: no message, name or header quotes any part
of it but its scheme.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from dpviz.private.load.engines.base import Engine
from dpviz.private.load.source import Database


@contextmanager
def connected(source: Database) -> Iterator[Engine]:
    """Connect to the engine of a database, and close the connection at the end.

    Raises:
        DataError: a missing extra, or no connection.
    """
    engine: Engine
    if source.scheme == "duckdb":
        from dpviz.private.load.engines.duck import Duck

        engine = Duck.of_url(source.url)
    elif source.scheme == "spark":
        from dpviz.private.load.engines.spark import Spark

        engine = Spark(source.url)
    else:
        from dpviz.private.load.engines.postgres import Postgres

        engine = Postgres(source.url)
    with closing(engine):
        yield engine
