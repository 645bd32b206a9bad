"""GeoJSON by the standard parser, which opens nothing else than the text it is given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.private.load.tables.base import (
    Column,
    as_numbers,
    kind_of,
    parsing,
    pick,
    refuse_other_types,
)


class GeoJson:
    """A FeatureCollection, a Feature or a geometry (RFC 7946; also the older `crs` member)."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        with parsing(self.name, "GeoJSON"):
            document = json.loads(path.read_bytes())
            kind = document["type"]
            if kind == "FeatureCollection":
                self._features = document["features"]
            else:
                self._features = [
                    document if kind == "Feature" else {"geometry": document, "properties": {}}
                ]
            self._rows = [feature.get("properties") or {} for feature in self._features]
            names = dict.fromkeys(name for row in self._rows for name in row)
            self._names = [str(name) for name in names]
            crs = document.get("crs") or {}
            self.crs: str | None = str(crs.get("properties", {}).get("name", "OGC:CRS84"))

    @property
    def columns(self) -> Sequence[Column]:
        """The properties that occur, then the geometry."""
        columns = [Column(name, kind_of(self._column(name).type)) for name in self._names]
        return [*columns, Column("geometry", "geometry")]

    def read(self, names: Sequence[str], numeric: Sequence[str]) -> dict[str, Any]:
        """The named properties; those in `numeric` as float64."""
        if self._features:
            pick([Column(name, "other") for name in self._names], names, self.name)
        columns = {name: self._column(name) for name in names}
        with parsing(self.name, "GeoJSON"):
            return {
                name: as_numbers(column, name) if name in numeric else column
                for name, column in columns.items()
            }

    def places(self) -> NDArray[np.float64]:
        """Coordinates (n, 2) of the points."""
        xy = np.full((len(self._features), 2), np.nan)
        with parsing(self.name, "GeoJSON"):
            geometries = [feature.get("geometry") for feature in self._features]
            types = {geometry["type"] for geometry in geometries if geometry} - {"Point"}
            known = {"LineString", "Polygon", "GeometryCollection"}
            known |= {f"Multi{kind}" for kind in ("Point", "LineString", "Polygon")}
            if types - known:  # an unknown type is content, not layout: it is not repeated
                raise DataError(f"{self.name} holds geometry that is not GeoJSON: points only")
            refuse_other_types(self.name, types)
            rows = [k for k, geometry in enumerate(geometries) if _coordinates(geometry)]
            if rows:
                xy[rows] = [_coordinates(geometries[k])[:2] for k in rows]
        return xy

    def _column(self, name: str) -> Any:
        import pyarrow as pa

        values = [row.get(name) for row in self._rows]
        try:
            return pa.array(values)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):  # values of mixed types
            return pa.array([None if value is None else str(value) for value in values])


def _coordinates(geometry: Any) -> list[float]:
    return list(geometry["coordinates"]) if geometry else []
