"""Columns that a schema declares as geometry.

A declaration is GeoParquet metadata, the Parquet logical type GEOMETRY, or the GeoArrow extension
type, which DuckDB uses for its GEOMETRY.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import pa
from dpviz.private.load.projection import srid_of
from dpviz.private.load.tables.base import (
    ENDS,
    LINES,
    Block,
    Column,
    Kind,
    Table,
    kind_of,
    line_ends,
    parsing,
    point_coordinates,
    refuse_other_types,
    refuse_release,
)
from dpviz.private.load.values import numbers

LON_LAT = "OGC:CRS84"
"""Default CRS of geometry in Parquet and of features in GeoJSON."""


@dataclass(frozen=True)
class Geometry:
    """A declared column of geometry.

    Attributes:
        name: name of the column.
        crs: the CRS as text that pyproj reads; None if unknown.
        encoding: name of the encoding in GeoParquet.
        types: declared shape types; empty if any may occur.
    """

    name: str
    crs: str | None
    encoding: str = "WKB"
    types: frozenset[str] = frozenset()

    @property
    def others(self) -> frozenset[str]:
        """Declared encoding or shape types if they exclude points; empty if points may occur."""
        if self.encoding not in ("WKB", "point"):
            return frozenset([self.encoding])
        return self.types if self.types.isdisjoint(("Point", "MultiPoint")) else frozenset()

    def points(self, column: Any) -> NDArray[np.float64]:
        """Coordinates (n, 2) of cells of this column, as in :attr:`Block.places`."""
        if not pa.types.is_struct(column.type):
            return point_coordinates(column, srid_of(self.crs))
        xy = np.column_stack([numbers(column.field(axis), axis) for axis in ("x", "y")])
        xy[np.asarray(column.is_null())] = np.inf
        return xy


def declared_geometries(schema: Any, metadata: Any, leaves: Any = ()) -> list[Geometry]:
    """Columns that a schema declares as geometry; the first is the one to read.

    Args:
        schema: a pyarrow schema.
        metadata: metadata of the file or table, possibly GeoParquet metadata.
        leaves: columns of the Parquet file, with their logical types.
    """
    geo = json.loads((metadata or {}).get(b"geo", "{}"))
    stated = geo.get("columns", {})
    columns = [
        Geometry(
            name,
            _text(stated[name].get("crs", LON_LAT)),  # null: unknown CRS
            stated[name].get("encoding", "WKB"),
            frozenset(each.split()[0] for each in stated[name].get("geometry_types", ())),
        )
        for name in sorted(stated, key=lambda name: bool(name != geo["primary_column"]))
    ]
    for leaf in leaves:
        if leaf.logical_type.type in ("GEOMETRY", "GEOGRAPHY"):
            crs = json.loads(leaf.logical_type.to_json()).get("crs")
            columns.append(Geometry(leaf.path, crs or LON_LAT))
    for field in schema:
        extension = field.metadata or {}
        if extension.get(b"ARROW:extension:name") in (b"geoarrow.wkb", b"ogc.wkb"):
            facts = json.loads(extension.get(b"ARROW:extension:metadata") or b"{}")
            columns.append(Geometry(field.name, _text(facts.get("crs"))))
    first = {each.name: each for each in reversed(columns)}
    return [first[name] for name in dict.fromkeys(each.name for each in columns)]


def typed_columns(schema: Any, declared: list[Geometry]) -> list[Column]:
    """Columns with their kinds; of several geometry columns, only the first is readable."""
    kinds: dict[str, Kind] = {each.name: "other" for each in declared}
    kinds.update({each.name: "geometry" for each in declared[:1]})
    return [Column(field.name, kinds.get(field.name) or kind_of(field.type)) for field in schema]


class DeclaredTable(Table):
    """File of columns whose schema may declare geometry; of several such columns the first is read.

    Lines have their ends as columns. ``title`` is the format's name in messages.
    """

    title: str

    def _declare(self, schema: Any, declared: list[Geometry]) -> None:
        """Set the columns and the CRS; refuse a release."""
        self.metadata: dict[bytes, bytes] = schema.metadata or {}
        refuse_release(self.metadata, self.name)
        self._geometry = declared[0] if declared else None
        self.crs = self._geometry.crs if self._geometry else None
        others = self._geometry.others if self._geometry else frozenset()
        self.lines = bool(others) and others <= LINES
        self.columns = typed_columns(schema, declared)
        if self.lines:
            plain = [each for each in self.columns if each.kind != "geometry"]
            self.columns = [*plain, *(Column(end, "number") for end in ENDS)]

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the batches of the file."""
        place = self._geometry if geometry else None
        shape = self._geometry.name if self._geometry else ""
        ends = shape if self.lines and not {*names}.isdisjoint(ENDS) else None
        plain = [name for name in names if not (ends and name in ENDS)]
        wanted = [*dict.fromkeys([*plain, *([shape] if place or ends else [])])]
        if place is not None:
            refuse_other_types(self.name, {*place.others})
        with parsing(self.name, self.title):
            schema, batches = self._batches(wanted)
            yield from typed_blocks(schema, batches, names, place, ends)

    @abstractmethod
    def _batches(self, names: list[str]) -> tuple[Any, Iterable[Any]]:
        """Schema and record batches of these columns."""


def typed_blocks(
    schema: Any,
    batches: Iterable[Any],
    names: Sequence[str],
    place: Geometry | None,
    ends: str | None = None,
) -> Iterator[Block]:
    """Blocks of Arrow batches; an empty one first, to refuse a type even without rows.

    Args:
        schema: schema of the batches.
        batches: record batches with the columns to read.
        names: names of the columns.
        place: the geometry column, if places are requested.
        ends: name of the column of lines, if their ends are requested.
    """
    for batch in chain([pa.RecordBatch.from_pylist([], schema)], batches):
        columns: dict[str, Any] = {name: batch[name] for name in names if name in schema.names}
        places = None if place is None else place.points(batch[place.name])
        if ends is not None:
            columns |= dict(zip(ENDS, line_ends(batch[ends]).T, strict=True))
        yield Block(batch.num_rows, columns, places)


def _text(crs: Any) -> str | None:
    """A stated CRS, which may be PROJJSON, as text."""
    return json.dumps(crs) if isinstance(crs, dict) else crs
