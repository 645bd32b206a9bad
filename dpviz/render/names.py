"""Names of places over a map, the more important first where there is room for few."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pydeck
from numpy.typing import ArrayLike

from dpviz.files.arrow import numbers, tuples
from dpviz.render.scene import Mark

ROOM_ASPECT = 3.0
"""Width of the box for an area's name, in heights; the map's program has the same."""


def places(
    id: str,  # noqa: A002
    rows: list[tuple[str, float, float, float, float]],
    *,
    dots: bool = False,
    fixed: bool = False,
    rooms: ArrayLike | None = None,
) -> Mark:
    """Names over the map: (name, longitude, latitude, rank, zoom from which it may be shown).

    Places from zoom −∞ stand out: no name covers them.
    ``fixed`` ones never move aside for others: beside a country, its name would name another.
    ``rooms`` are of areas, whose names come before those of towns: widths in world units of boxes
    around the places, :data:`ROOM_ASPECT` times as wide as high, which the names must not leave.
    Their second line may be left out, or their first.
    """
    name, lon, lat, rank, start = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    columns = {
        "position": tuples(np.column_stack([lon, lat]).astype(np.float64).reshape(-1, 2)),
        "name": pa.array(list(name), pa.string()),
        "rank": numbers(np.array(rank, dtype=np.float32)),
        "from": numbers(np.array(start, dtype=np.float32)),
    }
    if rooms is not None:
        columns["room"] = numbers(np.asarray(rooms, dtype=np.float32))
    bind = {f"get{column.title()}": column for column in columns}
    layer = pydeck.Layer("PlaceLayer", None, id=id, dots=dots, fixed=fixed)
    return Mark(layer=layer, table=pa.table(columns), bind=bind)
