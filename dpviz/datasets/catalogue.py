"""The built-in data sets, found by name. A new one is one more row of `DATASETS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.datasets import city, persons, registers, rides, trips, year
from dpviz.datasets.geography import BOUNDS
from dpviz.domain import Domain
from dpviz.errors import DataError

Table = Mapping[str, NDArray[Any]]
"""Columns of equal length, by name."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A built-in data set: what it is, where it may be used, and how its records are made.

    `domain` is its public rectangle. `public` says that exact answers and seeds are allowed.
    `unit` and `time` name the columns, if any, of the privacy unit and of the time.
    """

    name: str
    title: str
    description: str
    domain: Domain
    size: int
    make: Callable[[], Table]
    public: bool = True
    licence: str = "CC0 1.0"
    source: str = "made by dpviz.datasets; synthetic: no real location"
    unit: str | None = None
    time: str | None = None

    def table(self) -> Table:
        """All columns by name, read-only; coordinates are float64 in the domain's CRS."""
        return _cached_table(self.name)

    def points(self) -> NDArray[np.float64]:
        """Coordinates (size, dims), float64, in the order of the domain's columns."""
        table = self.table()
        return np.column_stack([table[name] for name in self.domain.columns])


def _columns(names: tuple[str, ...], points: NDArray[np.float64]) -> Table:
    return dict(zip(names, points.T, strict=True))


_CITY = Domain.from_bounds(BOUNDS)
_YEAR = Domain.from_bounds(BOUNDS, period=year.PERIOD, every="1h")
_RIDES = Domain.from_bounds(BOUNDS, kind="mode", kinds=rides.MODES, value="fare", clip=rides.CLIP)
_TRIPS = Domain(_CITY.lower * 2, _CITY.upper * 2)


def _city(label: str, size: int, seed: int) -> Dataset:
    return Dataset(
        name=f"city-{label}",
        title=f"Synthetic city, {size:,} people",
        description="People along streets and at venues of an invented port with ten towns around "
        "it; the sea, the river and a park are empty.",
        domain=_CITY,
        size=size,
        make=lambda: _columns(_CITY.columns, city.city_points(size, seed)),
    )


def _trips(label: str, size: int, seed: int) -> Dataset:
    return Dataset(
        name=f"trips-{label}",
        title=f"Synthetic taxi trips, {size:,}",
        description="Pickup and drop-off (four dimensions) of trips in the invented city, with "
        "flows by a gravity model.",
        domain=_TRIPS,
        size=size,
        make=lambda: _columns(_TRIPS.columns, trips.city_trips(size, seed)),
    )


def _register(register_name: str) -> Dataset:
    return Dataset(
        name=f"register-{register_name}",
        title=f"Synthetic register {register_name.upper()}, {registers.SIZE:,} people",
        description="Addresses of one of two registers that share half of their people, with "
        "typing errors; born and income are two more attributes.",
        domain=_CITY,
        size=registers.SIZE,
        make=lambda: _columns(registers.COLUMNS, registers.register(register_name)),
    )


DATASETS: dict[str, Dataset] = {
    row.name: row
    for row in (
        _city("250k", 250_000, 0),
        _city("50k", 50_000, 1),
        _city("1m", 1_000_000, 2),
        _trips("50k", 50_000, 0),
        _trips("200k", 200_000, 1),
        Dataset(
            name="persons",
            title="Synthetic persons, a week of 5,000",
            description="Sightings of 5,000 invented persons in a week: home, work, leisure and "
            "the way between them; many records per person.",
            domain=_CITY,
            size=persons.RECORDS,
            make=persons.sightings,
            unit="person",
            time="time",
        ),
        Dataset(
            name="year",
            title="Synthetic city over a year, 300,000 sightings",
            description="Places and times in the invented city: weekday, hour and season, and two "
            "things to find on the timeline, a festival and an outage of one town.",
            domain=_YEAR,
            size=300_000,
            make=lambda: _columns(_YEAR.columns, year.city_year(300_000, 0)),
            time="time",
        ),
        Dataset(
            name="rides",
            title="Synthetic rides, 60,000, by mode",
            description="Where people of the invented city set out on foot, by bike or by car, and "
            "what they paid: three kinds, and a value to add up.",
            domain=_RIDES,
            size=60_000,
            make=lambda: rides.city_rides(60_000, 0),
        ),
        _register("a"),
        _register("b"),
    )
}
"""Every built-in data set by name; the first is the one to start with."""


@lru_cache(maxsize=4)
def _cached_table(name: str) -> Table:
    """Records of a data set, with a small cache: a session uses the same set repeatedly."""
    table = DATASETS[name].make()
    for column in table.values():
        column.flags.writeable = False
    return table


def dataset(name: str) -> Dataset:
    """The built-in data set of that name.

    Raises:
        DataError: unknown name; the message lists those that exist.
    """
    if name not in DATASETS:
        raise DataError(f"no built-in data set {name!r}: choose from {', '.join(DATASETS)}")
    return DATASETS[name]
