"""Read the shapes of a base map file near a rectangle, by kind and name, in a child process.

The file is public but untrusted: GDAL and GEOS read, repair and cut it under limits. The process
never sees a record.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError, DpvizError, ParameterError
from dpviz.files import limits
from dpviz.files.foreign import readable, recognised, refuse_computing
from dpviz.lazy import pa, pyogrio, pyproj, shapely
from dpviz.releases.points.region_file import shapes_of

MARGIN = 0.25
"""Margin on every side within which shapes are kept, in sizes of the domain."""

PIXELS = 4_000
"""Shapes are simplified to the domain's width divided by this."""

MAX_POINTS = 200_000
"""Points of all shapes: more would make every page heavy."""

FORMATS = "GeoJSON, GeoPackage, GeoParquet or Shapefile"

LAYERS = {
    **dict.fromkeys(("water", "ocean", "waterway", "waterways", "lakes"), "water"),
    **dict.fromkeys(("transportation", "road", "roads", "street", "streets"), "road"),
    **dict.fromkeys(("place", "places"), "place"),
    **dict.fromkeys(("building", "buildings"), "building"),
    **dict.fromkeys(("boundary", "boundaries"), "border"),
    **dict.fromkeys(("park", "parks", "green"), "green"),
}
"""Kinds of the layers that are known by their names."""

Rows = tuple[list[str], list[str], Any]
"""Kind and name of each shape, and the shapes."""


def shapes_near(path: str, bounds: tuple[float, float, float, float]) -> Any:
    """A table of kind, name and shape (WKB, degrees), cut to the surroundings of a rectangle."""
    place = Path(path)
    west, south, east, north = bounds
    across, up = MARGIN * (east - west), MARGIN * (north - south)
    wide = (west - across, south - up, east + across, north + up)
    try:
        kinds, names, shapes = _rows(place, wide)
    except DpvizError:
        raise
    except Exception as error:  # any error that a broken file causes in the readers
        raise ParameterError(f"cannot be read as {FORMATS}") from error
    box = shapely.box(*wide)
    inside = shapely.intersects(shapes, box)
    shapes = shapely.intersection(shapely.make_valid(shapes[inside]), box)
    if not len(shapes):
        raise ParameterError("nothing in it lies near the area: give a file of that area")
    shapes = shapely.simplify(shapes, (east - west) / PIXELS)
    if shapely.get_num_coordinates(shapes).sum() > MAX_POINTS:
        raise ParameterError(
            f"more than {MAX_POINTS:,} points near the area: keep main roads and large areas only"
        )
    chosen = np.flatnonzero(inside).tolist()
    return pa.table(
        {
            "kind": [kinds[at] for at in chosen],
            "name": [names[at] for at in chosen],
            "shape": pa.array(shapely.to_wkb(shapes).tolist(), pa.binary()),
        }
    )


def _rows(path: Path, wide: tuple[float, float, float, float]) -> Rows:
    with path.open("rb") as file:
        kind = recognised(file.read(1024))
    if kind in ("GeoPackage", "Shapefile"):
        if kind == "GeoPackage":
            refuse_computing(path, path.name)
        return _layers(path, wide)
    if kind not in ("GeoJSON", "Parquet"):
        raise ParameterError(f"cannot be read as {FORMATS}")
    shapes, words, crs = shapes_of(path)
    columns = {name.lower(): values for name, values in words.items()}
    return _read("", columns, _in_degrees(shapes, crs))


def _layers(path: Path, wide: tuple[float, float, float, float]) -> Rows:
    """Shapes of all layers in the box ``wide``."""
    kinds: list[str] = []
    names: list[str] = []
    outlines: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        place = readable(path)
        for layer in map(str, pyogrio.list_layers(place)[:, 0]):
            info = pyogrio.read_info(place, layer=layer)
            crs = info["crs"] or "EPSG:4326"
            move = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
            fields = [each for each in info["fields"] if each.lower() in ("kind", "name")]
            meta, _, wkb, values = pyogrio.raw.read(
                place,
                layer=layer,
                columns=fields,
                bbox=move.transform_bounds(*wide),
                max_features=limits.REGIONS.most + 1,
            )
            limits.REGIONS.check(len(wkb), path.name)
            given = map(str.lower, map(str, meta["fields"]))
            columns = dict(zip(given, (each.tolist() for each in values), strict=True))
            shapes = _in_degrees(shapely.from_wkb(wkb), crs)
            layer_kinds, layer_names, layer_shapes = _read(layer.lower(), columns, shapes)
            kinds += layer_kinds
            names += layer_names
            outlines.append(layer_shapes)
    return kinds, names, np.concatenate(outlines) if outlines else np.zeros(0, dtype=object)


def _read(layer: str, columns: dict[str, list[Any]], shapes: Any) -> Rows:
    """Kinds, names and shapes of a layer, by its columns or its name."""
    usual = LAYERS.get(layer, "")
    kinds = [str(each or usual).lower() for each in columns.get("kind", [""] * len(shapes))]
    names = [str(each) if each else "" for each in columns.get("name", [""] * len(shapes))]
    drawn = [at for at, shape in enumerate(shapes) if shape is not None and not shape.is_empty]
    return [kinds[at] for at in drawn], [names[at] for at in drawn], shapes[drawn]


def _in_degrees(shapes: Any, crs: str | None) -> Any:
    try:
        move = pyproj.Transformer.from_crs(crs or "EPSG:4326", "EPSG:4326", always_xy=True)
    except pyproj.exceptions.ProjError:
        raise DataError("it states a CRS that is not known: write it in EPSG:4326") from None
    return shapely.transform(shapes, move.transform, interleaved=False)
