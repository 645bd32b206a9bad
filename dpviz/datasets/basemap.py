"""The offline base map: land, lakes, rivers, coasts, borders, names, areas.

Shapes are Natural Earth's, in the public domain: `basemap.parquet` (1:50m) and `shores.parquet`
(1:10m). Names of places are GeoNames' (CC BY 4.0): `places.parquet`. `data/make_basemap.py` makes
them; `data/README.md` gives the command. Nothing is fetched at run time.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.files import arrow
from dpviz.lazy import pa, pq, shapely

UNITS_PER_DEGREE = 1_000  # coordinates are stored as integers; the sources are no more precise
COARSE, FINE, NAMES = "basemap.parquet", "shores.parquet", "places.parquet"
SQUARE_DEGREES = 5
"""Side in degrees of the squares that fine land is cut into."""
FINE_DEGREES = 5.0
"""Largest width in degrees that is shown with the finer outlines."""
SHAPES = "Natural Earth"
PLACES = "GeoNames (CC BY 4.0)"
"""Credits that a map with these shapes or names shows."""

Bounds = tuple[float, float, float, float]
WORLD: Bounds = (-180.0, -90.0, 180.0, 90.0)
KM_PER_DEGREE = 111.2
"""Kilometres per degree from south to north."""
MARGIN = 0.5
"""Largest margin in degrees around the shape of a country or state in its box."""
MIN_TOWN_PEOPLE = 60_000
"""Smallest population of a place in the list of areas; :func:`town_area` finds smaller ones."""
TOWN_RADIUS_KM = {5_000_000: 30.0, 1_000_000: 20.0, 200_000: 12.0, MIN_TOWN_PEOPLE: 8.0, 0: 4.0}
"""Kilometres from a town's centre to the sides of its box, by minimum population."""
PLAIN = str.maketrans(dict(zip("ØøŁłĐđÐðıß", (*"OoLlDdDdi", "ss"), strict=True)))
"""Letters that no mark can be taken from."""
UMLAUTS = str.maketrans({"Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ä": "ae", "ö": "oe", "ü": "ue"})
POLYGON = 3
"""Shapely's number of the type."""

STATES_WIDTH = {1: 100.0, 0: 300.0}
"""Largest width in degrees of a map with borders of states, by their rank; rivers likewise."""

LINES = ("state", "border", "river", "coast")
FILLED = ("land", "water")
"""Kinds of shapes, in the order in which they are drawn over each other."""


@dataclass(frozen=True)
class Place:
    """A named point: a country or a town.

    ``rank`` is about 0 for the most important and grows; ``start`` is the zoom from which there is
    room for the name.
    """

    name: str
    lon: float
    lat: float
    rank: float
    start: float


@dataclass(frozen=True)
class _File:
    """The file's rows: kinds and names, and the degrees of their points one after the other."""

    kind: NDArray[Any]
    name: list[str | None]
    within: list[str | None]
    rank: NDArray[np.int64]
    start: NDArray[np.int64]
    degrees: NDArray[np.float64]

    def rows(self, kind: str, bounds: Bounds | None = None) -> NDArray[np.int64]:
        """Numbers of the rows of a kind, or of those that may reach into a rectangle."""
        chosen = self.kind == kind
        if bounds is not None:
            low = np.minimum.reduceat(self.degrees, self.start[:-1])
            high = np.maximum.reduceat(self.degrees, self.start[:-1])
            across = high[:, 0] - low[:, 0] > 180  # may be a ring across ±180 degrees
            chosen &= across | ((low[:, 0] <= bounds[2]) & (high[:, 0] >= bounds[0]))
            chosen &= (low[:, 1] <= bounds[3]) & (high[:, 1] >= bounds[1])
        return np.flatnonzero(chosen)

    def points(self, row: int) -> NDArray[np.float64]:
        """Longitude and latitude of a row's points, (k, 2)."""
        return np.asarray(self.degrees[self.start[row] : self.start[row + 1]])


def _table(name: str) -> Any:
    # Read by path and in this thread: if an Arrow thread still held a file object of Python when a
    # command ends, a signal would kill the process. pq.read_table would import pandas.
    with as_file(files("dpviz.datasets").joinpath(name)) as path:
        return pq.ParquetFile(path).read(use_threads=False)


