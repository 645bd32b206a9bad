"""A road release as marks: streets by noisy count, sections of streets, an answered path."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import DEGREES, transformation
from dpviz.errors import DomainError
from dpviz.lazy import nx
from dpviz.releases.counts import RoadRelease
from dpviz.render.basemap import outlines
from dpviz.render.colors import ACCENT, HALO, QUIET, ROAD, Themed, stops
from dpviz.render.detail import Mask, whole_sd
from dpviz.render.flowlines import HEAD, head
from dpviz.render.flows import above_noise
from dpviz.render.legend import Legend, Swatch, line_labels
from dpviz.render.marks import paths, points, polygons
from dpviz.render.nearby import named_places, nearest_places
from dpviz.render.projection import WORLD, home_zoom, is_degrees
from dpviz.render.scale import LINE_WIDTHS, Scale, line_colors, lines_scale
from dpviz.render.scene import Bounds, Camera, Mark, Row, Scene
from dpviz.roads.graph import Float, Int, RoadGraph

PIVOT = (110, 110, 118, 220)
SECTIONS = stops("5f86ad b0833f 629462 9676a5 ba6c65 7d8490")
SHORT, NEARER = 1 / 20, (1.5, 2.5)
"""Largest share of the area's longer side that a short section spans, and the zooms, beyond that of
the whole area, between which short sections get their colours: all at once would be confetti."""

MAX_OFFERED = 200
"""Most nodes that a selector offers."""

MOST_NOISE = 1 / 20
"""Largest expected share of the streets that stand out that are noise alone."""

THIN = "thin: cannot be told from noise; of the others, at most 1 in 20 are noise"

QUIET_WIDTH = 0.8
QUIET_COLOR = QUIET.faint(120)
"""Streets within the noise: a thin, pale net behind the others."""

HEAD_PIXELS, HEADS = 18.0, 9
"""Least length in pixels of the arrow's head at the end of a path, and its sizes: one for each zoom
from that of the whole area on."""

METRES, ZOOMED = 25.0, {"min": 1.2, "max": 3.5}
"""Metres of a line's width per pixel of its class, and its limits in pixels per such pixel."""


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


def nearest_node(graph: RoadGraph, lon: float, lat: float) -> str:
    """Id of the node that is nearest to a point in degrees."""
    across, place = np.cos(np.radians(lat)), node_degrees(graph)
    away = np.hypot((place[:, 0] - lon) * across, place[:, 1] - lat)
    return str(graph.node_id[int(np.argmin(away))])


def landmarks(graph: RoadGraph, source: str) -> list[str]:
    """Ids of the nodes nearest to the largest named places; without places, of the first nodes."""
    if not graph.crs or not len(spots := named_places(bounds(graph), source)[1]):
        return [str(each) for each in graph.node_id[:MAX_OFFERED].tolist()]
    return list(dict.fromkeys(nearest_node(graph, *at) for at in spots[:MAX_OFFERED].tolist()))


def near(graph: RoadGraph, spots: Float, source: str) -> list[str]:
    """The named place nearest to each spot in degrees, to a few streets; "" where there is none."""
    return nearest_places(spots, bounds(graph), source, 0.2, 2) if graph.crs else [""] * len(spots)


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


def streets_above_noise(release: RoadRelease) -> Mask:
    """True for streets that stand out: noise alone is expected to be at most 1 in 20 of them.

    By the step-up rule of Benjamini and Hochberg (JRSS B 57(1), 1995), with the exact tail of the
    noise of one count: among so many streets, hundreds are above twice their noise by chance.
    """
    count, sd = release.answers.count, whole_sd(release.answers.noise_sd)
    order, rank = np.argsort(-count / sd, kind="stable"), np.arange(1, len(count) + 1)
    among = len(count) / (MOST_NOISE * rank * (1 + np.exp(-np.sqrt(2) / sd[order])))
    clear = np.flatnonzero(above_noise(count[order], sd[order], among))
    above = np.zeros(len(count), dtype=bool)
    above[order[: clear.max(initial=-1) + 1]] = True
    return above


def street_scale(release: RoadRelease) -> Scale:
    """Classes of the streets that stand out of the noise."""
    return lines_scale(release.answers.count[streets_above_noise(release)])


