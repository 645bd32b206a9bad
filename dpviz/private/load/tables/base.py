"""What every format offers: columns, a CRS, numbers, labels and geometry."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError

MAX_BYTES = 4 * 2**30
"""The largest file that is read into memory, also after unpacking."""

MAX_RECORDS = 200_000_000
"""The largest number of records that is read into memory."""

Kind = Literal["number", "text", "time", "geometry", "other"]


@dataclass(frozen=True)
class Column:
    """A column's name and what it holds, for a form that maps columns to coordinates."""

    name: str
    kind: Kind


class Table(Protocol):
    """An opened file. Nothing but its layout has been read yet."""

    @property
    def name(self) -> str:
        """The file's name, for messages."""

    @property
    def columns(self) -> Sequence[Column]:
        """The columns in order; one of kind geometry where the file has places."""

    @property
    def crs(self) -> str | None:
        """The CRS of the geometry, if the file states one."""

    def read(self, names: Sequence[str], numeric: Sequence[str]) -> dict[str, Any]:
        """The named columns as pyarrow arrays; those in `numeric` as float64, missing as NaN."""

    def places(self) -> NDArray[np.float64]:
        """Coordinates (n, 2) of the geometry, missing ones as NaN.

        Raises:
            DataError: geometries other than points.
        """


@contextmanager
def parsing(name: str, what: str) -> Iterator[None]:
    """Turn whatever a parser raises into one line that quotes no record; drop its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DataError:
        raise
    except Exception:
        raise DataError(
            f"{name} cannot be read as {what}: it is damaged or cut short; write it again"
        ) from None


def as_numbers(column: Any, name: str) -> NDArray[np.float64]:
    """A pyarrow column as float64 (n,), missing values as NaN.

    Raises:
        DataError: the column does not hold numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_string(kind) or types.is_large_string(kind):
        column = pc.utf8_trim_whitespace(column)
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise DataError(f"column {shown(name)} holds {kind}, not numbers: choose another")
    try:
        numbers = column.cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"column {shown(name)} holds text that is no number: choose another, or clean it"
        ) from None
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def point_coordinates(geometry: Any, name: str) -> NDArray[np.float64]:
    """Coordinates (n, 2) of an array of shapely geometries, empty and missing ones as NaN.

    Raises:
        DataError: geometries other than points.
    """
    import shapely

    kinds = shapely.get_type_id(geometry)
    refuse_other_types(
        name, {shapely.GeometryType(kind).name.title() for kind in np.unique(kinds) if kind > 0}
    )
    return np.column_stack([shapely.get_x(geometry), shapely.get_y(geometry)])


def refuse_other_types(name: str, types: set[str]) -> None:
    """Raise unless there are only points (`types` are the others)."""
    if types:
        raise DataError(
            f"{name} holds {', '.join(sorted(types))}: only points can be read; "
            "take centroids, or split multipoints, first"
        )


def shown(name: object) -> str:
    """A column name for a message: quoted, on one line, at most 40 characters."""
    text = repr(str(name))
    return text if len(text) <= 42 else f"{text[:40]}…'"


def listed(columns: Sequence[Column]) -> str:
    """Column names for a message."""
    names = [shown(column.name) for column in columns[:20]]
    return ", ".join(names + ["…"] * (len(columns) > 20)) or "none"


def pick(columns: Sequence[Column], wanted: Sequence[str], name: str) -> None:
    """Raise unless every wanted column exists.

    Raises:
        DataError: naming the first that is missing, and those that exist.
    """
    existing = [column.name for column in columns]
    for column in wanted:
        if column not in existing:
            raise DataError(f"no column {shown(column)} in {name}: it has {listed(columns)}")
        if existing.count(column) > 1:
            raise DataError(f"{name} has several columns {shown(column)}: give them distinct names")


def kind_of(arrow_type: Any) -> Kind:
    """What a pyarrow type holds."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_decimal(arrow_type)
    ):
        return "number"
    if types.is_temporal(arrow_type):
        return "time"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    return "other"
