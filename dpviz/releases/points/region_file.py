"""Read regions from a file of polygons: GeoJSON, GeoPackage, Shapefile, GeoParquet.

The file is untrusted: it is parsed, repaired and cut to the domain in a child process.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.crs import known_crs, transformation
from dpviz.errors import DataError
from dpviz.files import arrow, limits
from dpviz.files.foreign import (
    LAYER,
    file_of,
    readable,
    recognised,
    refuse_computing,
    refuse_texts,
    shapefiles,
)
from dpviz.files.sandbox import run_in_sandbox
from dpviz.lazy import pa, pq, pyogrio, shapely
from dpviz.releases.files import KEY
from dpviz.releases.points.region_count import Regions, regions_of
from dpviz.releases.store import stated_kind

Words = dict[str, list[Any]]
"""Properties of the regions by name."""

Layers = list[tuple[str, str | None]]
"""Name and geometry type of each layer of a file; the type is None without shapes."""

_FORMATS = "give GeoJSON, GeoPackage, Shapefile or GeoParquet"


def read_regions(
    path: str | os.PathLike[str], domain: Domain, name_column: str | None = None
) -> Regions:
    """Read regions from a file of polygons.

    Args:
        path: path of the file, and ``|layername=`` with one of several layers; its CRS is taken
            from it, and is the domain's where it states none.
        name_column: names the regions, row numbers those without a name; by default the first
            column of words, one called name before others and ids last, or row numbers.

    Raises:
        DataError: the file cannot be read, is too intricate, or has no polygons, no such column or
            layer, or several layers of polygons and none is named.
        DomainError: a region without area.
    """
    frame = (list(domain.lower), list(domain.upper), list(domain.columns), domain.crs)
    table = parsed(f"{__name__}:polygons", path, frame, name_column)
    shapes = np.asarray(shapely.from_wkb(table["shape"].to_pylist()), dtype=object)
    return Regions(tuple(table["name"].to_pylist()), shapes, arrow.number_array(table["inside"]))


def polygon_layers(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Names of the layers that may hold polygons; empty for formats without layers."""
    return tuple(parsed(f"{__name__}:listed_layers", path)["layer"].to_pylist())


def parsed(task: str, path: str | os.PathLike[str], *arguments: Any) -> Any:
    """Run a task that reads shapes in a child process, and return its Arrow table.

    Raises:
        DataError: no such file, a larger one than the limit, or a release of cells, whose shapes
            are no regions; or what the task raises.
        ReleaseError: a release that cannot be read.
    """
    file, layer = file_of(path)
    if not file.is_file():
        raise DataError(f"no file {file.name or str(file)!r}: check the name")
    size = file.stat().st_size
    limits.FILE.check(size, file.name)
    kind = stated_kind(file)
    if kind not in (None, "areas"):
        raise DataError(f"{file.name} is a release of {kind}, not a file of regions: {_FORMATS}")
    needs = ("pyogrio.raw", "pyproj", "shapely")
    place = str(file.absolute()) + ("" if layer is None else LAYER + layer)
    return run_in_sandbox(task, place, *arguments, where=file.name, size=size, needs=needs)


def polygons(path: str, frame: tuple[Any, Any, Any, str], name_column: str | None) -> Any:
    """Return a file's valid polygons, a table of name, shape (WKB) and inside.

    Runs in the child process.
    """
    lower, upper, columns, crs = frame
    domain = Domain(tuple(lower), tuple(upper), tuple(columns), crs)
    name = file_of(path)[0].name
    shapes, words, source = opened_shapes(path, [name_column] if name_column else ())
    shapes = projected(shapes, source or domain.crs, domain.crs)
    regions = regions_of(list(shapes), domain, _names(words, name_column))
    limits.VERTICES.check(int(shapely.get_num_coordinates(regions.shapes).sum()), name)
    encoded = pa.array(shapely.to_wkb(regions.shapes).tolist(), pa.binary())
    return pa.table({"name": list(regions.names), "shape": encoded, "inside": regions.inside})


