"""A week of the invented city's persons: home, work, leisure, and the way between them.

Each person has a home, a place of work drawn by gravity and three places for leisure. On a working
day the person is seen at home, on the way, at work, sometimes at lunch, on the way back, and on
some evenings at a place for leisure; at weekends only at home and at leisure.
Synthetic: no real location.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.datasets.geography import Array, habitable, to_lonlat
from dpviz.datasets.streets import Indices, city_graph
from dpviz.datasets.trips import Zones
from dpviz.lazy import scipy

_SEED = 20_143
_MONDAY = np.datetime64("2030-01-07T00:00:00", "s")  # an invented week
_DAYS = 7
_LEISURE = 3
RECORDS = 390_184
"""Number of sightings that `sightings()` makes with its defaults."""


def sightings(persons: int = 5_000, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Sightings of `persons` people in a week: columns `person, time, lon, lat`, sorted by both."""
    random = np.random.default_rng([_SEED, seed])
    places = _places(persons, random)
    who, hour, xy = _with_journeys(_timetable(persons, random), places, random)
    order = np.lexsort([hour, who])
    lon, lat = to_lonlat(xy[order]).T
    seconds = np.round(hour[order] * 3600).astype("timedelta64[s]")
    return {"person": who[order], "time": _MONDAY + seconds, "lon": lon, "lat": lat}


def _places(persons: int, random: np.random.Generator) -> Array:
    """Home, work and places for leisure of each person (persons, 2 + leisure, 2) in km."""
    zones = Zones()
    home = random.choice(len(zones.weight), persons, p=zones.weight / zones.weight.sum())
    visited = [home, *(zones.partners(home, random) for _ in range(1 + _LEISURE))]
    return np.stack([zones.points(zone, random) for zone in visited], axis=1)


def _timetable(persons: int, random: np.random.Generator) -> tuple[Indices, Array, Indices]:
    """Sightings at places: person (n,), hour of the week (n,), place number (n,)."""
    day = np.tile(np.arange(_DAYS), persons)
    who = np.repeat(np.arange(persons), _DAYS)
    working = (day < 5) & (random.random(len(day)) < 0.92)
    start = np.repeat(random.normal(8.6, 0.8, persons), _DAYS) + random.normal(0, 0.25, len(day))
    end = start + random.normal(8.3, 0.6, len(day))
    lunch = working & (random.random(len(day)) < 0.25)
    out = random.random(len(day)) < np.where(working, 0.35, 0.75)
    evening = np.where(working, end + 1.2, 13.5) + random.exponential(1.2, len(day))
    favourite = 2 + random.choice(_LEISURE, len(day), p=[0.6, 0.27, 0.13])

    always, home, work = np.full(len(day), True), np.full(len(day), 0), np.full(len(day), 1)
    seen = [
        (always, 6.2 + random.normal(0, 0.3, len(day)), home),
        (working, start, work),
        (lunch, start + 3.8, favourite),
        (working, end, work),
        (out, evening, favourite),
        (always, 22.6 + random.normal(0, 0.4, len(day)), home),
    ]
    columns = [
        (
            who[mask],
            24.0 * day[mask] + hour[mask].clip(0, 23.9),
            place[mask],
        )
        for mask, hour, place in seen
    ]
    who, hour, place = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort([hour, who])
    return who[order], hour[order], place[order]


def _with_journeys(
    table: tuple[Indices, Array, Indices], places: Array, random: np.random.Generator
) -> tuple[Indices, Array, Array]:
    """The sightings in km, with one or two more on the way wherever the place changes."""
    who, hour, place = table
    xy = places[who, place] + random.normal(0, 0.004, (len(who), 2))
    moved = np.flatnonzero((np.diff(who) == 0) & (np.diff(place) != 0))
    a, b = xy[moved], xy[moved + 1]
    corner = np.c_[a[:, 0], b[:, 1]]  # people walk around blocks, not through them
    on_the_way = np.vstack([0.5 * (a + corner), corner, 0.5 * (corner + b)])
    travel = np.abs(a - b).sum(axis=1) / 30.0  # km at 30 km/h
    arrival = hour[moved + 1]
    minutes = np.concatenate([arrival - f * travel for f in (0.75, 0.5, 0.25)])
    minutes = np.maximum(minutes, np.tile(hour[moved], 3) + 1e-3)
    nodes = city_graph().xy
    nodes = nodes[habitable(nodes)]
    snapped = nodes[scipy.spatial.cKDTree(nodes).query(on_the_way)[1]]
    return (
        np.concatenate([who, np.tile(who[moved], 3)]),
        np.concatenate([hour, minutes]),
        np.vstack([xy, snapped]),
    )
