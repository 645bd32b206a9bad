"""The grammar of wishes: what is written is what is meant, and is written again the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz import Domain
from dpviz.domain.crs import METRES_PER_DEGREE
from dpviz.errors import DomainError, ParameterError
from dpviz.queries.wishes import Wish, parse, parse_all, squares
from tests.refusals import in_one_line

NUMBERS = st.integers(1, 10**9).map(float)


@given(
    target=st.one_of(
        st.builds(dict, rect=st.tuples(*[st.integers(-90, 90).map(float)] * 4)),
        st.builds(dict, areas=st.sampled_from(["wards.gpkg", "my wards ±1.gpkg", "/a/b or c.zip"])),
        st.builds(dict, square=st.sampled_from([0.25, 1.0, 36_612.5, 5e7])),
    ),
    absolute=st.one_of(st.just(0.0), NUMBERS),
    relative=st.sampled_from([0.0, 0.05, 0.125]),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.995, 0.999]),
)
def test_a_wish_reads_what_it_writes(target, absolute, relative, confidence):
    if not absolute and not relative:
        absolute = 1.0
    wish = Wish(**target, absolute=absolute, relative=relative, confidence=confidence)
    assert parse(str(wish)) == wish


def test_characters_of_any_keyboard_are_accepted_in_wishes():
    assert parse("any 1 km2 +-50") == parse("any 1 km² ±50 at 95%") == parse("ANY 1 km^2 +/- 50")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write it as"),
        ("rect=1,2,3,4", "write it as"),
        ("rect=1,2,3 ±5", "four numbers"),
        ("rect=1,2,3,nan ±5", "four numbers"),
        ("areas= ±5", "name the file"),
        ("every 1 km² ±5", "not a place"),
        ("any 0 km² ±5", "not a place"),
        ("any 1 km² ±0", "positive"),
        ("any 1 km² ±5 or ±6", "one of each"),
        ("any 1 km² ±100%", "below 100%"),
        ("any 1 km² ±5 at 100%", "confidence"),
        ("any 1 km² ±5 at 95", "write it as"),
        ("x" * 600, "500 characters"),
        ("any 1 km² ±" + "9" * 400, "positive"),  # overflows to infinity
        ("any 1 km² ±1e308", "write it as"),
        ("any 1 km² ±nan", "write it as"),
        ("any 1 km² ±0%", "positive"),
        ("any 1 km² ±0.0000000001", "positive"),
        ("any 1 km² ±99.9999999999%", "below 100%"),  # would be written as 100%
        (f"any {'9' * 400} km² ±5", "not a place"),
        (f"any 1 km² of about {'9' * 400} ±5", "not a number of records"),
        ("any 1 km² ±5\n±6", "write it as"),
        ("a" * 480 + " ±5", "not a place"),
    ],
)
def test_an_invalid_wish_is_refused_in_one_line(text, message):
    with in_one_line(ParameterError, message):
        parse(text)


def test_the_number_of_wishes_is_bounded():
    with pytest.raises(ParameterError, match="0 wishes"):
        parse_all([])
    with pytest.raises(ParameterError, match="5000 wishes"):
        parse_all(f"any {size} km² ±5" for size in range(1, 5_001))


def test_squares_have_their_size_and_stay_inside():
    domain = Domain.from_bounds([2.0, 60.0, 3.0, 61.0])
    centres = np.array([[2.5, 60.5], [2.0, 60.0], [3.0, 61.0]])
    rects = squares(domain, centres, 4.0)
    tall = (rects[:, 3] - rects[:, 1]) * METRES_PER_DEGREE
    wide = (rects[:, 2] - rects[:, 0]) * METRES_PER_DEGREE * np.cos(np.radians(centres[:, 1]))
    np.testing.assert_allclose(tall, 2000, rtol=1e-9)
    np.testing.assert_allclose(wide, 2000, rtol=1e-9)
    assert (rects[:, :2] >= domain.lower).all()
    assert (rects[:, 2:] <= domain.upper).all()
    metres = Domain.from_bounds([400_000, 5_500_000, 410_000, 5_510_000], crs="EPSG:32631")
    [[west, south, east, north]] = squares(metres, np.array([[405_000.0, 5_505_000.0]]), 1.0)
    assert (east - west, north - south) == (1000, 1000)
    with pytest.raises(DomainError, match="does not fit"):
        squares(metres, np.array([[405_000.0, 5_505_000.0]]), 101.0)


@pytest.mark.parametrize("words", ["wards.gpkg", "wards.gpkg|layername=to/wns", "wards|all.gpkg"])
def test_a_header_names_a_file_and_its_layer_and_not_where_it_lies(words):
    assert parse(f"areas=/home/a|b/x y/{words} ±5").public().areas == words
