"""The map of a release of flows: arrows between areas of one level, as wide as their counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.lazy import shapely
from dpviz.releases.answers import Answers, RangeAnswers, interval
from dpviz.releases.flows.frame import Flows
from dpviz.releases.flows.release import FlowRelease
from dpviz.render.cells import domain_bounds
from dpviz.render.colors import ACCENT, TEXT
from dpviz.render.districts import shapes_in_degrees
from dpviz.render.flow_legends import move_legend
from dpviz.render.flowlines import cell_side, discs
from dpviz.render.flows import above_noise, move_marks
from dpviz.render.legend import Circles
from dpviz.render.marks import paths, polygons
from dpviz.render.nearby import area_labels
from dpviz.render.projection import WORLD
from dpviz.render.scene import Mark, Row, Scene
from dpviz.render.view import domain_scene
from dpviz.sequences.moves import Strings
from dpviz.trees.lattice import Float, Int

MAX_ARROWS = 30
"""Most arrows of a map: those of the largest counts. More of them hide each other."""

MAX_CIRCLES = 60
"""Most areas with a circle: those with the most trips from and to other areas."""

CIRCLE = 0.26
"""Radius of the largest circle, in sides of an area: arrows begin and end outside it."""

CIRCLE_ALPHA = 70
"""Opacity (0–255) of circles, behind arrows."""

WAYS = "from", "to"
"""Words for the ends of a pair: that of origin first."""


def pairs_of(release: FlowRelease, level: str, area: int | None = None) -> tuple[Int, Int, Answers]:
    """Pairs of different areas of a level, all steps and kinds together, the largest first.

    ``area``: row of an area; given, only the pairs that begin or end in it are returned. Returns
    rows of origins and of destinations, and the counts.
    """
    nodes, flows = release.nodes, release.frame
    at = flows.levels.index(level)
    part = nodes.levels[at] if at < len(nodes.levels) else slice(0, 0)
    origin, destination = (ends[part] for ends in flows.ends(nodes))
    count = nodes.count[part]
    chosen = np.ones(len(count), dtype=np.bool_)
    if flows.to is None:
        chosen = origin != destination
        if area is not None:
            chosen &= (origin == area) | (destination == area)
    elif area is not None:
        chosen = origin == area
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(-count[rows], kind="stable")]
    answers = Answers(**interval(count[rows], np.sqrt(nodes.variance[part][rows])))
    return origin[rows], destination[rows], answers


def trips_of(release: FlowRelease, areas: Int, end: int, other: int | None = None) -> RangeAnswers:
    """Trips that begin (``end`` 0) or end (1) in each of some areas, by their rows.

    ``other``: row of the area of their other end; any by default.
    """
    frames = release.frame.origins, release.frame.destinations
    low, high = np.zeros((len(areas), 2), np.int64), np.tile(release.frame.shape, (len(areas), 1))
    low[:, end], high[:, end] = (side[areas, 0] for side in frames[end].intervals)
    if other is not None:
        low[:, 1 - end], high[:, 1 - end] = (side[other, 0] for side in frames[1 - end].intervals)
    return release.count_boxes(low, high)


def flow_scene(release: FlowRelease, level: str, area: int | None = None) -> Scene:
    """Arrows of the largest flows of a level that stand out of their noise.

    Args:
        area: row of the area whose flows are drawn, in the classes of all; all by default.
    """
    flows = release.frame
    shapes, starts, names = _areas_of(flows, level, release.header.source)

    def drawn(area: int | None) -> tuple[Strings, int, int]:
        """The flows that are drawn, how many stand out of their noise, and how many do not."""
        origin, destination, answers = pairs_of(release, level, area)
        clear = np.flatnonzero(above_noise(answers.count, answers.noise_sd, len(names) ** 2))
        rows = clear[:MAX_ARROWS]
        ends = origin[rows] - starts[0], destination[rows] - starts[1] + len(shapes[0])
        pairs = tuple(zip(*map(np.ndarray.tolist, ends), strict=True))
        moves = Strings(pairs, answers.count[rows], answers.noise_sd[rows])
        return moves, len(clear), len(origin) - len(clear)

    every, (moves, clear, hidden) = drawn(None)[0], drawn(area)
    marks, rings, owner = _outlines(flows, shapes, names)
    circles, sizes = _circles(release, level, shapes, starts, names, area)
    marks += circles
    marks += move_marks(
        shapely.bounds(np.concatenate(shapes)), names, moves, among=every, noun="trips"
    )
    shown = f", the {MAX_ARROWS} largest of {clear:,}" if clear > MAX_ARROWS else ""
    legend = move_legend(every, hidden, title=f"Trips between areas{shown}")
    legend = replace(legend, circles=sizes)
    if area is not None:
        chosen = [ring for ring, row in zip(rings, owner, strict=True) if row == area - starts[0]]
        marks.append(paths("chosen", chosen, color=ACCENT, width=2.5))
        legend = legend.choosing("the chosen area")
    description = f"Flows between areas: {release.header.privacy_status[1]}"
    return domain_scene(
        release.domain,
        marks,
        legend,
        description,
        tools=(),
        picks=True,
        title="Flows",
    )


def _circles(
    release: FlowRelease,
    level: str,
    shapes: list[Any],
    starts: list[int],
    names: list[str],
    area: int | None,
) -> tuple[list[Mark], Circles | None]:
    """Circles on areas, as large as the trips that begin or end there, and their sizes.

    Their tooltips begin with the trips from and to the chosen ``area``, the row of one.
    """
    *pairs, answers = pairs_of(release, level)
    every: list[tuple[tuple[int, ...], Int, dict[str, RangeAnswers], Float]] = []
    sides: list[tuple[int, ...]] = [(0, 1)] if release.frame.to is None else [(0,), (1,)]
    for ends in sides:
        many = len(shapes[ends[0]])
        sums = [np.bincount(pairs[end] - starts[end], answers.count, many) for end in ends]
        rows = np.argsort(-np.sum(sums, axis=0), kind="stable")[:MAX_CIRCLES]
        trips = {WAYS[end]: trips_of(release, rows + starts[end], end) for end in ends}
        every.append((ends, rows, trips, np.sum([each.count for each in trips.values()], axis=0)))
    most = max(1e-9, *(float(total.max(initial=0.0)) for *_, total in every))
    places = shapely.bounds(np.concatenate(shapes))
    marks = list[Mark]()
    for ends, rows, trips, total in every:
        first = ends[0]
        sd = np.sum([each.noise_sd for each in trips.values()], axis=0)  # both may err together
        shown = np.flatnonzero(above_noise(total, sd, len(names)))
        labels = {way: f"trips {way} (noisy)" for way in trips}
        if area is not None:
            between = {
                f"chosen.{WAYS[1 - end]}": trips_of(release, rows + starts[end], end, area)
                for end in reversed(ends)
                if end == 1 or release.frame.to is None  # a chosen origin is no destination
            }
            name = names[area - starts[0]]
            words = {"from": f"from {name} to here", "to": f"from here to {name}"}
            said = {way: f"trips {words[way.partition('.')[2]]} (noisy)" for way in between}
            labels = said | {way: f"all {label}" for way, label in labels.items()}
            trips = between | trips
        circles = polygons(
            f"circles.{first}",
            discs(
                places,
                rows[shown] + first * len(shapes[0]),
                CIRCLE * np.sqrt(total[shown] / most),
            ),
            color=TEXT.faint(CIRCLE_ALPHA),
            rows=(
                Row("area", "area"),
                *(Row(label, way, noise_sd=f"{way}.sd") for way, label in labels.items()),
            ),
            extra={
                "area": np.array(names[first * len(shapes[0]) :])[rows[shown]],
                **{way: each.count[shown] for way, each in trips.items()},
                **{f"{way}.sd": each.noise_sd[shown] for way, each in trips.items()},
            },
        )
        marks += [circles] if len(shown) else []
    if not marks:
        return [], None
    (_, south, _, north), (across, up) = domain_bounds(release.domain), cell_side(places)
    widest = CIRCLE * min(across, up / np.cos(np.radians((south + north) / 2))) * WORLD / 360
    ways = " and " if release.frame.to is None else ", or "
    label = f"trips {ways.join(WAYS)} the area"
    color = TEXT.faint(CIRCLE_ALPHA)
    return marks, Circles(label, color, float(widest) / most**0.5, most)


def frame_scene(flows: Flows) -> Scene:
    """The finest areas alone, before a release exists."""
    shapes, _, names = _areas_of(flows, flows.levels[-1], "")
    marks, *_ = _outlines(flows, shapes, names)
    description = "The areas; no release has been built yet"
    return domain_scene(flows.domain, marks, None, description, tools=())


def _areas_of(flows: Flows, level: str, source: str) -> tuple[list[Any], list[int], list[str]]:
    """Outlines in degrees of both ends of a level, their first rows, and all labels."""
    shapes, starts, names = [], [], list[str]()
    for areas, depth in zip(
        (flows.origins, flows.destinations), flows.depths[flows.levels.index(level)], strict=True
    ):
        starts.append(areas.slices[depth].start)
        shapes.append(shapes_in_degrees(areas.outlines(areas.levels[depth]), areas.domain))
        names += area_labels(areas, source)[areas.slices[depth]]
    return shapes, starts, names


def _outlines(
    flows: Flows, shapes: list[Any], names: list[str]
) -> tuple[list[Mark], list[Any], Int]:
    """Marks of the areas of both ends, their rings, and the area of each ring."""
    outlines = np.concatenate(shapes if flows.to is not None else shapes[:1])
    parts, owner = shapely.get_parts(outlines, return_index=True)
    rings = [shapely.get_coordinates(each) for each in shapely.get_exterior_ring(parts)]
    marks = [
        polygons(
            "areas",
            rings,
            color=(0, 0, 0, 1),
            rows=(Row("area", "name"),),
            extra={"name": np.array(names)[owner]},
        ),
        paths("area-borders", rings, themed=60, width=1.0),
    ]
    return marks, rings, owner
