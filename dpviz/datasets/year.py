"""A year of the invented city: weekday, hour and season, an event and an outage to find.

People stand where those of the city do. A festival in summer draws a crowd to one place for an
afternoon and evening; in autumn the town of Eastbridge reports nothing for three days.
Synthetic: no real location.
"""

from __future__ import annotations

import numpy as np

from dpviz.datasets.city import city_points
from dpviz.datasets.geography import TOWNS, Array, habitable, to_lonlat, to_plane
from dpviz.domain.calendar import moment

PERIOD = ("2030-01-01", "2031-01-01")
"""An invented year, public."""

FESTIVAL = ("2030-06-15T13", "2030-06-15T23")
OUTAGE = ("2030-10-08", "2030-10-11")

_SEED = 20_144
_HOURS = 365 * 24
_CROWD = 0.005
_GROUND = (-10.6, 4.2)
"""Place of the festival, in kilometres."""
_SPREAD_KM = 0.15
_WORKDAY = [2, 1, 1, 1, 1, 3, 8, 14, 14, 10, 9, 10, 12, 11, 10, 11, 13, 15, 14, 11, 9, 7, 5, 3]
_WEEKEND = [6, 5, 3, 2, 1, 1, 2, 3, 5, 8, 10, 12, 13, 13, 13, 13, 13, 13, 14, 14, 13, 11, 9, 7]


def city_year(n: int, seed: int) -> Array:
    """`n` records (n, 3): longitude, latitude, and seconds since 1970 UTC, in random order."""
    random = np.random.default_rng([_SEED, seed])
    crowd, drawn = round(n * _CROWD), n + 1_000  # an outage removes some
    seconds = moment(PERIOD[0]) + 3600 * (
        random.choice(_HOURS, drawn, p=_weights()) + random.random(drawn)
    )
    everyday = np.column_stack([city_points(drawn, seed + 1_000), np.floor(seconds)])
    town = next(each for each in TOWNS if each.name == "Eastbridge")
    near = np.hypot(*(to_plane(everyday[:, :2]) - [town.x, town.y]).T) < town.radius
    silent = near & (everyday[:, 2] >= moment(OUTAGE[0])) & (everyday[:, 2] < moment(OUTAGE[1]))
    start, end = map(moment, FESTIVAL)
    xy = np.array(_GROUND) + _SPREAD_KM * random.standard_normal((crowd, 2))
    xy = np.where(habitable(xy)[:, None], xy, np.array(_GROUND))
    when = np.floor(start + (end - start) * random.beta(2.5, 2.0, crowd))
    guests = np.column_stack([to_lonlat(xy), when])
    return np.asarray(random.permutation(np.vstack([everyday[~silent][: n - crowd], guests])))


def _weights() -> Array:
    """Probability of each hour of the year: lower on weekends and in winter."""
    hours = np.datetime64(PERIOD[0], "h") + np.arange(_HOURS)
    days = hours.astype("datetime64[D]")
    weekend = (days.astype(np.int64) + 3) % 7 >= 5
    hour = (hours - days).astype(np.int64)
    shape = np.where(weekend, 0.8 * np.array(_WEEKEND)[hour], np.array(_WORKDAY)[hour])
    season = 1.0 - 0.25 * np.cos(2 * np.pi * np.arange(_HOURS) / _HOURS)
    weight = shape * season
    return np.asarray(weight / weight.sum())
