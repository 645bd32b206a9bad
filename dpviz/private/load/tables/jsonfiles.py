"""Text of JSON: lines of objects or features, GeoJSON, and arrays of objects.

A record is an object or a feature, and each is parsed by itself, with Python's json module. Numbers
keep their written text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.private.load.columns import MAX_LINE
from dpviz.private.load.tables.base import (
    Block,
    Column,
    Opened,
    TextFile,
    parsing,
    refuse_release,
)
from dpviz.private.load.tables.geometry import LON_LAT
from dpviz.private.load.values import numbers

FEATURES = (".geojsonl", ".geojsons")
"""Extensions of files with one feature per line."""

ROWS = 1 << 15
"""Records per block: as objects, each may take kilobytes."""

_FORMS: Any = {
    "strict": False,  # accept raw tabs and line breaks in a text: they affect one record only
    "parse_int": str,
    "parse_float": str,
    "parse_constant": lambda _: None,  # NaN is missing: as an id it would merge many units
}
_DECODER = json.JSONDecoder(**_FORMS)
_SPACE = re.compile(r"[ \t\r\n]*")
_BLANK = b" \t\n\r\v\f\x1e"
"""Blanks around a line, and the record separator of GeoJSON text sequences (RFC 8142)."""


class JsonFile(TextFile):
    """Records as JSON objects; no columns are declared, so that a record may lack any.

    The columns of a feature are its properties; those of another object are its members. The listed
    columns are the names in the first record, for a form; they are used for nothing else, except to
    detect that lines of public data are features.
    """

    declares = False
    crs: str | None = LON_LAT
    _document_crs: Any = None

    def records(self) -> Iterator[Any]:
        """Yield each value in order; values that are not objects are dropped later."""
        raise NotImplementedError

    def _list_columns(self, first: Any) -> None:
        names = islice(self._properties(first), limits.COLUMNS.most - 1)  # and the geometry
        self.columns = [Column(name.encode("utf-8", "replace").decode(), "text") for name in names]
        if self.holds_features or _is_feature(first):
            self.columns = [*self.columns, Column("geometry", "geometry")]

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        records = self.records()
        while some := list(islice(records, ROWS)):
            objects = [each for each in some if isinstance(each, dict)]
            rows = [*map(self._properties, objects)]
            columns = {name: [row.get(name) for row in rows] for name in names}
            places = feature_places(objects, self._document_crs) if geometry else None
            yield Block(len(rows), columns, places, len(some) - len(objects))

    def _properties(self, record: Any) -> dict[str, Any]:
        """The properties of a feature; another object as it is."""
        if self.holds_features or _is_feature(record):
            record = record.get("properties") if isinstance(record, dict) else None
        return record if isinstance(record, dict) else {}


class JsonLines(JsonFile):
    """One object or feature per line; a line without one is dropped."""

    def __init__(self, path: Path, opened: Opened | None = None) -> None:
        super().__init__(path, opened)
        self.holds_features = not {*path.suffixes}.isdisjoint(FEATURES)
        self._list_columns(next((row for row in self.records() if isinstance(row, dict)), {}))

    def records(self) -> Iterator[Any]:
        """Yield the value of each line that is not blank; None if the line is invalid."""
        with parsing(self.name, "JSON lines"), self._open() as file:
            long = False
            while line := file.readline(MAX_LINE):
                if not line.endswith(b"\n") and len(line) == MAX_LINE:
                    if not long:
                        yield None
                    long = True
                elif long:
                    long = False
                elif line := line.strip(_BLANK):
                    yield _value(line.removeprefix(codecs.BOM_UTF8))


class JsonDocument(JsonFile):
    """GeoJSON document (RFC 7946, and the older `crs` member), or an array of objects.

    GeoJSON is a FeatureCollection, a Feature or a geometry; an array has no geometry. A feature
    that states another CRS than the document has no place.
    """

    def __init__(self, path: Path, opened: Opened | None = None) -> None:
        super().__init__(path, opened)
        with parsing(self.name, "GeoJSON"):
            text = self._text()
        limits.JSON_OBJECTS.check(text.count("{"), self.name)
        limits.JSON_VALUES.check(text.count(",") + text.count(":"), self.name)
        records = self.records()
        first: Any = next(records, {})
        for _ in records:  # read all: the CRS may follow the features, and all must be valid
            pass
        self.crs = None
        self.holds_features = self._members is not None
        if self._members is not None:
            refuse_release(self._members, self.name)
            self._document_crs = self._members.get("crs")
            self.crs = self._named_crs() if "crs" in self._members else LON_LAT
        self._list_columns(first)

    def records(self) -> Iterator[Any]:
        """The features, or the items of an array, one at a time.

        Raises:
            DataError: the text is no JSON, or an object that is no GeoJSON.
        """
        self._members: dict[str, Any] | None = None
        with parsing(self.name, "GeoJSON"):
            scanner = _Scanner(self._text())
            if scanner.passes("["):
                yield from scanner.items("]")
            else:
                scanner.require("{")
                yield from self._features(scanner)
            scanner.require("")

    def _named_crs(self) -> str | None:
        """CRS named by the document's `crs` member (before RFC 7946); None if it is null."""
        with suppress(TypeError, KeyError):
            if self._document_crs is None or self._document_crs["type"] == "name":
                return self._document_crs and str(self._document_crs["properties"]["name"])
        raise DataError(
            f"{self.name} states its CRS in a way that is not read, such as by a link: state its "
            'name, "crs": {"type": "name", "properties": {"name": "EPSG:4326"}}'
        )

    def _features(self, scanner: _Scanner) -> Iterator[Any]:
        members: dict[str, Any] = {}
        lists_features = False
        for name in scanner.items("}"):
            scanner.require(":")
            if name == "features" and scanner.passes("["):
                lists_features = True
                yield from scanner.items("]")
            else:
                members[name] = scanner.value()
        self._members = members
        kind = members.get("type")
        if kind is None:
            raise DataError(
                f"{self.name} is not GeoJSON: give JSON records as an array of objects, or one per "
                "line in a .jsonl file"
            )
        if kind != "FeatureCollection":
            yield members if kind == "Feature" else {"geometry": members}
        elif not lists_features:
            raise ValueError("no features")

    def _text(self) -> str:
        """Decode the file; an invalid UTF-8 byte becomes a surrogate, in its record only."""
        with self._open() as file:
            content = file.read()
        encoding = json.detect_encoding(content)
        utf8 = encoding.startswith("utf-8")
        return content.decode(encoding, "surrogateescape" if utf8 else "surrogatepass")