def _names(words: Words, chosen: str | None) -> list[str] | None:
    column = chosen or naming_column(words)
    if column is None:
        return None
    return [label(value) or str(row) for row, value in enumerate(words[column], 1)]


def label(value: Any) -> str:
    """Name of an area from a value; whole numbers lose their fraction, missing values are ""."""
    whole = isinstance(value, float) and value.is_integer()
    text = "" if value is None else str(int(value) if whole else value)[: limits.NAME.most].strip()
    return "" if text == "nan" else text


def naming_column(words: Words) -> str | None:
    """First text column for names; columns called name first, ids last; None if there is none."""
    texts = [name for name, values in words.items() if any(isinstance(v, str) for v in values)]
    texts.sort(key=lambda name: ("name" not in name.lower(), name.lower() == "id"))
    return texts[0] if texts else None


def projected(shapes: Any, source: str, target: str) -> Any:
    """Project shapes to another CRS."""
    if source == target or known_crs(source) == known_crs(target):  # PROJ may lack an identity
        return shapes
    return shapely.transform(shapes, transformation(source, target).transform, interleaved=False)


def listed_layers(path: str) -> Any:
    """Return layers that may hold polygons, a table of ``layer``; runs in the child process."""
    file, _ = file_of(path)
    with _reading(file.name):
        kind = _kind(file)
        layers = [] if kind in _READERS else pyogrio.list_layers(_for_gdal(file, kind)).tolist()
    names = _of_polygons(layers)
    limits.LAYERS.check(len(names), file.name)
    return pa.table({"layer": pa.array(names, pa.string())})


