"""Records: read from a file, put into the domain's CRS, cut to the domain, bounded per unit.

What leaves this room is `Records`, whose printed form says nothing. Records outside the domain or
without a finite position are dropped; how many were is known only to who holds the records, and may
be shown for public data only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.load.tables import Column, Table, open_table
from dpviz.private.load.tables.base import listed, shown

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("lon", "lat"),
    ("lng", "lat"),
    ("long", "lat"),
    ("longitude", "latitude"),
    ("x", "y"),
    ("easting", "northing"),
    ("point_x", "point_y"),
    ("plon", "plat", "dlon", "dlat"),
    ("pickup_lon", "pickup_lat", "dropoff_lon", "dropoff_lat"),
    ("pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude"),
    ("start_lon", "start_lat", "end_lon", "end_lat"),
    ("start_lng", "start_lat", "end_lng", "end_lat"),
    ("origin_lon", "origin_lat", "destination_lon", "destination_lat"),
)
"""Names of coordinates that are recognised, in order of preference, whatever their case."""


@dataclass(frozen=True, repr=False)
class Records:
    """Records inside the domain: private.

    Attributes:
        points: coordinates (n, dims), float64, in the domain's CRS.
        unit: number of each record's privacy unit (n,), int64, if a unit column was named.
        time: time of each record (n,), datetime64 or float64, if a time column was named.
        dropped: how many records were left out; never to be shown for sensitive data.
    """

    points: NDArray[np.float64]
    unit: NDArray[np.int64] | None = None
    time: NDArray[Any] | None = None
    dropped: int = 0

    def __repr__(self) -> str:
        return "<private records>"

    def keep(self, chosen: NDArray[Any]) -> Records:
        """The chosen records (a mask or row numbers)."""
        return Records(
            self.points[chosen],
            None if self.unit is None else self.unit[chosen],
            None if self.time is None else self.time[chosen],
            self.dropped,
        )

    def inside(self, domain: Domain) -> Records:
        """The records with a finite position in the domain's closed box."""
        inside = _inside(self.points, domain)
        if inside.all():
            return self
        dropped = self.dropped + int(len(inside) - inside.sum())
        return replace(self.keep(inside), dropped=dropped)


def columns(path: str | Path) -> Sequence[Column]:
    """Names and kinds of a file's columns, for a form that maps them to coordinates.

    Raises:
        DataError: the file cannot be read.
    """
    return open_table(path).columns


def recognised_columns(existing: Sequence[Column], domain: Domain) -> tuple[str, ...] | None:
    """The columns that hold the coordinates, by their names: the domain's own, or usual ones."""
    by_name = {column.name.strip().lower(): column.name for column in existing}
    own = tuple(name.lower() for name in domain.columns)
    for family in (own, *_FAMILIES):
        if len(family) == domain.dims and all(name in by_name for name in family):
            return tuple(by_name[name] for name in family)
    return None


def read_records(
    path: str | Path,
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    time: str | None = None,
    public: bool = False,
) -> Records:
    """Read a file of records and keep those inside the domain.

    Args:
        path: CSV, Parquet, GeoParquet, GeoJSON, GeoPackage, Shapefile (.shp, or zipped).
        domain: the public box; a file without any record inside gives empty records.
        columns: names of the coordinates in the domain's order; None takes the geometry, if the
            file has one, or recognises usual names.
        crs: the CRS of plain columns (None: the domain's), and of geometry whose file states none.
        unit: name of the column of the privacy unit.
        time: name of the column of the time.
        public: the data are public, so a suspected swap of the axes may be reported.

    Raises:
        DataError: one line that names the thing and the remedy, and quotes no record.
    """
    table = open_table(path)
    names = tuple(columns) if columns is not None else _found(table, domain)
    if names is not None and len(names) != domain.dims:
        raise DataError(f"{len(names)} columns for {domain.dims} dimensions: name one for each")
    extra = [name for name in (unit, time) if name is not None]
    if names is None:
        points = table.places()
        source_crs = table.crs or crs
        if source_crs is None:
            raise DataError(f"{table.name} does not state its CRS: name it, for example EPSG:4326")
        read = table.read(extra, [])
    else:
        read = table.read([*dict.fromkeys([*names, *extra])], names)
        points = np.column_stack([read[name] for name in names])
        source_crs = crs or domain.crs
    points = _in_crs(points, source_crs, domain.crs)
    if public:
        _suspect_swap(points, domain, table.name)
    return Records(
        points,
        None if unit is None else unit_numbers(read[unit], unit),
        None if time is None else _times(read[time], time),
    ).inside(domain)


