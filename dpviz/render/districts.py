"""Districts as marks: a choropleth of noisy densities, blank where the noise is as large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.domain.crs import DEGREES, transformation
from dpviz.lazy import shapely
from dpviz.releases.answers import INTERVAL_SDS, Answers
from dpviz.releases.points.region_count import Regions, polygonal
from dpviz.render.colors import LAND, Themed
from dpviz.render.detail import NOISE_SDS
from dpviz.render.legend import Legend, blank_words, scale_labels, surface_of
from dpviz.render.marks import paths, polygons
from dpviz.render.names import ROOM_ASPECT, places
from dpviz.render.numbers import with_noise
from dpviz.render.projection import EARTH_RADIUS_KM, beyond, is_degrees, to_degrees, world
from dpviz.render.scale import Scale, scale_of
from dpviz.render.scene import Mark, Row
from dpviz.trees.lattice import Float

OPAQUE_ALPHA, BLANK_ALPHA = 240, 1
"""Opacities, 0–255; a blank district still has a tooltip."""

BORDER_PIXELS = (8.0, 24.0)
"""Widths in pixels of a median district between which borders fade in: smaller ones show counts."""

HAIRLINE: dict[str, Any] = {"color": LAND.faint(115), "width": 0.5}
"""Line between cells of a mesh, whose borders have no meaning on the ground; blank cells, which may
be on water, have none."""

LETTER_PIXELS = 5.0
"""Approximate width of a letter of a name on the map."""

MAX_LABELS = 2_000
"""Most districts with a name on the map: each zoom has room for a few."""

ROOM_STEPS = 6
"""Halvings of a district's width in search of the room for its name."""

DETAIL = 1 / 3000
"""Borders are simplified to this share of the domain's width: on the map only."""


@dataclass(frozen=True)
class _Spots:
    """Where the names of districts are.

    Attributes:
        row: number of the district, (n,).
        lon_lat: in the district, (n, 2).
        room: width of the widest box around it within the district, in world units, (n,).
    """

    row: NDArray[np.int64]
    lon_lat: Float
    room: Float


@dataclass(frozen=True)
class Choropleth:
    """Districts as they are drawn.

    Attributes:
        shapes: in degrees, (n,).
        density: noisy records per km², (n,).
        blank: True where the count cannot be told from 0 or is below the first class, (n,).
        mesh: True if the districts are cells of a mesh, such as hexagons.
    """

    shapes: NDArray[np.object_]
    density: Float
    blank: NDArray[np.bool_]
    scale: Scale
    legend: Legend
    mesh: bool

    @property
    def fade(self) -> tuple[float, float]:
        """Zooms at which borders are full, and are not there yet."""
        drawn = self.shapes[~shapely.is_empty(self.shapes)]
        sizes = shapely.area(shapely.transform(drawn, world))
        pixels = np.sqrt(np.median(sizes)) if len(sizes) else 0.0  # at zoom 0
        gone, full = np.log2(np.array(BORDER_PIXELS) / max(pixels, 1e-9))
        return float(full), float(gone)

    def triangles(self) -> tuple[Float, NDArray[np.int64]]:
        """Triangles that fill the shapes: closed rings (k, 4, 2), and the district of each (k,)."""
        split = shapely.constrained_delaunay_triangles(self.shapes)
        part, owner = shapely.get_parts(split, return_index=True)
        return shapely.get_coordinates(part).reshape(-1, 4, 2), owner

    def spots(self, count: Float) -> _Spots:
        """Spots of the districts with the largest counts (n,); a mesh has none.

        A spot is the centroid or another point for certain within: whichever has more room.
        """
        row = np.argsort(-count, kind="stable")
        row = row[~shapely.is_empty(self.shapes[row])][: 0 if self.mesh else MAX_LABELS]
        shapes = self.shapes[row]
        flat = shapely.transform(shapes, world)
        shapely.prepare(flat)
        middles = shapely.point_on_surface(shapes), shapely.centroid(shapes)
        spots = np.array([shapely.get_coordinates(each) for each in middles])
        x, y = np.moveaxis(world(spots), -1, 0)
        west, _, east, _ = shapely.bounds(flat).T
        room, step = np.zeros(x.shape), east - west
        for _ in range(ROOM_STEPS):
            across = (room + step) / 2
            up = across / ROOM_ASPECT
            fits = shapely.contains(flat, shapely.box(x - across, y - up, x + across, y + up))
            room, step = room + step * fits, step / 2
        best = room.argmax(axis=0), np.arange(len(row))
        return _Spots(row, spots[best], room[best])

    def borders(self) -> list[Float]:
        """Lines (k, 2) around shapes and their holes; of a mesh, around coloured cells."""
        shapes = self.shapes[~self.blank] if self.mesh else self.shapes
        lines = shapely.get_parts(shapely.get_parts(shapely.boundary(shapes)))
        return [shapely.get_coordinates(line) for line in lines]


