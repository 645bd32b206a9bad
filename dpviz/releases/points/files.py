"""Save and read a release (GeoParquet with a header), and export it for other tools.

Reading needs pyarrow only. Every write goes to a temporary file that is then renamed, so that a
failure leaves nothing half-written and nothing overwritten.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.header import SCHEMA, Header
from dpviz.releases.points.release import PointRelease
from dpviz.trees.decomposition import Decomposition

if TYPE_CHECKING:
    import geopandas
    import pyarrow

EXPORTS = {".geojson": "GeoJSON", ".gpkg": "GPKG", ".csv": "CSV"}
KEY = b"dpviz"
COLUMNS = ("lo", "hi", "parent", "count", "variance")


def save(release: PointRelease, path: str | os.PathLike[str]) -> Path:
    """Write a release as Parquet, in 2-D as GeoParquet 1.1 with one rectangle per node."""
    import pyarrow.parquet as pq

    table = to_arrow(release)
    return write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def to_arrow(release: PointRelease) -> pyarrow.Table:
    """The table that :func:`save` writes: a row per node, breadth-first, and the header."""
    import pyarrow as pa

    nodes, domain = release.nodes, release.domain
    columns: dict[str, Any] = {}
    metadata = {KEY: json.dumps({**release.header.to_dict(), "domain": domain.to_dict()}).encode()}
    if domain.dims == 2:
        columns["geometry"] = _rectangles_wkb(release)
        metadata[b"geo"] = json.dumps(_geo_metadata(domain)).encode()
    for name in ("lo", "hi"):
        flat = pa.array(getattr(nodes, name).ravel())
        columns[name] = pa.FixedSizeListArray.from_arrays(flat, domain.dims)
    for name in ("level", "parent", "first_child", "n_children", "leaf", "count", "variance"):
        columns[name] = pa.array(getattr(nodes, name))
    return pa.table(columns).replace_schema_metadata(metadata)


def read(path: str | os.PathLike[str]) -> PointRelease:
    """Read a release.

    Raises:
        ReleaseError: not a release, damaged, or of a newer schema.
    """
    return from_arrow(opened(path), Path(path).name)


def opened(path: str | os.PathLike[str]) -> pyarrow.Table:
    """The table in a Parquet file.

    Raises:
        ReleaseError: no such file, or not readable.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise ReleaseError(f"{path.name}: no such file")
    try:
        return pq.ParquetFile(path).read()  # read_table would import pandas
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        raise ReleaseError(f"{path.name}: not a readable Parquet file, or damaged") from error


