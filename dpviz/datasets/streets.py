"""The street network of the invented city: districts of bent grids, main roads, bridges.

Pure and seeded: the same network every time. Synthetic: no real location.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpviz.datasets.geography import ROADS, TOWNS, Array, Mask, habitable, in_sea, to_lonlat
from dpviz.lazy import pd, scipy

Indices = NDArray[np.int64]

_SEED = 20_140
_BLOCK_KM = 0.20
_ROAD_STEP_KM = 0.35
_RING_RADIUS_KM = 4.4


@dataclass(frozen=True)
class StreetNetwork:
    """A connected street network, with read-only columns.

    `xy` (nodes, 2) is in km, `edges` (m, 2) holds node numbers. `main` (m,) marks main roads,
    `bridge` (m,) edges over water, which hold no records.
    """

    xy: Array
    edges: Indices
    main: Mask
    bridge: Mask

    @property
    def length(self) -> Array:
        """Length in km of each edge (m,)."""
        a, b = self.xy[self.edges[:, 0]], self.xy[self.edges[:, 1]]
        return np.asarray(np.hypot(*(b - a).T))

    @property
    def middle(self) -> Array:
        """Middle of each edge (m, 2) in km."""
        return np.asarray(self.xy[self.edges].mean(axis=1))

    def nodes_table(self) -> pd.DataFrame:
        """Nodes with columns `node, lon, lat` (degrees)."""
        lon, lat = to_lonlat(self.xy).T
        return pd.DataFrame({"node": np.arange(len(lon)), "lon": lon, "lat": lat})

    def edges_table(self) -> pd.DataFrame:
        """Edges with columns `edge, src, dst, length` (km) and `main`; straight between nodes."""
        return pd.DataFrame(
            {
                "edge": np.arange(len(self.edges)),
                "src": self.edges[:, 0],
                "dst": self.edges[:, 1],
                "length": self.length,
                "main": self.main,
            }
        )

    def lines(self) -> Array:
        """Geometry of the edges (m, 2, 2): two ends, longitude and latitude in degrees."""
        return to_lonlat(self.xy)[self.edges]


def _districts(random: np.random.Generator) -> tuple[Array, Indices]:
    """Seeds of the districts (k, 2) in km and the town of each (k,)."""
    seeds, owners = [], []
    for number, town in enumerate(TOWNS):
        k = town.districts
        radius = town.radius * 0.85 * np.sqrt(np.arange(k) / k)
        angle = np.arange(k) * 2.39996 + random.normal(0, 0.25, k)  # sunflower spacing
        seeds.append([town.x, town.y] + radius[:, None] * np.c_[np.cos(angle), np.sin(angle)])
        owners.append(np.full(k, number))
    return np.vstack(seeds), np.concatenate(owners)


def _grid(
    centre: Array, reach: float, angle: float, block: float, random: np.random.Generator
) -> tuple[Array, Indices]:
    """A rotated grid of blocks: nodes (n, 2) and edges (m, 2)."""
    side = 2 * int(reach / block) + 1
    long_block = block * random.uniform(1.0, 1.8)
    v, u = np.divmod(np.arange(side * side), side)
    local = np.c_[(u - side // 2) * long_block, (v - side // 2) * block]
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    east, north = np.flatnonzero(u < side - 1), np.flatnonzero(v < side - 1)
    edges = np.vstack([np.c_[east, east + 1], np.c_[north, north + side]])
    return centre + local @ turn, edges


def _town_grids(random: np.random.Generator) -> tuple[Array, Indices, Indices]:
    """Streets of all towns: nodes (n, 2), district of each node (n,), edges (m, 2)."""
    seeds, owners = _districts(random)
    nearest_seed = scipy.spatial.cKDTree(seeds)
    nodes, districts, edges, total = [], [], [], 0
    for number, (seed, owner) in enumerate(zip(seeds, owners, strict=True)):
        town = TOWNS[owner]
        outwardness = np.hypot(*(seed - [town.x, town.y])) / town.radius
        block = _BLOCK_KM * (0.75 + 0.75 * outwardness)
        reach = town.radius * (1.0 if town.districts == 1 else 0.75)
        xy, pairs = _grid(seed, reach, random.uniform(0, np.pi / 2), block, random)
        offset = xy - [town.x, town.y]
        bearing = np.arctan2(offset[:, 1], offset[:, 0])
        edge_of_town = town.radius * (1 + 0.14 * np.sin(3 * bearing + owner))
        edge_of_town *= 1 - 0.25 * random.random(len(xy)) ** 2  # a ragged edge instead of a circle
        keep = np.hypot(*offset.T) < edge_of_town
        keep &= nearest_seed.query(xy)[1] == number
        keep &= habitable(xy)
        pairs = pairs[keep[pairs].all(axis=1) & (random.random(len(pairs)) > 0.06)]
        position = np.cumsum(keep) - 1 + total
        nodes.append(xy[keep] + random.normal(0, 0.05 * block, (int(keep.sum()), 2)))
        districts.append(np.full(int(keep.sum()), number))
        edges.append(position[pairs])
        total += int(keep.sum())
    return np.vstack(nodes), np.concatenate(districts), np.vstack(edges)


def _road(start: Array, end: Array, bend: float) -> Array:
    """A gently bent line of nodes from `start` to `end` (k, 2), one every 350 m."""
    steps = max(2, int(np.hypot(*(end - start)) / _ROAD_STEP_KM))
    t = np.linspace(0, 1, steps + 1)[:, None]
    across = np.array([start[1] - end[1], end[0] - start[0]])
    sway = bend * np.sin(np.pi * t) + 0.25 * bend * np.sin(3 * np.pi * t)
    return np.asarray(start + t * (end - start) + sway * across)


def _main_roads(random: np.random.Generator) -> tuple[Array, Indices]:
    """Roads between towns and a ring round the first: nodes (n, 2), edges (m, 2)."""
    place = {town.name: np.array([town.x, town.y]) for town in TOWNS}
    lines = [_road(place[a], place[b], random.uniform(-0.12, 0.12)) for a, b in ROADS]
    turn = np.linspace(0, 2 * np.pi, 80)
    ring = place[TOWNS[0].name] + _RING_RADIUS_KM * np.c_[1.0 * np.cos(turn), np.sin(turn)]
    lines.append(ring)
    starts = np.cumsum([0, *map(len, lines)])
    edges = [
        np.c_[np.arange(k, k + len(x) - 1), np.arange(k + 1, k + len(x))]
        for k, x in zip(starts, lines, strict=False)
    ]
    return np.vstack(lines), np.vstack(edges)


def _links(xy: Array, group: Indices, reach: float) -> Indices:
    """Pairs (m, 2) that join each node to its nearest neighbour of another group within `reach`."""
    distance, near = scipy.spatial.cKDTree(xy).query(xy, k=8, distance_upper_bound=reach)
    other = np.isfinite(distance) & (np.append(group, -1)[near] != group[:, None])
    rows = np.flatnonzero(other.any(axis=1))
    return np.column_stack([rows, near[rows, other[rows].argmax(axis=1)]])


def _bent(xy: Array) -> Array:
    """The plane bent smoothly, so that no street is quite straight."""
    x, y = xy.T
    return np.asarray(xy + 0.10 * np.c_[np.sin(y / 1.3 + 1), np.sin(x / 1.7 + 2)])


def _over_water(a: Array, b: Array) -> Mask:
    """True for straight edges from `a` to `b` (m, 2) that touch uninhabitable ground."""
    wet = np.zeros(len(a), dtype=bool)
    for t in np.linspace(0, 1, 7):
        wet |= ~habitable(a + t * (b - a))
    return wet


@lru_cache(maxsize=1)
def city_graph() -> StreetNetwork:
    """The synthetic city's street network: one connected component of about 8,000 nodes."""
    random = np.random.default_rng(_SEED)
    town_xy, district, town_edges = _town_grids(random)
    road_xy, road_edges = _main_roads(random)
    xy = _bent(np.vstack([town_xy, road_xy]))
    n = len(town_xy)
    links = _links(xy, np.concatenate([district, np.full(len(road_xy), -2)]), 1.3 * _BLOCK_KM)
    edges = np.vstack([town_edges, links, road_edges + n])
    main = np.arange(len(edges)) >= len(town_edges) + len(links)
    edges, first = np.unique(np.sort(edges, axis=1), axis=0, return_index=True)
    main = main[first]
    bridge = _over_water(xy[edges[:, 0]], xy[edges[:, 1]])
    dry = ~in_sea(xy)[edges].any(axis=1)
    keep = (main & dry) | ~bridge  # only main roads cross the river
    edges, main, bridge = edges[keep], main[keep], bridge[keep]

    ones = np.ones(len(edges), dtype=np.int8)
    _, label = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_array((ones, edges.T), shape=(len(xy), len(xy)))
    )
    connected = label == np.bincount(label).argmax()
    position = np.cumsum(connected) - 1
    inside = connected[edges[:, 0]]
    network = StreetNetwork(xy[connected], position[edges[inside]], main[inside], bridge[inside])
    for column in (network.xy, network.edges, network.main, network.bridge):
        column.flags.writeable = False
    return network
