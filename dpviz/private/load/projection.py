"""Project points between coordinate reference systems, row by row: stability 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.lazy import pyproj
from dpviz.private.load.columns import shown


@contextmanager
def offline() -> Iterator[None]:
    """Keep PROJ from downloading grids, even with PROJ_NETWORK=ON (set by some conda builds).

    The requested parts of a grid would reveal where records lie, and a failed download would drop
    records.
    """
    from pyproj.network import is_network_enabled, set_network_enabled  # type: ignore[attr-defined]

    before = is_network_enabled()  # PROJ's setting is per thread
    set_network_enabled(False)
    try:
        yield
    finally:
        set_network_enabled(before)


def transformer(source: str, target: str) -> Any:
    """Transformer of (x, y) between two CRS; None if both are the same CRS."""
    if source == target:
        return None
    try:
        with offline():
            change = pyproj.Transformer.from_crs(source, target, always_xy=True)
        same = change.source_crs == change.target_crs  # a damaged CRS fails only here
    except (pyproj.exceptions.ProjError, UnicodeEncodeError):
        raise DataError(f"unknown CRS {shown(source)}: use a code such as EPSG:4326") from None
    return None if same else change


def same_crs(first: str, second: str) -> bool:
    """True if two CRS are the same, ignoring the order of their axes.

    >>> same_crs("OGC:CRS84", "EPSG:4326"), same_crs("EPSG:3857", "EPSG:4326")
    (True, False)
    """
    return transformer(first, second) is None


def crs_name(crs: str) -> str:
    """Name of a known CRS for messages: its code if it has one."""
    known = pyproj.CRS.from_user_input(crs)
    return ":".join(known.to_authority() or (known.name[:60],))


def srid_of(crs: str | None) -> int | None:
    """EPSG number of a CRS, as WKT and WKB state it; None if it has none."""
    if crs is None:
        return None
    number = 4326 if same_crs(crs, "EPSG:4326") else pyproj.CRS.from_user_input(crs).to_epsg()
    return None if number is None else int(number)


def in_crs(points: NDArray[np.float64], source: str, target: str) -> NDArray[np.float64]:
    """Project points (n, d) to another CRS; each pair of columns is (x, y)."""
    change = transformer(source, target)
    if change is None or len(points) == 0:
        return points
    starts = range(0, points.shape[1] - 1, 2)
    with offline():
        pairs = [change.transform(points[:, k], points[:, k + 1]) for k in starts]
    return np.column_stack([axis for pair in pairs for axis in pair])


def finite_rows(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask (n,) of points (n, d) with finite coordinates only."""
    # Axis by axis: eight times as fast.
    finite = np.ones(len(points), dtype=np.bool_)
    for axis in points.T:
        finite &= np.isfinite(axis)
    return finite
