"""Releases for other tools, such as QGIS: GeoJSON, GeoPackage or CSV; and synthetic points."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.checks import require, require_path
from dpviz.domain.crs import DEGREES, axis_names, known_crs
from dpviz.errors import DomainError, ReleaseError
from dpviz.files.writing import write_file
from dpviz.lazy import geopandas, pa, pq, pv, pyogrio, pyproj, shapely
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.releases.points.box import on_axis, stated_crs
from dpviz.releases.release import EXPORTS, Release
from dpviz.trees.lattice import Float

SAMPLES = (".parquet", *EXPORTS)
ISO = "%Y-%m-%dT%H:%M:%S.%fZ"
"""Pattern of times in formats that have no type for them."""
PART = 20_000
"""Features of GeoJSON that are made at a time."""
MARK = b"dpviz-synthetic"
"""Metadata of a Parquet file of synthetic points: the guarantee of the release behind them."""


def export(release: Release, path: str | os.PathLike[str], *, leaves: bool = True) -> Path:
    """Write cells, areas or edges of a release as GeoJSON, GeoPackage or CSV, by file ending.

    GeoJSON is in EPSG:4326 where the release has a CRS; shapes over the meridian of 180° are
    refused there. The header travels in its top-level member ``dpviz``.

    Args:
        release: of points, of areas, or of trips along roads.
        path: of the file to write.
        leaves: of points the leaves only, in place of every node; of areas the finest level only,
            in place of every level.

    Raises:
        ReleaseError: another ending, or a release that has no place on a map.
    """
    require(release, Release, "release", ReleaseError)
    require_path(path, ReleaseError)
    ending = _ending(path)
    plain, header = ending == ".csv", release.header.to_dict()
    if not isinstance(release, CountRelease):
        raise ReleaseError(f"a release of {release.kind} has no cells or edges to export")
    if "domain" in release.frame.FACTS:
        header["domain"] = release.domain.to_dict()
    frame = release.rows(None if leaves else "all", shapes=not plain)
    if plain:
        return _write_csv(frame, path)
    if ending == ".geojson":  # the format has no type for times
        clocks = frame.select_dtypes("datetime").columns
        frame = frame.assign(**{name: frame[name].dt.strftime(ISO) for name in clocks})
    return _write_map(frame, path, {"dpviz": header})


def _ending(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in EXPORTS:
        raise ReleaseError(f"cannot export to {ending or 'no ending'}: use {', '.join(EXPORTS)}")
    return ending


def _write_csv(frame: Any, path: str | os.PathLike[str]) -> Path:
    return write_file(path, lambda temporary: frame.to_csv(temporary, index=False))


def _write_map(frame: Any, path: str | os.PathLike[str], members: dict[str, Any]) -> Path:
    """Write a GeoDataFrame as GeoJSON (with further top-level members) or GeoPackage."""
    if Path(path).suffix.lower() == ".geojson":
        frame = frame if frame.crs is None else _in_degrees(frame)
        return write_file(path, lambda temporary: _write_geojson(frame, temporary, members))
    _keep_layers(path)
    with warnings.catch_warnings():
        # A local plane has no CRS, which its owner knows.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        return write_file(path, lambda temporary: _write_geopackage(frame, temporary))


def _write_geopackage(frame: Any, temporary: str) -> None:
    """Write a GeoPackage; errors of GDAL become system errors, as they mostly mean a full disk.

    Raises:
        OSError: it cannot be written.
    """
    errors = pyogrio.errors
    try:
        frame.to_file(temporary, driver="GPKG", layer="dpviz")
    except (errors.DataSourceError, errors.DataLayerError, errors.FeatureError) as error:
        raise OSError("GDAL gave up, as on a full disk") from error


def _write_geojson(frame: Any, temporary: str, members: dict[str, Any]) -> None:
    """Write GeoJSON in parts: a million cells as Python objects would take gigabytes.

    Raises:
        ReleaseError: JSON has no word for what a member holds.
    """
    try:
        head = json.dumps({"type": "FeatureCollection"} | members, allow_nan=False)
    except ValueError:
        raise ReleaseError(
            "the header holds a number that is not finite, which GeoJSON lacks: write a GeoPackage"
        ) from None
    with Path(temporary).open("w", encoding="utf-8") as file:
        file.write(f'{head[:-1]}, "features": [\n')
        for start in range(0, len(frame), PART):
            file.write(
                (",\n" if start else "") + ",\n".join(_features(frame[start : start + PART]))
            )
        file.write("\n]}\n")


def _features(part: Any) -> Iterator[str]:
    """Rows of a GeoDataFrame as GeoJSON text."""
    rows = part.drop(columns=part.geometry.name)
    for name, values in rows.select_dtypes("floating").items():
        rows[name] = values.where(np.isfinite(values))  # JSON has no infinity, and no NaN
    rows = rows.astype(object).where(rows.notna(), None)
    columns = {name: rows[name].tolist() for name in rows}
    for at, shape in enumerate(shapely.to_geojson(part.geometry.to_numpy())):
        row = {name: values[at] for name, values in columns.items()}
        properties = json.dumps(row, default=_in_words, allow_nan=False)
        yield f'{{"type": "Feature", "properties": {properties}, "geometry": {shape or "null"}}}'


def _in_words(value: Any) -> str:
    """Text of a value without a JSON type: ISO 8601 for times and days, else its str()."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _in_degrees(frame: Any) -> Any:
    """A GeoDataFrame in longitude and latitude.

    Raises:
        DomainError: a coordinate has no degrees, or a shape crosses 180°, where RFC 7946 (§3.1.9)
            asks for pieces: corner by corner it would reach around the rest of the world.
    """
    try:
        moved = frame.to_crs(DEGREES)
    except pyproj.exceptions.ProjError:
        moved = None
    if moved is None or (len(moved) and not np.isfinite(moved.total_bounds).all()):
        raise DomainError(
            "some of these coordinates have no longitude and latitude, which GeoJSON is in: "
            "write a GeoPackage"
        )
    corners, owner = shapely.get_coordinates(moved.geometry, return_index=True)
    beyond = np.abs(corners[:, 0]) > 180 + 1e-9  # tolerance for rounded coordinates
    if frame.crs != moved.crs:
        beyond[1:] |= (np.abs(np.diff(corners[:, 0])) > 180) & (np.diff(owner) == 0)
    if beyond.any():
        raise DomainError(
            "some of these shapes reach over the meridian of 180°, or around half the Earth, which "
            "GeoJSON cannot hold in one piece: write a GeoPackage"
        )
    return moved


