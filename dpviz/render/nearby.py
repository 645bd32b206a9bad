"""Named places of a map as a table: counts around them, and names of cells and areas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.datasets.basemap import KM_PER_DEGREE, towns
from dpviz.datasets.geography import TOWNS, to_lonlat
from dpviz.domain import Domain
from dpviz.files.arrow import numbers
from dpviz.lazy import scipy, shapely
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.areas.hexagons import level_words
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import PointRelease
from dpviz.releases.sequences.cells import cells_of
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.basemap import is_city
from dpviz.render.cells import density_scale, domain_bounds
from dpviz.render.districts import shapes_in_degrees
from dpviz.render.legend import Surface, surface_of
from dpviz.render.numbers import short, with_noise
from dpviz.render.projection import areas as square_km_of
from dpviz.render.projection import from_degrees, home_zoom, is_degrees, to_degrees
from dpviz.render.scene import PLACES, Bounds, Mark
from dpviz.trees.lattice import Float, Int

MAX_PLACES = 20
"""Most named places of one table."""
MAX_ZOOMS = 8.0
"""Zooms, beyond that of the whole area, within which its map names the places of a table."""
EARLIER_ZOOMS = 2.0
"""Zooms by which a map names a place earlier that stands out of the noise."""
MIN_DISTANCE_SHARE = 0.02
"""Least distance between two of them, as a share of the area's shorter side."""
NAME_DISTANCES = 5.0
"""The same on a map, where names take room, in such distances."""
MAX_DISTANCE_KM = 100.0
"""Largest such distance, in kilometres."""
MAX_SIDE_KM = 20.0
"""Longest side of the square around a place, in kilometres."""
MAX_CITY_KM = 300.0
"""Widest area that a title may name after its largest town, in kilometres."""
HERE_KM = 1.0
"""Distance in kilometres below which a record is "at" a place, not beside it."""
COMPASS = ("E", "NE", "N", "NW", "W", "SW", "S", "SE")
"""Points of the compass, anticlockwise from the east."""


def place_rows(release: PointRelease) -> list[dict[str, str]]:
    """Noisy counts in squares around the named places where a release is densest, sorted by it."""
    rows: list[tuple[float, dict[str, str]]] = []
    # A release with time has no map of its own, whose unit the table could share.
    surface = Surface() if release.domain.time else surface_of(density_scale(release))
    places = place_squares(domain_bounds(release.domain), release)
    answers = _counts_around(release, [box for *_, box in places])
    for (name, side, _), count, error in zip(
        places, answers.count.tolist(), answers.total_error.tolist(), strict=True
    ):
        squares = side**2 / surface.km2
        row = {
            "place": name,
            "noisy count": with_noise(count, error),
            f"per {surface}": with_noise(count / squares, error / squares),
            "square": f"{short(side)} km",
        }
        rows.append((count / squares, row))
    return [row for _, row in sorted(rows, key=lambda each: -each[0])]


def is_mostly_from_cut_cells(release: PointRelease) -> bool:
    """Return whether most of the errors of :func:`place_rows` is from cells that a square cuts."""
    places = place_squares(domain_bounds(release.domain), release)
    answers = _counts_around(release, [box for *_, box in places])
    return bool(np.median(answers.total_error**2 - 2 * answers.half_width**2) > 0)


def _counts_around(release: PointRelease, boxes: Sequence[Bounds]) -> RangeAnswers:
    """Noisy counts of squares in degrees."""
    in_crs = [from_degrees(box, release.domain.crs) for box in boxes]
    return release.count(np.array(in_crs).reshape(-1, 4))


def place_squares(
    bounds: Bounds, release: PointRelease | None = None
) -> list[tuple[str, float, Bounds]]:
    """Names of places in an area, with sides in km and boxes of disjoint squares around them.

    Places are those where a ``release`` is densest, which is post-processing; without one the
    largest, which depend on the public area alone. Each square reaches halfway to the nearest other
    place at most.
    """
    shorter, least = _lengths(bounds)
    names, middle = named_places(bounds, zooms=MAX_ZOOMS)
    counts = np.zeros((3, len(names)))
    if release is not None:
        counts = _counts_at(release, middle, min(least, MAX_SIDE_KM))
    chosen = _chosen(middle, least, *counts)
    away = _away(middle[chosen][:, None], middle[chosen])
    np.fill_diagonal(away, np.inf)
    sides = np.minimum(away.min(axis=1, initial=np.inf), min(MAX_SIDE_KM, shorter / 4))
    boxes = _squares(middle[chosen], sides)
    return [
        (names[row], side, box)
        for row, side, box in zip(chosen.tolist(), sides.tolist(), boxes, strict=True)
    ]


