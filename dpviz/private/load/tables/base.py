"""Interface of all table formats: columns, a CRS, and the records block by block.

A record is a line of text, a row or a feature, depending on the format. Each is parsed by itself
(stability 1); an unreadable one is dropped and counted as broken. Only the layout can be refused,
and it does not depend on any record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError, ShapesError
from dpviz.files import limits
from dpviz.files.foreign import parsing as parsing
from dpviz.lazy import pa, pc, shapely
from dpviz.private.load.columns import is_text, shown
from dpviz.releases.files import KEY

BLOCK_ROWS = 1 << 18
"""Records per block, for formats that count records."""

# fmt: off
Kind = Literal[
    "number", "text", "string", "binary", "time", "instant", "geometry", "list", "nested", "other"
]
# fmt: on
"""Declared types of columns. ``text`` is undeclared, as in CSV: each cell is parsed; ``string`` is
text by the schema, so that no number is expected in it. The geometry column that is read has kind
``geometry``, any further ones ``other``."""


TEXTS = ("text", "string", "binary")
"""Kinds of columns whose cells may be parsed, as WKT or as lists."""


@dataclass(frozen=True)
class Column:
    """A column's name and the kind of its declared type.

    Attributes:
        name: name of the column.
        kind: kind of the values. Only engines report ``instant``, a time with its zone.
        crs: CRS of a geometry, as the file states it.
        floating: True for floats; only engines report it.
    """

    name: str
    kind: Kind
    crs: str | None = None
    floating: bool = False


@dataclass(frozen=True, repr=False)
class Block:
    """Some records, in order: private.

    Attributes:
        rows: number of records.
        columns: by name: pyarrow arrays (rows,) or lists of Python values.
        places: coordinates (rows, 2) of the geometry, NaN if it is not a point, infinite if it is
            missing or empty.
        broken: number of records dropped because they could not be parsed.
        ragged: number of lines dropped because they have another number of fields than the header.
        quoted: number of lines dropped because their quotes do not enclose whole fields.
    """

    rows: int
    columns: dict[str, Any]
    places: NDArray[np.float64] | None = None
    broken: int = 0
    ragged: int = 0
    quoted: int = 0

    def __repr__(self) -> str:
        return "<private block>"


class Table(ABC):
    """An opened file; only its layout has been read.

    Attributes:
        name: the file's name, for messages.
        columns: in order; one is of kind geometry if the file has places.
        crs: CRS of the geometry, if the file states one.
        declares: True if the file declares its columns; if not, a record may lack any.
        holds_features: True if the format declares that every record is a feature.
        first_line: True if names come from the first line, a record if there is no header.
        lines: True if a record is a line, whose ends are the columns :data:`ENDS`, in ``crs``.
        semicolons: True if fields are separated by semicolons: decimals may have commas.
        numeric: columns that are expected to hold plain numbers.
    """

    name: str
    columns: Sequence[Column]
    crs: str | None = None
    declares = True
    holds_features = False
    first_line = False
    lines = False
    semicolons = False
    numeric: Sequence[str] = ()

    def crs_of(self, names: Sequence[str], stated: str | None) -> str | None:
        """CRS of coordinates: the file's own of a geometry and of ends of lines, else as stated.

        Args:
            names: names of the columns; empty for the geometry.
            stated: CRS that the owner states.
        """
        shapes = not names or (self.lines and {*names} <= {*ENDS})
        return self.crs or stated if shapes else stated

    def expect_numbers(self, names: Sequence[str]) -> None:
        """Hint that these columns hold plain numbers, which a reader may then parse faster."""
        self.numeric = names

    def blocks(self, names: Sequence[str], *, geometry: bool = False) -> Iterator[Block]:
        """Yield all records in order, block by block; none if the file has no columns.

        Args:
            names: columns to read.
            geometry: True to read the places.

        Raises:
            DataError: no such column, no places, a damaged file, or one that is too large.
        """
        plain = [column for column in self.columns if column.kind != "geometry"]
        if geometry and len(plain) == len(self.columns) and self.declares:
            raise DataError(f"{self.name} has no geometry: name the columns of the coordinates")
        if self.declares and not self.columns:
            return
        if self.declares:
            pick(plain, names, self.name, first_line=self.first_line)
        rows = 0
        for block in self._blocks(names, geometry):
            rows += block.rows
            limits.ROWS.check(rows, self.name)
            yield block

    @abstractmethod
    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Read the blocks; all requested columns exist."""


Opened = Callable[[], IO[bytes]]
"""Opens the content of a file from its beginning."""


class TextFile(Table):
    """A text file, parsed in this process.

    Args:
        path: path of the file.
        opened: opens its content, where the file is compressed.
    """

    def __init__(self, path: Path, opened: Opened | None = None) -> None:
        self.name = path.name
        self._open = opened or (lambda: path.open("rb"))


MAX_POINT_BYTES = 128
"""Most bytes, or hexadecimal digits, of a WKB point or a multipoint of one: with an SRID, a height
and a measure in each it has 54 bytes."""


