"""Points of the invented city: people along streets, at venues and on farms.

Heavy-tailed as real data are: a few venues hold many records, many streets hold one or two, the
sea, the river and the park hold none. Synthetic: no real location. Each function is pure and
takes its own seed, and 1,000,000 points take well under a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpviz.datasets.geography import TOWNS, Array, habitable, plane_bounds, to_lonlat
from dpviz.datasets.streets import Indices, StreetNetwork, city_graph

_SEED = 20_141
_VENUES = 160
_VENUE_SHARE = 0.24
_FARM_SHARE = 0.012
_KERB_KM = 0.012


@dataclass(frozen=True)
class Population:
    """Probability of people's places, over the edges of the network and over venues.

    `edge_weight` (m,) sums to 1; `venue_xy` (k, 2) in km with `venue_weight` (k,), which sums to 1,
    and the standard deviation `venue_spread` (k,) in km.
    """

    network: StreetNetwork
    edge_weight: Array
    venue_xy: Array
    venue_weight: Array
    venue_spread: Array


@lru_cache(maxsize=1)
def people() -> Population:
    """The city's one population: weights of streets and venues."""
    random = np.random.default_rng(_SEED)
    network = city_graph()
    weight = network.length * _residents_per_km(network, random)
    weight[network.bridge] = 0.0
    weight /= weight.sum()

    anchors = random.choice(len(weight), _VENUES, replace=False, p=_flattened(weight))
    rank = random.permutation(_VENUES) + 1.0
    spread = np.exp(random.normal(np.log(0.04), 0.7, _VENUES)).clip(0.01, 0.25)
    venue_weight = 1 / rank / np.sum(1 / rank)
    return Population(network, weight, network.middle[anchors], venue_weight, spread)


def _residents_per_km(network: StreetNetwork, random: np.random.Generator) -> Array:
    """Relative density of records on each street: falls from each centre, rough within it."""
    density = np.full(len(network.edges), 2e-5)
    for town in TOWNS:
        r = np.hypot(*(network.middle - [town.x, town.y]).T) / town.radius
        density += town.share / town.radius**2 * np.exp(-((r / 0.5) ** 1.3))
    # Density varies smoothly between neighbourhoods, and randomly between streets.
    x, y = network.middle.T
    quarter = np.sin(x / 0.9 + 2 * np.sin(y / 1.4)) + np.sin(y / 0.7 + 2 * np.sin(x / 1.1))
    rough = np.exp(0.45 * quarter + random.normal(0, 0.8, len(density)))
    return np.asarray(density * rough * np.where(network.main, 1.8, 1.0))


def _flattened(weight: Array) -> Array:
    """Weights with a thinner tail, so that venues also stand in suburbs."""
    root = np.sqrt(weight)
    return np.asarray(root / root.sum())


def street_points(edge: Indices, random: np.random.Generator) -> Array:
    """One point (n, 2) in km for each edge number (n,): uniform along it, a few metres aside."""
    network = city_graph()
    start = network.xy[network.edges[:, 0]]
    along = network.xy[network.edges[:, 1]] - start
    normal = np.c_[-along[:, 1], along[:, 0]] / np.maximum(network.length, 1e-9)[:, None]
    aside = random.standard_normal((len(edge), 1)) * _KERB_KM
    t = random.random((len(edge), 1))
    xy = start[edge] + t * along[edge]
    return _ashore(xy + aside * normal[edge], network.xy[network.edges[edge, 0]])


def venue_points(venue: Indices, random: np.random.Generator) -> Array:
    """One point (n, 2) in km for each venue number (n,): normal around it."""
    crowd = people()
    centre = crowd.venue_xy[venue]
    offset = random.standard_normal((len(venue), 2)) * crowd.venue_spread[venue][:, None]
    xy = _ashore(centre + offset, centre + 0.1 * offset)
    return _ashore(xy, centre)


def farm_points(n: int, random: np.random.Generator) -> Array:
    """Points (n, 2) in km spread evenly over the habitable land."""
    low, high = plane_bounds()
    xy = low + random.random((2 * n + 100, 2)) * (high - low)
    return np.asarray(xy[habitable(xy)][:n])


def _ashore(xy: Array, anchor: Array) -> Array:
    """`xy` (n, 2), with points on forbidden ground moved to their anchors (n, 2)."""
    return np.where(habitable(xy)[:, None], xy, anchor)


def city_points(n: int, seed: int) -> Array:
    """`n` people of the city as longitude and latitude (n, 2) in degrees, in random order."""
    random = np.random.default_rng([_SEED, seed])
    crowd = people()
    at_venue, on_farm = (round(n * share) for share in (_VENUE_SHARE, _FARM_SHARE))
    edge = random_indices(crowd.edge_weight, n - at_venue - on_farm, random)
    venue = random_indices(crowd.venue_weight, at_venue, random)
    groups = [
        street_points(edge, random),
        venue_points(venue, random),
        farm_points(on_farm, random),
    ]
    return to_lonlat(random.permutation(np.vstack(groups)))


def random_indices(share: Array, n: int, random: np.random.Generator) -> Indices:
    """`n` indices by their shares, sorted: one multinomial draw instead of n searches."""
    return np.repeat(np.arange(len(share)), random.multinomial(n, share))
