"""Taxi trips of the invented city: a gravity model between zones of one kilometre.

A trip starts where people are and ends where people are, less likely the farther away:
P(zone b | zone a) is proportional to weight(b) · exp(−distance / 4 km), with a floor so that some
trips are long. Synthetic: no real location.
"""

from __future__ import annotations

import numpy as np

from dpviz.datasets.city import people, random_indices, street_points, venue_points
from dpviz.datasets.geography import Array, to_lonlat
from dpviz.datasets.streets import Indices

_SEED = 20_142
_ZONE_KM = 1.0
_REACH_KM = 4.0
_LONG_TRIPS = 0.01
_VENUE_SHARE = 0.3


class Zones:
    """Streets and venues grouped into zones, with weights; draws places inside given zones."""

    def __init__(self) -> None:
        crowd = people()
        xy = np.vstack([crowd.network.middle, crowd.venue_xy])
        weight = np.concatenate(
            [(1 - _VENUE_SHARE) * crowd.edge_weight, _VENUE_SHARE * crowd.venue_weight]
        )
        square = np.floor(xy / _ZONE_KM).astype(np.int64)
        _, zone = np.unique(square, axis=0, return_inverse=True)
        order = np.argsort(zone, kind="stable")
        self._place = order
        self._cumulative = np.concatenate([[0.0], np.cumsum(weight[order])])
        self._start = np.searchsorted(zone[order], np.arange(zone.max() + 2))
        self.weight: Array = np.diff(self._cumulative[self._start])
        self.xy: Array = np.column_stack(
            [np.bincount(zone, column) / np.bincount(zone) for column in xy.T]
        )
        self._streets = len(crowd.edge_weight)

    def points(self, zone: Indices, random: np.random.Generator) -> Array:
        """One point (n, 2) in km in each of the zones (n,), by weight within the zone."""
        low, high = self._cumulative[self._start[zone]], self._cumulative[self._start[zone + 1]]
        target = low + random.random(len(zone)) * (high - low)
        rank = np.searchsorted(self._cumulative, target, side="right") - 1
        place = self._place[rank.clip(self._start[zone], self._start[zone + 1] - 1)]
        xy = np.empty((len(zone), 2))
        street = place < self._streets
        xy[street] = street_points(place[street], random)
        xy[~street] = venue_points(place[~street] - self._streets, random)
        return xy

    def partners(self, zone: Indices, random: np.random.Generator) -> Indices:
        """For each zone (n,) another one, drawn by gravity."""
        distance = np.hypot(*(self.xy[:, None] - self.xy[None]).transpose(2, 0, 1))
        pull = self.weight * (np.exp(-distance / _REACH_KM) + _LONG_TRIPS)
        cumulative = np.cumsum(pull / pull.sum(axis=1, keepdims=True), axis=1)
        # Row i of the table, shifted by i, makes one increasing column for a single search.
        shifted = (cumulative + np.arange(len(cumulative))[:, None]).ravel()
        chosen = np.searchsorted(shifted, zone + random.random(len(zone)), side="right")
        return np.asarray(np.clip(chosen - zone * len(cumulative), 0, len(cumulative) - 1))


def city_trips(n: int, seed: int) -> Array:
    """`n` trips (n, 4): longitude and latitude of the pick-up, then of the drop-off, in degrees."""
    random = np.random.default_rng([_SEED, seed])
    zones = Zones()
    start = random_indices(zones.weight / zones.weight.sum(), n, random)
    end = zones.partners(start, random)
    trips = np.hstack(
        [to_lonlat(zones.points(start, random)), to_lonlat(zones.points(end, random))]
    )
    return np.asarray(random.permutation(trips))