def choropleth(
    regions: Regions, answers: Answers, domain: Domain, noun: str, *, simplified: bool = True
) -> Choropleth:
    """Districts in classes of density; see :func:`district_marks` for the arguments."""
    return choropleths(regions, [answers], domain, noun, simplified=simplified)[0]


def choropleths(
    regions: Regions,
    frames: Sequence[Answers],
    domain: Domain,
    noun: str,
    *,
    simplified: bool = True,
    counted: str = "records",
) -> list[Choropleth]:
    """Districts at several times, in the same classes of density; ``frames`` are their answers."""
    width = domain.upper[0] - domain.lower[0]
    shapes = regions.shapes
    if simplified:
        shapes = shapely.coverage_simplify(shapes, width * DETAIL)
    shapes = shapes_in_degrees(_counted(shapes, regions.inside, domain), domain)
    surface = np.maximum(square_km(shapes), 1e-9)
    densities = [answers.count / surface for answers in frames]
    # The noise of a sliver, over its small surface, is the darkest density of all: what the box
    # takes in less of must stand out by as much more.
    clear = [answers.count * regions.inside > NOISE_SDS * answers.noise_sd for answers in frames]
    count = np.concatenate([answers.count for answers in frames])
    scale = scale_of(np.concatenate(densities)[every := np.concatenate(clear)], count[every])
    per = surface_of(scale)
    legend = Legend(
        title=f"{counted[:1].upper()}{counted[1:]} per {per} by {noun}",
        colors=scale.colors(),
        labels=scale_labels(scale, per.km2),
        surface=per,
        blank=blank_words(scale),
    )
    return [
        Choropleth(
            shapes, density, ~one | (density < scale.bounds[0]), scale, legend, mesh=not simplified
        )
        for density, one in zip(densities, clear, strict=True)
    ]


def district_marks(
    regions: Regions,
    answers: Answers,
    domain: Domain,
    *,
    noun: str = "district",
    simplified: bool = True,
    counted: str = "records",
    id: str = "district",  # noqa: A002
) -> tuple[tuple[Mark, ...], Legend]:
    """Marks of districts, a filled shape, a border and a label each; and the legend.

    Args:
        simplified: whether borders may be drawn with fewer corners; those of a mesh have few.
        counted: plural noun of what is counted.
        id: prefix of the ids of the marks.
    """
    (marks,), legend = district_frames(
        regions, [answers], domain, [id], noun=noun, simplified=simplified, counted=counted
    )
    return marks, legend


def district_frames(
    regions: Regions,
    frames: Sequence[Answers],
    domain: Domain,
    ids: Sequence[str],
    *,
    noun: str = "district",
    simplified: bool = True,
    counted: str = "records",
) -> tuple[list[tuple[Mark, ...]], Legend]:
    """Marks of districts at several times, in the same classes.

    Args:
        regions: see :func:`district_marks`, as for ``domain``, ``noun`` and ``simplified``.
        ids: prefixes of the marks' ids, one for each time; further times only share the classes.
        counted: plural noun of what is counted, or the name of a sum.
    """
    drawn = choropleths(regions, frames, domain, noun, simplified=simplified, counted=counted)
    triangles = drawn[0].triangles()
    spots = drawn[0].spots(np.max([answers.count for answers in frames], axis=0))
    marks = [
        _marks(regions, answers, one, triangles, spots, noun, counted, id)
        for answers, one, id in zip(frames, drawn, ids, strict=False)  # noqa: A001
    ]
    return marks, drawn[0].legend