@cache
def _file(name: str = COARSE) -> _File:
    table = _table(name)
    lengths = arrow.number_array(table["lon"].combine_chunks().value_lengths())
    xy = [arrow.number_array(table[axis].combine_chunks().flatten()) for axis in ("lon", "lat")]
    return _File(
        np.array(table["kind"].to_pylist()),
        table["name"].to_pylist(),
        table["within"].to_pylist(),
        np.array(table["rank"].to_pylist(), dtype=np.int64),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.column_stack(xy) / UNITS_PER_DEGREE,
    )


@cache
def _towns() -> tuple[Any, dict[str, NDArray[Any]]]:
    """The table of towns, and its columns of numbers."""
    table = _table(NAMES).combine_chunks()
    numbers = ("lon", "lat", "population", "start")
    columns = {name: arrow.number_array(table[name].combine_chunks()) for name in numbers}
    return table, columns


def countries(bounds: Bounds | None = None) -> list[Place]:
    """Countries whose middle lies in a rectangle, the large first."""
    file, places = _file(), []
    west, south, east, north = bounds or WORLD
    for row in file.rows("country").tolist():
        lon, lat = file.points(row)[0].tolist()
        if west <= lon <= east and south <= lat <= north:
            rank = int(file.rank[row]) / 10
            start = max(0.0, 0.7 * (rank - 1))
            places.append(Place(file.name[row] or "", lon, lat, rank, start))
    return sorted(places, key=lambda place: place.rank)


def towns(bounds: Bounds, zoom: float) -> list[Place]:
    """Towns of a rectangle that are named at a zoom (deck.gl's), the large first."""
    table, columns = _towns()
    west, south, east, north = (side * UNITS_PER_DEGREE for side in bounds)
    lon, lat, start = (columns[name] for name in ("lon", "lat", "start"))
    near = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north) & (start <= zoom)
    rows = np.flatnonzero(near)
    rows = rows[np.argsort(-columns["population"][rows], kind="stable")]
    names = table["name"].take(pa.array(rows)).to_pylist()
    degrees = np.column_stack([lon, lat])[rows] / UNITS_PER_DEGREE
    rank = 7 - np.log10(columns["population"][rows])
    columns_of = (names, *degrees.T.tolist(), rank.tolist(), start[rows].astype(float).tolist())
    return [Place(*each) for each in zip(*columns_of, strict=True)]


def named_areas() -> dict[str, Bounds]:
    """West, south, east and north by name: of countries, of states of four large ones, of towns.

    The last names are spellings of others in plain letters, as a list finds what it shows.

    A country's box is wider than what is drawn of it, as small islands are not. Of a town only the
    centre is known: its box reaches :data:`TOWN_RADIUS_KM` kilometres.
    """
    file, areas = _file(), {}
    for row in file.rows("area").tolist():
        (west, south), (east, north) = file.points(row).tolist()
        margin = min(MARGIN, max(east - west, north - south) / 20)
        name = ", ".join(filter(None, (file.name[row], file.within[row])))
        areas[name] = west - margin, south - margin, east + margin, north + margin
    states = set(areas)
    table, columns = _towns()
    people = columns["population"]
    rows = np.flatnonzero(people >= MIN_TOWN_PEOPLE)
    rows = rows[np.argsort(-people[rows], kind="stable")]
    chosen = table.select(["name", "within"]).take(pa.array(rows)).to_pylist()
    for row, town in zip(rows.tolist(), chosen, strict=True):
        name = f"{town['name']}, {town['within']}"
        if name in states:
            name = f"{town['name']} (city), {town['within']}"
        areas.setdefault(name, _town_box(row))
    for name in list(areas):
        for spelling in sorted(ascii_spellings(name)):
            areas.setdefault(spelling, areas[name])
    return {name: _outwards(box) for name, box in areas.items()}


def town_area(name: str) -> Bounds | None:
    """West, south, east and north of the largest place of this name; None if no map names one."""
    table, columns = _towns()
    wanted, names = name.partition(",")[0].strip(), table["name"].to_pylist()
    rows = [row for row, each in enumerate(names) if each.casefold() == wanted.casefold()]
    if not rows:
        wanted = folded(wanted)
        rows = [row for row, each in enumerate(names) if folded(each) == wanted]
    if not rows:
        return None
    return _outwards(_town_box(max(rows, key=columns["population"].__getitem__)))