def _chosen(middle: Float, least: float, count: Float, error: Float, noise: Float) -> Int:
    """Rows of up to :data:`MAX_PLACES` places at least so many km apart, the densest first.

    ``middle``: of the places, the largest first. Of near places whose counts cannot be told apart,
    the largest is chosen. Places whose count is within its noise come last, the largest first.
    """
    apart, chosen = np.isfinite(count), list[int]()
    for row in np.argsort(-_clear(count, noise), kind="stable").tolist():
        if apart[row] and len(chosen) < MAX_PLACES:
            near = _away(middle[row], middle) < least
            alike = apart & near & (count[row] - count <= np.hypot(error, error[row]))
            chosen.append(int(np.argmax(alike)))
            apart &= _away(middle[chosen[-1]], middle) >= least
    return np.array(chosen, dtype=np.int64)


def names_by_density(marks: Sequence[Mark], release: PointRelease) -> list[Mark]:
    """Marks of a map; names of places that stand out of the release's noise come earlier.

    They have the rank of places with ten times as many people, and are shown from
    :data:`EARLIER_ZOOMS` further away, so that coloured cells have names. The densest have that of
    places with a hundred times as many, and are shown at every zoom: no name covers them.
    """
    return [_by_density(mark, release) if mark.id == PLACES else mark for mark in marks]


def _by_density(mark: Mark, release: PointRelease) -> Mark:
    bounds = domain_bounds(release.domain)
    middle = np.array(mark.table["position"].to_pylist())
    rows = np.flatnonzero(((middle > bounds[:2]) & (middle < bounds[2:])).all(axis=1))
    if not len(rows):
        return mark
    least = _lengths(bounds)[1]
    count, error, noise = _counts_at(release, middle[rows], min(least, MAX_SIDE_KM))
    clear = _clear(count, noise) > 0
    apart = min(NAME_DISTANCES * least, MAX_DISTANCE_KM)
    densest = _chosen(middle[rows], apart, count, error, noise)
    densest = densest[clear[densest]]
    table = mark.table
    for name, less, more in ("rank", 1.0, 1.0), ("from", EARLIER_ZOOMS, np.inf):
        values = np.array(table[name].to_pylist(), dtype=np.float32)
        values[rows[clear]] -= less
        values[rows[densest]] -= more
        table = table.set_column(table.column_names.index(name), name, numbers(values))
    return replace(mark, table=table)


def _counts_at(release: PointRelease, middle: Float, side: float) -> Float:
    """Noisy counts in squares around n places, their errors and those of noise alone, (3, n).

    NaN outside the domain.
    """
    domain = release.domain.without_time
    boxes = [from_degrees(box, domain.crs) for box in _squares(middle, side)]
    corners = np.array(boxes).reshape(-1, 4)
    within = ((corners[:, 2:] > domain.lower) & (corners[:, :2] < domain.upper)).all(axis=1)
    values = np.full((3, len(middle)), np.nan)
    if within.any():
        answers = release.count(corners[within])
        values[:, within] = answers.count, answers.total_error, answers.half_width
    return values


def _clear(count: Float, noise: Float) -> Float:
    """Counts, and 0 for those within their noise or unknown."""
    return np.where(count > noise, count, 0.0)


def _lengths(bounds: Bounds) -> tuple[float, float]:
    """Kilometres of the shorter side of an area, and between two places at least."""
    west, south, east, north = bounds
    shorter = float((np.array([east - west, north - south]) * _kilometres(bounds)).min())
    return shorter, min(MIN_DISTANCE_SHARE * shorter, MAX_DISTANCE_KM)


def _squares(middle: Float, sides: Float | float) -> list[Bounds]:
    """Boxes in degrees around places, of sides in km."""
    half = np.reshape(sides, (-1, 1)) / 2 / _degree_km(middle[:, 1])
    low, high = middle - half, middle + half
    return [(*one, *other) for one, other in zip(low.tolist(), high.tolist(), strict=True)]


def _away(one: Float, other: Float) -> Float:
    """Sides in km of the largest disjoint squares around two places each."""
    scale = np.minimum(_degree_km(one[..., 1]), _degree_km(other[..., 1]))
    return np.asarray((np.abs(one - other) * scale).max(axis=-1))


def cell_names(release: SequenceRelease) -> tuple[str, ...]:
    """Names of the symbols in words: of the cells of a grid, by the named places near them."""
    names, cells = release.alphabet.names, cells_of(release.header)
    if cells is None:
        return names
    boxes = to_degrees(cells.boxes, cells.domain.crs)
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    bounds = domain_bounds(cells.domain)
    side = float(np.sqrt(np.median(square_km_of(boxes))))
    return tuple(distinct(nearest_places(middles, bounds, release.header.source, side / 2), names))


def area_labels(areas: Areas, source: str) -> list[str]:
    """Labels of areas, unique on each level: of hexagons the largest town in each, or the nearest.

    They depend on the public areas alone.
    """
    if areas.resolution is None:
        return areas.labels
    bounds, shapes = domain_bounds(areas.domain), shapes_in_degrees(areas.shapes, areas.domain)
    names, spots = named_places(bounds, source)
    town, leaf = shapely.STRtree(shapes).query(shapely.points(spots), "intersects")
    town, leaf = np.array((town, leaf))[:, np.argsort(town, kind="stable")]  # the largest first
    sizes, middles = shapely.area(shapes), shapely.get_coordinates(shapely.centroid(shapes))
    labels = list[str]()
    for depth, part in enumerate(areas.slices):
        above = areas.ancestors(depth) - part.start
        surface, *moments = (np.bincount(above, each) for each in (sizes, *(sizes * middles.T)))
        words = nearest_places(np.column_stack(moments) / surface[:, None], bounds, source, 0.0)
        rows, first = np.unique(above[leaf], return_index=True)
        for row, largest in zip(rows.tolist(), town[first].tolist(), strict=True):
            words[row] = names[largest]
        labels += numbered([each or "hexagon" for each in words])
    return labels


