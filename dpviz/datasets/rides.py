"""Rides in the invented city: how people go, and what they pay.

People walk in the middle of a town, cycle around it and drive from farther out; one in four goes in
any way. A fare grows with the way to the port. Synthetic: no real location.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.datasets.city import city_points
from dpviz.datasets.geography import TOWNS, to_plane

MODES = ("walk", "bike", "car")
CLIP = (0.0, 40.0)
"""Public clip of a fare, in an invented currency."""

_SEED = 20_145
_ANY = 0.25
_STEPS = (0.35, 0.8)
"""Distances in radii of a town from which people cycle, and from which they drive."""


def city_rides(n: int, seed: int) -> dict[str, Any]:
    """`n` rides: ``lon``, ``lat``, ``mode`` (of :data:`MODES`) and ``fare``."""
    random = np.random.default_rng([_SEED, seed])
    places = city_points(n, seed + 2_000)
    plane = to_plane(places)
    far = np.stack([np.hypot(*(plane - [t.x, t.y]).T) / t.radius for t in TOWNS]).min(axis=0)
    usual = np.digitize(far, _STEPS)
    mode = np.where(random.random(n) < _ANY, random.integers(len(MODES), size=n), usual)
    port = np.hypot(*(plane - [TOWNS[0].x, TOWNS[0].y]).T)
    fare = (2.0 + 0.5 * port) * random.gamma(4.0, 0.25, n) * np.array([0.0, 0.4, 1.0])[mode]
    return {
        "lon": places[:, 0],
        "lat": places[:, 1],
        "mode": np.array(MODES)[mode],
        "fare": np.round(fare, 2),
    }
