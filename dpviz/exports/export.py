"""Releases for other tools: GeoJSON, GeoPackage, PMTiles, CSV, styles; and synthetic points."""

from __future__ import annotations

import io
import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.checks import require, require_path
from dpviz.domain.crs import DEGREES, axis_names, known_crs
from dpviz.errors import DomainError, ReleaseError
from dpviz.exports.styles import DENSITY, TABLE, Style, add_style, qml, sld, style_of, vega_lite
from dpviz.files.writing import write_file
from dpviz.lazy import geopandas, pa, pd, pq, pv, pyogrio, pyproj, shapely
from dpviz.releases.counts import CountRelease, PointRelease, is_areas
from dpviz.releases.files import require_not_paid
from dpviz.releases.header import Header
from dpviz.releases.points.box import on_axis, stated_crs
from dpviz.releases.release import EXPORTS, Release
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render.districts import square_km
from dpviz.render.nearby import with_place_names
from dpviz.sequences.moves import frequent
from dpviz.trees.lattice import Float

SAMPLES = (".parquet", ".geojson", ".gpkg", ".csv")
STRINGS = 5_000
"""Most symbols and moves of a release of sequences in a file."""

TILES = 16
"""Tiles on a side of the last level: with 4,096 steps each, 2^16 on the longer side of the map."""

MAX_TILE_BYTES = 50_000_000
"""Bytes of a vector tile; beyond, GDAL would move corners of cells."""

EQUATOR_METRES = 2 * math.pi * 6_378_137
"""Side of the map of the Earth in the projection of vector tiles (EPSG:3857)."""

STYLES = {".qml": qml, ".sld": sld}
"""Writers of styles by their ending."""

MARK = b"dpviz-synthetic"
"""Metadata of a Parquet file of synthetic points: the guarantee of the release behind them."""


def export(release: Release, path: str | os.PathLike[str], *, leaves: bool = True) -> Path:
    """Write cells, areas, edges or moves of a release for other tools, by file ending.

    Endings are .geojson, .gpkg, .csv, .pmtiles (vector tiles), .vl.json (a map of Vega-Lite), and
    .qml and .sld, the styles of the others for QGIS and GeoServer. A GeoPackage holds both styles
    in its table ``layer_styles``.

    Areas may also be GeoParquet (.parquet); with time or kinds they are the rows of
    :meth:`CountRelease.table`, sums included. So are flows, Parquet without shapes; on a map they
    are lines, without the sums.

    GeoJSON is in EPSG:4326 where the release has a CRS; shapes over the meridian of 180° are
    refused there. The header travels in its top-level member ``dpviz``.

    Args:
        release: a release of any kind; of sequences the most frequent symbols and moves, as .csv.
        path: path of the file to write.
        leaves: True for the leaves only (points) or the finest level only (areas); otherwise
            every node or level.

    Raises:
        ReleaseError: another ending, or a release that has no place on a map.
    """
    require(release, Release, "release", ReleaseError)
    require_path(path, ReleaseError)
    ending = ".vl.json" if str(path).lower().endswith(".vl.json") else Path(path).suffix.lower()
    table = ending == ".parquet" and release.kind in ("areas", "flows")
    if ending not in EXPORTS and not table:
        raise ReleaseError(f"cannot export to {ending or 'no ending'}: use {', '.join(EXPORTS)}")
    if ending == ".csv":
        content = csv_bytes(release, leaves=leaves)
        return write_file(path, lambda temporary: Path(temporary).write_bytes(content))
    if isinstance(release, SequenceRelease):
        raise ReleaseError("a release of sequences has no shapes to export: write a .csv file")
    rows = _rows(release, leaves, shapes=not (table and release.kind == "flows"))
    _add_density(rows)
    if table:  # GeoParquet, if it has shapes
        require_not_paid(path)
        return write_file(path, lambda temporary: rows.to_parquet(temporary, index=False))
    assert isinstance(release, CountRelease)
    style = style_of(rows, f"dpviz: {release.header.guarantee}")
    if ending in STYLES:
        text = STYLES[ending](style)
        return write_file(path, lambda temporary: Path(temporary).write_text(text, "utf-8"))
    if ending == ".vl.json" and release.by is None and "t0" in rows:
        raise ReleaseError(
            ".vl.json is one map, and cells with time have several in one place: give a period "
            "(release.map_during), or write .gpkg"
        )
    if ending == ".vl.json":
        chart = json.dumps(vega_lite(rows if rows.crs is None else _in_degrees(rows), style))
        return write_file(path, lambda temporary: Path(temporary).write_text(chart, "utf-8"))
    if ending == ".pmtiles":
        return _write_tiles(rows, path, release.header)
    header = release.header.to_dict()
    if "domain" in release.frame.FACTS:
        header["domain"] = release.domain.to_dict()
    _write_map(rows, path, {"dpviz": header}, style)
    return Path(path)


