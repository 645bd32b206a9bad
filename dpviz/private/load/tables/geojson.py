"""GeoJSON, and arrays of plain objects, by the standard parser, which opens nothing else than the
text it is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.private.load.tables.base import Block, Column, Table, parsing, refuse_release, whole_rows
from dpviz.private.load.tables.formats import Format
from dpviz.private.load.values import number_of, typed


class GeoJson(Table):
    """A FeatureCollection, a Feature or a geometry (RFC 7946; also the older `crs` member); or an
    array of objects without geometry, as many services answer. A feature that states another CRS
    than the file has no place.

    It declares no columns: a feature may lack any, and those of the first one are for a form.
    Numbers stay the text that they are written as.
    """

    declares = False

    def __init__(self, path: Path) -> None:
        self.name = path.name
        with parsing(self.name, "GeoJSON"):
            text = _text(path.read_bytes())
        limits.JSON_OBJECTS.check(text.count("{"), self.name)
        limits.JSON_VALUES.check(text.count(",") + text.count(":"), self.name)
        with parsing(self.name, "GeoJSON"):
            document = json_value(text)
            of_objects = isinstance(document, list)
            self._features = _objects(document) if of_objects else _features(document, self.name)
        if not of_objects:
            self.crs = stated_crs(document, self.name)
        first = next(map(_properties, self._features), {})
        named = columns_of_first(first)
        self.columns = named if of_objects else [*named, Column("geometry", "geometry")]

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The features; other items are dropped."""
        every = (each if isinstance(each, dict) else None for each in self._features)
        for features, broken in whole_rows(every):
            rows = [_properties(each) for each in features]
            columns = columns_of_objects(rows, names, numeric)
            places = None
            if geometry:
                places = feature_places(features, self.crs)
            yield Block(len(rows), columns, places, broken)


def json_value(text: bytes | str) -> Any:
    """A JSON value whose numbers stay the text that they are written as.

    A tab or a line break may stand in a text, though the format forbids it: it is one record's.
    NaN and Infinity, which it forbids too, are no values: as an id, NaN would be one of many.
    """
    none = lambda _: None  # noqa: E731
    return json.loads(text, strict=False, parse_int=str, parse_float=str, parse_constant=none)


def _text(content: bytes) -> str:
    """JSON as text; a byte that is not UTF-8 is a surrogate in its record, and costs no other."""
    encoding = json.detect_encoding(content)
    utf8 = encoding.startswith("utf-8")
    return content.decode(encoding, "surrogateescape" if utf8 else "surrogatepass")


def columns_of_first(record: dict[str, Any]) -> list[Column]:
    """Columns for a form, of a file that declares none: the names in its first record, which
    decides nothing else and may have any, and any number of them.
    """
    names = islice(record, limits.COLUMNS.most - 1)  # beside the geometry
    return [Column(name.encode("utf-8", "replace").decode(), "text") for name in names]


def columns_of_objects(
    rows: Sequence[dict[str, Any]], names: Sequence[str], numeric: Sequence[str]
) -> dict[str, Any]:
    """Columns of records of which each may lack any, cell by cell."""
    return typed({name: [row.get(name) for row in rows] for name in names}, numeric)


def _features(document: Any, name: str) -> list[Any]:
    """The features of a GeoJSON document.

    Raises:
        DataError: it is another one, or an exported release.
    """
    kind = document.get("type")
    if kind is None:
        raise DataError(
            f"{name} is no GeoJSON: give JSON records as an array of objects, or one per line in a "
            ".jsonl file"
        )
    if kind == "FeatureCollection":
        refuse_release(document, name)
        return list(document["features"])
    return [document if kind == "Feature" else {"geometry": document, "properties": {}}]


def _objects(records: list[Any]) -> list[Any]:
    """Features without a place of records that are objects; None for another, which is broken."""
    return [{"properties": each} if isinstance(each, dict) else None for each in records]


def _properties(feature: Any) -> dict[str, Any]:
    properties = feature.get("properties") if isinstance(feature, dict) else None
    return properties if isinstance(properties, dict) else {}


def stated_crs(document: Any, name: str) -> str | None:
    """The CRS of a GeoJSON document: WGS 84 where it states none, None where it is null.

    Raises:
        DataError: it is stated in another way than by its name or by its number in EPSG.
    """
    if "crs" in document and document["crs"] is None:
        return None
    crs = _named_crs(document)
    if crs is None:
        raise DataError(
            f"{name} states its CRS in a way that is not read, such as by a link: state its name, "
            '"crs": {"type": "name", "properties": {"name": "EPSG:4326"}}'
        )
    return crs


def _named_crs(item: Any) -> str | None:
    """The CRS that a `crs` member names; None where it names none."""
    crs = item.get("crs", _DEFAULT_CRS)
    kind = crs.get("type") if isinstance(crs, dict) else None
    properties = crs.get("properties") if isinstance(crs, dict) else None
    if not isinstance(properties, dict):
        return None
    if isinstance(kind, str) and kind.lower() == "name":
        named = properties.get("name")
        return named if isinstance(named, str) and named else None
    code = properties.get("code")
    return f"EPSG:{code}" if kind == "EPSG" and isinstance(code, str) else None


def feature_places(features: Sequence[Any], crs: str | None) -> NDArray[np.float64]:
    """Coordinates (n, 2) of features in the file's CRS; NaN for all that are no points in it."""
    xy = [_place(each.get("geometry"), each, crs) for each in features]
    return np.array(xy, dtype=np.float64).reshape(-1, 2)


def _place(geometry: Any, feature: Any, crs: str | None) -> tuple[float, float]:
    """A point, or a multipoint of one; NaN for anything else, and for one of another CRS."""
    nowhere = (np.nan, np.nan)
    if not isinstance(geometry, dict):
        return nowhere
    if any("crs" in each and not _is_of(each, crs) for each in (feature, geometry)):
        return nowhere
    at = geometry.get("coordinates")
    if geometry.get("type") == "MultiPoint" and isinstance(at, list) and len(at) == 1:
        at = at[0]
    elif geometry.get("type") != "Point":
        return nowhere
    if not isinstance(at, list) or not 2 <= len(at) <= 4:
        return nowhere
    x, y = (number_of(each) if isinstance(each, str) else np.nan for each in at[:2])
    return x, y


def _is_of(item: Any, crs: str | None) -> bool:
    """True if the CRS stated by an item has the same code as the file's CRS; no look-up."""
    named = _named_crs(item)
    return named is not None and crs is not None and _code(named) == _code(crs)


def _code(crs: str) -> str:
    """The code of a CRS in the usual ways of writing it.

    >>> _code("urn:ogc:def:crs:OGC:1.3:CRS84"), _code("EPSG:25832")
    ('EPSG:4326', 'EPSG:25832')
    """
    parts = re.split("[:/]+", re.split("DEF[:/]CRS[:/]", crs.upper())[-1])
    code = f"{parts[0]}:{parts[-1]}"
    return "EPSG:4326" if code == "OGC:CRS84" else code


_DEFAULT_CRS = {"type": "name", "properties": {"name": "OGC:CRS84"}}


FORMATS = (
    Format(
        title="GeoJSON",
        endings=(".geojson", ".json"),
        opened=lambda path, name, layer: GeoJson(path),
        needs=("pyarrow",),
        geometry=True,
    ),
)
