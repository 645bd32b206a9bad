"""Layers of points whose layout GDAL (pyogrio) reads: what GeoPackage and Shapefile share.

GDAL makes a 0, or the first day of 1970, of a cell that is no number or no time. So numbers and
times are read from the cells as they are written, and GDAL says only what the layer declares.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import arrow, limits
from dpviz.files.foreign import readable
from dpviz.lazy import pyogrio
from dpviz.private.load.columns import shown
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
)
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.values import typed

Reader = Callable[[str, Any, NDArray[np.int64]], Any]
"""From a column's name, what GDAL reads of it (n,) and the keys of its rows (n,) to its cells."""


def format_of_points(
    title: str,
    ending: str,
    opened: Callable[[Path, str, str | None], Table],
    tables: Callable[[Path], list[str]] | None = None,
) -> Format:
    """A format of this kind; arguments as of :class:`Format`."""
    needs = ("pyarrow", "pyogrio.raw", "shapely")
    return Format(
        title=title, endings=(ending,), opened=opened, needs=needs, geometry=True, tables=tables
    )


class VectorFile(Table):
    """One layer of points of a file that GDAL reads.

    Attributes:
        driver: what the format is called.
        texts: whether GDAL is to give times as the text that they are.
    """

    driver: ClassVar[str]
    texts: ClassVar[bool]

    def __init__(self, path: Path, name: str | None = None, layer: str | None = None) -> None:
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

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The features, each with the key by which the format knows it."""
        with parsing(self.name, self.driver):
            as_written = self._reader(names, numeric)
        with (
            parsing(self.name, self.driver),
            pyogrio.raw.open_arrow(
                self._file,
                layer=self._layer,
                columns=list(names),
                read_geometry=geometry,
                return_fids=True,
                datetime_as_string=self.texts,
                batch_size=BLOCK_ROWS,
                use_pyarrow=True,
            ) as (meta, reader),
        ):
            key, place = meta["fid_column"] or "OGC_FID", meta["geometry_name"] or "wkb_geometry"
            for batch in chain([no_rows(reader.schema)], reader):
                keys = arrow.number_array(batch[key])
                columns = {name: as_written(name, batch[name], keys) for name in names}
                places = point_coordinates(batch[place]) if geometry else None
                yield Block(batch.num_rows, typed(columns, numeric), places)

    @abstractmethod
    def _reader(self, names: Sequence[str], numeric: Sequence[str]) -> Reader:
        """What makes cells of columns, some of them wanted as numbers."""


def layers_of_points(path: Path) -> list[str]:
    """Names of the layers of a file that may hold points."""
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
