r"""Derive the offline base map from Natural Earth; see data/README.md.

    python data/make_basemap.py countries-50m.json land-50m.json ne_50m_lakes.json \
        ne_10m_populated_places_simple.json ne_50m_admin_1_states_provinces.json \
        dpviz/datasets/basemap.parquet
    python data/make_basemap.py countries-10m.json land-10m.json dpviz/datasets/shores.parquet

The second has finer land, cut into squares, and borders; coasts are the rings of its land where
they do not follow a square's edge.

An arc of the topology that one country uses is a coast, one that two use is a border. Land is its
outer rings; its holes, and lakes, are water. The area of a country or a state is a box, its
south-western and its north-eastern corner. Coordinates become integers of a thousandth of a degree.
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
SQUARE = 5
"""Degrees across of the squares of fine land: few of them are near a map."""

APART = 6
"""Degrees between parts of a country from which on its box leaves the smaller one out."""

WORDS = {
    "Barb.": "Barbuda",
    "Br.": "British",
    "Dem.": "Democratic",
    "Eq.": "Equatorial",
    "Fr.": "French",
    "Geo.": "Georgia",
    "Gren.": "Grenadines",
    "Herz.": "Herzegovina",
    "I.": "Island",
    "Is.": "Islands",
    "N.": "Northern",
    "Rep.": "Republic",
    "S.": "South",
    "St.": "Saint",
    "Ter.": "Territory",
    "Vin.": "Vincent",
    "W.": "Western",
}
"""Names of countries are short on a map; who looks for one writes it in full."""


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


def parts(country, arcs):
    """The polygons of a country, the largest first."""
    rings = country["arcs"] if country["type"] == "MultiPolygon" else [country["arcs"]]
    return sorted((polygon(part, arcs) for part in rings), key=lambda part: -part.area)


def bounds(part):
    """The box of a polygon; of one across ±180 degrees, that of its western side."""
    lon, lat = shapely.get_coordinates(part).T
    if np.ptp(lon) > 180 > np.ptp(lon % 360):
        lon = np.minimum(lon % 360, 180)
    return shapely.box(lon.min(), lat.min(), lon.max(), lat.max())


def box(polygons):
    """Corners of a box around the largest polygon, and all whose boxes lie near it as it grows."""
    whole, *others = map(bounds, polygons)
    while closer := [each for each in others if each.distance(whole) < APART]:
        others = [each for each in others if each not in closer]
        whole = shapely.box(*shapely.total_bounds([whole, *closer]))
    return np.array(whole.bounds).reshape(2, 2)


def visible_pieces(line):
    """The line without the artificial edges along the antimeridian and the South Pole."""
    edge = (np.abs(line[:, 0]) > 179.99) | (line[:, 1] < -89.9)
    artificial = edge[1:] & edge[:-1]
    pieces = np.split(line, np.flatnonzero(artificial) + 1)
    return [piece for piece in pieces if len(piece) > 1]


def decoded(source):
    """A topology and its arcs in degrees."""
    topology = json.loads(Path(source).read_text(encoding="utf-8"))
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) * scale + shift for arc in topology["arcs"]]
    return topology["objects"], arcs


def outlines(source):
    """Coasts and borders."""
    objects, arcs = decoded(source)
    countries = objects["countries"]["geometries"]
    users = Counter(k for country in countries for k in set(flat(country.get("arcs", []))))
    for k, arc in enumerate(arcs):
        for piece in visible_pieces(arc):
            yield "coast" if users[k] == 1 else "border", None, None, 0, piece


def names(source):
    """Names of countries, each at a point inside its largest part; and their areas."""
    objects, arcs = decoded(source)
    for country in objects["countries"]["geometries"]:
        if country.get("arcs"):
            polygons, name = parts(country, arcs), country["properties"]["name"]
            point = np.array([shapely.maximum_inscribed_circle(polygons[0]).coords[0]])
            area = sum(part.area for part in polygons)
            rank = int(np.clip(5 - np.log10(max(area, 1e-3)), 1, 8))
            yield "country", name, None, rank, point
            full = " ".join(WORDS.get(word, word) for word in name.split())
            yield "area", full, None, rank, box(polygons)


def states(source):
    """Areas of the states of large countries."""
    for feature in json.loads(Path(source).read_text(encoding="utf-8"))["features"]:
        state = feature["properties"]
        polygons = shapely.get_parts(shapely.geometry.shape(feature["geometry"]))
        corners = box(sorted(polygons, key=lambda part: -part.area))
        yield "area", state["name"], state["admin"], int(state["scalerank"]), corners


def ground(source):
    """Rings of land and of the water inside it."""
    objects, arcs = decoded(source)
    for shape in objects["land"]["geometries"]:
        for part in shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]:
            if sum(len(arcs[k if k >= 0 else ~k]) for k in part[0]) > 3:  # not a speck
                yield from rings(polygon(part, arcs))


def rings(shape, kind="land"):
    """The outer ring of a polygon, and its holes as water."""
    yield kind, None, None, 0, shapely.get_coordinates(shape.exterior)
    for hole in shape.interiors:
        yield "water", None, None, 0, shapely.get_coordinates(hole)


def lakes(source):
    """The larger lakes."""
    features = json.loads(Path(source).read_text(encoding="utf-8"))["features"]
    for feature in features:
        for part in shapely.get_parts(shapely.geometry.shape(feature["geometry"])):
            yield "water", None, None, 0, shapely.get_coordinates(part.exterior)


def places(source):
    """Towns with the country they are in, the important first.

    Where a country has two of one name, with the state, too.
    """
    features = json.loads(Path(source).read_text(encoding="utf-8"))["features"]
    towns = [feature["properties"] for feature in features]
    times = Counter((town["name"], town["adm0name"]) for town in towns)
    for feature in sorted(features, key=lambda each: each["properties"]["scalerank"]):
        town, point = feature["properties"], np.array([feature["geometry"]["coordinates"]])
        within = town["adm0name"]
        if times[town["name"], within] > 1 and town["adm1name"]:
            within = f"{town['adm1name']}, {within}"
        yield "place", town["name"], within, int(town["scalerank"]), point


def coarse(countries, land, water, towns, provinces):
    """All that a map shows down to the scale of a country, and what its area may be named by."""
    shapes = [*ground(land), *lakes(water), *outlines(countries)]
    return [*shapes, *names(countries), *states(provinces), *places(towns)]


def fine(countries, land):
    """Land and borders alone."""
    rows = [row for row in outlines(countries) if row[0] == "border"]
    whole = np.array([shapely.make_valid(shapely.Polygon(row[-1])) for row in ground(land)])
    tree = shapely.STRtree(whole)
    for west in range(-180, 180, SQUARE * 6):  # a large square first: cutting a continent is slow
        for south in range(-90, 90, SQUARE * 6):
            large = shapely.box(west, south, west + SQUARE * 6, south + SQUARE * 6)
            cut = shapely.make_valid(shapely.clip_by_rect(whole[tree.query(large)], *large.bounds))
            for x in range(west, west + SQUARE * 6, SQUARE):
                for y in range(south, south + SQUARE * 6, SQUARE):
                    square = shapely.box(x, y, x + SQUARE, y + SQUARE)
                    inside = shapely.intersection(cut, square)
                    for part in shapely.get_parts(shapely.get_parts(inside)):
                        if part.geom_type == "Polygon" and not part.is_empty:
                            ring = shapely.get_coordinates(part.exterior)
                            rows.append(("land", None, None, 0, ring))
    return rows


def main(*sources_and_target):
    """Read the sources, write the base map."""
    *sources, target = sources_and_target
    rows = fine(*sources) if len(sources) == 2 else coarse(*sources)
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
            "name": [name for _, name, *_ in rows],
            "within": [within for _, _, within, *_ in rows],
            "rank": np.array([rank for *_, rank, _ in rows], dtype=np.int8),
            "lon": lon,
            "lat": lat,
        }
    )
    table = table.replace_schema_metadata(
        {"source": "Natural Earth, public domain; see data/README.md"}
    )
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=19,
        use_dictionary=["kind", "within"],
        column_encoding={
            "lon.list.element": "DELTA_BINARY_PACKED",
            "lat.list.element": "DELTA_BINARY_PACKED",
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
