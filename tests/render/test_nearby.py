"""Named places of a map: disjoint squares with their counts, and what is near."""

import itertools

import pytest

import dpviz
from dpviz.datasets.geography import BOUNDS, CITY
from dpviz.evaluation.truth import exact_counts
from dpviz.render.nearby import MAX_PLACES, nearest_places, place_rows, place_squares


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
