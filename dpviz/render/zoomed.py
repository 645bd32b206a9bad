"""Boxes with values of their own, finer where the map is zoomed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.files.arrow import numbers, tuples
from dpviz.render.cells import cell_layer, domain_bounds, map_corners, zoom_tenths
from dpviz.render.colors import PALETTES, Themed
from dpviz.render.projection import home_zoom
from dpviz.render.scene import Mark, Row
from dpviz.trees.lattice import Float

STEPS = (0.0, 1.5, 3.0, 4.5)
"""Zooms above that of the whole domain at which the boxes become finer."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ZoomedBoxes:
    """Boxes, each drawn from a zoom to another.

    Attributes:
        km2: float64 (n,).
        offsets, origin: where the boxes are on the map.
        since, until: zooms at which a box is drawn.
    """

    km2: Float
    offsets: Float
    origin: list[float]
    since: Float
    until: Float

    @classmethod
    def of(
        cls, domain: Domain, columns: Callable[[float], Sequence[NDArray[Any]]]
    ) -> tuple[ZoomedBoxes, list[NDArray[Any]]]:
        """Lattice boxes at each zoom, from lo, hi and further columns; those further columns."""
        start = home_zoom(domain_bounds(domain))
        pieces = []
        for k, above in enumerate(STEPS):
            made = columns(start + above)
            until = start + STEPS[k + 1] if k + 1 < len(STEPS) else np.inf
            times = (np.full(len(made[0]), each) for each in (start + above if k else 0.0, until))
            pieces.append((*times, *made))
        since, until_, lo, hi, *rest = (np.concatenate(each) for each in zip(*pieces, strict=True))
        km2, offsets, origin = map_corners(domain, lo, hi)
        boxes = ZoomedBoxes(km2=km2, offsets=offsets, origin=origin, since=since, until=until_)
        return boxes, rest

    @property
    def at_home(self) -> NDArray[np.bool_]:
        """True for boxes drawn where the whole domain is in view."""
        return np.asarray(self.since == 0.0)

    def mark(
        self,
        id: str,  # noqa: A002
        values: Float,
        bounds: Sequence[float],
        colors: Themed | Mapping[str, Any],
        columns: Mapping[str, pa.Array],
        rows: Sequence[Row],
        *,
        where: NDArray[np.bool_] | None = None,
        strength: Float | None = None,
        title: str = "Records here",
        **properties: Any,
    ) -> Mark:
        """The boxes, or those where a mask is true, in classes of their values from ``bounds`` on.

        ``colors`` are the same in every palette, or by palette; ``rows`` of the tooltip show
        ``columns`` (n,). A ``strength`` (n,) below 1 hatches a box.
        """
        at = np.arange(len(values)) if where is None else np.flatnonzero(where)
        drawn = {
            "bounds": tuples(self.offsets[at].astype(np.float32)),
            "density": numbers(values[at].astype(np.float32)),
            "since": zoom_tenths(self.since[at]),
            "until": zoom_tenths(self.until[at]),
        }
        if strength is not None:
            drawn["strength"] = numbers(strength[at].astype(np.float32))
        words = {name: column.take(pa.array(at)) for name, column in columns.items()}
        if isinstance(colors, Themed):
            colors = dict.fromkeys(PALETTES, colors.to_dict())
        layer = cell_layer(id, self.origin, bounds, colors, **properties)
        table = pa.table(drawn | words)
        bind = {f"get{name.title()}": name for name in drawn}
        return Mark(layer=layer, table=table, bind=bind, title=title, rows=rows)
