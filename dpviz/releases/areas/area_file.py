"""Read areas from a file of polygons: GeoJSON, GeoPackage, Shapefile, GeoParquet.

The file is public but untrusted: it is parsed and checked in a child process. Errors name the area
that is invalid.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.checks import require, require_path, texts
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.lazy import pa, shapely
from dpviz.releases.areas.hierarchy import hierarchy
from dpviz.releases.areas.partition import MAX_LEVELS, Areas
from dpviz.releases.points.region_file import (
    label,
    naming_column,
    opened_shapes,
    parsed,
    projected,
)

MAX_OVERLAP = 0.01
"""Largest overlap of two areas, as a share of the smaller: digitised borders rarely fit exactly."""

NUMBERED = "area"
"""The level of areas without names: they are numbered as their rows."""

MAX_OUTSIDE = 0.01
"""Largest share of an area that may lie outside the box."""


def read_areas(
    path: str | os.PathLike[str],
    domain: Domain | None = None,
    *,
    levels: Sequence[str] = (),
    name_column: str | None = None,
    crs: str = "EPSG:4326",
) -> Areas:
    """Read a public partition and its hierarchy from a file of polygons.

    Args:
        path: path of the file, and ``|layername=`` with one of several layers; its CRS is taken
            from it, and is the domain's where it states none.
        domain: the public box of the records; by default the extent of the areas, which is public.
        levels: columns that name the areas of each level, the finest last: country, district, ward.
            Each row is one of the finest areas. By default there is one level.
        name_column: without ``levels``, names the areas; by default as for regions, the first
            column of words, one called name before others.
        crs: without ``domain``, of the map that the areas are put on, and so of the records.

    Raises:
        DataError: the file cannot be read, has no such column, or an area that is invalid, empty,
            of an earlier one's name, outside the box, or overlaps another by more than 1 % of it.
    """
    require_path(path, DataError)
    require(domain, Domain | None, "domain", DataError)
    require(name_column, str | None, "name_column", DataError)
    levels = texts(levels, "levels", DataError)
    if levels and name_column is not None:
        raise DataError(f"levels name the areas by {levels[-1]!r}: leave out {name_column!r}")
    if len(levels) > MAX_LEVELS or len(set(levels)) != len(levels):
        raise DataError(f"levels {', '.join(levels)}: give up to {MAX_LEVELS} different columns")
    bounds, crs = (None, crs) if domain is None else (list(domain.bounds), domain.crs)
    task = f"{__name__}:checked_areas"
    table = parsed(task, path, bounds, crs, list(levels), name_column)
    encoded, *labels = (column.to_pylist() for column in table.columns)
    shapes = np.asarray(shapely.from_wkb(encoded), dtype=object)
    titles, paths = tuple(table.column_names[1:]), list(zip(*labels, strict=True))
    order, names, parent = hierarchy(paths, titles)
    if domain is None:
        domain = Domain.from_bounds(shapely.total_bounds(shapes), crs=crs)
    return Areas(domain, titles, tuple(names), parent, shapes[order])


def area_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Columns that may name the areas of a polygon file; those with unique names first."""
    return tuple(parsed(f"{__name__}:listed_columns", path)["column"].to_pylist())


def listed_columns(path: str) -> Any:
    """Return the columns that may name areas, a table of ``column``; runs in the child process."""
    shapes, columns, _ = opened_shapes(path)
    repeated = {name: len(set(map(label, columns[name]))) < len(shapes) for name in columns}
    default = naming_column(columns)
    names = sorted(columns, key=lambda name: (repeated[name], name != default))
    return pa.table({"column": pa.array(names, pa.string())})