def csv_bytes(release: Release, *, leaves: bool = True) -> bytes:
    """Content of the .csv file that :func:`export` writes."""
    rows, file = _rows(release, leaves, shapes=False), io.BytesIO()
    written = pa.Table.from_pandas(rows, preserve_index=False)  # pandas takes ten times as long
    with pv.CSVWriter(file, written.schema) as stream:
        stream.write_table(written)
    return file.getvalue()


def _rows(release: Release, leaves: bool, *, shapes: bool) -> Any:
    """Rows of a release with the half-widths of their intervals."""
    if isinstance(release, SequenceRelease):
        rows = _strings(release)
    elif isinstance(release, CountRelease):
        rows = release.rows(None if leaves else "all", shapes=shapes)
        if is_areas(release):
            rows = with_place_names(rows, release.frame, release.header.source)
    else:
        raise ReleaseError(
            f"a release of {release.kind} has no cells or edges: save it as .parquet"
        )
    half_width = release.header.interval_sds * rows["noise_sd"]
    rows.insert(list(rows.columns).index("noise_sd") + 1, "half_width", half_width)
    return rows


def _add_density(rows: Any) -> None:
    """Add records per km² to the rows of areas and cells whose place on Earth is known."""
    if getattr(rows, "crs", None) is None or not rows.geom_type.str.endswith("Polygon").all():
        return
    moved = _on_earth(rows)
    if moved is None:
        return
    surface = square_km(moved.geometry.to_numpy())
    density = rows["count"] / np.where(surface > 0, surface, np.nan)
    rows.insert(list(rows.columns).index("half_width") + 1, DENSITY, density)


def _strings(release: SequenceRelease) -> pd.DataFrame:
    """Rows of single symbols and of moves between two, the most frequent first."""
    strings = frequent(release.model, STRINGS, 1, 2)
    names = np.array([*release.alphabet.names, "start", ""], dtype=object)
    symbols = np.array([(*each, -1)[:2] for each in strings.symbols], dtype=np.int64)
    missing = np.full(len(strings), np.nan)
    first, then = names[symbols.reshape(-1, 2)].T
    columns = {"count": strings.count, "noise_sd": strings.sd}
    numbers = {name: missing if each is None else each for name, each in columns.items()}
    return pd.DataFrame({"symbol": first, "next": then} | numbers)


def _write_tiles(rows: Any, path: str | os.PathLike[str], header: Header) -> Path:
    """Write vector tiles in one file, in as many levels as show the smallest cells.

    The last level has some :data:`TILES` tiles on a side, so their number does not grow with the
    number of cells; maps enlarge it beyond.

    Raises:
        ReleaseError: the release has no place on Earth.
    """
    if rows.crs is None:
        raise ReleaseError(".pmtiles is a map of the Earth, and this plane has no CRS: use .gpkg")
    rows = _in_degrees(rows)
    west, south, east, north = rows.to_crs("EPSG:3857").total_bounds
    # Poles are far beyond the map of tiles.
    size = min(max(east - west, north - south, 1.0), EQUATOR_METRES)
    last = min(max(round(math.log2(TILES * EQUATOR_METRES / size)), 0), 18)
    first = max(last - round(math.log2(TILES)), 0)
    options: dict[str, Any] = {"MINZOOM": first, "MAXZOOM": last, "MAX_SIZE": MAX_TILE_BYTES}
    options |= {"NAME": "dpviz", "DESCRIPTION": header.guarantee}
    options |= {"driver": "PMTiles", "layer": "dpviz"}
    rows = rows.drop(columns=[name for name in ("parent", "leaf", "variance") if name in rows])
    return write_file(path, lambda temporary: _by_gdal(rows, temporary, options))


