"""Synthetic points from a release: free of charge, and of nobody.

Post-processing: whoever has the release could make them. They reproduce its counts, noise and all,
and lie evenly inside each leaf.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpviz.errors import ParameterError, ReleaseError
from dpviz.releases.points.files import write_file
from dpviz.trees.lattice import Float, Int

if TYPE_CHECKING:
    import pyarrow

    from dpviz.releases.points.release import PointRelease

MOST = 100_000_000
FORMATS = (".parquet", ".csv", ".geojson", ".gpkg")
MARK = b"dpviz-synthetic"
"""Metadata of a Parquet file of synthetic points: the guarantee of the release behind them."""


def sample(release: PointRelease, n: int | None = None, seed: int | None = None) -> Float:
    """Synthetic points.

    A leaf of estimate c gets its share n·c / Σc, rounded so that all shares add up to n (largest
    remainders first, ties at random); negative estimates count as zero.

    Args:
        release: any release.
        n: how many; the noisy total by default.
        seed: makes the sample repeatable. It is no seed of the release's noise.

    Returns:
        Coordinates in the domain's CRS, float64 of shape (n, dims), in random order.

    Raises:
        ParameterError: fewer than 0 points, or more than :data:`MOST`.
        ReleaseError: a release without any positive count, of which no point can be drawn.
    """
    random = np.random.default_rng(seed)
    nodes = release.nodes
    leaves = np.flatnonzero(nodes.leaf & (nodes.count > 0))
    weight = nodes.count[leaves]
    n = round(float(weight.sum())) if n is None else n
    if not 0 <= n <= MOST:
        raise ParameterError(f"{n:,} points: give a number from 0 to {MOST:,}")
    if n and not len(leaves):
        raise ReleaseError("no leaf has a positive count: there is nothing to sample from")
    rows = np.repeat(leaves, _shares(weight, n, random)) if n else leaves[:0]
    domain = release.domain
    low, high = domain.to_coordinates(nodes.lo[rows]), domain.to_coordinates(nodes.hi[rows])
    points = low + random.random(low.shape) * (high - low)
    # Rounding must not lift a point onto the upper side, which belongs to the next cell.
    points = np.minimum(points, np.nextafter(high, -np.inf))
    return np.asarray(points[random.permutation(n)])


def save_sample(
    release: PointRelease,
    path: str | os.PathLike[str],
    n: int | None = None,
    seed: int | None = None,
) -> int:
    """Write synthetic points as Parquet, CSV, or (2-D) GeoJSON or GeoPackage; returns how many.

    Raises:
        ReleaseError: another ending, or a format of maps for data that are not 2-D.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise ReleaseError(f"cannot write {ending or 'no ending'}: use {', '.join(FORMATS)}")
    if ending in (".geojson", ".gpkg") and release.domain.dims != 2:
        raise ReleaseError(f"{ending} holds 2-D points only: use .parquet or .csv")
    points = sample(release, n, seed)
    if ending in (".parquet", ".csv"):
        table = _table(release, points)
        write_file(path, lambda temporary: _write_table(table, temporary))
    else:
        _write_map(release, points, path)
    return len(points)


def _shares(weight: Float, n: int, random: np.random.Generator) -> Int:
    """Whole shares of n in proportion to positive weights, by largest remainders."""
    exact = n * (weight / weight.sum())
    whole = np.floor(exact).astype(np.int64)
    rest = n - int(whole.sum())
    order = np.lexsort((random.random(len(weight)), whole - exact))
    whole[order[:rest]] += 1
    return np.asarray(whole)


def _table(release: PointRelease, points: Float) -> pyarrow.Table:
    import pyarrow as pa

    columns = {name: points[:, axis] for axis, name in enumerate(release.domain.columns)}
    note = {"synthetic": True, "guarantee": release.header.guarantee, "crs": release.domain.crs}
    return pa.table(columns).replace_schema_metadata({MARK: json.dumps(note).encode()})


def _write_table(table: pyarrow.Table, path: str) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if path.endswith(".csv"):
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path, compression="zstd")


def _write_map(release: PointRelease, points: Float, path: Path) -> None:
    import geopandas

    geometry = geopandas.points_from_xy(*points.T, crs=release.domain.crs)
    frame = geopandas.GeoDataFrame(geometry=geometry)
    if path.suffix.lower() == ".geojson":
        text = frame.to_crs("EPSG:4326").to_json(drop_id=True)
        write_file(path, lambda temporary: Path(temporary).write_text(text))
    else:
        write_file(path, lambda temporary: frame.to_file(temporary, driver="GPKG", layer="dpviz"))
