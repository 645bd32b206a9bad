"""The choropleth: every shape is covered by its triangles, and noise is blank."""

import numpy as np
import pytest
import shapely

import dpviz
from dpviz import Domain
from dpviz.releases.answers import answers_from
from dpviz.releases.points.region_count import Regions, regions_of
from dpviz.render.areas import hexagon_shares
from dpviz.render.colors import LAND, TEXT
from dpviz.render.districts import BLANK_ALPHA, OPAQUE_ALPHA, choropleth, district_marks, square_km
from dpviz.render.names import ROOM_ASPECT
from dpviz.render.projection import world
from dpviz.render.surround import opacity

DOMAIN = Domain.from_bounds([10.0, 50.0, 12.0, 51.0])
SHAPES = [
    shapely.box(10, 50, 11, 51).difference(shapely.Point(10.5, 50.5).buffer(0.2)),
    shapely.MultiPolygon([shapely.box(11, 50, 11.2, 51), shapely.box(11.8, 50, 12, 51)]),
    shapely.box(11.2, 50, 11.8, 51),
]


def made(count, sd):
    regions = regions_of(SHAPES, DOMAIN, ["with a hole", "in two parts", "whole"])
    columns = np.column_stack([count, np.square(sd), np.zeros(3), np.ones(3)])
    return district_marks(regions, answers_from(columns), DOMAIN)


def columns(mark, name):
    return mark.table.column(name).combine_chunks()


def test_triangles_cover_each_district_and_nothing_else():
    (fill, *_), _ = made([5000.0, 100.0, 900.0], [10.0, 10.0, 10.0])
    rings = np.array(columns(fill, "polygon").to_pylist())
    area = np.zeros(3)
    names = columns(fill, "name").to_pylist()
    for ring, name in zip(rings, names, strict=True):
        row = ["with a hole", "in two parts", "whole"].index(name)
        area[row] += shapely.Polygon(ring).area
    # Borders are simplified for the map: the circle loses a little area.
    assert area == pytest.approx([shape.area for shape in SHAPES], rel=0.01)


def test_counts_within_the_noise_are_blank():
    (fill, *_), legend = made([15.0, -900.0, 900.0], [10.0, 10.0, 10.0])
    names = columns(fill, "name").to_pylist()
    color = {
        name: tuple(value[0])
        for name, value in zip(names, columns(fill, "color").to_pylist(), strict=True)
    }
    assert {name: value[3] for name, value in color.items()} == {
        "with a hole": BLANK_ALPHA,
        "in two parts": BLANK_ALPHA,
        "whole": OPAQUE_ALPHA,
    }
    assert "within the noise" in legend.blank
    assert "km²" in legend.title


def test_borders_of_a_mesh_are_hairlines_in_the_colour_of_the_land():
    """Around coloured cells only: around blank ones they were white fragments on the sea."""
    regions = regions_of(SHAPES, DOMAIN, list("abc"))
    counts = [0.0, 900.0, 0.0]
    answers = answers_from(np.column_stack([counts, np.ones(3), np.zeros(3), np.ones(3)]))
    (_, mesh), _ = district_marks(regions, answers, DOMAIN, simplified=False)
    (_, borders, _), _ = district_marks(regions, answers, DOMAIN)
    for mark, width, color in ((mesh, 0.5, LAND), (borders, 1.0, TEXT)):
        assert mark.layer.get_width == width
        assert tuple(mark.layer.get_color[:3]) == color.light
        assert tuple(mark.layer.get_color_dark[:3]) == color.dark
    assert len(columns(mesh, "path")) == 2  # the shape in two parts
    assert len(columns(borders, "path")) == 5  # and the one with a hole
    nothing = answers_from(np.column_stack([np.zeros(3), np.ones(3), np.zeros(3), np.ones(3)]))
    (_, mesh), _ = district_marks(regions, nothing, DOMAIN, simplified=False)
    assert len(columns(mesh, "path")) == 0


