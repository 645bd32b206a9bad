"""Names by which a reader of a page finds a place, an area or a hexagon on its map."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.lazy import shapely
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.render.cells import domain_bounds
from dpviz.render.nearby import place_squares


def findable(release: PointRelease | AreaRelease) -> dict[str, Any] | None:
    """Names that the search field of a map in degrees finds, and their rows; None without names.

    Areas have their own names. Hexagons are found by the named places in them, and cells by the
    squares around named places, as in the table of places.
    """
    if is_areas(release) and release.frame.resolution is None:
        names = release.frame.labels
        return {"noun": "an area", "names": names, "rows": list(range(len(names)))}
    squares = place_squares(domain_bounds(release.domain), None if is_areas(release) else release)
    found: dict[str, Any] = {"noun": "a place", "names": [name for name, _, _ in squares]}
    boxes = [box for _, _, box in squares]
    if not boxes:
        return None
    if not is_areas(release):
        return found | {"boxes": boxes}
    middles = np.array(boxes).reshape(-1, 2, 2).mean(axis=1)
    tree = shapely.STRtree(release.frame.outlines(None))
    rows = tree.query_nearest(shapely.points(middles), all_matches=False)[1]
    return found | {"rows": (rows + len(release.frame) - release.frame.leaves).tolist()}