def street_marks(release: RoadRelease, scale: Scale) -> tuple[Mark, ...]:
    """Streets as lines, a mark for each class of the scale, the busy ones last.

    What is within the noise or negative looks like a quiet street on any map.
    """
    graph, count, sd = release.frame.graph, release.answers.count, release.answers.noise_sd
    colors, above = line_colors(), streets_above_noise(release)
    classes = np.where(above, np.maximum(scale.classes(count), 0), -1)
    place = release.frame.domains.path[release.frame.domains.position]
    rows = (
        Row(f"{release.records} (noisy)", "count", noise_sd="sd"),
        Row("street", "edge"),
        Row("section", "subdomain"),
    )
    marks = []
    for each in np.unique(classes).tolist():
        edges, quiet = np.flatnonzero(classes == each), each < 0
        color = QUIET_COLOR if quiet else Themed(colors.light[each], colors.dark[each])
        marks.append(
            paths(
                "quiet" if quiet else f"streets.{each}",
                lines_of(graph, edges),
                color=color,
                **_width(QUIET_WIDTH if quiet else LINE_WIDTHS[each]),
                title="Street: within the noise" if quiet else "Street",
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


def _width(pixels: float) -> dict[str, Any]:
    """Properties of lines that grow with the zoom, all in proportion."""
    limits = {f"width_{end}_pixels": share * pixels for end, share in ZOOMED.items()}
    return {"width": pixels, "width_units": "meters", "width_scale": METRES, **limits}


def graph_mark(graph: RoadGraph) -> Mark:
    """The streets alone, as quiet ones are drawn."""
    edges = np.arange(len(graph))
    return paths(
        "graph",
        lines_of(graph, edges),
        color=QUIET_COLOR,
        **_width(QUIET_WIDTH),
        title="Street",
        rows=(Row("street", "edge"),),
        extra={"edge": _texts(graph.edge_id)},
    )


def domain_marks(release: RoadRelease) -> tuple[Mark, ...]:
    """Sections (paths of the decomposition) in few colours, junctions (pivots) as dots."""
    graph = release.frame.graph
    place = release.frame.domains.path[release.frame.domains.position]
    size = np.diff(release.frame.domains.start)
    colors, short = section_colors(graph, place), _spans(graph, place)[place] < SHORT
    home = home_zoom(bounds(graph))
    offset, _ = graph.incidence
    pivots = np.flatnonzero(np.diff(offset) > 2)

    def sections(name: str, edges: Int) -> Mark:
        return paths(
            name,
            lines_of(graph, edges),
            color=colors[edges],
            **_width(1.2),
            title="Section",
            rows=(Row("section", "subdomain"), Row("its streets", "size"), Row("street", "edge")),
            extra={
                "subdomain": place[edges].astype(np.str_),
                "size": size[place[edges]].astype(np.str_),
                "edge": _texts(graph.edge_id[edges]),
            },
        )

    return (
        sections("sections.short", np.flatnonzero(short)),
        paths(
            "sections.pale",
            lines_of(graph, np.flatnonzero(short)),
            color=ROAD,
            **_width(1.6),
            fade=[home + zooms for zooms in NEARER],
        ),
        sections("sections.long", np.flatnonzero(~short)),
        points(
            "pivots",
            node_degrees(graph)[pivots],
            color=PIVOT,
            radius=1.2,
            radius_units="meters",
            radius_scale=METRES,
            radius_max_pixels=3.0,
        ),
    )


def _spans(graph: RoadGraph, path: Int) -> Float:
    """Longer sides of the boxes around the sections, as shares of the area's."""
    lines, count = degrees(graph), int(path.max()) + 1
    across = np.cos(np.radians(lines[:, 1].mean()))
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    of_point = np.repeat(path, np.diff(graph.line_start))
    np.minimum.at(low, of_point, lines * (across, 1))
    np.maximum.at(high, of_point, lines * (across, 1))
    whole = (high.max(axis=0) - low.min(axis=0)).max()
    return np.asarray((high - low).max(axis=1) / whole)


def answer_marks(release: RoadRelease, start: int, edges: Int) -> list[Mark]:
    """The path of an answer from its first node, an arrow; a bead where a sub-domain ends."""
    graph = release.frame.graph
    place = release.frame.domains.path[release.frame.domains.position[edges]]
    lines = _along(graph, start, edges)
    cuts = [lines[at][-1] for at in np.flatnonzero(np.diff(place)).tolist()]
    marks = [
        paths("answer.rim", lines, color=HALO, width=9.0),
        *_head_marks(np.concatenate(lines), home_zoom(bounds(graph))),
        paths("answer", lines, color=ACCENT, width=5.0),
    ]
    return [*marks, points("cuts", cuts, color=HALO, radius=1.8)] if cuts else marks


def _along(graph: RoadGraph, start: int, edges: Int) -> list[Float]:
    """Geometry of a path's edges, each in the direction of the way from its first node."""
    lines, node = [], start
    for ends, line in zip(graph.ends[edges].tolist(), lines_of(graph, edges), strict=True):
        forward = ends[0] == node
        lines.append(line if forward else line[::-1])
        node = ends[forward]
    return lines


def _head_marks(way: Float, home: float) -> list[Mark]:
    """An arrow's head at the end of a way that looks about as large at every zoom.

    It is drawn in sizes for one zoom each, on one spot; the larger ones fade as one zooms in.
    """
    rims, heads, stop = list[Mark](), list[Mark](), way[-1]
    for step in range(HEADS):
        across = HEAD_PIXELS / HEAD * 360 / WORLD / 2 ** (home + step)
        side = across * np.array([1.0, np.cos(np.radians(stop[1]))])
        away = np.flatnonzero(np.hypot(*((way - stop) / side).T) > HEAD)
        ring = head(way[away[-1] if len(away) else 0], stop, side)
        fade = [home + step + share for share in (0.8, 1.0)]
        gone: dict[str, Any] = {"fade": fade} if step < HEADS - 1 else {}
        rims.append(paths(f"head.rim.{step}", [ring], color=HALO, width=4.0, **gone))
        heads.append(polygons(f"head.{step}", [ring], color=ACCENT, **gone))
    return [*rims, *heads]


def streets_scene(
    release: RoadRelease, marks: Iterable[Mark], legend: Legend, **options: Any
) -> Scene:
    """Marks of a release on the ground around its streets; other ``options`` of the scene."""
    graph, area = release.frame.graph, bounds(release.frame.graph)
    return Scene(
        marks=[*ground(graph, release.header.source), *marks],
        camera=Camera(bounds=area),
        legend=legend,
        domain=area,
        plane=not graph.crs,
        description=f"Road network with noisy counts: {release.header.privacy_status[1]}",
        **options,
    )


def start_marks(graph: RoadGraph, nodes: Int) -> list[Mark]:
    """The first of the chosen nodes, if there is one, as a dot."""
    if not len(nodes):
        return []
    place = node_degrees(graph)[nodes[:1]]
    return [
        points("start.rim", place, color=HALO, radius=9.0),
        points("start", place, color=ACCENT, radius=7.0),
    ]


def section_colors(graph: RoadGraph, path: Int) -> NDArray[np.uint8]:
    """A colour per street by its section, of six: sections that meet differ where six suffice."""
    offset, dart = graph.incidence
    meeting = np.split(path[dart // 2], offset[1:-1])
    near = nx.Graph(pair for each in meeting for pair in combinations(np.unique(each).tolist(), 2))
    near.add_nodes_from(path.tolist())
    chosen = nx.greedy_color(near, "smallest_last")
    rows = np.array([chosen[each] for each in path.tolist()]) % len(SECTIONS)
    return np.asarray(np.array(SECTIONS, dtype=np.uint8)[rows])


def street_legend(scale: Scale, records: str) -> Legend:
    """Widths and colours by noisy count of trips or events."""
    return Legend(
        title=f"{records.capitalize()} per street",
        colors=line_colors(),
        labels=line_labels(scale),
        widths=LINE_WIDTHS,
        swatches=(Swatch(THIN, QUIET_COLOR, width=1.5),),
    )


def domain_legend() -> Legend:
    """The decomposition view."""
    return Legend(
        title="Sections: streets in a row that are counted together",
        swatches=(
            Swatch("one section; its neighbours have other colours", SECTIONS[0]),
            Swatch("short sections: zoom in", ROAD),
            Swatch("junction of more than two streets", PIVOT),
        ),
    )


def _texts(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as text, each of its own length."""
    return np.array([str(each) for each in ids.tolist()], dtype=object)
