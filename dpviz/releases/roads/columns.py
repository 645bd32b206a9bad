"""Columns of a release of trips along roads: GeoParquet; and as a GeoDataFrame.

One table: first a row per edge with its line, then a row per tree node. Any GIS reads the edges.
With time such a block for each step, one after the other, with the step and its start and end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import known_crs
from dpviz.errors import ReleaseError
from dpviz.files import arrow
from dpviz.lazy import geopandas, pa, shapely
from dpviz.releases.files import (
    encoded_shapes,
    geo_metadata,
    identifiers,
    numbers,
    whole_numbers,
    with_header,
)
from dpviz.releases.header import Header
from dpviz.releases.points.columns import on_axis
from dpviz.roads.decompose import Subdomains
from dpviz.roads.estimates import RoadEstimates
from dpviz.roads.graph import Int, RoadGraph
from dpviz.roads.steps import Steps
from dpviz.trees.decomposition import Decomposition

EDGE = ("geometry", "edge", "src", "dst", "length", "position")
NODE = ("lo", "hi", "parent", "measured")
TWINS = "twins"
NEEDED = ("kind", "subdomain", "count", "variance", "step", TWINS, *EDGE, *NODE)
"""Columns that reading needs: the step where there is time, twins where edges have further ids."""

Trees = tuple[Subdomains, Decomposition, NDArray[np.float64]]
"""Of one step: paths, nodes, and the variance that each node was measured with."""


def to_columns(estimates: RoadEstimates, header: Header, steps: Steps | None = None) -> pa.Table:
    """The table of a release, GeoParquet 1.1."""
    graph = estimates.graph
    facts: dict[str, Any] = {"crs": graph.crs, "directed": graph.directed}
    if steps is None:
        columns = _block(estimates)
    else:
        blocks = [_block(each) for each in estimates.addends]
        columns = {
            name: pa.chunked_array([part for block in blocks for part in block[name].chunks])
            for name in blocks[0]
        }
        row = np.repeat(np.arange(len(blocks)), [len(block["kind"]) for block in blocks])
        columns["step"] = arrow.numbers(row)
        columns |= {name: pa.array(each[row]) for name, each in step_times(steps).items()}
        facts["time"] = steps.to_dict()
    low, high = graph.line_xy.min(axis=0).tolist(), graph.line_xy.max(axis=0).tolist()
    geo = geo_metadata(["LineString"], graph.crs, [*low, *high])
    return with_header(columns, "roads", header, facts, geo=geo)


def step_times(steps: Steps) -> dict[str, NDArray[Any]]:
    """Start ``t0`` and end ``t1`` of each step to the millisecond, UTC; of a cycle in hours."""
    ends = {"t0": steps.edges[:-1], "t1": steps.edges[1:]}
    return {name: on_axis(each, steps.cycle) for name, each in ends.items()}


def _block(estimates: RoadEstimates) -> dict[str, Any]:
    """The columns of one histogram: edges, then nodes."""
    graph, nodes = estimates.graph, estimates.nodes
    m, n = len(graph), len(nodes)
    place, path = estimates.domains.position, estimates.domains.path

    def column(edges: Any, tree: Any, kind: Any = None) -> Any:
        blocks = [
            pa.nulls(size, kind)
            if part is None
            else arrow.numbers(part)
            if isinstance(part, np.ndarray)
            else pa.array(part, kind)
            for part, size in ((edges, m), (tree, n))
        ]
        return pa.chunked_array(blocks)

    def ids(values: NDArray[Any]) -> Any:
        kind = pa.string() if values.dtype.kind == "O" else pa.int64()
        return column(values.tolist(), None, kind)

    i64, f64 = pa.int64(), pa.float64()
    twins: list[list[str]] = [[] for _ in range(m if graph.twins else 0)]
    for name, edge in graph.twins.items():
        twins[edge].append(name)
    further = {TWINS: column(twins, None, pa.list_(pa.string()))} if twins else {}
    return {
        "geometry": column(_lines_wkb(graph), None, pa.binary()),
        "kind": column(["edge"] * m, ["node"] * n, pa.string()),
        "edge": ids(graph.edge_id),
        "src": ids(graph.node_id[graph.ends[:, 0]]),
        "dst": ids(graph.node_id[graph.ends[:, 1]]),
        "length": column(graph.length, None, f64),
        "subdomain": column(path[place], path[nodes.lo[:, 0]], i64),
        "position": column(place, None, i64),
        "lo": column(None, nodes.lo[:, 0], i64),
        "hi": column(None, nodes.hi[:, 0], i64),
        "parent": column(None, nodes.parent.astype(np.int64), i64),
        "count": column(estimates.edge_count, nodes.count, f64),
        "variance": column(estimates.edge_noise_sd**2, nodes.variance, f64),
        "measured": column(None, estimates.measured, f64),
        **further,
    }


def from_columns(
    table: pa.Table, stated: dict[str, Any]
) -> tuple[RoadGraph, list[Trees], Steps | None]:
    """The inverse of :func:`to_columns`; what the header says of it is taken out of ``stated``.

    Raises:
        ReleaseError: a column that is missing, of another type, or no trees over a road graph.
    """
    crs, directed = stated.pop("crs", ""), stated.pop("directed")
    time = stated.pop("time", None)
    steps = None if time is None else Steps.from_dict(time)
    blocks = [table] if steps is None else _by_step(table, len(steps))
    edges, _ = _edges_and_nodes(blocks[0])
    return _graph(edges, crs, directed), [_trees(each, edges) for each in blocks], steps


def _by_step(table: pa.Table, count: int) -> list[pa.Table]:
    """The block of each step."""
    step = whole_numbers(table, "step")
    if (np.diff(step) < 0).any() or not np.array_equal(np.unique(step), np.arange(count)):
        raise ReleaseError(f"the rows are not those of steps 0 to {count - 1}, one after the other")
    cuts = np.searchsorted(step, np.arange(count + 1)).tolist()
    return [table.slice(low, high - low) for low, high in pairwise(cuts)]


def _edges_and_nodes(block: pa.Table) -> tuple[pa.Table, pa.Table]:
    row_kind = identifiers(block, "kind")
    edges, nodes = (block.filter(arrow.numbers(row_kind == each)) for each in ("edge", "node"))
    return edges, nodes


def _trees(block: pa.Table, first: pa.Table) -> Trees:
    """The trees of a step, over the edges of the first one."""
    edges, trees = _edges_and_nodes(block)
    if not np.array_equal(identifiers(edges, "edge"), identifiers(first, "edge")):
        raise ReleaseError("a step has other edges than the first")
    domains = _domains(whole_numbers(edges, "position"), whole_numbers(edges, "subdomain"))
    box = [whole_numbers(trees, each)[:, None] for each in ("lo", "hi")]
    rest = [numbers(trees, each) for each in ("parent", "count", "variance")]
    nodes = Decomposition(box[0], box[1], *rest)
    return domains, nodes, numbers(trees, "measured")


def to_geopandas(estimates: RoadEstimates) -> geopandas.GeoDataFrame:
    """One row per edge: line, ids, length, sub-domain, count and the sd of its noise."""
    graph = estimates.graph
    place = estimates.domains.position
    columns: dict[str, Any] = {
        "edge": graph.edge_id,
        "src": graph.node_id[graph.ends[:, 0]],
        "dst": graph.node_id[graph.ends[:, 1]],
        "length": graph.length,
        "subdomain": estimates.domains.path[place],
        "count": estimates.edge_count,
        "noise_sd": estimates.edge_noise_sd,
    }
    crs = known_crs(graph.crs) if graph.crs else None
    return geopandas.GeoDataFrame(columns, geometry=shapely.from_wkb(_lines_wkb(graph)), crs=crs)


def _graph(edges: pa.Table, crs: str, directed: bool) -> RoadGraph:
    """The road graph of the edge rows."""
    edge_id = identifiers(edges, "edge")
    ends = np.stack([identifiers(edges, "src"), identifiers(edges, "dst")], axis=1)
    node_id, rows = np.unique(ends, return_inverse=True)
    lines = shapely.from_wkb(encoded_shapes(edges))
    if (shapely.get_type_id(lines) != shapely.GeometryType.LINESTRING).any():
        raise ReleaseError("column 'geometry' holds an edge without a line")
    xy, owner = shapely.get_coordinates(lines, return_index=True)
    start = np.searchsorted(owner, np.arange(len(lines) + 1))
    node_xy = np.zeros((len(node_id), 2))
    rows = rows.reshape(-1, 2)
    node_xy[rows[:, 0]] = xy[start[:-1]]
    node_xy[rows[:, 1]] = xy[start[1:] - 1]
    length = numbers(edges, "length")
    further = edges[TWINS].to_pylist() if TWINS in edges.column_names else []
    twins = {name: edge for edge, names in enumerate(further) for name in names}
    return RoadGraph(node_id, node_xy, edge_id, rows, length, start, xy, crs, directed, twins)


def _domains(position: Int, path: Int) -> Subdomains:
    if not np.array_equal(np.sort(position), np.arange(len(position))):
        raise ReleaseError("the positions of the edges are not 0, 1, 2, …")
    order = np.argsort(position)
    along = path[order]
    if (np.diff(along) < 0).any():
        raise ReleaseError("the sub-domains are not in the order of the positions")
    start = np.append(np.flatnonzero(np.diff(along, prepend=-1)), len(along))
    return Subdomains(order, start)


def _lines_wkb(graph: RoadGraph) -> list[bytes]:
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.line_start))
    lines = shapely.linestrings(graph.line_xy, indices=owner)
    return list(shapely.to_wkb(lines))
