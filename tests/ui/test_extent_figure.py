"""The small map of a file's extent: what lies around it, and where on the Earth it is."""

import re

import pytest
import shapely

from dpviz.datasets.basemap import base_map, sketch
from dpviz.ui.shared.extent_figure import MAX_NAMES, extent_figure

CHICAGO = (-87.9, 41.6, -87.5, 42.05)


def names(figure):
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure)


def test_the_largest_towns_around_are_named_and_a_ring_tells_the_hemisphere():
    figure = extent_figure(CHICAGO)
    assert "Chicago" in names(figure)
    assert "Milwaukee" not in names(figure)
    assert 3 <= len(names(figure)) <= MAX_NAMES
    assert '<circle cx="-44" cy="-21"' in figure
    swapped = extent_figure((41.6, -87.9, 42.05, -87.5))
    assert names(swapped) == []
    assert '<circle cx="21" cy="44"' in swapped


@pytest.mark.parametrize(
    "bounds",
    [
        CHICAGO,
        (-40.1, 19.9, -39.9, 20.1),
        (-124, 25, -67, 49),
        (177, -19, 180, -16),
        (-180, 50, -165, 70),
        (175, 62, 180, 68),
        (-70, -85, 60, -70),
    ],
)
def test_the_quick_ground_covers_what_the_mended_one_does(bounds):
    whole = base_map(bounds)["features"]
    for kind, mended in zip(("land", "water"), whole, strict=False):
        near = [ring for ring in sketch(bounds)[kind] if len(ring) > 3]
        shapes = [shapely.make_valid(shapely.Polygon(ring)) for ring in near]
        quick = sum(shape.intersection(shapely.box(*bounds)).area for shape in shapes)
        rings = [part[0] for part in mended["geometry"]["coordinates"]]
        wanted = sum(shapely.Polygon(ring).area for ring in rings)
        assert quick == pytest.approx(wanted, rel=0.01, abs=0.01)


@pytest.mark.parametrize(
    "bounds", [(0, 0, 0, 0), (-180, -90, 180, 90), (179.99, -90, 180, -89.9), (0, 89, 9, 90)]
)
def test_every_extent_on_the_earth_has_a_picture(bounds):
    assert extent_figure(bounds).count("<svg") == 3
