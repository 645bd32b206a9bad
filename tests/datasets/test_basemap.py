"""The offline base map."""

import json
from itertools import pairwise

import numpy as np
import pytest
import shapely

from dpviz.datasets import base_map, dataset
from dpviz.datasets.basemap import MIN_TOWN_PEOPLE, WORLD, countries, named_areas, towns
from dpviz.datasets.geography import in_sea, river_outline, to_plane


def lines(features, kind):
    return [
        shapely.geometry.shape(feature["geometry"])
        for feature in features["features"]
        if feature["properties"]["kind"] == kind
    ]


@pytest.mark.slow
def test_the_earth_has_coasts_borders_and_countries():
    earth = base_map()
    (coast,), (border,) = lines(earth, "coast"), lines(earth, "border")
    assert coast.length > 3_000
    assert border.length > 1_000
    names = {feature["properties"].get("name") for feature in earth["features"]}
    assert {"Namibia", "France", "Japan"} <= names
    assert 200 < len(names) < 300


@pytest.mark.slow
def test_no_artificial_edges_along_the_antimeridian():
    (coast,) = lines(base_map(), "coast")
    west, east = shapely.box(-180, -90, -179.995, 90), shapely.box(179.995, -90, 180, 90)
    assert coast.intersection(west).length + coast.intersection(east).length < 1


@pytest.mark.slow
def test_land_that_crosses_the_antimeridian_is_no_band_around_the_earth():
    """Chukotka and Fiji once were drawn from -180 to 180; at 66° N that lay over Norway too."""
    (land,) = lines(base_map(), "land")
    for sea in ((-5, 68.9), (-150, -16.5)):
        assert not land.contains(shapely.Point(sea))
    for ground in ((-175, 66.5), (177, 67.5), (100, 69)):
        assert land.contains(shapely.Point(ground))


def test_a_country_label_lies_in_its_country():
    earth = base_map((-10, 40, 10, 52))
    (label,) = [
        feature for feature in earth["features"] if feature["properties"].get("name") == "France"
    ]
    lon, lat = label["geometry"]["coordinates"]
    assert -2 < lon < 7
    assert 43 < lat < 50


def test_the_largest_countries_are_named_first():
    """All ranks were whole, so that Mongolia and Niger came before China and Brazil."""
    largest = ["Russia", "Canada", "United States of America", "China", "Brazil", "Australia"]
    names = [place.name for place in countries()]
    assert set(names[:6]) == set(largest)
    assert {"India", "Argentina", "Kazakhstan", "Dem. Rep. Congo", "Algeria"} == set(names[6:11])


@pytest.mark.slow
def test_bounds_and_tolerance_make_it_small():
    whole = len(json.dumps(base_map()))
    assert len(json.dumps(base_map(tolerance=0.1))) < whole / 3
    assert len(json.dumps(base_map((13, -26, 16, -22)))) < 3_000


def test_the_citys_shore_is_the_base_maps():
    (coast,) = lines(base_map((14.3, -24.1, 15.1, -23.6)), "coast")
    shore = shapely.get_coordinates(shapely.segmentize(coast, 0.01))
    for shift, wet in ((-0.003, True), (0.003, False)):
        assert (in_sea(to_plane(shore + np.array([shift, 0]))) == wet).all()


def test_the_river_is_a_valid_polygon_without_people():
    river = shapely.Polygon(river_outline())
    assert river.is_valid
    points = dataset("city-50k").points()
    inside = shapely.contains_xy(shapely.buffer(river, -2e-4), *points.T)
    assert not inside.any()


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(0, 0, 1, 1), (-180, -90, 180, 90)])
def test_coordinates_are_finite(bounds):
    for feature in base_map(bounds)["features"]:
        assert np.isfinite(
            shapely.get_coordinates(shapely.geometry.shape(feature["geometry"]))
        ).all()