def point_coordinates(wkb: Any, srid: int | None = None) -> NDArray[np.float64]:
    """Coordinates (n, 2) of WKB geometries, each parsed alone; NaN if no point, infinite if empty.

    A multipoint of one point is that point. Longer bytes are not parsed: an endlessly nested shape
    would crash the process that reads it.

    Args:
        wkb: a pyarrow array of bytes or of text (n,), or a NumPy array of objects.
        srid: SRID of the column's CRS, if it has one; a geometry with another SRID gives NaN.
    """
    column = pa.array(wkb, pa.binary()) if isinstance(wkb, np.ndarray) else wkb
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return np.full((len(column), 2), np.inf)
    if is_text(column.type):  # a cell may be invalid UTF-8
        column = pc.cast(column, pa.large_binary())
    short = pc.if_else(pc.less_equal(pc.binary_length(column), MAX_POINT_BYTES), column, None)
    geometry = _shapes(short.to_numpy(zero_copy_only=False))
    kinds = shapely.get_type_id(geometry)
    single = (kinds == 4) & (shapely.get_num_geometries(geometry) == 1)
    if single.any():
        geometry = np.where(single, shapely.get_geometry(geometry, 0), geometry)
        kinds = shapely.get_type_id(geometry)
    points = (kinds == 0) & ~shapely.is_empty(geometry)
    points &= np.isin(shapely.get_srid(geometry), (0, srid or 0))
    xy = np.full((len(geometry), 2), np.nan)
    xy[np.asarray(column.is_null()) | shapely.is_empty(geometry)] = np.inf
    xy[points] = shapely.get_coordinates(geometry[points])
    return xy


ENDS = ("start_x", "start_y", "end_x", "end_y")
"""Columns of lines: their first and last point."""

LINES = frozenset(("LineString", "MultiLineString"))
"""Types of shapes that have ends."""


def line_ends(wkb: Any) -> NDArray[np.float64]:
    """First and last coordinates (n, 4) of lines in WKB, parsed one by one; NaN if not a line.

    A line of several parts begins in the first and ends in the last.
    """
    geometry = _shapes(wkb.to_numpy(zero_copy_only=False))
    xy = np.full((len(geometry), 4), np.nan)
    lines = np.isin(shapely.get_type_id(geometry), (1, 5)) & ~shapely.is_empty(geometry)
    corners, row = shapely.get_coordinates(geometry[lines], return_index=True)
    first = np.searchsorted(row, np.arange(lines.sum()))
    last = np.searchsorted(row, np.arange(lines.sum()), side="right") - 1
    xy[lines] = np.column_stack([corners[first], corners[last]])
    return xy


def _shapes(wkb: NDArray[Any]) -> NDArray[Any]:
    """Parsed geometries; None if invalid, or a curve, which the library cannot read.

    The library refuses a whole array because of one curve, so the array is halved until the curve
    is alone.
    """
    try:
        return np.asarray(shapely.from_wkb(wkb, on_invalid="ignore"), dtype=object)
    except NotImplementedError:
        if len(wkb) == 1:
            return np.full(1, None, dtype=object)
        half = len(wkb) // 2
        return np.concatenate([_shapes(wkb[:half]), _shapes(wkb[half:])])


def refuse_other_types(name: str, types: set[str]) -> None:
    """Raise if the schema declares shapes, all of them other than points."""
    if types:
        raise ShapesError(
            f"{name} holds {', '.join(sorted(types))}: only points can be read; polygons are areas "
            "to count by: areas=… (--areas; in the app the method “Hexagons or districts”)"
        )


def refuse_release(stated: Container[Any], name: str) -> None:
    """Raise if a file has the header of a release: its rows are answers, not records.

    Args:
        stated: keys of the file's metadata, which do not depend on any record.
        name: name of the file.

    Raises:
        DataError: the file is a release.
    """
    if KEY in stated or KEY.decode() in stated:
        raise DataError(
            f"{name} is a release, which holds no records: give the file of the records"
        )


def column_list(columns: Sequence[Column]) -> str:
    """Column names for a message."""
    names = [shown(column.name) for column in columns[:20]]
    return ", ".join(names + ["…"] * (len(columns) > 20)) or "none"


def pick(
    columns: Sequence[Column], wanted: Sequence[str], name: str, *, first_line: bool = False
) -> None:
    """Raise unless every wanted column exists.

    Raises:
        DataError: naming the first missing column and the existing ones; these are not quoted if
            the first line has no wanted column, since it may be a record.
    """
    existing = [column.name for column in columns]
    for column in wanted:
        if column not in existing and first_line and {*wanted}.isdisjoint(existing):
            raise DataError(
                f"no column {shown(column)} in the first line of {name}: check the name, or add a "
                "header line"
            )
        if column not in existing:
            raise DataError(f"no column {shown(column)} in {name}: it has {column_list(columns)}")
        if existing.count(column) > 1:
            raise DataError(f"{name} has several columns {shown(column)}: give them distinct names")


def kind_of(arrow_type: Any) -> Kind:
    """Kind of the values of a pyarrow type."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_decimal(arrow_type)
    ):
        return "number"
    if types.is_null(arrow_type):
        return "text"  # only missing cells: any type is right
    if types.is_temporal(arrow_type):
        return "time"
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        return "list"
    if not is_text(arrow_type):
        return "other"
    return "binary" if "binary" in str(arrow_type) else "string"