class _Scanner:
    """Reader of a JSON text, value by value: only one record is decoded at a time."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def passes(self, mark: str) -> bool:
        """Skip the next character if it is this one; return whether it was."""
        self._skip_space()
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def require(self, mark: str) -> None:
        """Skip this character; with an empty mark, require the end of the text."""
        if not self.passes(mark) or (not mark and self._at < len(self._text)):
            raise ValueError(f"no {mark!r}")

    def value(self) -> Any:
        """Decode the value at the current position."""
        self._skip_space()
        value, self._at = _DECODER.raw_decode(self._text, self._at)
        return value

    def items(self, end: str) -> Iterator[Any]:
        """Yield the items of an array, or names of an object, after its opening bracket."""
        if self.passes(end):
            return
        while True:
            yield self.value()
            if self.passes(end):
                return
            self.require(",")

    def _skip_space(self) -> None:
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]


def _value(line: bytes) -> Any:
    try:
        return json.loads(line, **_FORMS)
    except (ValueError, RecursionError):
        return None


def _is_feature(record: Any) -> bool:
    return isinstance(record, dict) and record.get("type") == "Feature" and "geometry" in record


def feature_places(features: Sequence[Any], stated: Any) -> NDArray[np.float64]:
    """Coordinates (n, 2) of features; NaN if not a point, or if it states another CRS.

    Infinite without a geometry.

    Args:
        features: objects.
        stated: the `crs` member of the document.
    """
    places = [_place(each.get("geometry"), each, stated) for each in features]
    xy = np.column_stack([numbers([at[axis] for at in places], "geometry") for axis in (0, 1)])
    xy[[each.get("geometry") is None for each in features]] = np.inf
    return xy


def _place(geometry: Any, feature: Any, stated: Any) -> Sequence[Any]:
    """The coordinates of a point, or of a multipoint of one; None for anything else."""
    nowhere = (None, None)
    if not isinstance(geometry, dict):
        return nowhere
    if any("crs" in each and (not stated or each["crs"] != stated) for each in (feature, geometry)):
        return nowhere
    at = geometry.get("coordinates")
    if geometry.get("type") == "MultiPoint" and isinstance(at, list) and len(at) == 1:
        at = at[0]
    elif geometry.get("type") != "Point":
        return nowhere
    return at if isinstance(at, list) and 2 <= len(at) <= 4 else nowhere
