"""Point layers of vector files, read by GDAL through pyogrio.

Types come from the layer's schema; where a format has none, only fields of the format itself are
read, as others appear with the rows that have them. GDAL converts a cell of another type than its
column, for example a word in a column of numbers to 0; this affects that row only.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.foreign import readable, refuse_computing, shapefiles
from dpviz.lazy import pyogrio
from dpviz.private.load.columns import shown
from dpviz.private.load.tables.base import (
    BLOCK_ROWS,
    ENDS,
    LINES,
    Block,
    Column,
    Kind,
    Table,
    parsing,
    refuse_other_types,
)
from dpviz.private.load.tables.geometry import Geometry, typed_blocks

_DRIVERS = {
    "GeoPackage": "GPKG",
    "Shapefile": "ESRI Shapefile",
    "FlatGeobuf": "FlatGeobuf",
    "GPX": "GPX",
    "KML": "LIBKML",
    "KMZ": "LIBKML",
}
"""GDAL's driver names; its plain SQLite driver would infer column types from the first row."""
_FIELDS = {
    "GPX": ("name", "cmt", "desc", "src", "type", "sym", "time", "ele", "track_fid", "route_fid"),
    "KML": ("id", "Name", "description", "timestamp", "begin", "end"),
}
_FIELDS["KMZ"] = _FIELDS["KML"]
"""Fields of formats without a schema."""
_ANY_SHAPE = "Unknown"
"""Declared type of a layer with any geometry; its shapes other than points are dropped."""
_NO_CRS = ("LOCAL_CS", 'GEOGCS["Undefined', "ENGCRS")
"""How GDAL writes a CRS that the layer declares to be undefined."""


class VectorLayer(Table):
    """One layer of points.

    Args:
        path: path of the file.
        driver: title of the format; a Shapefile may be in a zip.
        layer: name of the layer, where there are several.
    """

    def __init__(self, path: Path, driver: str, layer: str | None = None) -> None:
        self.name, self._driver = path.name, driver
        with parsing(self.name, driver):
            # GDAL's own stream of FlatGeobuf is broken after a row without a geometry.
            pyogrio.set_gdal_config_options({"OGR_FLATGEOBUF_STREAM_BASE_IMPL": True})
            self._file = _for_gdal(path, driver)
            layers = _layers(self._file)
            if driver == "Shapefile" and len(layers) > 1:
                raise DataError(f"{self.name} holds {len(layers)} Shapefiles: zip exactly one")
            self._layer = _point_layer(layers, self.name, layer)
            info = pyogrio.read_info(self._file, layer=self._layer, force_feature_count=True)
            if info["driver"] != _DRIVERS[driver]:
                raise ValueError(info["driver"])
            stated = info["crs"]
            self.crs = None if stated is None or stated.startswith(_NO_CRS) else stated
            types = zip(map(str, info["fields"]), map(str, info["dtypes"]), strict=True)
            fields = _FIELDS.get(driver)
            self.lines = layers[self._layer] in LINES
            places = [Column(end, "number") for end in ENDS] if self.lines else []
            self.columns = [
                *(
                    Column(field, _kind(dtype))
                    for field, dtype in types
                    if fields is None or field in fields
                ),
                *(places or [Column("geometry", "geometry")]),
            ]
        limits.ROWS.check(info["features"], self.name)

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the features; times as text, since GDAL treats times without a zone as UTC."""
        ends = self.lines and not {*names}.isdisjoint(ENDS)
        with (
            parsing(self.name, self._driver),
            pyogrio.raw.open_arrow(
                self._file,
                layer=self._layer,
                columns=[name for name in names if not (self.lines and name in ENDS)],
                read_geometry=geometry or ends,
                datetime_as_string=True,
                batch_size=BLOCK_ROWS,
                use_pyarrow=True,
            ) as (meta, reader),
        ):
            shape = meta["geometry_name"] or "wkb_geometry"
            place = Geometry(shape, None) if geometry else None
            yield from typed_blocks(reader.schema, reader, names, place, shape if ends else None)


def _for_gdal(path: Path, driver: str) -> Path | bytes:
    if driver == "GeoPackage":
        refuse_computing(path, path.name)
    elif driver == "KMZ":
        return _kml_in(path)
    elif driver != "Shapefile":
        return readable(path)
    elif path.suffix.lower() == ".zip":
        return shapefiles(path)
    elif not any(path.with_suffix(ending).exists() for ending in (".shx", ".SHX")):
        raise DataError(
            f"{path.name} is one of a Shapefile's files: zip its .shp, .shx, .dbf and .prj"
        )
    return readable(path)


def _kml_in(path: Path) -> bytes:
    """The main KML file of a zip archive, its first one; other files are not followed."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        limits.MEMBERS.check(len(members), path.name)
        maps = [each for each in members if each.filename.lower().endswith(".kml")]
        if not maps:
            raise DataError(f"{path.name} holds no .kml: save it again")
        limits.decoded(maps[0].file_size, path.stat().st_size, path.name)
        return archive.read(maps[0])


def _layers(file: Path | bytes) -> dict[str, str]:
    """Declared type of the geometry of each layer that has one, such as Point or Polygon."""
    layers = pyogrio.list_layers(file).tolist()
    return {layer: kind.split()[0] for layer, kind in layers if kind is not None}


def _point_layer(layers: dict[str, str], name: str, wanted: str | None) -> str:
    """Name of the wanted layer, or of the only one that may hold points.

    Raises:
        DataError: no such layer, or several.
    """
    if wanted is not None:
        if wanted not in layers:
            raise DataError(f"no layer {shown(wanted)} in {name}: it has {_listed(layers)}")
        layers = {wanted: layers[wanted]}
    points = _may_hold_points(layers)
    if len(points) > 1:
        raise DataError(
            f"{name} has several layers of points: name one as its table ({_listed(points)})"
        )
    lines = [layer for layer, kind in layers.items() if kind in LINES]
    points = points or (lines if len(lines) == 1 else [])
    if points:
        return points[0]
    if not layers:
        raise DataError(f"{name} has no layer with geometry: give one with points")
    refuse_other_types(name, {*layers.values()})
    raise DataError(f"{name} has no layer of points: give one")


def _may_hold_points(layers: dict[str, str]) -> list[str]:
    points = [layer for layer, kind in layers.items() if kind in ("Point", "MultiPoint")]
    return points or [layer for layer, kind in layers.items() if kind == _ANY_SHAPE]


def _listed(layers: Iterable[str]) -> str:
    return ", ".join(shown(layer) for layer in [*layers][:5])


def _kind(dtype: str) -> Kind:
    if dtype.startswith(("int", "uint", "float")):
        return "number"
    if dtype.startswith("datetime"):
        return "time"
    return "text" if dtype == "object" else "other"


def point_layers(driver: str, path: Path) -> list[str]:
    """Names of the layers of a file that may hold points."""
    return _may_hold_points(_layers(_for_gdal(path, driver)))