def stated(table: pyarrow.Table, key: bytes, what: str, name: str) -> dict[str, Any]:
    """The header of a release's table, of a schema that this version reads.

    Args:
        table: as read.
        key: of the header in the table's metadata.
        what: kind of release, for messages.
        name: of the file, for messages.

    Raises:
        ReleaseError: no such header, a damaged one, or one of a newer schema.
    """
    packed = (table.schema.metadata or {}).get(key)
    if packed is None:
        raise ReleaseError(f"{name}: not a {what}: a Parquet file without its header")
    try:
        values: dict[str, Any] = json.loads(packed)
        schema = int(values["schema"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise ReleaseError(f"{name}: the header is damaged") from error
    if schema > SCHEMA:
        raise ReleaseError(
            f"{name}: schema {schema} is newer than this version reads ({SCHEMA}): update dpviz"
        )
    return values


def from_arrow(table: pyarrow.Table, name: str = "table") -> PointRelease:
    """The inverse of :func:`to_arrow`.

    Raises:
        ReleaseError: not a release, damaged, or of a newer schema.
    """
    values = stated(table, KEY, "release", name)
    try:
        missing = [column for column in COLUMNS if column not in table.column_names]
        if missing:
            raise ReleaseError(f"column {missing[0]!r} is missing")
        domain = Domain.from_dict(values.pop("domain"))
        columns = {column: _numbers(table[column], domain.dims) for column in COLUMNS}
        return PointRelease(domain, Decomposition(**columns), Header.from_dict(values))
    except DpvizError as error:
        raise ReleaseError(f"{name}: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, BufferError) as error:
        raise ReleaseError(f"{name}: the release is damaged") from error


def to_geopandas(release: PointRelease) -> geopandas.GeoDataFrame:
    """One row per node: rectangle, level, parent, leaf, count, variance and its noise sd.

    Raises:
        ReleaseError: the release is not 2-D.
    """
    import geopandas
    import shapely

    nodes = release.nodes
    if release.domain.dims != 2:
        raise ReleaseError(f"a {release.domain.dims}-D release has no rectangles on a map")
    low = release.domain.to_coordinates(nodes.lo)
    high = release.domain.to_coordinates(nodes.hi)
    columns: dict[str, NDArray[Any]] = {
        name: getattr(nodes, name) for name in ("level", "parent", "leaf", "count", "variance")
    }
    return geopandas.GeoDataFrame(
        columns | {"noise_sd": np.asarray(np.sqrt(nodes.variance))},
        geometry=shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]),
        crs=release.domain.crs,
    )


def export(release: PointRelease, path: str | os.PathLike[str], *, leaves: bool = True) -> Path:
    """Write GeoJSON, GeoPackage or CSV by the file's ending; the leaves only, or every node.

    GeoJSON is in EPSG:4326, as its standard asks; the header travels beside the data where the
    format has a place for it (GeoJSON: a top-level member ``dpviz``).
    """
    ending = Path(path).suffix.lower()
    if ending not in EXPORTS:
        raise ReleaseError(f"cannot export to {ending or 'no ending'}: use {', '.join(EXPORTS)}")
    if ending == ".csv":
        frame = _plain_frame(release, leaves)
        return write_file(path, lambda temporary: frame.to_csv(temporary, index=False))
    frame = to_geopandas(release)
    frame = frame[frame["leaf"]] if leaves else frame
    if ending == ".geojson":
        frame = frame.to_crs("EPSG:4326")
        text = json.loads(frame.to_json(drop_id=True))
        text["dpviz"] = {**release.header.to_dict(), "domain": release.domain.to_dict()}
        return write_file(path, lambda temporary: Path(temporary).write_text(json.dumps(text)))
    return write_file(
        path, lambda temporary: frame.to_file(temporary, driver="GPKG", layer="dpviz")
    )


def _plain_frame(release: PointRelease, leaves: bool) -> Any:
    import pandas as pd

    nodes, domain = release.nodes, release.domain
    kept = nodes.leaf if leaves else np.ones(len(nodes), dtype=np.bool_)
    low, high = domain.to_coordinates(nodes.lo[kept]), domain.to_coordinates(nodes.hi[kept])
    columns: dict[str, Any] = {
        f"{name}_min": low[:, axis] for axis, name in enumerate(domain.columns)
    }
    columns |= {f"{name}_max": high[:, axis] for axis, name in enumerate(domain.columns)}
    columns |= {"level": nodes.level[kept], "count": nodes.count[kept]}
    return pd.DataFrame({**columns, "noise_sd": np.sqrt(nodes.variance[kept])})


def _rectangles_wkb(release: PointRelease) -> pyarrow.BinaryArray:
    """Well-known binary of the node rectangles, counter-clockwise, without importing shapely.

    At most 8 million nodes of 93 bytes: offsets of 32 bits suffice.
    """
    import pyarrow as pa

    low = release.domain.to_coordinates(release.nodes.lo)
    high = release.domain.to_coordinates(release.nodes.hi)
    ring = np.dtype(
        [
            ("order", "u1"),
            ("kind", "<u4"),
            ("rings", "<u4"),
            ("points", "<u4"),
            ("xy", "<f8", (5, 2)),
        ]
    )
    rows = np.zeros(len(low), dtype=ring)
    rows["order"], rows["kind"], rows["rings"], rows["points"] = 1, 3, 1, 5
    west, south, east, north = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    for corner, (x, y) in enumerate(
        [(west, south), (east, south), (east, north), (west, north), (west, south)]
    ):
        rows["xy"][:, corner, 0], rows["xy"][:, corner, 1] = x, y
    # All of one length, so that the bytes stay where they are.
    ends = np.arange(len(rows) + 1, dtype=np.int64) * ring.itemsize
    packed = pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(rows)
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, *packed])


def _geo_metadata(domain: Domain) -> dict[str, Any]:
    """GeoParquet 1.1 metadata; the bounding box is the public domain, never the data's."""
    from pyproj import CRS

    column = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "crs": CRS.from_user_input(domain.crs).to_json_dict(),
        "bbox": list(domain.bounds),
    }
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}


def _numbers(column: Any, dims: int) -> NDArray[Any]:
    import pyarrow as pa

    column = column.combine_chunks()
    if column.null_count:
        raise ReleaseError("a column holds nulls")
    boxes = pa.types.is_fixed_size_list(column.type)
    plain = column.flatten() if boxes else column
    if not (pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type)):
        raise ReleaseError("damaged: a column does not hold numbers")
    if boxes:
        return np.from_dlpack(plain).reshape(len(column), dims)
    return np.from_dlpack(column)  # unlike to_numpy, this does not import pandas


def write_file(path: str | os.PathLike[str], write: Callable[[str], Any]) -> Path:
    """Write to a temporary file beside the target, then rename it into place."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ReleaseError(f"{path.name}: the output folder does not exist: create it first")
    handle, temporary = tempfile.mkstemp(suffix=path.suffix, prefix=".dpviz-", dir=path.parent)
    os.close(handle)
    try:
        # GDAL refuses to overwrite an empty file of its own format.
        Path(temporary).unlink()
        write(temporary)
        Path(temporary).replace(path)
    except OSError as error:
        raise ReleaseError(f"{path.name}: cannot be written: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return path