def _write_map(
    frame: Any, path: str | os.PathLike[str], members: dict[str, Any], style: Style | None = None
) -> None:
    """Write a GeoDataFrame by GDAL, as GeoJSON with further top-level members or as GeoPackage.

    Raises:
        ReleaseError: JSON has no word for a value of a member.
    """
    times = frame.select_dtypes("datetime").columns
    frame = frame.assign(**{name: frame[name].dt.tz_localize("UTC") for name in times})
    options: dict[str, Any] = {"driver": "GPKG", "layer": "dpviz"}
    if Path(path).suffix.lower() == ".geojson":
        standard = "NO" if frame.crs is None else "YES"  # RFC 7946 is in longitude and latitude
        frame = frame if frame.crs is None else _in_degrees(frame)
        try:
            head = json.dumps({"type": "FeatureCollection"} | members, allow_nan=False)
        except ValueError:
            raise ReleaseError(
                "the header holds a number that is not finite, which GeoJSON lacks: write a "
                "GeoPackage"
            ) from None
        native = {"NATIVE_DATA": head, "NATIVE_MEDIA_TYPE": "application/vnd.geo+json"}
        how = {"WRITE_NAME": "NO", "RFC7946": standard, "COORDINATE_PRECISION": "15"}
        options = {"driver": "GeoJSON", "layer_options": native | how}
    else:
        _refuse_layers(Path(path))

    def write(temporary: str) -> None:
        _by_gdal(frame, temporary, options)
        if style is not None and options["driver"] == "GPKG":
            add_style(temporary, style)

    write_file(path, write)


def _by_gdal(frame: Any, temporary: str, options: dict[str, Any]) -> None:
    errors = pyogrio.errors
    with warnings.catch_warnings():
        # A local plane has no CRS, as its owner knows.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        try:
            pyogrio.write_dataframe(frame, temporary, **options)
        except (errors.DataSourceError, errors.DataLayerError, errors.FeatureError) as error:
            raise OSError("GDAL could not write it: check the free disk space") from error


def _on_earth(frame: Any) -> Any:
    """A GeoDataFrame in longitude and latitude; None if a coordinate has none."""
    try:
        moved = frame.to_crs(DEGREES)
    except pyproj.exceptions.ProjError:
        return None
    return moved if len(moved) == 0 or np.isfinite(moved.total_bounds).all() else None


def _in_degrees(frame: Any) -> Any:
    """A GeoDataFrame in longitude and latitude.

    Raises:
        DomainError: a coordinate has no degrees, or a shape crosses 180°, where RFC 7946 (§3.1.9)
            asks for pieces: corner by corner it would reach around the rest of the world.
    """
    moved = _on_earth(frame)
    if moved is None:
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


def _refuse_layers(path: Path) -> None:
    """Refuse to replace a GeoPackage of several layers: all of them would be lost."""
    if not path.is_file():
        return
    try:
        layers = {str(name) for name, _ in pyogrio.list_layers(path)} - {TABLE}
    except pyogrio.errors.DataSourceError:  # not a GeoPackage: may be replaced
        return
    if len(layers) > 1:
        raise ReleaseError(
            f"{path.name} holds {len(layers)} layers, which would be lost: name another file"
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
    if ending in (".geojson", ".gpkg") and release.domain.without_time.dims != 2:
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