def _keep_layers(path: str | os.PathLike[str]) -> None:
    """Refuse to replace a GeoPackage of several layers: all of them would be lost."""
    if not Path(path).is_file():
        return
    try:
        layers = [str(name) for name, _ in pyogrio.list_layers(path)]
    except pyogrio.errors.DataSourceError:  # not a GeoPackage: may be replaced
        return
    if len(layers) > 1:
        raise ReleaseError(
            f"{Path(path).name} holds {len(layers)} layers, which would be lost: name another file"
        )


def save_sample(
    release: PointRelease,
    path: str | os.PathLike[str],
    n: int | None = None,
    seed: int | None = None,
) -> int:
    """Write synthetic points as Parquet, CSV, GeoJSON or GeoPackage; return their number.

    GeoJSON and GeoPackage are for 2-D releases.

    Raises:
        ReleaseError: another ending, or a format of maps for data that are not 2-D.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in SAMPLES:
        raise ReleaseError(f"cannot write {ending or 'no ending'}: use {', '.join(SAMPLES)}")
    if ending in (".geojson", ".gpkg") and release.domain.place.dims != 2:
        raise ReleaseError(f"{ending} holds 2-D points only: use .parquet or .csv")
    points = release.sample(n, seed)
    if ending == ".csv":
        rows = _table(release, points)
        for name, crs in stated_crs(release.domain).items():
            rows = rows.append_column(name, pa.repeat(crs, len(rows)))
        write_file(path, lambda temporary: pv.write_csv(rows, temporary))
    elif ending == ".parquet":
        table = _table(release, points)
        write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))
    else:
        geometry = geopandas.points_from_xy(*points.T[:2], crs=known_crs(release.domain.crs))
        time = release.domain.time
        columns = {} if time is None else {time: on_axis(points[:, -1], release.domain.cycle)}
        _write_map(geopandas.GeoDataFrame(columns, geometry=geometry), path, {})
    return len(points)


def _table(release: PointRelease, points: Float) -> pa.Table:
    columns: dict[str, Any] = {
        name: points[:, axis] for axis, name in enumerate(axis_names(release.domain))
    }
    if release.domain.time is not None:
        columns[release.domain.time] = on_axis(points[:, -1], release.domain.cycle)
    note = {"synthetic": True, "guarantee": release.header.guarantee, "crs": release.domain.crs}
    return pa.table(columns).replace_schema_metadata({MARK: json.dumps(note).encode()})