def area_choices(areas: Areas, source: str) -> list[str]:
    """Labels of areas, unique among all levels: those of coarser hexagons state their size."""
    labels = area_labels(areas, source)
    if areas.resolution is None:
        return labels
    return [
        label if row >= areas.first_leaf else f"{label} · {level_words(level)}"
        for row, (label, level) in enumerate(zip(labels, areas.level_of.tolist(), strict=True))
    ]


def with_place_names(rows: Any, areas: Areas, source: str) -> Any:
    """Rows of a table of areas by name; of hexagons with ids, and places as names."""
    if areas.resolution is None:
        return rows
    places = dict(zip(areas.names, area_labels(areas, source), strict=True))
    named = rows.rename(columns={"name": "id"})
    named.insert(list(named.columns).index("id") + 1, "name", named["id"].map(places))
    return named


def numbered(words: Sequence[str]) -> list[str]:
    """Words on things, with a number where several have the same.

    >>> numbered(["Leeds", "York", "Leeds"])
    ['Leeds (1)', 'York', 'Leeds (2)']
    """
    alike, before = Counter(words), Counter[str]()
    result = []
    for each in words:
        before[each] += 1
        result.append(each if alike[each] == 1 else f"{each} ({before[each]})")
    return result


def distinct(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Words on things, with the own name of a thing whose words are those of another, or none."""
    alike = Counter(words)
    return [
        name if not place else place if alike[place] == 1 else f"{place} ({name})"
        for place, name in zip(words, names, strict=True)
    ]


def around(domain: Domain | None) -> str:
    """Words on the largest town of a domain, such as " around Houston"; "" of a wide one.

    They depend on the public area alone.
    """
    if domain is None or domain.dims < 2 or not is_degrees(domain.crs):
        return ""
    west, south, east, north = bounds = domain_bounds(domain.without_time)
    wide = float((np.array([east - west, north - south]) * _kilometres(bounds)).max())
    names, _ = named_places(bounds) if wide <= MAX_CITY_KM else ([], None)
    return f" around {names[0]}" if names else ""


def nearest_places(
    spots: ArrayLike,
    bounds: Bounds,
    source: str = "",
    within: float = HERE_KM,
    digits: int = 1,
) -> list[str]:
    """The named place nearest to each spot in words, such as "4 km NE of Port Meridian".

    Returns texts; empty ones where the area has no named place.

    Args:
        spots: longitude and latitude in degrees, shape (n, 2).
        source: name of the data; if it is the built-in city, its towns are the places.
        within: kilometres up to which a spot bears the place's own name.
        digits: of the distance.
    """
    at = np.asarray(spots, dtype=np.float64)
    names, middle = named_places(bounds, source)
    if not names:
        return [""] * len(at)
    scale = _kilometres(bounds)
    away, rows = scipy.spatial.cKDTree(middle * scale).query(at * scale)
    east, north = ((at - middle[rows]) * scale).T
    turn = np.rint(np.arctan2(north, east) / (np.pi / 4)).astype(int) % len(COMPASS)
    return [
        names[row]
        if km < within
        else f"{short(float(f'{km:.{digits}g}'))} km {COMPASS[way]} of {names[row]}"
        for row, km, way in zip(rows.tolist(), away.tolist(), turn.tolist(), strict=True)
    ]


def named_places(
    bounds: Bounds, source: str = "", zooms: float = np.inf
) -> tuple[list[str], Float]:
    """Names of the places in an area, the largest first, and their middles (n, 2) in degrees.

    ``zooms``: of those that its map names within so many zooms; all by default.
    """
    if is_city(bounds, source):
        order = sorted(TOWNS, key=lambda town: -town.share)
        return [town.name for town in order], to_lonlat(np.array([[t.x, t.y] for t in order]))
    named = towns(bounds, home_zoom(bounds) + zooms)
    middles = np.array([[town.lon, town.lat] for town in named]).reshape(-1, 2)
    return [town.name for town in named], middles


def _kilometres(bounds: Bounds) -> Float:
    """Kilometres of one degree to the east and to the north in the middle of an area."""
    return _degree_km(np.float64((bounds[1] + bounds[3]) / 2))


def _degree_km(latitude: Float | np.float64) -> Float:
    """Kilometres of one degree to the east and to the north at latitudes, (..., 2)."""
    across = np.cos(np.radians(latitude))
    return np.asarray(KM_PER_DEGREE * np.stack([across, np.ones_like(across)], axis=-1))
