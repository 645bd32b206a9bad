"""From a source (a file or a built-in name) to a handle; only the handle leaves the vault."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.points import bound_contributions, read_records


def load(
    source: str | os.PathLike[str],
    domain: Domain | None = None,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    public: bool | None = None,
    name: str | None = None,
) -> DataHandle:
    """Read a data set into a handle.

    Args:
        source: a path (CSV, Parquet, GeoParquet, GeoJSON, GeoPackage, Shapefile, zipped Shapefile),
            or the name of a built-in data set.
        domain: the public box; a built-in data set has its own. Records outside are dropped.
        columns: coordinate columns in the domain's order; recognised by their names otherwise.
        crs: CRS of plain coordinate columns; the domain's by default.
        unit: column that names the privacy unit (a person); by default a record is the unit.
        max_per_unit: with ``unit``, at most this many records of each are kept, chosen at random.
        public: whether the owner declares every record public; false for files by default.
        name: public name of the data set; the file's name without its ending by default.

    Raises:
        DataError: the source cannot be read as points.
    """
    path = Path(source)
    if str(source) in DATASETS:
        built_in = DATASETS[str(source)]
        domain = domain or built_in.domain
        public = built_in.public if public is None else public
        points = built_in.points()
        keys = None
        if unit is not None:
            table = built_in.table()
            if unit not in table:
                raise DataError(f"no column {unit!r}: the columns are {', '.join(table)}")
            keys = np.unique(table[unit], return_inverse=True)[1].astype(np.int64)
    else:
        if domain is None:
            raise DataError(
                f"{path.name}: give a domain, the public box, chosen without looking at the records"
            )
        records = read_records(
            path, domain, columns=columns, crs=crs, unit=unit, public=bool(public)
        )
        points, keys = records.points, records.unit
    if unit is not None and keys is not None:
        points = points[bound_contributions(keys, max_per_unit)]
    return DataHandle(
        name or path.stem,
        domain,
        PointIndex.from_points(domain, points),
        public=bool(public),
        unit="one record" if unit is None else f"one {unit} with at most {max_per_unit} records",
        max_per_unit=1 if unit is None else max_per_unit,
    )


def public_extent(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    crs: str = "EPSG:4326",
) -> tuple[float, float, float, float]:
    """West, south, east, north of all records, widened by 1 %: right for PUBLIC data only.

    The bounds of sensitive data are private: never call this for them.
    """
    everywhere = Domain((-1e9, -1e9), (1e9, 1e9), crs=crs)
    points = read_records(Path(path), everywhere, columns=columns, crs=crs, public=True).points
    if not len(points):
        raise DataError("no records with coordinates: type the rectangle instead")
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.maximum(0.01 * (high - low), 1e-4)
    west, south = (low - margin).tolist()
    east, north = (high + margin).tolist()
    return west, south, east, north
