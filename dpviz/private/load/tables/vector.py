"""GeoPackage and Shapefile by GDAL (pyogrio), points only; only the needed fields are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.private.load.tables.base import (
    MAX_RECORDS,
    Column,
    Kind,
    as_numbers,
    parsing,
    pick,
    point_coordinates,
    refuse_other_types,
    shown,
)


class VectorFile:
    """One layer of points of a file that GDAL reads as `driver`."""

    def __init__(self, path: Path, driver: str, name: str | None = None) -> None:
        import pyogrio

        self.name = name or path.name
        self._path = path
        self._driver = driver
        with parsing(self.name, driver):
            layers = [(str(layer), str(kind)) for layer, kind in pyogrio.list_layers(path)]
            self._layer = _only_layer(layers, self.name)
            info = pyogrio.read_info(path, layer=self._layer, force_feature_count=True)
            self.crs: str | None = info["crs"]
            fields = zip(info["fields"], info["dtypes"], strict=True)
            self.columns: Sequence[Column] = [
                *(Column(str(field), _kind(str(dtype))) for field, dtype in fields),
                Column("geometry", "geometry"),
            ]
        if info["features"] > MAX_RECORDS:
            raise DataError(
                f"{self.name} holds more than {MAX_RECORDS:,} records: aggregate it in DuckDB"
            )

    def read(self, names: Sequence[str], numeric: Sequence[str]) -> dict[str, Any]:
        """The named fields; those in `numeric` as float64."""
        import pyarrow as pa

        if not names:
            return {}
        pick([column for column in self.columns if column.kind != "geometry"], names, self.name)
        meta, values = self._raw(names, geometry=False)[::3]
        columns = dict(zip(meta["fields"], map(pa.array, values), strict=True))
        return {
            name: as_numbers(columns[name], name) if name in numeric else columns[name]
            for name in names
        }

    def places(self) -> NDArray[np.float64]:
        """Coordinates (n, 2) of the points."""
        import shapely

        wkb = self._raw([], geometry=True)[2]
        with parsing(self.name, self._driver):
            return point_coordinates(shapely.from_wkb(wkb), self.name)

    def _raw(self, names: Sequence[str], *, geometry: bool) -> Any:
        import pyogrio.raw

        with parsing(self.name, self._driver):
            return pyogrio.raw.read(
                self._path, layer=self._layer, columns=list(names), read_geometry=geometry
            )


def _only_layer(layers: list[tuple[str, str]], name: str) -> str:
    """The layer that may hold points."""
    spatial = [(layer, kind) for layer, kind in layers if kind != "None"]
    points = [layer for layer, kind in spatial if kind.split()[-1:] == ["Point"] or "Point" in kind]
    points = points or [layer for layer, kind in spatial if kind.startswith("Unknown")]
    if len(points) > 1:
        several = ", ".join(shown(layer) for layer in points[:5])
        raise DataError(f"{name} has several layers of points ({several}): keep one of them")
    if not points:
        refuse_other_types(name, {kind for _, kind in spatial})
        raise DataError(f"{name} has no layer with geometry: give one with points")
    return points[0]


def _kind(dtype: str) -> Kind:
    if dtype.startswith(("int", "uint", "float")):
        return "number"
    if dtype.startswith("datetime"):
        return "time"
    return "text" if dtype == "object" else "other"
