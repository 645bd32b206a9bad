"""From a source (file, folder, table or built-in name) to a handle; only it leaves the vault."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.cellquery import checked_bits
from dpviz.datasets import DATASETS, Dataset
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.engines import scheme_of
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.points import Records, bound_contributions, read_records, unit_numbers
from dpviz.progress import Progress


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
    table: str | None = None,
    bits: int | None = None,
    progress: Progress | None = None,
) -> DataHandle:
    """Read a data set into a handle.

    Args:
        source: a path (CSV, Parquet, GeoParquet, GeoJSON, GeoPackage, Shapefile, zipped Shapefile),
            a folder of Parquet, the URL of a database (with ``table``), or the name of a built-in
            data set. Folders and tables are counted by cell inside an engine.
        domain: the public box; a built-in data set has its own. Records outside are dropped.
        columns: coordinate columns in the domain's order; recognised by their names otherwise.
        crs: CRS of plain coordinate columns, and of geometry whose file does not state one; the
            domain's by default for columns.
        unit: column that names the privacy unit (a person); by default a record is the unit.
        max_per_unit: with ``unit``, at most this many records of each are kept, chosen at random.
        public: whether the owner declares every record public; false for files by default.
        name: public name of the data set; the file's name without its ending, or the table's, by
            default.
        table: with a URL (``postgresql://…``, ``duckdb:///FILE``, ``spark://…``), the table.
        bits: records are moved to a public grid of 2^bits steps per axis. Folders and tables always
            are: 16 in 2-D, 10 in 4-D by default. Other sources keep the domain's own lattice.
        progress: called while an engine counts; raising an exception cancels.

    Raises:
        DataError: the source cannot be read as points.
    """
    path = Path(source)
    scheme = scheme_of(str(source))
    if scheme is None and table is not None:
        raise DataError(f"table {table!r}: a table needs the URL of its database as the source")
    if bits is not None and domain is not None:
        checked_bits(bits, domain)
    if str(source) in DATASETS:
        built_in = DATASETS[str(source)]
        domain = domain or built_in.domain
        public = built_in.public if public is None else public
        records = _built_in(built_in, domain, columns, unit)
    else:
        if scheme is None and not path.suffix and not path.exists():
            raise DataError(
                f"no file and no built-in data set {str(source)!r}: "
                f"give a path, or one of {', '.join(DATASETS)}"
            )
        if domain is None:
            raise DataError(
                f"{table if scheme else path.name}: give a domain, the public box, chosen without "
                "looking at the records"
            )
        if scheme is not None or path.is_dir():
            options = {
                "columns": columns,
                "bits": bits,
                "unit": unit,
                "max_per_unit": max_per_unit,
                "public": bool(public),
                "progress": progress,
            }
            return _counted(str(source), table, domain, crs, name, options)
        records = read_records(
            path, domain, columns=columns, crs=crs, unit=unit, public=bool(public)
        )
    if records.unit is not None:
        # A seed only where the data is public: elsewhere it would tell who was left out.
        random = np.random.default_rng(0) if public else None
        records = records.keep(bound_contributions(records.unit, max_per_unit, random))
    index = PointIndex.from_points(domain, records.points)
    return DataHandle(
        name or path.stem,
        domain,
        index if bits is None else index.coarsened(checked_bits(bits, domain)),
        public=bool(public),
        unit=_unit(unit, max_per_unit),
        max_per_unit=1 if unit is None else max_per_unit,
        dropped=records.dropped if public else None,
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


def _counted(
    source: str,
    table: str | None,
    domain: Domain,
    crs: str | None,
    name: str | None,
    options: dict[str, Any],
) -> DataHandle:
    """A handle on a folder of Parquet or a table, counted by cell outside Python."""
    from dpviz.private.aggregation import folder_index, table_index, table_name

    if scheme_of(source) is None:
        own = Path(source).name
    elif table is None:
        raise DataError("a database holds many tables: name one with table=… (--table)")
    else:
        own = table_name(table)
    if crs not in (None, domain.crs):
        raise DataError(f"{own}: a folder or a table must be in the CRS of the domain")
    if table is None:
        index = folder_index(Path(source), domain, **options)
    else:
        index = table_index(source, table, domain, **options)
    unit, most = options["unit"], options["max_per_unit"]
    return DataHandle(
        name or own,
        domain,
        index,
        public=options["public"],
        unit=_unit(unit, most),
        max_per_unit=1 if unit is None else most,
    )


def _unit(unit: str | None, most: int) -> str:
    """The privacy unit in words."""
    return "one record" if unit is None else f"one {unit} with at most {most} records"


def _built_in(
    dataset: Dataset, domain: Domain, columns: Sequence[str] | None, unit: str | None
) -> Records:
    """The records of a built-in data set inside the domain."""
    names = tuple(columns or dataset.domain.columns)
    if len(names) != domain.dims:
        raise DataError(f"{len(names)} columns for {domain.dims} dimensions: name one for each")
    table = dataset.table()
    for column in (*names, *([unit] if unit else [])):
        if column not in table:
            raise DataError(f"no column {column!r} in {dataset.name}: it has {', '.join(table)}")
    points = np.column_stack([table[column] for column in names])
    return Records(points, unit_numbers(table[unit], unit) if unit else None).inside(domain)
