"""A road release as marks: streets by noisy count, sub-domains by hue, an answered path."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import DEGREES, transformation
from dpviz.errors import DomainError
from dpviz.releases.counts import RoadRelease
from dpviz.render.basemap import outlines
from dpviz.render.colors import ACCENT, HALO, QUIET
from dpviz.render.detail import NOISE_SDS
from dpviz.render.legend import Legend, Swatch, line_labels
from dpviz.render.marks import paths, points
from dpviz.render.projection import is_degrees
from dpviz.render.scale import LINE_WIDTHS, line_colors, lines_scale
from dpviz.render.scene import Bounds, Camera, Mark, Row, Scene
from dpviz.roads.graph import Float, Int, RoadGraph

PIVOT = (110, 110, 118, 220)
QUIET_WIDTH = 0.8


def degrees(graph: RoadGraph) -> Float:
    """The graph's line points in longitude and latitude; a plane of its own is laid at 0, 0."""
    if graph.crs:
        lines = graph.line_xy
        if not is_degrees(graph.crs):
            change = transformation(graph.crs, DEGREES)
            lines = np.column_stack(change.transform(lines[:, 0], lines[:, 1]))
        if not (np.abs(lines) <= (360.0, 90.0)).all():
            raise DomainError(
                f"streets lie nowhere on the Earth in {graph.crs}, so that no map can be drawn: "
                "give their coordinates in that CRS"
            )
        return lines
    low, high = graph.line_xy.min(axis=0), graph.line_xy.max(axis=0)
    return np.asarray(
        (graph.line_xy - (low + high) / 2) * (0.2 / max(float((high - low).max()), 1e-12))
    )


def node_degrees(graph: RoadGraph) -> Float:
    """Longitude and latitude of each node (n, 2), from the ends of its edges."""
    lines, place = degrees(graph), np.zeros((len(graph.node_id), 2))
    place[graph.ends[:, 1]] = lines[graph.line_start[1:] - 1]
    place[graph.ends[:, 0]] = lines[graph.line_start[:-1]]
    return place


def bounds(graph: RoadGraph) -> Bounds:
    """West, south, east, north of the graph."""
    lines = degrees(graph)
    (west, south), (east, north) = lines.min(axis=0).tolist(), lines.max(axis=0).tolist()
    return west, south, east, north


def ground(graph: RoadGraph, source: str) -> tuple[Mark, ...]:
    """The base map around the streets, of records of this name; none around a plane of its own."""
    return outlines(bounds(graph), source) if graph.crs else ()


def lines_of(graph: RoadGraph, edges: Int) -> list[Float]:
    """Geometry of some edges, in degrees."""
    xy, start = degrees(graph), graph.line_start
    return [xy[start[edge] : start[edge + 1]] for edge in edges.tolist()]


def top_count(release: RoadRelease) -> float:
    """Upper end of the width scale: the 99.8 % quantile of the noisy counts."""
    return max(
        float(np.quantile(release.answers.count, 0.998)), float(release.answers.noise_sd.min()), 1.0
    )


def street_marks(release: RoadRelease, top: float) -> tuple[Mark, ...]:
    """Streets as lines in five classes up to ``top``, the busy ones last.

    What is within the noise or negative looks like a quiet street on any map.
    """
    graph, count, sd = release.frame.graph, release.answers.count, release.answers.noise_sd
    above = count > NOISE_SDS * sd
    scale, colors = lines_scale(top), line_colors()
    place = release.frame.domains.path[release.frame.domains.position]
    rows = (
        Row(f"{release.records} (noisy)", "count", noise_sd="sd"),
        Row("edge", "edge"),
        Row("sub-domain", "subdomain"),
    )
    marks = []
    for kind, chosen in (("quiet", ~above), ("streets", above)):
        edges = np.flatnonzero(chosen)
        if not len(edges):
            continue
        edges = edges[np.argsort(count[edges], kind="stable")]
        wide = np.array(LINE_WIDTHS)[np.maximum(scale.classes(count[edges]), 0)]
        marks.append(
            paths(
                kind,
                lines_of(graph, edges),
                color=QUIET if kind == "quiet" else scale.paint(count[edges], colors),
                width=QUIET_WIDTH if kind == "quiet" else wide,
                title="Street" if kind == "streets" else "Street: within the noise",
                rows=rows,
                extra={
                    "count": count[edges],
                    "sd": sd[edges],
                    "edge": _texts(graph.edge_id[edges]),
                    "subdomain": place[edges].astype(np.str_),
                },
            )
        )
    return tuple(marks)