def bound_contributions(
    unit: NDArray[np.int64], k: int, random: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """Row numbers (m,) of at most `k` records of each unit, chosen uniformly at random.

    Args:
        unit: number of each record's privacy unit (n,).
        k: the bound, at least 1.
        random: None draws from the operating system's entropy, as sensitive data require; a seeded
            generator is for public data only.

    Raises:
        DataError: a bound below 1.
    """
    if k < 1:
        raise DataError(f"at most {k} records per unit: give 1 or more")
    n = len(unit)
    if random is None:
        key = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
    else:
        key = random.integers(0, 2**64, n, dtype=np.uint64)
    order = np.lexsort([key, unit])
    ordered = unit[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[:n])
    sizes = np.diff(np.append(starts, n))
    rank = np.arange(n) - np.repeat(starts, sizes)
    return np.sort(order[rank < k])


def _found(table: Table, domain: Domain) -> tuple[str, ...] | None:
    """Columns of the coordinates, or None for the geometry."""
    existing = table.columns
    has_geometry = any(column.kind == "geometry" for column in existing)
    if domain.dims == 2 and has_geometry:
        return None
    names = recognised_columns(existing, domain)
    if names is None and not existing:  # an empty file is an empty data set
        return domain.columns
    if names is None:
        raise DataError(
            f"{table.name} has no columns called {', '.join(domain.columns)} or the like: "
            f"name {domain.dims} of {listed(existing)}"
        )
    return names


def _in_crs(points: NDArray[np.float64], source: str, target: str) -> NDArray[np.float64]:
    """Points (n, d) from one CRS to another, each pair of columns as (x, y)."""
    if source == target or len(points) == 0:
        return points
    import pyproj

    try:
        transformer = pyproj.Transformer.from_crs(source, target, always_xy=True)
    except pyproj.exceptions.ProjError:
        raise DataError(f"unknown CRS {shown(source)}: use a code such as EPSG:4326") from None
    if transformer.source_crs == transformer.target_crs:
        return points
    pairs = [
        transformer.transform(points[:, k], points[:, k + 1])
        for k in range(0, points.shape[1] - 1, 2)
    ]
    if points.shape[1] != 2 * len(pairs):
        raise DataError(f"{points.shape[1]} dimensions cannot change their CRS: project them first")
    return np.column_stack([axis for pair in pairs for axis in pair])


def _inside(points: NDArray[np.float64], domain: Domain) -> NDArray[np.bool_]:
    """Which points are finite and in the closed box."""
    inside = np.ones(len(points), dtype=np.bool_)
    for axis in range(domain.dims):
        column = points[:, axis]
        inside &= (column >= domain.lower[axis]) & (column <= domain.upper[axis])
    return inside


def _suspect_swap(points: NDArray[np.float64], domain: Domain, name: str) -> None:
    """On public data only: say so when hardly any point fits, but most would with axes swapped."""
    if domain.dims != 2 or len(points) == 0 or _inside(points, domain).mean() > 0.01:
        return
    if _inside(points[:, ::-1], domain).mean() > 0.5:
        first, second = domain.columns
        raise DataError(
            f"{name}: {first} and {second} look swapped; name the columns the other way round"
        )


def unit_numbers(column: Any, name: str) -> NDArray[np.int64]:
    """A number for each distinct value (n,), int64; all missing values count as one unit.

    Raises:
        DataError: values that have no equality, such as lists.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, np.ndarray):
        column = pa.array(column, from_pandas=True)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_dictionary(column.type):  # its dictionary may repeat values
        column = column.cast(column.type.value_type)
    try:
        encoded = pc.dictionary_encode(column, null_encoding="encode")
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"column {shown(name)} holds {column.type}: a privacy unit is a number or a text"
        ) from None
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _times(column: Any, name: str) -> NDArray[Any]:
    """Times as datetime64[us], or numbers as float64."""
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return column
    types = pa.types
    if types.is_integer(column.type) or types.is_floating(column.type):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    try:
        return np.asarray(column.cast(pa.timestamp("us")).to_numpy())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"column {shown(name)} holds no times: use ISO 8601, for example 2030-01-31T08:30:00"
        ) from None
