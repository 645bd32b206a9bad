"""Metadata of a release for catalogues, with its guarantee: STAC, DCAT-AP and GeoCroissant.

STAC 1.1 (an item), DCAT-AP 3 (a dataset in JSON-LD), Croissant 1.0 with GeoCroissant 1.0. What only
the publisher knows (licence, contact, addresses) is left out: add it. Everything is from the header
and the columns of the file; the places of files are their names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpviz.domain import Domain
from dpviz.exports.data_use import data_use
from dpviz.lazy import pa, pq
from dpviz.private.curve import privacy_curve
from dpviz.releases.counts import domain_of
from dpviz.releases.release import Release
from dpviz.render.projection import to_degrees

PARQUET = "application/vnd.apache.parquet"

TERMS = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "http://schema.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

CROISSANT = "http://mlcommons.org/croissant/"
WORDS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": CROISSANT,
    "geocr": f"{CROISSANT}geo/",
    "rai": f"{CROISSANT}RAI/",
    "dct": TERMS["dct"],
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{word: f"cr:{word}" for word in WORDS.split()},
}


def stac_item(release: Release, path: Path) -> dict[str, Any]:
    """An item of a STAC catalogue; without a period its time is that of writing it."""
    box, ends = _box(release), _period(release)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    times = {"datetime": now}
    if ends is not None:
        times = {"datetime": None, "start_datetime": ends[0], "end_datetime": ends[1]}  # type: ignore[dict-item]
    return {
        "type": "Feature",
        "stac_version": "1.1.0",
        "stac_extensions": [],
        "id": _identifier(release, path),
        "geometry": None if box is None else {"type": "Polygon", "coordinates": [_ring(box)]},
        **({} if box is None else {"bbox": box}),
        "properties": {
            **times,
            "title": _title(release),
            "description": _description(release),
            **{f"privacy:{name}": value for name, value in _guarantee(release).items()},
        },
        "links": [],
        "assets": {"data": {"href": path.name, "type": PARQUET, "roles": ["data"]}},
    }


def dcat_dataset(release: Release, path: Path) -> dict[str, Any]:
    """A dataset for DCAT-AP; the address of its file is the file's name."""
    box, ends = _box(release), _period(release)
    corners = ", ".join(f"{x!r} {y!r}" for x, y in _ring(box)) if box is not None else ""
    limits = {"@type": "geosparql:wktLiteral", "@value": f"POLYGON (({corners}))"}
    bounds = {"dct:spatial": {"@type": "dct:Location", "dcat:bbox": limits}}
    times = {} if ends is None else dict(zip(("dcat:startDate", "dcat:endDate"), ends, strict=True))
    typed = {name: {"@type": "xsd:dateTime", "@value": at} for name, at in times.items()}
    return {
        "@context": TERMS,
        "@type": "dcat:Dataset",
        "dct:identifier": _identifier(release, path),
        "dct:title": {"@language": "en", "@value": _title(release)},
        "dct:description": {"@language": "en", "@value": _description(release)},
        "dcat:keyword": ["differential privacy", "location data"],
        **({} if box is None else bounds),
        **({"dct:temporal": {"@type": "dct:PeriodOfTime", **typed}} if typed else {}),
        "dct:provenance": {"@type": "dct:ProvenanceStatement", "rdfs:label": _description(release)},
        "schema:additionalProperty": _properties(release, "schema:"),
        "dcat:distribution": {
            "@type": "dcat:Distribution",
            "dcat:accessURL": {"@id": path.name},
            "dcat:mediaType": {
                "@id": f"https://www.iana.org/assignments/media-types/{PARQUET}",
                "@type": "dct:MediaType",
            },
            "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": path.stat().st_size},
        },
    }