def graph_mark(graph: RoadGraph) -> Mark:
    """The streets alone, as quiet ones are drawn."""
    edges = np.arange(len(graph))
    return paths(
        "graph",
        lines_of(graph, edges),
        color=QUIET,
        width=QUIET_WIDTH,
        title="Street",
        rows=(Row("edge", "edge"),),
        extra={"edge": _texts(graph.edge_id)},
    )


def domain_marks(release: RoadRelease) -> tuple[Mark, ...]:
    """The decomposition: one hue per path, pivots (more than two edge ends) as dots."""
    graph = release.frame.graph
    place = release.frame.domains.path[release.frame.domains.position]
    size = np.diff(release.frame.domains.start)
    edges = np.arange(len(graph))
    offset, _ = graph.incidence
    pivots = np.flatnonzero(np.diff(offset) > 2)
    return (
        paths(
            "domains",
            lines_of(graph, edges),
            color=hues(place),
            width=2.0,
            title="Sub-domain",
            rows=(Row("sub-domain", "subdomain"), Row("its edges", "size"), Row("edge", "edge")),
            extra={
                "subdomain": place.astype(np.str_),
                "size": size[place].astype(np.str_),
                "edge": _texts(graph.edge_id),
            },
        ),
        points(
            "pivots",
            node_degrees(graph)[pivots],
            color=PIVOT,
            radius=1.6,
        ),
    )


def answer_marks(release: RoadRelease, edges: Int) -> list[Mark]:
    """The path of an answer in the accent, on a casing; a bead where a sub-domain ends."""
    graph = release.frame.graph
    place = release.frame.domains.path[release.frame.domains.position[edges]]
    lines = lines_of(graph, edges)
    cuts = [_shared_end(*lines[at : at + 2]) for at in np.flatnonzero(np.diff(place)).tolist()]
    marks = [
        paths("answer.rim", lines, color=HALO, width=9.0),
        paths("answer", lines, color=ACCENT, width=5.0),
    ]
    return [*marks, points("cuts", cuts, color=HALO, radius=1.8)] if cuts else marks


def _shared_end(line: Float, following: Float) -> list[float]:
    """Point where two lines of any direction meet: the ends that are nearest to each other."""
    ends, others = line[[0, -1]], following[[0, -1]]
    away = np.hypot(*(ends[:, None] - others[None]).transpose(2, 0, 1)).min(axis=1)
    return [float(each) for each in ends[int(away.argmin())]]


def streets_scene(
    release: RoadRelease, marks: Iterable[Mark], legend: Legend, *, key: str, **options: Any
) -> Scene:
    """Marks of a release on the ground around its streets; other ``options`` of the scene."""
    graph, area = release.frame.graph, bounds(release.frame.graph)
    return Scene(
        marks=[*ground(graph, release.header.source), *marks],
        camera=Camera(bounds=area, key=key),
        legend=legend,
        domain=area,
        plane=not graph.crs,
        description=f"Road network with noisy counts: {release.header.privacy_status[1]}",
        **options,
    )


def end_marks(graph: RoadGraph, nodes: Int) -> list[Mark]:
    """The chosen end points."""
    if not len(nodes):
        return []
    place = node_degrees(graph)[nodes]
    return [
        points("ends.rim", place, color=HALO, radius=9.0),
        points("ends", place, color=ACCENT, radius=7.0),
    ]


def hues(names: Int) -> NDArray[np.uint8]:
    """A colour per number, neighbours far apart on the wheel: uint8 (n, 3)."""
    wanted, where = np.unique(names, return_inverse=True)
    table = [
        colorsys.hls_to_rgb((0.09 + 0.618034 * name) % 1.0, 0.5, 0.62) for name in wanted.tolist()
    ]
    return (np.array(table)[where] * 255).astype(np.uint8)


def street_legend(top: float, records: str) -> Legend:
    """Widths and colours by noisy count of trips or events."""
    scale = lines_scale(top)
    return Legend(
        title=f"{records.capitalize()} per street",
        colors=line_colors(),
        labels=line_labels(scale),
        widths=LINE_WIDTHS,
        swatches=(Swatch("thin: under twice the noise of the street", QUIET, width=1.5),),
    )


def domain_legend() -> Legend:
    """The decomposition view."""
    return Legend(
        title="Sections (sub-domains): paths between cuts",
        swatches=(
            Swatch("one hue per path", tuple(hues(np.array([3]))[0].tolist())),
            Swatch("pivot: more than two streets meet", PIVOT),
        ),
    )


def _texts(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as text, each of its own length."""
    return np.array([str(each) for each in ids.tolist()], dtype=object)
