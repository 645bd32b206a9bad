"""A road release as marks: streets by noisy count, sub-domains by hue, an answered path."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpviz.render.colors import ACCENT
from dpviz.render.legend import Legend, Swatch
from dpviz.render.marks import paths, points
from dpviz.render.numbers import short
from dpviz.render.scene import Bounds, Mark, Row, Side

if TYPE_CHECKING:
    from dpviz.releases.roads.release import RoadRelease
    from dpviz.roads.graph import Float, Int, RoadGraph

NOISE_SDS = 2.0
"""A count under this many standard deviations of its noise is drawn grey."""

RAMP = ((72, 120, 190), (38, 140, 150), (70, 170, 90), (190, 160, 30), (235, 110, 30))
"""Few to many trips: legible on light and dark pages, and told apart by lightness of the lines'
widths too, so that hue carries nothing alone."""

GREY = (140, 146, 154, 120)
NEGATIVE = (200, 120, 180, 200)
WIDEST = 7.5
TICKS = 4


_THIN: dict[str, Any] = {
    "width_units": "meters",
    "width_min_pixels": 1.0,
    "width_max_pixels": WIDEST,
}
"""Streets grow with the zoom between these widths, so that a whole city stays legible."""


def degrees(graph: RoadGraph) -> Float:
    """The graph's line points in longitude and latitude; a plane of its own is laid at 0, 0."""
    if graph.crs.upper() in {"EPSG:4326", "OGC:CRS84"}:
        return graph.line_xy
    if graph.crs:
        from pyproj import Transformer

        change = Transformer.from_crs(graph.crs, "EPSG:4326", always_xy=True)
        return np.column_stack(change.transform(graph.line_xy[:, 0], graph.line_xy[:, 1]))
    low, high = graph.line_xy.min(axis=0), graph.line_xy.max(axis=0)
    return np.asarray(
        (graph.line_xy - (low + high) / 2) * (0.2 / max(float((high - low).max()), 1e-12))
    )


def _metres(graph: RoadGraph) -> float:
    """The width in metres that stands for one pixel: an eighth of the median street's length."""
    xy = degrees(graph)
    across = xy[graph.line_start[1:] - 1] - xy[graph.line_start[:-1]]
    return float(np.median(np.hypot(*across.T))) * 111_320 / 8


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


def lines_of(graph: RoadGraph, edges: Int) -> list[Float]:
    """Geometry of some edges, in degrees."""
    xy, start = degrees(graph), graph.line_start
    return [xy[start[edge] : start[edge + 1]] for edge in edges.tolist()]


def top_count(release: RoadRelease) -> float:
    """Upper end of the width scale: the 99.8 % quantile of the noisy counts."""
    return max(float(np.quantile(release.count, 0.998)), float(release.noise_sd.min()), 1.0)


def street_marks(release: RoadRelease, top: float, *, side: Side | None = None) -> tuple[Mark, ...]:
    """Streets as lines: widths ∝ √count up to ``top``; grey within the noise.

    Three marks, the busy streets last: within the noise, negative beyond it, above it.
    """
    graph, count, sd = release.graph, release.count, release.noise_sd
    above = count > NOISE_SDS * sd
    below = count < -NOISE_SDS * sd
    share = np.sqrt(np.clip(count / top, 0.0, 1.0))
    unit = _metres(graph)
    name = f".{side}" if side else ""
    place = release.domains.path[release.domains.position]
    rows = (
        Row("trips (noisy)", "count", noise_sd="sd"),
        Row("edge", "edge"),
        Row("sub-domain", "subdomain"),
    )
    found = []
    for kind, chosen, color, width in (
        ("noise", ~above & ~below, GREY, 1.2),
        ("negative", below, NEGATIVE, 1.6),
        ("streets", above, None, None),
    ):
        edges = np.flatnonzero(chosen)
        if not len(edges):
            continue
        edges = edges[np.argsort(count[edges], kind="stable")]
        found.append(
            paths(
                f"{kind}{name}",
                lines_of(graph, edges),
                color=ramp(share[edges]) if color is None else color,
                width=unit * (1.5 + (WIDEST - 1.5) * share[edges] if width is None else width),
                **_THIN,
                side=side,
                title="Street" if kind == "streets" else f"Street: {kind}",
                rows=rows,
                extra={
                    "count": count[edges],
                    "sd": sd[edges],
                    "edge": graph.edge_id[edges].astype(np.str_),
                    "subdomain": place[edges].astype(np.str_),
                },
            )
        )
    return tuple(found)


