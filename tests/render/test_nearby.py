"""Named places of a map: disjoint squares with their counts, and what is near."""

import itertools

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.datasets.geography import BOUNDS, CITY
from dpviz.evaluation.truth import exact_counts
from dpviz.lazy import mpl
from dpviz.render.basemap import outlines
from dpviz.render.nearby import (
    MAX_PLACES,
    names_by_density,
    nearest_places,
    place_rows,
    place_squares,
)
from dpviz.render.projection import world
from dpviz.render.surround import draw_shores
from dpviz.render.view import release_scene


def test_places_by_name_have_disjoint_squares_of_the_public_area_alone():
    london = (-0.5, 51.3, 0.3, 51.7)
    for bounds, first in ((BOUNDS, "Port Meridian"), (london, "London")):
        squares = place_squares(bounds)
        assert squares[0][0] == first
        assert 5 < len(squares) <= MAX_PLACES
        for (_, _, a), (_, _, b) in itertools.combinations(squares, 2):
            assert min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1])
        for _, side, (west, south, east, north) in squares:
            assert side == pytest.approx(111.2 * (north - south), rel=1e-3)
            assert west < east
    assert place_squares((-40.0, 20.0, -39.0, 21.0)) == []  # the open sea


def test_counts_of_named_places_are_those_of_their_squares_densest_first():
    data = dpviz.load("city-50k", public=True)
    rows = place_rows(dpviz.build(data, "ugrid", 10.0, seed=0))
    squares = {name: box for name, _, box in place_squares(BOUNDS)}
    assert {row["place"] for row in rows} == {*squares}
    (first, *_), (*_, last) = rows, rows
    assert first["place"] == "Port Meridian"
    for row in (first, last):
        count, error = (float(word.replace(",", "")) for word in row["noisy count"].split(" ± "))
        (exact,) = exact_counts(data, squares[row["place"]])
        assert abs(count - exact) <= 3 * error  # fixed seeds: no false alarms


def test_a_spot_is_at_a_named_place_or_so_many_kilometres_from_the_nearest_one():
    (_, _, (west, south, east, north)), *_ = place_squares(BOUNDS)
    middle = ((west + east) / 2, (south + north) / 2)
    north_east = (middle[0] + 0.02, middle[1] + 0.018)
    words = ["Port Meridian", "3 km NE of Port Meridian"]
    assert nearest_places([middle, north_east], BOUNDS) == words
    part = (middle[0] - 0.1, middle[1] - 0.1, middle[0] + 0.1, middle[1] + 0.1)
    assert nearest_places([middle, north_east], part, CITY) == words
    assert nearest_places([(-39.5, 20.5)], (-40.0, 20.0, -39.0, 21.0)) == [""]  # the open sea


def people_at(lon, lat, count):
    """A release of the world with people around one place."""
    spots = np.random.default_rng(0).normal([(lon, lat)] * count, 0.03)
    domain = dpviz.Domain.from_bounds([-180, -60, 180, 80], ("lon", "lat"))
    data = dpviz.load(pd.DataFrame(spots, columns=["lon", "lat"]), domain, public=True)
    return dpviz.build(data, "privtree", 1.0, seed=0)


def test_of_near_places_whose_counts_cannot_be_told_apart_the_larger_is_listed():
    """People between Cairo and Helwan, in one cell of the world: Helwan stood for both."""
    places = {row["place"] for row in place_rows(people_at(31.28, 29.94, 200))}
    assert "Cairo" in places
    assert "Ḩalwān" not in places


def test_the_apps_map_and_a_picture_name_dense_places_before_countries():
    release = people_at(-74.0, 40.7, 2_000)
    (names,) = [mark.table for mark in release_scene([release]).marks if mark.id == "places"]
    first = dict(zip(names["name"].to_pylist(), names["from"].to_pylist(), strict=True))
    assert [name for name, zoom in first.items() if zoom == -np.inf] == ["New York City"]
    axes = mpl.Figure(figsize=(14.4, 8.1), dpi=100).add_axes((0, 0, 1, 1))
    (west, south), (east, north) = world([[-180, -60], [180, 80]]).tolist()
    axes.set(xlim=(west, east), ylim=(south, north))
    draw_shores(axes, names_by_density(outlines((-180, -60, 180, 80)), release), 1.5, "light", 1.0)
    drawn = {text.get_text(): text.get_position() for text in axes.texts}
    assert "UNITED STATES OF AMERICA" not in drawn  # it lay over New York
    assert "CANADA" in drawn
    pixels = (np.array(drawn["New York City"]) - world([-74.006, 40.714])) * 1440 / (east - west)
    assert np.abs(pixels).max() < 20
