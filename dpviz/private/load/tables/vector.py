"""GeoPackage and Shapefile by GDAL (pyogrio), points only; only the needed fields are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from dpviz import limits
from dpviz.errors import DataError
from dpviz.foreign import readable, refuse_computing
from dpviz.private.load.tables.base import (
    BLOCK_ROWS,
    Block,
    Column,
    Kind,
    Table,
    no_rows,
    parsing,
    point_coordinates,
    refuse_other_types,
    shown,
)
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.values import typed


class VectorFile(Table):
    """One layer of points of a file that GDAL reads as `driver`."""

    def __init__(
        self, path: Path, driver: str, name: str | None = None, layer: str | None = None
    ) -> None:
        import pyogrio

        self.name = name or path.name
        self._file = readable(path)
        self._driver = driver
        with parsing(self.name, driver):
            layers = [(str(each), str(kind)) for each, kind in pyogrio.list_layers(self._file)]
            self._layer = _only_layer(layers, self.name, layer)
            info = pyogrio.read_info(self._file, layer=self._layer, force_feature_count=True)
            self.crs = info["crs"]
            fields = zip(info["fields"], info["dtypes"], strict=True)
            self.columns = [
                *(Column(str(field), _kind(str(dtype))) for field, dtype in fields),
                Column("geometry", "geometry"),
            ]
        limits.ROWS.check(info["features"], self.name)

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The features, with fields of the types that the layer declares."""
        from pyogrio.raw import open_arrow

        with (
            parsing(self.name, self._driver),
            open_arrow(
                self._file,
                layer=self._layer,
                columns=list(names),
                read_geometry=geometry,
                batch_size=BLOCK_ROWS,
                use_pyarrow=True,
            ) as (meta, reader),
        ):
            place = meta["geometry_name"] or "wkb_geometry"
            for batch in chain([no_rows(reader.schema)], reader):
                columns = typed({name: batch[name] for name in names}, numeric)
                places = point_coordinates(batch[place]) if geometry else None
                yield Block(batch.num_rows, columns, places)


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


def _layers_of_points(path: Path) -> list[str]:
    import pyogrio

    refuse_computing(path, path.name)
    layers = pyogrio.list_layers(readable(path))
    return _of_points([(str(layer), str(kind)) for layer, kind in layers])


def _kind(dtype: str) -> Kind:
    if dtype.startswith(("int", "uint", "float")):
        return "number"
    if dtype.startswith("datetime"):
        return "time"
    return "text" if dtype == "object" else "other"


def _geopackage(path: Path, name: str, layer: str | None) -> VectorFile:
    refuse_computing(path, name)
    return VectorFile(path, "GeoPackage", name, layer)


def _shapefile(path: Path, name: str, layer: str | None) -> VectorFile:
    if not any(path.with_suffix(ending).exists() for ending in (".shx", ".SHX")):
        raise DataError(f"{name} is one of a Shapefile's files: zip its .shp, .shx, .dbf and .prj")
    return VectorFile(path, "Shapefile", name, layer)


NEEDS = ("pyarrow", "pyogrio.raw", "shapely")
FORMATS = (
    Format(
        title="GeoPackage",
        endings=(".gpkg",),
        opened=_geopackage,
        needs=NEEDS,
        geometry=True,
        tables=_layers_of_points,
    ),
    Format(
        title="Shapefile",
        endings=(".shp",),
        opened=_shapefile,
        needs=NEEDS,
        geometry=True,
    ),
)
