"""Save and read a road release (GeoParquet with a header), and export its edges.

One table: first a row per edge with its line, then a row per tree node. Any GIS reads the edges.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DpvizError, ReleaseError
from dpviz.releases.header import Header
from dpviz.releases.points.files import opened, stated, write_file
from dpviz.releases.roads.release import RoadRelease
from dpviz.roads.decompose import Subdomains
from dpviz.roads.graph import Int, RoadGraph, as_objects
from dpviz.trees.decomposition import Decomposition

if TYPE_CHECKING:
    import geopandas
    import pyarrow

KEY = b"dpviz_roads"
EXPORTS = (".geojson", ".gpkg", ".csv")
EDGE = ("edge", "src", "dst", "length", "position")
NODE = ("lo", "hi", "parent", "measured")


def save(release: RoadRelease, path: str | os.PathLike[str]) -> Path:
    """Write a release as GeoParquet 1.1."""
    import pyarrow.parquet as pq

    table = to_arrow(release)
    return write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def to_arrow(release: RoadRelease) -> pyarrow.Table:
    """The table that :func:`save` writes."""
    import pyarrow as pa

    graph, nodes = release.graph, release.nodes
    m, n = len(graph), len(nodes)
    place = release.domains.position

    def column(edges: Any, tree: Any, kind: Any = None) -> Any:
        parts = [
            pa.nulls(size, kind) if part is None else pa.array(part, kind)
            for part, size in ((edges, m), (tree, n))
        ]
        return pa.chunked_array(parts)

    def ids(values: NDArray[Any]) -> Any:
        kind = pa.string() if values.dtype.kind == "O" else pa.int64()
        return column(values.tolist(), None, kind)

    i64, f64 = pa.int64(), pa.float64()
    columns = {
        "geometry": column(_lines_wkb(graph), None, pa.binary()),
        "kind": column(["edge"] * m, ["node"] * n, pa.string()),
        "edge": ids(graph.edge_id),
        "src": ids(graph.node_id[graph.ends[:, 0]]),
        "dst": ids(graph.node_id[graph.ends[:, 1]]),
        "length": column(graph.length, None, f64),
        "subdomain": column(release.domains.path[place], release.domains.path[nodes.lo[:, 0]], i64),
        "position": column(place, None, i64),
        "lo": column(None, nodes.lo[:, 0], i64),
        "hi": column(None, nodes.hi[:, 0], i64),
        "parent": column(None, nodes.parent.astype(np.int64), i64),
        "count": column(release.count, nodes.count, f64),
        "variance": column(release.noise_sd**2, nodes.variance, f64),
        "measured": column(None, release.measured, f64),
    }
    header = {**release.header.to_dict(), "crs": graph.crs, "directed": graph.directed}
    metadata = {KEY: json.dumps(header).encode(), b"geo": json.dumps(_geo(graph)).encode()}
    return pa.table(columns).replace_schema_metadata(metadata)


def read(path: str | os.PathLike[str]) -> RoadRelease:
    """Read a road release.

    Raises:
        ReleaseError: not a road release, damaged, or of a newer schema.
    """
    return from_arrow(opened(path), Path(path).name)


def from_arrow(table: pyarrow.Table, name: str = "table") -> RoadRelease:
    """The inverse of :func:`to_arrow`.

    Raises:
        ReleaseError: not a road release, damaged, or of a newer schema.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import shapely

    values = stated(table, KEY, "road release", name)
    needed = ("geometry", "kind", "subdomain", "count", "variance", *EDGE, *NODE)
    try:
        missing = [column for column in needed if column not in table.column_names]
        if missing:
            raise ReleaseError(f"column {missing[0]!r} is missing")
        edges = table.filter(pc.equal(table["kind"], "edge"))
        nodes = table.filter(pc.equal(table["kind"], "node"))
        crs = str(values.pop("crs", ""))
        directed = bool(values.pop("directed", False))  # files before it have none
        graph, position, path = _graph(edges, crs, directed)
        domains = _domains(position, path)
        box = [_column(nodes, each)[:, None] for each in ("lo", "hi")]
        rest = [_column(nodes, each) for each in ("parent", "count", "variance")]
        return RoadRelease(
            graph,
            domains,
            Decomposition(*box, *rest),
            _column(nodes, "measured"),
            Header.from_dict(values),
        )
    except DpvizError as error:
        raise ReleaseError(f"{name}: {error}") from error
    except (
        pa.ArrowException,
        shapely.errors.ShapelyError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:
        raise ReleaseError(f"{name}: the release is damaged") from error


def to_geopandas(release: RoadRelease) -> geopandas.GeoDataFrame:
    """One row per edge: line, ids, length, sub-domain, count and the sd of its noise."""
    import geopandas
    import shapely

    graph = release.graph
    place = release.domains.position
    columns: dict[str, Any] = {
        "edge": graph.edge_id,
        "src": graph.node_id[graph.ends[:, 0]],
        "dst": graph.node_id[graph.ends[:, 1]],
        "length": graph.length,
        "subdomain": release.domains.path[place],
        "count": release.count,
        "noise_sd": release.noise_sd,
    }
    return geopandas.GeoDataFrame(
        columns, geometry=shapely.from_wkb(_lines_wkb(graph)), crs=graph.crs or None
    )


def export(release: RoadRelease, path: str | os.PathLike[str]) -> Path:
    """Write the edges as GeoJSON, GeoPackage or CSV, by the file's ending.

    GeoJSON is in EPSG:4326 where the graph has a CRS; the header travels in a member ``dpviz``.
    """
    ending = Path(path).suffix.lower()
    if ending not in EXPORTS:
        raise ReleaseError(f"cannot export to {ending or 'no ending'}: use {', '.join(EXPORTS)}")
    frame = to_geopandas(release)
    if ending == ".csv":
        plain = frame.drop(columns="geometry")
        return write_file(path, lambda temporary: plain.to_csv(temporary, index=False))
    if ending == ".gpkg":
        with warnings.catch_warnings():
            # A plane of its own has no CRS, which is no news to its owner.
            warnings.filterwarnings("ignore", "'crs' was not provided")
            return write_file(
                path, lambda temporary: frame.to_file(temporary, driver="GPKG", layer="dpviz")
            )
    if frame.crs is not None:
        frame = frame.to_crs("EPSG:4326")
    text = json.loads(frame.to_json(drop_id=True))
    text["dpviz"] = release.header.to_dict()
    return write_file(path, lambda temporary: Path(temporary).write_text(json.dumps(text)))


def _graph(edges: pyarrow.Table, crs: str, directed: bool) -> tuple[RoadGraph, Int, Int]:
    """The road graph of the edge rows, their positions and their sub-domains."""
    import shapely

    edge_id = _column(edges, "edge")
    ends = np.stack([_column(edges, "src"), _column(edges, "dst")], axis=1)
    node_id, rows = np.unique(ends, return_inverse=True)
    lines = shapely.from_wkb(edges["geometry"].to_numpy(zero_copy_only=False))
    if any(shapely.get_type_id(line) != 1 for line in lines):
        raise ReleaseError("an edge has no line")
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    start = np.searchsorted(owner, np.arange(len(lines) + 1))
    node_xy = np.zeros((len(node_id), 2))
    rows = rows.reshape(-1, 2)
    node_xy[rows[:, 0]] = xy[start[:-1]]
    node_xy[rows[:, 1]] = xy[start[1:] - 1]
    length = _column(edges, "length")
    graph = RoadGraph(node_id, node_xy, edge_id, rows, length, start, xy, crs, directed)
    return graph, _column(edges, "position"), _column(edges, "subdomain")


def _domains(position: Int, path: Int) -> Subdomains:
    if not np.array_equal(np.sort(position), np.arange(len(position))):
        raise ReleaseError("the positions of the edges are not 0, 1, 2, …")
    order = np.argsort(position)
    along = path[order]
    if (np.diff(along) < 0).any():
        raise ReleaseError("the sub-domains are not in the order of the positions")
    start = np.append(np.flatnonzero(np.diff(along, prepend=-1)), len(along))
    return Subdomains(order, start)


def _column(table: pyarrow.Table, name: str) -> NDArray[Any]:
    import pyarrow as pa

    column = table[name].combine_chunks()
    if column.null_count:
        raise ReleaseError(f"column {name!r} holds nulls")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return as_objects(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _lines_wkb(graph: RoadGraph) -> list[bytes]:
    import shapely

    owner = np.repeat(np.arange(len(graph)), np.diff(graph.line_start))
    lines = shapely.linestrings(graph.line_xy, indices=owner)
    return list(shapely.to_wkb(lines))


def _geo(graph: RoadGraph) -> dict[str, Any]:
    """GeoParquet 1.1 metadata; the bounding box is the public graph's."""
    crs = None
    if graph.crs:
        from pyproj import CRS

        crs = CRS.from_user_input(graph.crs).to_json_dict()
    low, high = graph.line_xy.min(axis=0), graph.line_xy.max(axis=0)
    column = {
        "encoding": "WKB",
        "geometry_types": ["LineString"],
        "crs": crs,
        "bbox": [*low.tolist(), *high.tolist()],
    }
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
