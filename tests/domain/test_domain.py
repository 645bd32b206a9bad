import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz import Domain
from dpviz.errors import DomainError
from tests.refusals import in_one_line

NYC = Domain((-74.30, 40.45), (-73.60, 41.00))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([0, 0, 1], "bounds hold 3 numbers"),
        ([0, 0, 0, 1], "'lon' run from 0 to 0"),
        ([1, 0, 0, 1], "'lon' run from 1 to 0: the upper limit must be above"),
        ([0, 0, math.inf, 1], "'lon' are 0 and inf: give finite limits"),
        ([0, math.nan, 1, 1], "'lat' are nan and 1"),
        ([1e300, 0, 1.0000000000000002e300, 1], "too wide or too narrow"),
        ([-1.7e308, 0, 1.7e308, 1], "too wide or too narrow"),
        ([0, 0, 1e308, 1], "too wide or too narrow"),
        ([0] * 10, "bounds hold 10 numbers"),
    ],
)
def test_bad_bounds_are_refused_in_one_line(bounds, message):
    with in_one_line(DomainError, message):
        Domain.from_bounds(bounds)


def test_an_axis_has_a_column_of_its_own():
    with pytest.raises(DomainError, match="columns 'lon', 'lon': give another column for"):
        Domain.from_bounds([0, 0, 1, 1], ("lon", "lon"))


def test_points_on_the_edges_are_inside():
    points = [[-74.30, 40.45], [-73.60, 41.00], [-74.31, 40.5], [math.nan, 40.5], [math.inf, 40.5]]
    cells, inside = NYC.to_lattice(points)
    assert inside.tolist() == [True, True, False, False, False]
    assert cells.tolist() == [[0, 0], [NYC.side - 1, NYC.side - 1]]


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-74.4, -73.5), st.floats(40.4, 41.1)), max_size=30))
def test_a_point_lies_in_its_cell(rows):
    points = np.array(rows, dtype=np.float64).reshape(-1, 2)
    cells, inside = NYC.to_lattice(points)
    located = points[inside]
    step = np.subtract(NYC.upper, NYC.lower) / NYC.side
    tolerance = 1e-6 * step  # a millionth of a cell, for rounding
    assert (located >= NYC.to_coordinates(cells) - tolerance).all()
    assert (located <= NYC.to_coordinates(cells + 1) + tolerance).all()
    assert (cells >= 0).all()
    assert (cells < NYC.side).all()


def test_lattice_lines_end_exactly_on_the_bounds():
    assert NYC.to_coordinates([[0, 0], [NYC.side, NYC.side]]).tolist() == [
        [-74.30, 40.45],
        [-73.60, 41.00],
    ]


@pytest.mark.slow
@given(st.lists(st.integers(0, 2**26), min_size=2, max_size=2, unique=True).map(sorted))
def test_rectangles_on_lattice_lines_snap_to_themselves(lines):
    low, high = NYC.to_coordinates([[lines[0]] * 2, [lines[1]] * 2])
    lo, hi = NYC.boxes([*low, *high])
    assert lo.tolist() == [[lines[0]] * 2]
    assert hi.tolist() == [[lines[1]] * 2]


@pytest.mark.parametrize(
    ("rect", "message"),
    [
        ([-74, 40.8, -73.9, 40.7], "inside out or empty"),
        ([-74, 40.7, -74, 40.8], "inside out or empty"),
        ([-80, 40.7, -79, 40.8], "outside the domain -74.3,40.45,-73.6,41"),
        ([-74, 40.7, math.nan, 40.8], "not finite"),
        ([-74, 40.7, -73.9], "give 4 numbers"),
        ("-74,40.7,-73.9,40.8", "rectangles are not numbers: give 4 numbers each"),
        ([-74, 40.7, -73.9, 10**400], "rectangles are not numbers"),
        ([[-74, 40.7, -73.9, 40.8], [1]], "rectangles are not numbers"),
    ],
)
def test_bad_rectangles_are_refused(rect, message):
    with pytest.raises(DomainError, match=message):
        NYC.boxes(rect)


@pytest.mark.parametrize(
    "bounds", ["-74,40,-73,41", [[0], [0, 1]], ["west", 0, 1, 1], [10**400] * 4]
)
def test_bounds_that_are_no_numbers_are_refused(bounds):
    with pytest.raises(DomainError, match="bounds are not numbers: give all lower limits"):
        Domain.from_bounds(bounds)
    with pytest.raises(
        DomainError, match="bounds are not numbers: give numbers, one per dimension"
    ):
        Domain(bounds, (1, 1))


def test_a_bad_rectangle_among_good_ones_is_named():
    with pytest.raises(DomainError, match=r"row 1"):
        NYC.boxes([[-74, 40.7, -73.9, 40.8], [-80, 40.7, -79, 40.8]])


def test_a_domain_is_read_back_from_its_dictionary():
    assert Domain.from_dict(NYC.to_dict()) == NYC
    with pytest.raises(DomainError, match="lattice of 20 bits"):
        Domain.from_dict({**NYC.to_dict(), "bits": 20})