def ascii_spellings(name: str) -> set[str]:
    """A name without marks on its letters, and with the German ae, oe, ue and ss in their place.

    >>> sorted(ascii_spellings("Göttingen")), ascii_spellings("Łódź"), ascii_spellings("Bonn")
    (['Goettingen', 'Gottingen'], {'Lodz'}, set())
    """
    return {_unmarked(name), _unmarked(name.translate(UMLAUTS))} - {name}


def folded(name: str) -> str:
    """Key that all spellings of a name share; `finder.js` has the same rule.

    >>> {folded(name) for name in ("Göttingen", "gottingen", "GOETTINGEN")}
    {'gottingen'}
    """
    return re.sub("([aou])e", r"\1", _unmarked(name.casefold()))


def _unmarked(name: str) -> str:
    if name.isascii():
        return name
    letters = unicodedata.normalize("NFKD", name.translate(PLAIN))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _town_box(row: int) -> Bounds:
    columns = _towns()[1]
    lon, lat, people = (float(columns[name][row]) for name in ("lon", "lat", "population"))
    lon, lat = lon / UNITS_PER_DEGREE, lat / UNITS_PER_DEGREE
    high = next(km for most, km in TOWN_RADIUS_KM.items() if people >= most) / KM_PER_DEGREE
    wide = high / math.cos(math.radians(lat))
    return lon - wide, lat - high, lon + wide, lat + high


def _outwards(box: Bounds) -> Bounds:
    """A box in hundredths of a degree, on the Earth."""
    west, south = (math.floor(100 * side) / 100 for side in box[:2])
    east, north = (math.ceil(100 * side) / 100 for side in box[2:])
    return max(west, WORLD[0]), max(south, WORLD[1]), min(east, WORLD[2]), min(north, WORLD[3])


def _lines(kind: str, bounds: Bounds | None, fine: bool) -> list[NDArray[np.float64]]:
    """The rings or lines of a kind near a rectangle; rivers are in the coarse file alone."""
    file = _file(FINE if fine and kind != "river" else COARSE)
    across = bounds[2] - bounds[0] if bounds else 360.0
    if kind == "river" and across > max(STATES_WIDTH.values()):
        return []
    if kind == "state" and not fine:  # maps of a continent show those of wide countries only
        most = next((rank for rank, width in STATES_WIDTH.items() if across <= width), None)
        rows = file.rows(kind, bounds) if most is not None else np.zeros(0, dtype=np.int64)
        return [file.points(row) for row in rows.tolist() if file.rank[row] <= (most or 0)]
    if not (fine and kind == "coast"):
        return [file.points(row) for row in file.rows(kind, bounds)]
    lines = []
    for row in file.rows("land", bounds).tolist():
        ring = file.points(row)
        along = (ring[1:] == ring[:-1]) & (
            ring[1:] % SQUARE_DEGREES == 0
        )  # along a square, not a coast
        pieces = np.split(ring, np.flatnonzero(along.any(axis=1)) + 1)
        lines += [piece for piece in pieces if len(piece) > 1]
    return lines


