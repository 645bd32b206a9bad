"""Layers of points whose layout GDAL (pyogrio) reads: what GeoPackage and Shapefile share.

GDAL makes a 0, or the first day of 1970, of a cell that is no number or no time. So numbers and
times are read from the cells as they are written, and GDAL says only what the layer declares.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from dpviz import limits
from dpviz.errors import DataError
from dpviz.foreign import readable
from dpviz.private.load.tables.base import (
    Column,
    Kind,
    Table,
    parsing,
    refuse_other_types,
    shown,
)

NEEDS = ("pyarrow", "pyogrio.raw", "shapely")


class VectorFile(Table):
    """One layer of points of a file that GDAL reads as `driver`."""

    driver: ClassVar[str]

    def __init__(self, path: Path, name: str | None = None, layer: str | None = None) -> None:
        import pyogrio

        self.name = name or path.name
        self._path, self._file = path, readable(path)
        with parsing(self.name, self.driver):
            layers = [(str(each), str(kind)) for each, kind in pyogrio.list_layers(self._file)]
            self._layer = _only_layer(layers, self.name, layer)
            info = pyogrio.read_info(self._file, layer=self._layer, force_feature_count=True)
            self.crs, self._key = info["crs"], str(info["fid_column"])
            fields = list(zip(map(str, info["fields"]), map(str, info["dtypes"]), strict=True))
            self._types = dict(fields)
            self.columns = [
                *(Column(field, _kind(dtype)) for field, dtype in fields),
                Column("geometry", "geometry"),
            ]
        limits.ROWS.check(info["features"], self.name)


def layers_of_points(path: Path) -> list[str]:
    """Names of the layers of a file that may hold points."""
    import pyogrio

    layers = pyogrio.list_layers(readable(path))
    return _of_points([(str(layer), str(kind)) for layer, kind in layers])


def _only_layer(layers: list[tuple[str, str]], name: str, wanted: str | None) -> str:
    """The layer that may hold points."""
    spatial = [(layer, kind) for layer, kind in layers if kind != "None"]
    if wanted is not None:
        kinds = [kind for layer, kind in spatial if layer == wanted]
        if not kinds:
            several = ", ".join(shown(layer) for layer, _ in spatial[:5])
            raise DataError(f"no layer {shown(wanted)} in {name}: it has {several}")
        spatial = [(wanted, kinds[0])]
    points = _of_points(spatial)
    if len(points) > 1:
        several = ", ".join(shown(layer) for layer in points[:5])
        raise DataError(f"{name} has several layers of points: name one as its table ({several})")
    if not points:
        refuse_other_types(name, {kind for _, kind in spatial})
        raise DataError(f"{name} has no layer with geometry: give one with points")
    return points[0]


def _of_points(layers: list[tuple[str, str]]) -> list[str]:
    points = [layer for layer, kind in layers if kind.split()[:1] == ["Point"]]
    return points or [layer for layer, kind in layers if kind.startswith("Unknown")]


def _kind(dtype: str) -> Kind:
    if dtype.startswith(("int", "uint", "float")):
        return "number"
    if dtype.startswith("datetime"):
        return "time"
    return "text" if dtype == "object" else "other"