def test_finer_coasts_show_more_of_the_same_land():
    bounds = (4.0, 51.0, 6.0, 53.0)  # across the edge of a square, at 5 degrees
    rough, fine = (base_map(bounds, fine=choice) for choice in (False, True))
    (rough_land,), (fine_land,) = lines(rough, "land"), lines(fine, "land")
    areas = [shapely.union_all(shapely.make_valid(land)).area for land in (rough_land, fine_land)]
    assert areas[1] == pytest.approx(areas[0], rel=0.05)
    (rough_coast,), (coast,) = lines(rough, "coast"), lines(fine, "coast")
    assert shapely.get_num_coordinates(coast) > 2 * shapely.get_num_coordinates(rough_coast)
    for line in coast.geoms:
        points = shapely.get_coordinates(line)
        assert not ((points[1:] == points[:-1]) & (points[1:] == [5, 50])).any()


INSIDE = {
    "United Kingdom": ((-0.13, 51.51), (-1.2, 60.3), (-7.3, 55.0)),
    "France": ((2.35, 48.86), (9.1, 42.3)),
    "United States of America": ((-124.2, 40.8), (-67.2, 44.8)),
    "Russia": ((20.5, 54.7), (158.6, 53.0)),
    "Fiji": ((178.4, -18.1),),
    "Singapore": ((103.82, 1.35),),
    "Bosnia and Herzegovina": ((18.4, 43.9),),
    "California, United States of America": ((-122.4, 37.8), (-117.2, 32.7)),
    "Alaska, United States of America": ((-149.9, 61.2),),
    "London, United Kingdom": ((-0.13, 51.51), (-0.30, 51.39), (0.07, 51.56)),
    "New York City, United States of America": ((-73.99, 40.73), (-73.78, 40.64)),
    "Aurora, Illinois, United States of America": ((-88.3, 41.77),),
}
"""Longitudes and latitudes of places that everybody looks for inside these."""


@pytest.mark.parametrize("name", INSIDE)
def test_an_area_holds_what_belongs_to_it(name):
    west, south, east, north = named_areas()[name]
    for lon, lat in INSIDE[name]:
        assert west < lon < east
        assert south < lat < north


def test_an_area_is_no_larger_than_its_name_says():
    """France is without its islands overseas, Russia without the band around the Earth."""
    areas = named_areas()
    for name, width in (("France", 16), ("United States of America", 60), ("Russia", 162)):
        assert areas[name][2] - areas[name][0] < width
    assert all(-180 <= w < e <= 180 and -90 <= s < n <= 90 for w, s, e, n in areas.values())


def test_whatever_the_map_names_has_an_area():
    """But for names with commas, and countries that the map abbreviates."""
    known = {name.partition(",")[0].removesuffix(" (city)") for name in named_areas()}
    large = [town for town in towns(WORLD, 20.0) if town.rank <= 7 - np.log10(MIN_TOWN_PEOPLE)]
    for places in (countries(), large):
        names = {place.name for place in places}
        assert {name for name in names - known if "," not in name and "." not in name} == set()
        assert len(names & known) > 0.85 * len(names)


def test_towns_come_with_the_zoom_the_large_first():
    box = (-95.9, 29.4, -94.9, 30.2)
    far, near = (towns(box, zoom) for zoom in (6.0, 13.0))
    assert far[0].name == near[0].name == "Houston"
    assert {town.name for town in far} < {town.name for town in near}
    assert {"Pasadena", "Sugar Land", "Bellaire"} <= {town.name for town in near}
    assert all(one.rank <= other.rank for one, other in pairwise(near))
    assert len(towns(WORLD, 2.0)) <= 12 * 16  # squares
    nearby = [town.name for town in towns((-74.3, 40.5, -73.7, 40.9), 4.0)]
    assert nearby == ["New York City"]  # Brooklyn is too close to be named


@pytest.mark.parametrize(
    ("kind", "bounds", "fine"),
    [("river", (8.0, 47.0, 9.0, 51.0), False), ("state", (-100.0, 30.0, -93.0, 37.0), True)],
)
def test_rivers_and_borders_of_states_are_there(kind, bounds, fine):
    """The Rhine; the border of Texas along the Red River."""
    (shape,) = lines(base_map(bounds, fine=fine), kind)
    assert shape.length > 2


def test_maps_of_continents_show_the_states_of_wide_countries_alone():
    (states,) = lines(base_map((-130, -60, 70, 80)), "state")
    wide, narrow = shapely.box(-110, 36, -90, 44), shapely.box(-5, 44, 8, 48)  # Kansas; France
    assert states.intersection(wide).length > 20
    assert states.intersection(narrow).length == 0
