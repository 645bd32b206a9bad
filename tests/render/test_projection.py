"""Boxes of a projected CRS on the map."""

import numpy as np
import pytest

from dpviz import Domain
from dpviz.errors import DomainError
from dpviz.render.projection import areas, from_degrees, to_degrees
from dpviz.render.view import domain_scene

EDGE, STEP = (250_000.0, 5_700_000.0), 500.0
"""South-west of a grid 3.6° west of the middle of its zone, whose columns lean by 2.8° there; and
metres of a cell."""


def grid(side=20, wide=STEP, high=STEP):
    """Boxes (side, side, 4), the first axis to the north."""
    west, south = np.meshgrid(EDGE[0] + wide * np.arange(side), EDGE[1] + high * np.arange(side))
    return np.stack([west, south, west + wide, south + high], axis=-1)


def on_map(boxes):
    return to_degrees(boxes.reshape(-1, 4), "EPSG:25833").reshape(boxes.shape)


def test_cells_beside_each_other_share_a_side():
    """Otherwise lines would cross every map in such a CRS."""
    west, south, east, north = np.moveaxis(on_map(grid()), -1, 0)
    np.testing.assert_allclose(west[:, 1:], east[:, :-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(south[1:], north[:-1], rtol=0, atol=1e-9)
    assert (west < east).all()
    assert (south < north).all()


@pytest.mark.parametrize(("wide", "high"), [(STEP, STEP), (4 * STEP, STEP), (STEP, 4 * STEP)])
def test_a_cell_is_as_large_as_it_is(wide, high):
    """Areas are right to 1 % in any shape: the Earth is no sphere."""
    degrees = on_map(grid(wide=wide, high=high)).reshape(-1, 4)
    np.testing.assert_allclose(areas(degrees), wide * high / 1e6, rtol=0.01)


def test_what_is_nowhere_on_the_earth_is_one_clear_line():
    with pytest.raises(DomainError, match="EPSG:3035 has no place on the Earth for some"):
        to_degrees([[-1e7, -1e7, 2e7, 2e7], [4e6, 3e6, 4.1e6, 3.1e6]], "EPSG:3035")


@pytest.mark.parametrize("box", [(10.9, 51.2, 11.9, 51.3), (11.3, 50.9, 11.4, 51.9)])
def test_a_drawn_rectangle_is_asked_as_large_as_it_is(box):
    """The CRS's columns lean: a box around all of it would have up to half as much again."""
    west, south, east, north = from_degrees(box, "EPSG:25833")
    asked, drawn = (east - west) * (north - south) / 1e6, float(areas([box])[0])
    assert asked == pytest.approx(drawn, rel=0.01)
    np.testing.assert_allclose(
        to_degrees([(west, south, east, north)], "EPSG:25833")[0], box, rtol=0, atol=0.002
    )
    around = from_degrees(box, "EPSG:25833", around=True)
    assert (around[2] - around[0]) * (around[3] - around[1]) / 1e6 > 1.2 * drawn


def test_a_rectangle_that_ends_beyond_180_degrees_may_say_so_as_degrees_west():
    """Fiji's own CRS; 1 east to 0 east is inside out, not around the Earth."""
    beyond = from_degrees((179.0, -18.5, 180.5, -17.0), "EPSG:3460")
    assert from_degrees((179.0, -18.5, -179.5, -17.0), "EPSG:3460") == pytest.approx(beyond)
    assert beyond[0] < beyond[2]
    west, _, east, _ = from_degrees((1.0, 51.0, 0.0, 52.0), "EPSG:32631")
    assert west > east


def test_a_map_of_the_whole_earth_ends_where_web_mercator_does():
    """Its view was infinite, and nothing was drawn."""
    spec = domain_scene(Domain((-180, -90), (180, 90)), [], None, "", base=()).to_dict()
    assert spec["domain"] == spec["camera"]["bounds"] == [-180, -85.051129, 180, 85.051129]
