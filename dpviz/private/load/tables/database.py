"""Tables of a DuckDB database file, record by record, for trips and sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from dpviz.lazy import exp
from dpviz.private.load.source import Database
from dpviz.private.load.tables.base import BLOCK_ROWS, Block, Table
from dpviz.private.load.tables.geometry import declared_geometries, typed_blocks, typed_columns


class DatabaseTable(Table):
    """A table of a DuckDB file, opened for reading only."""

    def __init__(self, source: Database) -> None:
        self.name = source.name
        self._url, self._table = source.url, source.table
        schema = self._schema()
        declared = declared_geometries(schema, None)
        self._geometry = declared[0] if declared else None
        self.crs = self._geometry.crs if self._geometry else None
        self.columns = typed_columns(schema, declared)

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """Yield the rows in the order of the file."""
        from dpviz.private.load.engines.base import refused
        from dpviz.private.load.engines.duck import Duck

        with closing(Duck.of_url(self._url)) as engine:
            place = self._geometry if geometry else None
            read = dict.fromkeys([*names, *([place.name] if place else [])])
            wanted = [exp.column(exp.to_identifier(name, quoted=True)) for name in read]
            query = exp.select(*(wanted or [exp.Literal.number(1)]))
            text = query.from_(engine.relation(self._table)).sql(dialect="duckdb")
            with refused(engine.title, "the table cannot be read"):
                reader = engine.batches(text, BLOCK_ROWS)
                yield from typed_blocks(reader.schema, reader, names, numeric, place)

    def _schema(self) -> Sequence[Any]:
        from dpviz.private.load.engines.base import refused
        from dpviz.private.load.engines.duck import Duck

        with closing(Duck.of_url(self._url)) as engine:
            text = exp.select("*").from_(engine.relation(self._table)).limit(0).sql("duckdb")
            with refused(engine.title, "check the name of the table"):
                return list(engine.batches(text, 1).schema)
