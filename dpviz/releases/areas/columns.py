"""Columns of a release of areas: GeoParquet, a row per area; and as a GeoDataFrame.

The finest areas have their polygons; what is above them is made of those.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.crs import known_crs
from dpviz.errors import ReleaseError
from dpviz.files import limits
from dpviz.lazy import geopandas, pa, pd, shapely
from dpviz.releases.answers import Answers
from dpviz.releases.areas.partition import Areas
from dpviz.releases.files import geo_metadata, identifiers, numbers, whole_numbers, with_header
from dpviz.releases.header import Header
from dpviz.trees.lattice import Float

NEEDED = ("geometry", "name", "parent", "count", "variance")
"""Columns that reading needs; the others follow from them."""


def to_columns(areas: Areas, answers: Answers, variance: Float, header: Header) -> pa.Table:
    """A row per area, breadth-first, GeoParquet 1.1; answers and variance are those of each."""
    above: list[Any] = [None] * areas.first_leaf
    columns = {
        "geometry": pa.array([*above, *shapely.to_wkb(areas.shapes)], pa.binary()),
        "level": pa.array(areas.level_of.tolist(), pa.string()).dictionary_encode(),
        "name": pa.array(areas.names, pa.string()),
        "parent": pa.array(areas.parent, pa.int32()),
        "count": pa.array(answers.count),
        "variance": pa.array(variance),
        "low": pa.array(answers.low),
        "high": pa.array(answers.high),
    }
    facts = {
        "domain": areas.domain.to_dict(),
        "levels": list(areas.levels),
        "resolution": areas.resolution,
    }
    geo = geo_metadata(["MultiPolygon", "Polygon"], areas.domain.crs, areas.domain.bounds)
    return with_header(columns, "areas", header, facts, geo=geo)


def from_columns(table: pa.Table, stated: dict[str, Any]) -> tuple[Areas, Float, Float]:
    """The inverse of :func:`to_columns`; what the header says of it is taken out of ``stated``.

    Raises:
        ReleaseError: a column that is missing, of another type, or no hierarchy of polygons.
    """
    domain = Domain.from_dict(stated.pop("domain"))
    levels, resolution = stated.pop("levels"), stated.pop("resolution", None)
    names = identifiers(table, "name")
    if names.dtype.kind != "O":
        raise ReleaseError("column 'name' holds numbers: expected text")
    parent = whole_numbers(table, "parent")
    finest = int(parent.max(initial=-1)) + 1  # the first row after the last that is a parent
    shapes = _shapes(table["geometry"].slice(finest), resolution)
    areas = Areas(domain, tuple(levels), tuple(names.tolist()), parent, shapes, resolution)
    return areas, numbers(table, "count"), numbers(table, "variance")


def _shapes(column: Any, resolution: int | None) -> Any:
    """Polygons of the finest areas; what a file can hold that would break a query is refused."""
    encoded = [each for each in column.to_pylist() if isinstance(each, bytes)]
    if len(encoded) != len(column):
        raise ReleaseError("column 'geometry' has no polygon for one of the finest areas")
    if sum(map(len, encoded)) // 16 > limits.VERTICES.most * (1 if resolution is None else 2):
        raise ReleaseError(f"column 'geometry' holds more than {limits.VERTICES}")
    shapes = np.array([*shapely.from_wkb(encoded), None], dtype=object)[:-1]
    kinds = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
    sound = np.isin(shapely.get_type_id(shapes), kinds) & shapely.is_valid(shapes)
    area = shapely.area(shapes)
    if not (sound & np.isfinite(area) & (area > 0)).all():
        raise ReleaseError("column 'geometry' holds what is no valid polygon")
    return shapes


def plain_frame(areas: Areas, answers: Answers, level: str | None = None) -> pd.DataFrame:
    """The rows of a level, or of all with ``level="all"``, without their polygons."""
    part = slice(0, len(areas)) if level == "all" else areas.rows(level)
    parents = np.array([*areas.parent_names, ""], dtype=object)[:-1]
    return pd.DataFrame(
        {
            "level": areas.level_of[part],
            "name": np.array([*areas.names, None], dtype=object)[:-1][part],
            "parent": parents[part],
            "count": answers.count[part],
            "noise_sd": answers.noise_sd[part],
            "low": answers.low[part],
            "high": answers.high[part],
        }
    )


def to_geopandas(
    areas: Areas, answers: Answers, level: str | None = None
) -> geopandas.GeoDataFrame:
    """As :func:`plain_frame`, with polygons."""
    shown = areas.levels if level == "all" else (level,)
    outlines = np.concatenate([areas.outlines(each) for each in shown])
    frame = plain_frame(areas, answers, level)
    return geopandas.GeoDataFrame(frame, geometry=outlines, crs=known_crs(areas.domain.crs))