def _marks(
    regions: Regions,
    answers: Answers,
    drawn: Choropleth,
    triangles: tuple[Float, NDArray[np.int64]],
    spots: _Spots,
    noun: str,
    counted: str,
    id: str,  # noqa: A002
) -> tuple[Mark, ...]:
    """A filled shape, a border and, but for a mesh, a name for each district."""
    density, scale = drawn.density, drawn.scale
    color = scale.paint(density, scale.colors(), OPAQUE_ALPHA)
    for theme in (color.light, color.dark):
        theme[drawn.blank, 3] = BLANK_ALPHA
    rings, owner = triangles
    surface = drawn.legend.surface
    fill = polygons(
        f"{id}s",
        list(rings),
        color=Themed(color.light[owner], color.dark[owner]),
        rows=(
            Row(noun, "name"),
            Row(f"{counted} (noisy)", "count", noise_sd="sd"),
            Row(f"per {surface}", "density"),
        ),
        extra={
            "name": np.array(regions.names)[owner],
            "count": answers.count[owner],
            "sd": _error(answers)[owner],
            "density": surface.km2 * density[owner],
        },
    )
    look: dict[str, Any] = HAIRLINE if drawn.mesh else {"themed": 170, "width": 1.0}
    outline = paths(f"{id}-borders", drawn.borders(), fade=list(drawn.fade), **look)
    if drawn.mesh:
        return fill, outline
    return fill, outline, _names(regions, answers, spots, f"{id}-names")


def _names(regions: Regions, answers: Answers, spots: _Spots, id: str) -> Mark:  # noqa: A002
    """Names of districts with their counts and errors, those with most records first.

    They are shown where they fit into their districts, whole or in part.
    """
    half = INTERVAL_SDS * _error(answers)
    order = np.argsort(-answers.count[spots.row], kind="stable")
    rows = []
    for place, (row, (lon, lat), room) in enumerate(
        zip(*(each[order].tolist() for each in (spots.row, spots.lon_lat, spots.room)), strict=True)
    ):
        lines = regions.names[row], with_noise(float(answers.count[row]), float(half[row]))
        fits = np.log2(LETTER_PIXELS * min(map(len, lines)) / max(room, 1e-9))
        rows.append(("\n".join(lines), lon, lat, place / 1e5, float(fits)))
    return places(id, rows, rooms=spots.room[order])


def _error(answers: Answers) -> Float:
    """Standard deviations of counts, with that from cells that do not follow shapes."""
    return np.hypot(answers.noise_sd, getattr(answers, "uniformity_sd", 0.0))


def _counted(shapes: NDArray[np.object_], inside: Float, domain: Domain) -> NDArray[np.object_]:
    """The parts of shapes that lie in the domain: outside nothing is counted.

    Polygons only, though a shape may touch the domain's border from outside.
    """
    cut = inside < 1
    shapes = shapes.copy()
    frame = shapely.box(*domain.bounds)
    shapes[cut] = [polygonal(each) for each in shapely.intersection(shapes[cut], frame)]
    return shapes


def shapes_in_degrees(shapes: NDArray[np.object_], domain: Domain) -> NDArray[np.object_]:
    """Shapes of a domain's CRS in degrees, (n,)."""
    if is_degrees(domain.crs):
        return shapes
    change = transformation(domain.crs, DEGREES)
    over = bool(to_degrees([[*domain.lower[:2], *domain.upper[:2]]], domain.crs)[0, 2] > 180)

    def moved(xy: Float) -> Float:
        longitude, latitude = change.transform(xy[:, 0], xy[:, 1])
        return np.column_stack([beyond(longitude, over), latitude])

    return np.asarray(shapely.transform(shapes, moved))


def square_km(shapes: NDArray[np.object_]) -> Float:
    """Areas in km² of shapes in degrees, on the equal-area cylinder of a sphere."""
    flat = shapely.transform(
        shapes,
        lambda xy: np.column_stack(
            [
                EARTH_RADIUS_KM * np.radians(xy[:, 0]),
                EARTH_RADIUS_KM * np.sin(np.radians(xy[:, 1])),
            ]
        ),
    )
    return np.asarray(shapely.area(flat))
