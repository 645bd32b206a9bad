"""Streets: the public frame of a release of trips or events on a road graph.

Its file is one table of GeoParquet: a row per edge with its line, then a row per tree node. Any GIS
reads the edges. With time there is such a block for each step, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpviz.checks import require
from dpviz.domain import Domain
from dpviz.domain.crs import known_crs
from dpviz.errors import DomainError, ParameterError, ReleaseError
from dpviz.files import arrow
from dpviz.lazy import geopandas, pa, pd, shapely
from dpviz.releases.answers import INTERVAL_SDS, Answers, interval
from dpviz.releases.files import (
    encoded_shapes,
    geo_metadata,
    identifiers,
    numbers,
    whole_numbers,
)
from dpviz.releases.frame import Frame
from dpviz.releases.points.range_count import Cover, sums_of
from dpviz.releases.points.sums import Sums
from dpviz.releases.roads.path_variance import path_variance
from dpviz.roads.decompose import Subdomains, separate
from dpviz.roads.forest import covering_leaf
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.paths import Paths, distinct_keys, require_paths, require_workload
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise

TWINS = "twins"
"""Column of further ids of edges, where there are any."""


@dataclass(frozen=True, eq=False, repr=False)
class Streets(Frame):
    """A road graph and its decomposition into paths, whose nodes are intervals of positions.

    ``domains``: its decomposition into paths, which gives every edge a position.
    """

    graph: RoadGraph
    domains: Subdomains

    kind: ClassVar[str] = "roads"
    NEEDED = (
        *("row", "geometry", "edge", "src", "dst", "length", "position", "subdomain", TWINS),
        *("lo", "hi", "parent", "count", "variance", "measured"),
    )
    FACTS = ("crs", "directed")

    def __post_init__(self) -> None:
        order, start, m = self.domains.order, self.domains.start, len(self.graph)
        if not np.array_equal(np.sort(order), np.arange(m)):
            raise ReleaseError("the sub-domains do not hold every edge once")
        if len(start) < 2 or start[0] != 0 or start[-1] != m or (np.diff(start) < 1).any():
            raise ReleaseError("the sub-domains do not follow one another")

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Refuse the question for a box: streets have none."""
        raise DomainError("this release is of streets: query paths")

    @cached_property
    def path(self) -> Int:
        """Path (sub-domain) of each edge row, int64 (m,)."""
        return self.domains.path[self.domains.position]

    def subdomains(self, paths: Paths) -> Int:
        """Number of sub-domains that each path runs through, int64 (q,)."""
        return np.array([len(np.unique(self.path[paths[row]])) for row in range(len(paths))])

    def check(self, nodes: Decomposition) -> None:
        """Refuse nodes that do not cover every edge exactly once."""
        m = len(self.graph)
        if nodes.dims != 1 or nodes.lo.min() < 0 or nodes.hi.max() > m:
            raise ReleaseError("nodes outside the positions of the edges")
        if nodes.measured is None:
            raise ReleaseError("measured must hold one variance per node")
        filled = np.zeros(m + 1, dtype=np.int64)
        np.add.at(filled, nodes.lo[nodes.leaf, 0], 1)
        np.add.at(filled, nodes.hi[nodes.leaf, 0], -1)
        if not (np.cumsum(filled)[:m] == 1).all() or not nodes.is_partition():
            raise ReleaseError("the leaves do not cover every edge once")

    def leaves(self, nodes: Decomposition) -> tuple[Int, Float]:
        """Leaf of each edge row, and the edge's share of it: 1, or 1/g in a group of g."""
        leaf = covering_leaf(nodes.leaf, nodes.lo[:, 0], nodes.hi[:, 0])[self.domains.position]
        return leaf, 1.0 / nodes.volume[leaf]

    def answers(self, nodes: Decomposition, sds: float = INTERVAL_SDS) -> Answers:
        """Estimated trips on each edge row."""
        leaf, share = self.leaves(nodes)
        noise_sd = np.sqrt(nodes.variance[leaf]) * share
        return Answers(**interval(nodes.count[leaf] * share, noise_sd, sds))

    def questions(self, queries: Paths, period: Any = None) -> Paths:
        """Check that the queries are paths of the graph."""
        if period is not None:
            raise DomainError(f"period {period!r}: this release has no time, leave the period out")
        require(queries, Paths, "queries", ParameterError)
        require_workload(queries)
        require_paths(self.graph, queries)
        return queries

    def cover(self, nodes: Decomposition, questions: Paths) -> Cover:
        """Leaves of the edges of paths; an edge used twice counts twice."""
        leaf, share = self.leaves(nodes)
        edge = questions.edge
        return Cover(questions.owner, leaf[edge], share[edge], len(questions))

    def top_down(self, nodes: Decomposition, questions: Paths) -> tuple[Int, Int]:
        """Nodes of the shortest top-down answer to each path: inside it, or leaves cut by it.

        Returns path and node of each, int64, sorted by path, then node.
        """
        n, m = len(nodes), len(self.graph)
        edges = distinct_keys(questions.owner * m + questions.edge)
        path, above = edges // m, self.leaves(nodes)[0][edges % m].astype(np.int64)
        keys = []
        while len(above):  # every node above every edge of a path
            keys.append(path * n + above)
            above = nodes.parent[above].astype(np.int64)
            path, above = path[above >= 0], above[above >= 0]
        key, filled = np.unique(np.concatenate(keys), return_counts=True)
        path, node = key // n, key % n
        whole = filled == nodes.volume[node]
        parent = nodes.parent[node]
        covered = whole[np.searchsorted(key, path * n + np.maximum(parent, 0))] & (parent >= 0)
        answered = (whole | nodes.leaf[node]) & ~covered
        return path[answered], node[answered]

    def sums(self, nodes: Decomposition, noise: HaarNoise | None, questions: Paths) -> Float:
        """Sums over the nodes that answer, float64 (q, 4), with exact noise variances.

        Exception: where a method corrects counts by noisy factors (``flows``), how far these may be
        off is an ESTIMATE, common to all edges. Smoothing by neighbours and truncation are not
        included: see ``beyond_noise``.
        """
        cover = self.cover(nodes, questions)
        columns = sums_of(nodes, noise, cover, common=0.0)
        columns[:, 1] = path_variance(nodes, cover)
        columns[:, 2] = 0.0
        columns[:, 3] = np.bincount(self.top_down(nodes, questions)[0], minlength=len(questions))
        return columns

    def sum_frame(self, frames: Sequence[Streets], alike: bool) -> Streets:
        """Frame for the sum of all parts; single edges if their trees differ."""
        alike &= all(
            np.array_equal(getattr(self.domains, name), getattr(each.domains, name))
            for each in frames[1:]
            for name in ("order", "start")
        )
        return self if alike else Streets(self.graph, separate(self.graph))

    def common_nodes(self, release: Any) -> Decomposition:
        """Nodes for a map of parts with different trees: one node per edge."""
        place, each = np.arange(len(self.graph))[:, None], release.answers
        alone, variance = np.full(len(place), -1), each.noise_sd**2
        return Decomposition(place, place + 1, alone, each.count, variance, None, variance)

    def columns(
        self, nodes: Decomposition, sums: Sums | None, *, first: bool = True
    ) -> dict[str, Any]:
        """The columns of a file: rows of edges, then rows of nodes."""
        graph, place = self.graph, self.domains.position
        each, ends = self.answers(nodes), graph.node_id[graph.ends]
        kind = pa.string() if ends.dtype.kind == "O" else pa.int64()
        edge_kind = pa.string() if graph.edge_id.dtype.kind == "O" else pa.int64()
        edges = {
            "geometry": pa.array(shapely.to_wkb(_lines(graph)).tolist(), pa.binary()),
            "row": pa.array(["edge"] * len(graph)),
            "edge": pa.array(graph.edge_id.tolist(), edge_kind),
            "src": pa.array(ends[:, 0].tolist(), kind),
            "dst": pa.array(ends[:, 1].tolist(), kind),
            "length": graph.length,
            "subdomain": self.path,
            "position": place,
            "count": each.count,
            "variance": each.noise_sd**2,
        }
        if graph.twins:
            twins: list[list[str]] = [[] for _ in range(len(graph))]
            for name, edge in graph.twins.items():
                twins[edge].append(name)
            edges[TWINS] = pa.array(twins, pa.list_(pa.string()))
        trees = {
            "row": pa.array(["node"] * len(nodes)),
            "subdomain": self.domains.path[nodes.lo[:, 0]],
            "lo": nodes.lo[:, 0],
            "hi": nodes.hi[:, 0],
            "parent": nodes.parent.astype(np.int64),
            "count": nodes.count,
            "variance": nodes.variance,
            "measured": nodes.measured,
        }
        blocks = [pa.table(edges), pa.table(trees)]
        table = pa.concat_tables(blocks, promote_options="default")
        return dict(zip(table.column_names, table.columns, strict=True))

    def facts(self) -> dict[str, Any]:
        """Return the header fields of the graph: its CRS, and whether it is directed."""
        return {"crs": self.graph.crs, "directed": self.graph.directed}

    def geo(self) -> dict[str, bytes]:
        """GeoParquet metadata of the lines."""
        low, high = (
            end(axis=0).tolist() for end in (self.graph.line_xy.min, self.graph.line_xy.max)
        )
        return {"geo": geo_metadata(["LineString"], self.graph.crs, [*low, *high])}

    @classmethod
    def from_columns(
        cls, table: pa.Table, stated: dict[str, Any], first: Streets | None = None
    ) -> tuple[Streets, Decomposition, Sums | None]:
        """The inverse of :meth:`columns` and :meth:`facts`."""
        rows = identifiers(table, "row")
        edges, trees = (table.filter(arrow.numbers(rows == each)) for each in ("edge", "node"))
        if first is None:
            graph = _graph(edges, stated.get("crs", ""), stated["directed"])
        elif np.array_equal(identifiers(edges, "edge"), first.graph.edge_id):
            graph = first.graph
        else:
            raise ReleaseError("a step has other edges than the first")
        domains = _domains(whole_numbers(edges, "position"), whole_numbers(edges, "subdomain"))
        box = [whole_numbers(trees, each)[:, None] for each in ("lo", "hi")]
        parent, count, variance, measured = (
            numbers(trees, each) for each in ("parent", "count", "variance", "measured")
        )
        nodes = Decomposition(box[0], box[1], parent, count, variance, None, measured)
        return cls(graph, domains), nodes, None

    def rows(self, release: Any, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per edge: its ends, length, sub-domain, count and noise sd."""
        answers = release.answers
        graph = self.graph
        columns: dict[str, Any] = {
            "edge": graph.edge_id,
            "src": graph.node_id[graph.ends[:, 0]],
            "dst": graph.node_id[graph.ends[:, 1]],
            "length": graph.length,
            "subdomain": self.path,
            "count": answers.count,
            "noise_sd": answers.noise_sd,
        }
        if not shapes:
            return pd.DataFrame(columns)
        crs, lines = known_crs(graph.crs) if graph.crs else None, _lines(graph)
        frame: pd.DataFrame = geopandas.GeoDataFrame(columns, geometry=lines, crs=crs)
        return frame


def _graph(edges: pa.Table, crs: str, directed: bool) -> RoadGraph:
    """Build the road graph from the edge rows."""
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


def _lines(graph: RoadGraph) -> Any:
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.line_start))
    return shapely.linestrings(graph.line_xy, indices=owner)