def base_map(
    bounds: Bounds | None = None, tolerance: float = 0.0, *, fine: bool = False
) -> dict[str, Any]:
    """The base map as a GeoJSON FeatureCollection in EPSG:4326.

    Args:
        bounds: west, south, east, north in degrees; only what lies within. None: the whole Earth.
        tolerance: largest simplification of outlines, in degrees.
        fine: shapes of 1:10m in place of 1:50m.

    Returns:
        Features with the property `kind`: of :data:`FILLED` (MultiPolygon without holes: water lies
        on land), of :data:`LINES` (MultiLineString), and `country` (Point, with `name`).
    """
    features = []
    for kind in (*FILLED, *LINES):
        lines = _lines(kind, bounds, fine)
        filled = kind in FILLED
        if filled:
            whole = [shapely.polygons(ring) for line in lines for ring in _split(line)]
        else:
            whole = [shapely.linestrings(part) for line in lines for part in unwrapped(line)]
        shapes = np.array(whole, dtype=object)
        if bounds is not None:
            edge = shapely.bounds(shapes)
            west, south, east, north = bounds
            near = (edge[:, 0] <= east) & (edge[:, 2] >= west)
            near &= (edge[:, 1] <= north) & (edge[:, 3] >= south)
            # Clipping by a rectangle may return a large polygon that crosses itself.
            shapes = (
                shapely.intersection(shapely.make_valid(shapes[near]), shapely.box(*bounds))
                if filled
                else shapely.clip_by_rect(shapes[near], *bounds)
            )
        shapes = shapely.simplify(shapes, tolerance) if tolerance else shapes
        if kind == "land" and fine:  # join the squares of land again
            shapes = np.array([shapely.union_all(shapes)])
        pieces = shapely.get_parts(shapely.get_parts(shapes))
        pieces = pieces[~shapely.is_empty(pieces)]
        if filled:
            pieces = pieces[shapely.get_type_id(pieces) == POLYGON]
            rings = [[_rounded(shapely.get_exterior_ring(part))] for part in pieces]
            features.append(_feature("MultiPolygon", rings, kind=kind))
        else:
            features.append(_feature("MultiLineString", [_rounded(p) for p in pieces], kind=kind))
    features += [
        _feature("Point", [place.lon, place.lat], kind="country", name=place.name)
        for place in countries(bounds)
    ]
    return {"type": "FeatureCollection", "features": features}


def sketch(bounds: Bounds) -> dict[str, list[NDArray[np.float64]]]:
    """Rings of coarse land and water, and lines of borders, that reach into a rectangle.

    In a tenth of the time of :func:`base_map`, for a small picture: nothing is clipped, but a line
    that stays beyond one side or corner of the rectangle goes straight there.
    """
    file, drawn = _file(), {}
    low, high = np.reshape(bounds, (2, 2))
    for kind in (*FILLED, "border"):
        drawn[kind] = list[NDArray[np.float64]]()
        for row in file.rows(kind, bounds).tolist():
            lon, lat = file.points(row).T
            lon = np.unwrap(lon, period=360.0)  # goes on beyond ±180 degrees
            for turn in (0.0, -360.0, 360.0) if np.abs(lon).max() > 180 else (0.0,):
                line = np.column_stack([lon + turn, lat])
                beyond = ((line > high).astype(int) - (line < low)) @ (3, 1)  # 0: inside
                ends = np.append(beyond[1:] != beyond[:-1], True)
                drawn[kind].append(line[(beyond == 0) | ends | np.roll(ends, 1)])
    return drawn


def unwrapped(line: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """A line cut where it leaves the map at ±180 degrees to go on at the other side.

    >>> [part.tolist() for part in unwrapped(np.array([[178, 0], [179, 1], [-179, 2], [-178, 3]]))]
    [[[178, 0], [179, 1]], [[-179, 2], [-178, 3]]]
    """
    jumps = np.flatnonzero(np.abs(np.diff(line[:, 0])) > 180) + 1
    return [part for part in np.split(line, jumps) if len(part) > 1]


def _split(ring: NDArray[np.float64]) -> list[Any]:
    """A ring as rings within ±180 degrees; one that goes around the pole is left as it is."""
    turns = np.round(np.diff(ring[:, 0]) / 360)
    if not turns.any() or turns.sum():
        return [shapely.linearrings(ring)]
    whole = ring - np.column_stack([360 * np.cumsum([0, *turns]), np.zeros(len(ring))])
    sides = [
        shapely.intersection(
            shapely.make_valid(shapely.polygons(whole + np.array([shift, 0]))), shapely.box(*WORLD)
        )
        for shift in (-360, 0, 360)
    ]
    pieces = shapely.get_parts(shapely.get_parts(np.array(sides)))
    return [*shapely.get_exterior_ring(pieces[shapely.get_type_id(pieces) == POLYGON])]


def _rounded(line: Any) -> list[list[float]]:
    coordinates: list[list[float]] = np.round(shapely.get_coordinates(line), 3).tolist()
    return coordinates


def _feature(geometry: str, coordinates: list[Any], **properties: str) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": {"type": geometry, "coordinates": coordinates},
        "properties": properties,
    }
