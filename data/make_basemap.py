"""Derive the offline base map from the npm package world-atlas; see data/README.md.

    python data/make_basemap.py countries-50m.json dpviz/datasets/basemap.parquet

An arc of the topology that one country uses is a coast, one that two use is a border. Coordinates
become integers of a thousandth of a degree.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

UNITS_PER_DEGREE = 1_000


def flat(arcs):
    """All arc numbers of a nested list; ~k means arc k backwards."""
    for item in arcs:
        if isinstance(item, int):
            yield item if item >= 0 else ~item
        else:
            yield from flat(item)


def polygon(rings, arcs):
    """A polygon from rings of arc numbers."""
    closed = [np.vstack([arcs[k] if k >= 0 else arcs[~k][::-1] for k in ring]) for ring in rings]
    return shapely.Polygon(closed[0], closed[1:])


def label(country, arcs):
    """A point inside the largest part of a country."""
    parts = country["arcs"] if country["type"] == "MultiPolygon" else [country["arcs"]]
    largest = max((polygon(part, arcs) for part in parts), key=lambda part: part.area)
    return np.array([shapely.maximum_inscribed_circle(largest).coords[0]])


def visible_pieces(line):
    """The line without the artificial edges along the antimeridian and the South Pole."""
    edge = (np.abs(line[:, 0]) > 179.99) | (line[:, 1] < -89.9)
    artificial = edge[1:] & edge[:-1]
    pieces = np.split(line, np.flatnonzero(artificial) + 1)
    return [piece for piece in pieces if len(piece) > 1]


def main(source, target):
    """Read TopoJSON, write the outlines."""
    topology = json.loads(Path(source).read_text(encoding="utf-8"))
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) * scale + shift for arc in topology["arcs"]]
    countries = topology["objects"]["countries"]["geometries"]
    users = Counter(k for country in countries for k in set(flat(country.get("arcs", []))))
    rows = [
        ("coast" if users[k] == 1 else "border", None, piece)
        for k, arc in enumerate(arcs)
        for piece in visible_pieces(arc)
    ]
    rows += [
        ("country", country["properties"]["name"], label(country, arcs))
        for country in countries
        if country.get("arcs")
    ]
    lon, lat = (
        pa.array(
            [np.round(line[:, axis] * UNITS_PER_DEGREE).astype(np.int32) for *_, line in rows],
            pa.list_(pa.int32()),
        )
        for axis in (0, 1)
    )
    table = pa.table(
        {
            "kind": [kind for kind, *_ in rows],
            "name": [name for _, name, _ in rows],
            "lon": lon,
            "lat": lat,
        }
    )
    table = table.replace_schema_metadata({"source": "Natural Earth 1:50m, public domain"})
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=19,
        use_dictionary=["kind"],
        column_encoding={
            "lon.list.element": "DELTA_BINARY_PACKED",
            "lat.list.element": "DELTA_BINARY_PACKED",
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