def croissant(release: Release, path: Path) -> dict[str, Any]:
    """A data set in Croissant, with its extensions for places and for responsible use."""
    box, ends = _box(release), _period(release)
    west, south, east, north = box or (0.0,) * 4
    place = {"@type": "Place", "geo": {"@type": "GeoShape"}}
    place["geo"] |= {"box": f"{south!r} {west!r} {north!r} {east!r}"}  # type: ignore[operator]
    domain = domain_of(release)
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [f"{CROISSANT}1.0", f"{CROISSANT}geo/1.0", f"{CROISSANT}RAI/1.0"],
        "name": _title(release),
        "description": _description(release),
        "rai:personalSensitiveInformation": _description(release),
        "additionalProperty": _properties(release, ""),
        **({} if box is None else {"spatialCoverage": place}),
        **({} if domain is None else {"geocr:coordinateReferenceSystem": domain.crs}),
        **({} if ends is None else {"temporalCoverage": "/".join(ends)}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "contentUrl": path.name,
                "encodingFormat": "application/x-parquet",
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "rows",
                "name": "rows",
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"rows/{column.name}",
                        "name": column.name,
                        **_data_type(column.type),
                        "source": {
                            "fileObject": {"@id": path.name},
                            "extract": {"column": column.name},
                        },
                    }
                    for column in pq.read_schema(path)
                ],
            }
        ],
    }


CATALOGUES: dict[str, Callable[[Release, Path], dict[str, Any]]] = {
    "stac": stac_item,
    "dcat": dcat_dataset,
    "croissant": croissant,
}
"""Metadata by the name of its standard."""


def _guarantee(release: Release) -> dict[str, Any]:
    """Guarantee, price, unit and μ as plain values; of a release that is NOT PRIVATE no price."""
    header, curve = release.header, privacy_curve(release.header)
    stated: dict[str, Any] = {"guarantee": header.guarantee, "private": header.private}
    if curve is None:
        return stated
    stated |= {"epsilon": header.epsilon, "delta": header.delta, "unit": header.unit}
    stated |= {"neighbouring": header.neighbouring, "method": header.method}
    return stated if curve.mu is None else stated | {"mu": curve.mu}


def _properties(release: Release, prefix: str) -> list[dict[str, Any]]:
    """The guarantee as properties of schema.org."""
    return [
        {"@type": f"{prefix}PropertyValue", f"{prefix}name": name, f"{prefix}value": value}
        for name, value in _guarantee(release).items()
    ]


def _title(release: Release) -> str:
    return release.header.source or f"A release of {release.kind}"


def _description(release: Release) -> str:
    return str(data_use(release)["deployment"]["basic"]["description"])


def _identifier(release: Release, path: Path) -> str:
    return str(release.header.extra.get("release_id") or path.stem)


def _box(release: Release) -> list[float] | None:
    """West, south, east and north of the public box in degrees; None without one."""
    domain: Domain | None = domain_of(release)
    if domain is None or domain.without_time.dims != 2:
        return None
    return [float(each) for each in to_degrees([domain.without_time.bounds], domain.crs)[0]]


def _ring(box: list[float]) -> list[list[float]]:
    west, south, east, north = box
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def _period(release: Release) -> tuple[str, str] | None:
    """Start and end of the period in UTC; None without one, or in a cycle."""
    domain, steps = domain_of(release), getattr(release, "steps", None)
    if steps is not None:
        ends, cycle = steps.period, steps.cycle
    elif domain is not None and domain.time is not None:
        ends, cycle = domain.period, domain.cycle
    else:
        return None
    if cycle is not None:
        return None
    start, end = (datetime.fromtimestamp(each, UTC).isoformat() for each in ends)
    return start.replace("+00:00", "Z"), end.replace("+00:00", "Z")


def _data_type(arrow_type: Any) -> dict[str, Any]:
    """Type of a column in the words of Croissant."""
    types = pa.types
    if types.is_list(arrow_type) or types.is_fixed_size_list(arrow_type):
        return _data_type(arrow_type.value_type) | {"repeated": True}
    for known, name in (
        (types.is_boolean, "sc:Boolean"),
        (types.is_integer, "sc:Integer"),
        (types.is_floating, "sc:Float"),
        (types.is_timestamp, "sc:DateTime"),
    ):
        if known(arrow_type):
            return {"dataType": name}
    return {"dataType": "sc:Text"}
