"""The offline base map: coasts, borders and country names from Natural Earth (public domain).

`basemap.parquet` was derived once by `data/make_basemap.py`; `data/README.md` gives the commands.
Nothing is fetched at run time.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from dpviz.datasets.geography import river_outline

UNITS_PER_DEGREE = 1_000  # the file's integers; Natural Earth 1:50m is no finer than that
ATTRIBUTION = "Made with Natural Earth"
"""What a map with these outlines owes their source."""


def base_map(
    bounds: tuple[float, float, float, float] | None = None, tolerance: float = 0.0
) -> dict[str, Any]:
    """Outlines as a GeoJSON FeatureCollection in EPSG:4326, ready for a GeoJsonLayer.

    Args:
        bounds: west, south, east, north in degrees; only what lies within. None: the whole Earth.
        tolerance: outlines may be simplified by so many degrees (0: 1.3 MB for the Earth; 0.1:
            0.3 MB).

    Returns:
        Features with the property `kind`: `coast` and `border` (MultiLineString), and `country`
        (Point, with the property `name`).
    """
    import pyarrow.parquet as pq
    import shapely

    with files("dpviz.datasets").joinpath("basemap.parquet").open("rb") as file:
        table = pq.ParquetFile(file).read()  # read_table would import pandas
    kinds = np.array(table["kind"].to_pylist())
    names = table["name"].to_pylist()
    lengths = _numpy(table["lon"].combine_chunks().value_lengths())
    xy = np.column_stack(
        [_numpy(table[axis].combine_chunks().flatten()) for axis in ("lon", "lat")]
    )
    degrees = xy / UNITS_PER_DEGREE
    rows = np.repeat(np.arange(len(lengths)), lengths)
    features = []
    for kind in ("coast", "border"):
        wanted = (kinds == kind)[rows]
        _, line = np.unique(rows[wanted], return_inverse=True)
        lines = shapely.linestrings(degrees[wanted], indices=line)
        if bounds is not None:
            lines = shapely.clip_by_rect(lines, *bounds)
        lines = shapely.simplify(lines, tolerance) if tolerance else lines
        parts = shapely.get_parts(lines)
        parts = parts[~shapely.is_empty(parts)]
        features.append(_feature("MultiLineString", [_rounded(part) for part in parts], kind=kind))
    west, south, east, north = bounds or (-180.0, -90.0, 180.0, 90.0)
    for row in np.flatnonzero(kinds == "country"):
        lon, lat = degrees[rows == row][0].tolist()
        if west <= lon <= east and south <= lat <= north:
            features.append(_feature("Point", [lon, lat], kind="country", name=names[row]))
    return {"type": "FeatureCollection", "features": features}


def _numpy(column: Any) -> np.ndarray[Any, Any]:
    """An Arrow column without nulls as NumPy; its own conversion would import pandas."""
    values = np.frombuffer(column.buffers()[1], dtype=column.type.to_pandas_dtype())
    return values[column.offset : column.offset + len(column)]


def city_backdrop() -> dict[str, Any]:
    """The invented city's river as a GeoJSON FeatureCollection (Polygon, `kind`: `river`)."""
    ring = np.round(river_outline(), 5).tolist()
    return {"type": "FeatureCollection", "features": [_feature("Polygon", [ring], kind="river")]}


def _rounded(line: Any) -> list[list[float]]:
    import shapely

    coordinates: list[list[float]] = np.round(shapely.get_coordinates(line), 3).tolist()
    return coordinates


def _feature(geometry: str, coordinates: list[Any], **properties: str) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": {"type": geometry, "coordinates": coordinates},
        "properties": properties,
    }