def opened_shapes(path: str, columns: Sequence[str] = ()) -> tuple[Any, Words, str | None]:
    """Read shapes, properties by name, and the file's CRS; runs in the child process.

    Raises DataError: the file cannot be read, exceeds a limit, or lacks one of the columns.
    """
    file, layer = file_of(path)
    with _reading(file.name):
        shapes, words, crs = shapes_of(file, layer)
    if not len(shapes):
        raise DataError(f"{file.name} has no regions: give a file of polygons")
    limits.REGIONS.check(len(shapes), file.name)
    limits.VERTICES.check(int(shapely.get_num_coordinates(shapes).sum()), file.name)
    for column in columns:
        if column not in words:
            raise DataError(f"{file.name} has no column {column!r}: choose another one")
    return shapes, words, crs


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn every error of the readers about a broken file into one line."""
    try:
        yield
    except DataError:
        raise
    except Exception:
        raise DataError(
            f"{name} is incomplete, or no file of regions: export it again, or {_FORMATS}"
        ) from None


def shapes_of(
    path: Path, layer: str | None = None, most: limits.Limit = limits.REGIONS
) -> tuple[Any, Words, str | None]:
    """Read shapes, properties by name, and the file's CRS; runs in a child process.

    Raises DataError: it is text, a GeoPackage with views or virtual tables, exceeds a limit or
    lacks the layer; a damaged file raises its reader's own error.
    """
    kind = _kind(path)
    if kind not in _READERS:
        return _from_gdal(path, kind, layer, most)
    if layer is not None:
        raise DataError(f"{path.name} has no layers: leave out {LAYER + layer!r}")
    return _READERS[kind](path, most)


def _kind(path: Path) -> str:
    """The format of a file of regions."""
    with path.open("rb") as file:
        kind = recognised(file.read(1024))
    if kind == "text":
        raise DataError(f"{path.name} is no file of regions: {_FORMATS}")
    if kind == "GeoPackage":
        refuse_computing(path, path.name)
    return kind


def _for_gdal(path: Path, kind: str) -> Path | bytes:
    return shapefiles(path) if kind == "zip" else readable(path)


def _from_gdal(
    path: Path, kind: str, wanted: str | None, most: limits.Limit
) -> tuple[Any, Words, str | None]:
    file = _for_gdal(path, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = _layer(pyogrio.list_layers(file).tolist(), path.name, wanted)
        info = pyogrio.read_info(file, layer=layer, force_feature_count=True)
        most.check(info["features"], path.name)
        meta, _, wkb, values = pyogrio.raw.read(file, layer=layer)
    if kind == "GeoPackage" and layer is not None:
        types = zip(map(str, meta["fields"]), map(str, meta["dtypes"]), strict=True)
        refuse_texts(path, layer, [each for each, of in types if of.startswith(_NUMBERS)])
    words = dict(zip(map(str, meta["fields"]), (each.tolist() for each in values), strict=True))
    return shapely.from_wkb(wkb), words, meta["crs"]


def _layer(layers: Layers, name: str, wanted: str | None) -> str | None:
    """The chosen layer, else the one that may hold polygons, else the first with shapes."""
    shapes = [layer for layer, kind in layers if kind is not None]
    polygons = _of_polygons(layers)
    if wanted is not None:
        if wanted not in shapes:
            raise DataError(f"{name} has no layer {wanted!r}: it has {_several(shapes)}")
        return wanted
    if len(polygons) > 1:
        raise DataError(
            f"{name} has {len(polygons)} layers of polygons ({_several(polygons)}): name one "
            f"behind the file: {name}{LAYER}{polygons[0][:40]}"
        )
    return next(iter([*polygons, *shapes]), None)


def _of_polygons(layers: Layers) -> list[str]:
    others = ("Point", "Line")  # an "Unknown" layer may hold any geometry
    return [
        layer
        for layer, kind in layers
        if kind is not None and not any(each in kind for each in others)
    ]


def _several(layers: list[str]) -> str:
    return ", ".join(repr(layer[:40]) for layer in layers[:5]) + (", …" if layers[5:] else "")


def _from_parquet(path: Path, most: limits.Limit) -> tuple[Any, Words, str | None]:
    file = pq.ParquetFile(path)
    metadata = file.metadata
    size = sum(metadata.row_group(row).total_byte_size for row in range(metadata.num_row_groups))
    most.check(metadata.num_rows, path.name)
    limits.decoded(size, path.stat().st_size, path.name)
    geo = json.loads(metadata.metadata[b"geo"])
    column = geo["primary_column"]
    stated = geo["columns"][column].get("crs", "OGC:CRS84")
    table = file.read().to_pydict()
    shapes = shapely.from_wkb(table.pop(column))
    if KEY in metadata.metadata:  # in a release of areas, coarser areas have no shapes
        drawn = np.flatnonzero(~shapely.is_missing(shapes))
        shapes, table = shapes[drawn], {name: [table[name][at] for at in drawn] for name in table}
    return shapes, table, json.dumps(stated) if isinstance(stated, dict) else stated


def _from_json(path: Path, _most: limits.Limit) -> tuple[Any, Words, str | None]:
    """Parse shapes with the standard JSON parser, which opens no other file."""
    content = path.read_bytes()
    limits.JSON_OBJECTS.check(content.count(b"{"), path.name)
    limits.JSON_VALUES.check(content.count(b",") + content.count(b":"), path.name)
    document = json.loads(content)
    whole = document["type"] == "FeatureCollection"
    features = document["features"] if whole else [document]
    features = [each if each["type"] == "Feature" else {"geometry": each} for each in features]
    texts = [each["geometry"] and json.dumps(each["geometry"]) for each in features]
    shapes = shapely.from_geojson(np.array(texts, dtype=object))
    rows = [each.get("properties") or {} for each in features]
    names = dict.fromkeys(str(name) for row in rows for name in row)
    limits.COLUMNS.check(len(names), path.name)
    words = {name: [row.get(name) for row in rows] for name in names}
    return shapes, words, (document.get("crs") or {}).get("properties", {}).get("name", "OGC:CRS84")


_READERS = {"Parquet": _from_parquet, "GeoJSON": _from_json}
"""Readers of formats without layers; GDAL reads the others."""

_NUMBERS = ("int", "uint", "float")
"""Prefixes of the names of numeric types."""
