"""Names of coordinate columns, recognised by the words in them: the schema alone decides."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from dpviz.domain import Domain, default_columns
from dpviz.domain.crs import known_crs
from dpviz.errors import DataError
from dpviz.lists import split_list
from dpviz.private.load.columns import shown
from dpviz.private.load.tables.base import TEXTS, Column

_LONGITUDE = frozenset(
    split_list(
        "lon,lng,long,longitude,längengrad,laengengrad,länge,longitud,longitudine,lengtegraad,"
        "længdegrad,lengdegrad,pituusaste,długość,dlugosc,délka,hosszúság,долгота,довгота,"
        "γεωγραφικό μήκος,boylam,经度,經度,経度,경도,kinh độ,bujur,ลองจิจูด,देशांतर,خط الطول,"
        "קו אורך,decimallongitude",
        "names",
    )
)
_LATITUDE = frozenset(
    split_list(
        "lat,latitude,breitengrad,breite,latitud,latitudine,breedtegraad,breddegrad,leveysaste,"
        "szerokość,szerokosc,šířka,szélesség,широта,γεωγραφικό πλάτος,enlem,纬度,緯度,위도,vĩ độ,"
        "lintang,ละติจูด,अक्षांश,خط العرض,קו רוחב,decimallatitude",
        "names",
    )
)
_PLANE = frozenset(("x", "easting")), frozenset(("y", "northing"))
_GLOBE = _LONGITUDE | _PLANE[0], _LATITUDE | _PLANE[1]
"""Words of the first and the second coordinate."""

_HUMAN = frozenset(
    split_list(
        "person,user,rider,patient,customer,client,member,subscriber,passenger,driver,employee,"
        "student,participant,respondent",
        "names",
    )
)
"""Words of a column that names persons themselves."""

_PERSON = _HUMAN | {"household", "device", "phone", "imei", "card", "vehicle"}
_PERSON |= {"id", "uid", "uuid", "who"}
"""Words of a column that names persons, or what stands for one."""

_ENDS = (("pickup", "dropoff"), ("start", "end"), ("origin", "destination"), ("from", "to"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+|[^\W\d_]+")

WKT = ("wkt", "wkb", "the_geom", "geom", "geometry")
"""Columns of text or bytes that hold points as WKT or WKB, longitude or x first."""


def coordinate_candidates(existing: Sequence[Column], domain: Domain) -> list[tuple[str, ...]]:
    """The columns that may hold the coordinates, by their names.

    The domain's own columns are the only candidate where they exist. Else two columns are one
    where each has a word of a coordinate, such as ``lon`` in ``pickup_lon`` or ``MapLon``, and
    their other words are the same; names without other words come before all others. In a
    projected CRS, x and y come before longitude and latitude.
    """
    names = [column.name for column in existing]
    if set(domain.columns) <= set(names):
        return [domain.columns]
    by_name = {name.strip().casefold(): name for name in names}
    stated = [each.casefold() for each in domain.columns]
    if domain.columns != default_columns(domain.dims) and {*stated} <= {*by_name}:
        return [tuple(by_name[name] for name in stated)]
    projected = domain.crs == "" or known_crs(domain.crs).is_projected
    families = (_PLANE, _GLOBE) if projected else ((_LONGITUDE, _LATITUDE), _GLOBE)
    for first, second in families:
        if places := _places(names, first, second, domain.dims):
            return places
    return []


def recognised_columns(existing: Sequence[Column], domain: Domain) -> tuple[str, ...] | None:
    """The coordinate columns recognised by name; None if no names match."""
    candidates = coordinate_candidates(existing, domain)
    if len(candidates) > 1:
        choices = " or ".join(", ".join(map(shown, each)) for each in candidates[:4])
        raise DataError(f"several columns may be the coordinates, {choices}: name them (--columns)")
    return candidates[0] if candidates else None


def _places(
    names: Sequence[str], first: frozenset[str], second: frozenset[str], dims: int
) -> list[tuple[str, ...]]:
    """Groups of coordinate columns that share their other words; in 4-D two pairs."""
    sides: dict[tuple[str, ...], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for name in names:
        parts = _words(name)
        others = tuple(word for word in parts if word not in first | second)
        if others != parts:
            for side, known in enumerate((first, second)):
                if not known.isdisjoint(parts):
                    sides[others][side].append(name)
    pairs: dict[tuple[str, ...], list[tuple[str, ...]]] = {
        others: [(one, two) for one in ones for two in twos if one != two]
        for others, (ones, twos) in sides.items()
    }
    if dims == 4:
        return [
            (*one, *two)
            for start, end in _ENDS
            for others, ones in pairs.items()
            if start in others
            for one in ones
            for two in pairs.get(tuple(end if each == start else each for each in others), [])
        ]
    if dims != 2:
        return []
    return pairs.get((), []) or [pair for each in pairs.values() for pair in each]


def _words(name: str) -> tuple[str, ...]:
    """Words of a name, split at punctuation, digits and lower-to-upper case changes.

    >>> _words("MapLongitude"), _words("LAT_WGS84"), _words("decimalLatitude")
    (('map', 'longitude'), ('lat', 'wgs', '84'), ('decimallatitude',))
    """
    whole = name.strip().casefold()
    if whole in _LONGITUDE | _LATITUDE:
        return (whole,)
    return tuple(word.casefold() for word in _WORD.findall(name))


def person_columns(names: Sequence[str]) -> list[str]:
    """Columns whose names have a word of a person or of an identifier.

    >>> person_columns(["user_id", "riderType", "width", "Device"])
    ['user_id', 'riderType', 'Device']
    """
    return [name for name in names if not _PERSON.isdisjoint(_words(name))]


def names_persons(column: str) -> bool:
    """Return whether a name says that its column holds persons, not what stands for one.

    >>> names_persons("PersonID"), names_persons("trip_id"), names_persons("household")
    (True, False, False)
    """
    return not _HUMAN.isdisjoint(_words(column))


def wkt_column(existing: Sequence[Column]) -> str | None:
    """The text or binary column whose name says that it holds WKT or WKB."""
    cells = [each.name for each in existing if each.kind in TEXTS]
    by_name = {name.strip().casefold(): name for name in cells}
    return next((by_name[name] for name in WKT if name in by_name), None)
