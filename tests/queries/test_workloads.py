import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz import Domain
from dpviz.errors import ParameterError
from dpviz.queries.workloads import SIZES, workload

FLAT = Domain((-10.0, 2.0), (30.0, 7.0))
DEEP = Domain((0.0, 0.0, -1.0, 5.0), (1.0, 2.0, 1.0, 9.0))


def shares(domain, rects):
    sides = rects[:, domain.dims :] - rects[:, : domain.dims]
    return sides / np.subtract(domain.upper, domain.lower)


@pytest.mark.parametrize("domain", [FLAT, DEEP], ids=["2-D", "4-D"])
@pytest.mark.parametrize("size", SIZES)
def test_volumes_and_shapes_are_as_defined(domain, size):
    rects = workload(domain, size, 2000, seed=3).rects
    sides = shares(domain, rects)
    low, high = SIZES[size]
    volume = sides.prod(axis=1)
    assert (volume >= low * (1 - 1e-9)).all()
    assert (volume <= high * (1 + 1e-9)).all()
    assert (sides.max(axis=1) / sides.min(axis=1) <= 4 * (1 + 1e-9)).all()
    assert (rects[:, : domain.dims] >= domain.lower).all()
    assert (rects[:, domain.dims :] <= domain.upper).all()
    domain.boxes(rects)  # every query is valid


def test_area_aspect_and_position_are_uniform():
    # Kolmogorov-Smirnov at n = 20,000: P(distance > 0.0193) < 1e-6 for each of the five.
    rects = workload(FLAT, "large", 20_000, seed=5).rects
    sides = shares(FLAT, rects)
    low, high = SIZES["large"]
    area = np.log(sides.prod(axis=1) / low) / math.log(high / low)
    aspect = (np.log(sides[:, 0] / sides[:, 1]) / math.log(4) + 1) / 2
    room = np.subtract(FLAT.upper, FLAT.lower) - (rects[:, 2:] - rects[:, :2])
    place = (rects[:, :2] - FLAT.lower) / room
    for column in (area, aspect, place[:, 0], place[:, 1]):
        steps = np.arange(len(column)) / len(column)
        assert np.abs(np.sort(column) - steps).max() < 0.0193


@given(st.integers(0, 2**32), st.sampled_from(list(SIZES)), st.integers(1, 50))
@settings(max_examples=30)
def test_the_same_seed_gives_the_same_queries(seed, size, queries):
    first, second = (workload(FLAT, size, queries, seed) for _ in range(2))
    np.testing.assert_array_equal(first.rects, second.rects)


def test_fixed_sides_are_in_the_units_of_the_domain():
    rects = workload(FLAT, "15x0.2", 100, seed=1).rects
    np.testing.assert_allclose(rects[:, 2:] - rects[:, :2], [[15.0, 0.2]] * 100)


@pytest.mark.parametrize(
    ("size", "queries", "message"),
    [
        ("tiny", 5, "choose one of small, medium, large, huge, or sides"),
        ("15", 5, "give 2 positive sides"),
        ("90x0.2", 5, "give 2 positive sides that fit"),
        ("0x1", 5, "give 2 positive sides"),
        ("small", 0, "queries=0: give at least 1"),
    ],
)
def test_bad_sizes_get_one_clear_line(size, queries, message):
    with pytest.raises(ParameterError, match=message):
        workload(FLAT, size, queries)