def test_of_a_district_that_reaches_beyond_the_domain_its_part_inside_is_drawn_and_measured():
    """Regression: a district's records were spread over all of it; a map of 1 % looked empty."""
    wide = [shapely.box(10.5, 49, 40, 51), shapely.box(20, 50, 30, 51), shapely.box(12, 50, 13, 51)]
    regions = regions_of(wide, DOMAIN)
    counts = np.column_stack([[6000.0, 0, 0], np.ones(3), np.zeros(3), np.ones(3)])
    (fill, border, _), _ = district_marks(regions, answers_from(counts), DOMAIN)
    corners = np.array(columns(fill, "polygon").to_pylist()).reshape(-1, 2)
    assert [*corners.min(axis=0), *corners.max(axis=0)] == [10.5, 50, 12, 51]
    assert set(columns(fill, "name").to_pylist()) == {"1"}
    (part,) = square_km(np.array([shapely.box(10.5, 50, 12, 51)]))
    assert columns(fill, "density").to_pylist() == pytest.approx([6e6 / part] * len(corners[::4]))
    assert len(columns(border, "path")) == 1


def test_areas_are_those_of_the_sphere():
    """A whole hemisphere has half of 4πr²."""
    half = shapely.box(-180, 0, 180, 90)
    assert square_km(np.array([half]))[0] == pytest.approx(2 * np.pi * 6371.0088**2, rel=1e-9)


def test_borders_come_where_districts_have_room():
    """At zoom z an equator of 360 degrees is 512 · 2^z pixels around."""
    domain = Domain.from_bounds([0, -2, 4, 2])

    def fade(side):
        shapes = [shapely.box(x, 0, x + side, side) for x in np.arange(0, 4, side)]
        regions = regions_of(shapes, domain)
        marks, _ = district_marks(regions, answers_from(np.ones((len(shapes), 4))), domain)
        return marks[1].layer.fade

    zoom = np.log2(360 / 512 / 0.5)  # at this zoom half a degree is one pixel
    for side in (0.5, 0.05):
        fading = fade(side)
        pixels = zoom + np.log2(np.array([8, 12, 24, 100]))
        shown = [opacity(fading, at + np.log2(0.5 / side)) for at in pixels]
        assert shown == pytest.approx([0, np.log2(12 / 8) / np.log2(24 / 8), 1, 1], abs=0.01)


def test_districts_are_named_with_their_counts_and_total_errors():
    (*_, names), _ = made([5000.0, 100.0, 900.0], [10.0, 10.0, 300.0])
    texts = columns(names, "name").to_pylist()
    assert texts == ["with a hole\n5,000 ± 22", "whole\n900 ± 700", "in two parts\n100 ± 22"]


def test_the_legend_and_the_tooltip_call_the_records_by_the_owners_noun():
    regions = regions_of(SHAPES, DOMAIN, list("abc"))
    answers = answers_from(np.full((3, 4), 900.0))
    (fill, *_), legend = district_marks(regions, answers, DOMAIN, counted="crimes")
    assert legend.title == "Crimes per 1,000 km² by district"
    assert [row.label for row in fill.rows] == ["district", "crimes (noisy)", "per 1,000 km²"]


def test_the_room_for_a_name_lies_within_its_district_and_is_about_as_wide_as_it():
    """A hole, or a gap between two parts, is no room."""
    (*_, names), _ = made([5000.0, 100.0, 900.0], [10.0, 10.0, 300.0])
    middles = world(columns(names, "position").to_pylist())
    half = np.outer(columns(names, "room").to_pylist(), [1, 1 / ROOM_ASPECT]) / 2
    for row, low, high in zip([0, 2, 1], middles - half, middles + half, strict=True):
        shape = shapely.transform(SHAPES[row], world)
        assert shapely.contains(shape.buffer(1e-6), shapely.box(*low, *high))
    degree = 512 / 360
    assert 2 * half[:, 0] == pytest.approx(np.array([0.3, 0.6, 0.2]) * degree, rel=0.1)


def test_a_hexagon_that_the_box_cuts_is_not_coloured_by_the_noise_of_a_sliver():
    """Slivers along the edge were the darkest of the map: noise over next to no surface."""
    domain = Domain.from_bounds([14.4, 52.1, 15.0, 52.6])
    areas = dpviz.hexagons(6, domain)
    shares = hexagon_shares(areas.shapes, domain)
    counts, variance = np.where(shares == 1, 300.0, 12.0), np.full(len(shares), 16.0)
    regions = Regions(areas.names[areas.rows_of()], areas.shapes, shares)
    answers = answers_from(np.column_stack([counts, variance, 0 * counts, 0 * counts + 1]))
    drawn = choropleth(regions, answers, domain, "area", simplified=False)
    assert shares.min() < 0.1
    assert (shares == 1).sum() > 10
    assert drawn.blank[shares < 0.5].all()
    assert not drawn.blank[shares == 1].any()
    assert not drawn.blank[shares > 0.9].any()  # three times its noise, over nearly a whole cell
