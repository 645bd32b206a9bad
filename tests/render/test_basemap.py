"""The base map's marks."""

import numpy as np
import pytest
import shapely

from dpviz.datasets import DATASETS
from dpviz.datasets.geography import BOUNDS
from dpviz.render.basemap import FADE, FINE_FADE, city_ground, is_city, outlines
from dpviz.render.scene import BUNDLED, credit


def lines_of(marks):
    return [mark for mark in marks if "path" in mark.table.column_names]


@pytest.mark.slow
def test_no_line_crosses_the_whole_map():
    for mark in lines_of(outlines()):
        for line in mark.table["path"].to_pylist():
            assert np.abs(np.diff([point[0] for point in line])).max() < 180


@pytest.mark.parametrize("turn", [0, -360])
def test_the_ground_goes_on_beyond_the_meridian_of_180(turn):
    """Fiji: its coast ran back from there to the edge, and to the east lay nothing but sea."""
    marks = {mark.id: mark for mark in outlines((176.0 + turn, -20.0, 184.0 + turn, -14.0))}
    for line in marks["coast"].table["path"].to_pylist():
        assert np.abs(np.diff([point[0] for point in line])).max() < 1
    rings = [shapely.Polygon(ring) for ring in marks["land"].table["polygon"].to_pylist()]
    lands = shapely.points([[178.0 + turn, -17.8], [180.1 + turn, -16.8], [188.2 + turn, -13.9]])
    assert shapely.contains(shapely.union_all(rings), lands).all()  # Viti Levu, Taveuni, Samoa
    countries = marks["countries"].table
    names = countries["name"].to_pylist()
    assert countries["position"][names.index("SAMOA")].as_py()[0] == pytest.approx(
        188 + turn, abs=1
    )


def test_the_invented_city_has_a_ground_of_its_own():
    west, south, east, north = DATASETS["city-250k"].domain.bounds
    marks = {mark.id: mark for mark in outlines((west, south, east, north))}
    assert {"sea", "river-water", "main-roads", "shore", "river", "towns"} == set(marks)
    shore = np.array(marks["shore"].table["path"].to_pylist()[0])
    assert ((shore > [west, south]) & (shore < [east, north])).all(axis=1).any()
    assert "Port Meridian" in marks["towns"].table["name"].to_pylist()


def test_land_lies_below_the_cells_and_fades_where_it_would_be_too_coarse():
    marks = {mark.id: mark for mark in outlines((-5.0, 50.0, 2.0, 55.0))}
    for name in ("ocean", "land"):
        assert marks[name].layer.ground
    for name in ("ocean", "land", "coast", "border"):
        assert tuple(marks[name].layer.fade) == FADE
    names = marks["places"].table["name"].to_pylist()
    assert {"London", "Manchester"} <= set(names)
    assert "UNITED KINGDOM" in marks["countries"].table["name"].to_pylist()
    land = [shapely.Polygon(ring) for ring in marks["land"].table["polygon"].to_pylist()]
    points = shapely.points([[-1.5, 52.5], [-4.9, 53.9]])  # Birmingham, the Irish Sea
    assert [shapely.contains(land, point).any() for point in points] == [True, False]


def test_a_region_has_the_finer_coast():
    marks = {mark.id: mark for mark in outlines((-74.3, 40.5, -73.7, 40.9))}
    assert tuple(marks["coast"].layer.fade) == FINE_FADE
    rings = marks["land"].table["polygon"].to_pylist()
    land = shapely.union_all([shapely.Polygon(ring) for ring in rings])
    points = shapely.points([[-73.9, 40.65], [-74.03, 40.68]])  # Brooklyn, the Upper Bay
    assert shapely.contains(land, points).tolist() == [True, False]


@pytest.mark.slow
def test_a_picture_names_the_ground_that_it_shows():
    assert credit(outlines()) == "ground: Natural Earth; names: GeoNames (CC BY 4.0)"
    assert credit(city_ground()) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "sides"), [(None, (True, True)), ((177.0, -19.0, 179.0, -16.0), (False, True))]
)
def test_the_sea_goes_on_where_the_world_ends(bounds, sides):
    (sea,) = [mark for mark in outlines(bounds) if mark.id == BUNDLED]
    west, east = (reach(x for x, _ in sea.table["polygon"].to_pylist()[0]) for reach in (min, max))
    assert (west < -180, east > 180) == sides


def test_the_city_is_told_by_its_rectangle_or_by_its_name_inside_it():
    inside = (14.5, -24.0, 14.9, -23.7)
    assert is_city(BOUNDS)
    assert is_city(inside, "city")
    assert not is_city(inside)  # not the city's own records
    assert not is_city((13.0, 52.0, 13.5, 52.5), "city")