def domain_marks(release: RoadRelease) -> tuple[Mark, ...]:
    """The decomposition: one hue per path, pivots (more than two edge ends) as dots."""
    graph = release.graph
    place = release.domains.path[release.domains.position]
    size = np.diff(release.domains.start)
    edges = np.arange(len(graph))
    offset, _ = graph.incidence
    pivots = np.flatnonzero(np.diff(offset) > 2)
    return (
        paths(
            "domains",
            lines_of(graph, edges),
            color=hues(place),
            width=4.0 * _metres(graph),
            **_THIN,
            title="Sub-domain",
            rows=(Row("sub-domain", "subdomain"), Row("its edges", "size"), Row("edge", "edge")),
            extra={
                "subdomain": place.astype(np.str_),
                "size": size[place].astype(np.str_),
                "edge": graph.edge_id.astype(np.str_),
            },
        ),
        points(
            "pivots",
            node_degrees(graph)[pivots],
            color=(110, 110, 118, 220),
            radius=3.0 * _metres(graph),
            radius_units="meters",
            radius_min_pixels=0.4,
            radius_max_pixels=5.0,
        ),
    )


def answer_marks(release: RoadRelease, edges: Int) -> list[Mark]:
    """The path of an answer: a hue per sub-domain it runs through, on a broad accent line."""
    graph = release.graph
    place = release.domains.path[release.domains.position[edges]]
    lines = lines_of(graph, edges)
    return [
        paths("answer", lines, color=(*ACCENT, 130), width=11.0),
        paths("runs", lines, color=hues(place), width=4.5),
    ]


def end_marks(graph: RoadGraph, nodes: Int) -> list[Mark]:
    """The chosen end points."""
    if not len(nodes):
        return []
    place = node_degrees(graph)[nodes]
    return [
        points("ends.rim", place, color=(255, 255, 255), radius=9.0),
        points("ends", place, color=ACCENT, radius=7.0),
    ]


def hues(names: Int) -> NDArray[np.uint8]:
    """A colour per number, neighbours far apart on the wheel: uint8 (n, 3)."""
    wanted, where = np.unique(names, return_inverse=True)
    table = [
        colorsys.hls_to_rgb((0.09 + 0.618034 * name) % 1.0, 0.5, 0.62) for name in wanted.tolist()
    ]
    return (np.array(table)[where] * 255).astype(np.uint8)


def ramp(share: Float) -> NDArray[np.uint8]:
    """Colours of the ramp at shares of its length: uint8 (n, 3)."""
    stops = np.array(RAMP, dtype=np.float64)
    at = np.linspace(0, 1, len(stops))
    return np.column_stack([np.interp(share, at, stops[:, k]) for k in range(3)]).astype(np.uint8)


def street_legend(top: float) -> Legend:
    """Widths and colours by noisy count."""
    ticks = [(k / (TICKS - 1), short(top * (k / (TICKS - 1)) ** 2)) for k in range(TICKS)]
    return Legend(
        title="Trips per street (noisy; width and colour ∝ √)",
        stops=RAMP,
        ticks=ticks,
        swatches=(
            Swatch("within the noise (under 2 sd)", GREY),
            Swatch("negative beyond 2 sd", NEGATIVE),
        ),
    )


def domain_legend() -> Legend:
    """The decomposition view."""
    return Legend(
        title="Sub-domains: paths between cuts",
        swatches=(
            Swatch("one hue per path", tuple(hues(np.array([3]))[0].tolist())),
            Swatch("pivot: more than two streets meet", (110, 110, 118, 210)),
        ),
    )
