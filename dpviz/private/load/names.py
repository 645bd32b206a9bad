"""Usual names of coordinate columns, in the languages that files come in."""

from __future__ import annotations

from collections.abc import Sequence

from dpviz.domain import Domain
from dpviz.private.load.tables.base import TEXTS, Column

_PLACES: tuple[tuple[str, str], ...] = (
    ("lon", "lat"),
    ("lng", "lat"),
    ("long", "lat"),
    ("longitude", "latitude"),
    ("x", "y"),
    ("easting", "northing"),
    ("point_x", "point_y"),
    ("x_coord", "y_coord"),
    ("coord_x", "coord_y"),
    ("lon_wgs84", "lat_wgs84"),
    ("decimallongitude", "decimallatitude"),
    ("längengrad", "breitengrad"),
    ("laengengrad", "breitengrad"),
    ("länge", "breite"),
    ("longitud", "latitud"),
    ("longitudine", "latitudine"),
    ("lengtegraad", "breedtegraad"),
    ("længdegrad", "breddegrad"),
    ("lengdegrad", "breddegrad"),
    ("pituusaste", "leveysaste"),
    ("długość", "szerokość"),
    ("dlugosc", "szerokosc"),
    ("délka", "šířka"),
    ("hosszúság", "szélesség"),
    ("долгота", "широта"),
    ("довгота", "широта"),
    ("γεωγραφικό μήκος", "γεωγραφικό πλάτος"),
    ("boylam", "enlem"),
    ("经度", "纬度"),
    ("經度", "緯度"),
    ("経度", "緯度"),
    ("경도", "위도"),
    ("kinh độ", "vĩ độ"),
    ("bujur", "lintang"),
    ("ลองจิจูด", "ละติจูด"),
    ("देशांतर", "अक्षांश"),
    ("خط الطول", "خط العرض"),
    ("קו אורך", "קו רוחב"),
)
_PREFIXES = ("pickup", "start", "origin", "from")
_ENDS = ("dropoff", "end", "destination", "to")
_SHORT = _PLACES[:5]

_PAIRS: tuple[tuple[str, ...], ...] = (
    ("plon", "plat", "dlon", "dlat"),
    *(
        (f"{start}_{x}", f"{start}_{y}", f"{end}_{x}", f"{end}_{y}")
        for start, end in zip(_PREFIXES, _ENDS, strict=True)
        for x, y in _SHORT
    ),
)

FAMILIES: tuple[tuple[str, ...], ...] = (
    *_PLACES,
    *((f"{start}_{x}", f"{start}_{y}") for start in _PREFIXES for x, y in _SHORT),
    *_PAIRS,
)
"""Names of coordinates that are recognised, in order of preference, whatever their case."""

_SHAPES = ("wkt", "wkb", "the_geom", "geom", "geometry", "point", "location", "shape")


def recognised_columns(existing: Sequence[Column], domain: Domain) -> tuple[str, ...] | None:
    """The columns that hold the coordinates, by their names: the domain's own, or usual ones."""
    names = [column.name for column in existing]
    if set(domain.columns) <= set(names):
        return domain.columns
    # Of names that differ in case alone, the one that is written as it is known.
    names.sort(key=lambda name: name == name.strip().casefold())
    by_name = {name.strip().casefold(): name for name in names}
    expected = tuple(name.casefold() for name in domain.columns)
    for family in (expected, *FAMILIES):
        if len(family) == domain.dims and all(name in by_name for name in family):
            return tuple(by_name[name] for name in family)
    return None


def is_coordinate(name: str, domain: Domain) -> bool:
    """Whether a name is usual for one coordinate, so that it alone is no point."""
    known = {each for family in (domain.columns, *FAMILIES) for each in family}
    return name.strip().casefold() in {each.casefold() for each in known}


def wkt_column(existing: Sequence[Column]) -> str | None:
    """The column of text or bytes whose name is usual for points as WKT or WKB."""
    cells = [each.name for each in existing if each.kind in TEXTS]
    by_name = {name.strip().casefold(): name for name in cells}
    return next((by_name[name] for name in _SHAPES if name in by_name), None)
