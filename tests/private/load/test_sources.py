"""dpviz.load: every source gives an opaque handle."""

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.errors import DataError
from dpviz.private.index import PointIndex

NYC = dpviz.Domain((-74.30, 40.45), (-73.60, 41.00))


@pytest.fixture
def taxi(tmp_path):
    """Forty records of two persons, four of them outside."""
    random = np.random.default_rng(5)
    points = random.uniform(NYC.lower, NYC.upper, (40, 2))
    points[:4] = 0
    path = tmp_path / "taxi.parquet"
    pd.DataFrame({"lon": points[:, 0], "lat": points[:, 1], "who": np.arange(40) % 2}).to_parquet(
        path
    )
    return path, points


def test_a_file_gives_the_index_of_its_points(taxi):
    path, points = taxi
    handle = dpviz.load(path, NYC)
    expected = PointIndex.from_points(NYC, points)
    np.testing.assert_array_equal(handle._index.codes, expected.codes)
    np.testing.assert_array_equal(handle._index.weights, expected.weights)
    assert (handle.name, handle.public, handle.unit) == ("taxi", False, "one record")


def test_how_many_were_dropped_is_known_for_public_data_only(taxi):
    path, _ = taxi
    assert dpviz.load(path, NYC, public=True).dropped == 4
    assert dpviz.load(path, NYC).dropped is None


def test_contributions_are_bounded_and_priced(taxi):
    path, _ = taxi
    handle = dpviz.load(path, NYC, unit="who", max_per_unit=3)
    assert handle._index.total == 6
    assert handle.max_per_unit == 3
    assert handle.unit == "one who with at most 3 records"


def test_a_built_in_name_brings_its_domain():
    handle = dpviz.load("city-50k")
    assert handle.public
    assert handle._index.total == 50_000
    assert not dpviz.load("city-50k", public=False).public
    assert dpviz.load("trips-50k").domain.dims == 4


def test_a_built_in_set_can_be_bounded():
    handle = dpviz.load("persons", unit="person", max_per_unit=2)
    assert handle._index.total == 2 * 5_000
    again = dpviz.load("persons", unit="person", max_per_unit=2)
    np.testing.assert_array_equal(handle._index.codes, again._index.codes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "pariss"}, "no file and no built-in data set 'pariss'"),
        ({"source": "a.csv"}, "a.csv: give a domain"),
        ({"source": "a.csv", "domain": NYC}, "no file 'a.csv'"),
        ({"source": "trips-50k", "domain": NYC}, "4 columns for 2 dimensions"),
        ({"source": "city-50k", "unit": "x", "max_per_unit": 2}, "no column 'x' in city-50k"),
        ({"source": "persons", "unit": "person", "max_per_unit": 0}, "give 1 or more"),
    ],
)
def test_bad_requests(arguments, message):
    with pytest.raises(DataError, match=message):
        dpviz.load(**arguments)