def checked_areas(
    path: str,
    bounds: list[float] | None,
    crs: str,
    levels: list[str],
    name_column: str | None,
) -> Any:
    """Return a table of valid polygons (WKB) and, by level, their names.

    Runs in the child process.
    """
    chosen = levels or ([name_column] if name_column else [])
    shapes, words, source = opened_shapes(path, chosen)
    chosen = chosen or [naming_column(words) or ""]
    labels = [_labels(words[column], column) for column in chosen if column] or [
        [str(row + 1) for row in range(len(shapes))]
    ]
    shapes = shapely.force_2d(np.asarray(shapes, dtype=object))
    _check_polygons(shapes, labels[-1])
    moved = projected(shapes, source or crs, crs)
    moved = np.asarray(shapely.make_valid(moved) if not shapely.is_valid(moved).all() else moved)
    _check_place(moved, labels[-1], bounds)
    _check_overlaps(moved, labels[-1])
    encoded = pa.array(shapely.to_wkb(moved).tolist(), pa.binary())
    columns = [encoded, *(pa.array(each, pa.string()) for each in labels)]
    return pa.table(columns, names=["", *(column or NUMBERED for column in chosen)])


def _labels(values: list[Any], column: str) -> list[str]:
    """Names of areas in a column, as text; missing names are refused."""
    labels = [label(value) for value in values]
    if "" in labels:
        row = labels.index("") + 1
        raise DataError(f"row {row} has no {column!r}: name every area on every level")
    return labels


def _check_polygons(shapes: Any, labels: list[str]) -> None:
    kinds = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
    _refuse(~np.isin(shapely.get_type_id(shapes), kinds), labels, "is no polygon: leave it out")
    finite = np.isfinite(shapely.bounds(shapes)).all(axis=1)
    _refuse(shapely.is_empty(shapes) | ~finite, labels, "is empty: leave it out")
    invalid = ~shapely.is_valid(shapes)
    if invalid.any():
        row = int(np.argmax(invalid))
        raise DataError(
            f"area {labels[row]!r} is invalid ({shapely.is_valid_reason(shapes[row])}): repair it"
        )
    _refuse(shapely.area(shapes) <= 0, labels, "has no surface: leave it out")


def _check_place(shapes: Any, labels: list[str], bounds: list[float] | None) -> None:
    finite = np.isfinite(shapely.bounds(shapes)).all(axis=1)
    _refuse(~finite, labels, "is outside the CRS of the records: choose another CRS")
    if bounds is None:
        return
    frame = shapely.box(*bounds)
    stray = np.flatnonzero(~shapely.covers(frame, shapes))
    beyond = np.zeros(len(shapes))
    beyond[stray] = shapely.area(shapely.difference(shapes[stray], frame))
    outside = beyond > MAX_OUTSIDE * shapely.area(shapes)
    _refuse(outside, labels, "reaches out of the bounds: widen them, or leave them out")


def _check_overlaps(shapes: Any, labels: list[str]) -> None:
    """Refuse areas that overlap. A valid coverage passes without measuring."""
    if shapely.coverage_is_valid(shapes):
        return
    uneven = ~shapely.is_empty(shapely.coverage_invalid_edges(shapes))
    suspects = np.flatnonzero(uneven)
    left, right = shapely.STRtree(shapes).query(shapes[suspects], "intersects")
    left = suspects[left]
    once = (left < right) | ((left != right) & ~uneven[right])
    left, right = np.minimum(left, right)[once], np.maximum(left, right)[once]
    limits.CUTS.check(
        int(shapely.get_num_coordinates(shapes)[np.concatenate([left, right])].sum()), "the file"
    )
    shared = shapely.area(shapely.intersection(shapes[left], shapes[right]))
    smaller = np.minimum(shapely.area(shapes[left]), shapely.area(shapes[right]))
    over = shared > MAX_OVERLAP * smaller
    if over.any():
        row = int(np.argmax(over))
        raise DataError(
            f"areas {labels[left[row]]!r} and {labels[right[row]]!r} overlap: a record may be in "
            "one area only; repair the file"
        )


def _refuse(wrong: Any, labels: list[str], why: str) -> None:
    if np.any(wrong):
        raise DataError(f"area {labels[int(np.argmax(wrong))]!r} {why}")
