"""Arguments of another type that would be misread in silence are refused in one line."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import DataError, DomainError, DpvizError, ParameterError, ReleaseError
from dpviz.exports import map_page
from dpviz.exports.report import report_page

BOX = dpviz.Domain((0, 0), (1, 1))
ALPHABET = dpviz.Alphabet(("a", "b"))
PEOPLE = dpviz.from_points([[0.5, 0.5]], BOX)
POINTS = dpviz.from_points(np.random.default_rng(0).random((300, 2)), BOX, public=True)
RELEASE = dpviz.build(POINTS, seed=1)
WALKS = dpviz.load(pa.table({"walk": [["a", "b"], ["b"]]}), ALPHABET, name="w", public=True)
SEQUENCES = dpviz.build(WALKS, seed=1)
TABLE = pa.table({"lon": [0.1], "lat": [0.2]})


class Lazy:
    """Stand-in for ``frame.lazy()`` of polars."""

    def collect(self):
        """The table."""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dpviz.Alphabet("home"), ParameterError, "names='home': give a list of texts"),
        (lambda: dpviz.hexagons(5.5, BOX), ParameterError, "resolution=5.5: give a whole number"),
        (lambda: dpviz.hexagons(5, [0, 0, 1, 1]), ParameterError, "domain of type list: give a"),
        (lambda: dpviz.build(POINTS, simulate="no"), ParameterError, "give True or False"),
        (lambda: dpviz.build(POINTS, declare_public="no"), ParameterError, "give True or False"),
        (lambda: dpviz.Ledger(5), DpvizError, "path=5: give the ledger's file"),
        (lambda: dpviz.read("r.parquet", "road"), ReleaseError, "kind='road': give one of points,"),
        (lambda: dpviz.save(RELEASE, "a\0b"), ReleaseError, "give the path of a file"),
        (lambda: dpviz.save(RELEASE, "x" * 300), ReleaseError, "with names of up to 255 bytes"),
        (lambda: dpviz.save(RELEASE, ""), ReleaseError, "path='': give the path of a file"),
        (lambda: dpviz.save(None, "r.parquet"), ReleaseError, "release=None: give a release"),
        (lambda: RELEASE.save("r.CSV"), ReleaseError, r"write .csv by dpviz.export\(release, path"),
        (lambda: dpviz.export(POINTS, "r.csv"), ReleaseError, "release of type DataHandle: give a"),
        (lambda: dpviz.match(RELEASE, 5, 0.1), ParameterError, "release_b=5: give a release of"),
        (lambda: RELEASE.count_regions("a.geojson"), DomainError, "'a.geojson': give polygons"),
        (lambda: SEQUENCES.count(["ab"]), ParameterError, r"'ab' is one text: .* \['ab'\]"),
        (lambda: SEQUENCES.sample(2.5), ParameterError, "n=2.5: give a whole number"),
        (lambda: dpviz.Map([RELEASE]), ReleaseError, "release of type list: give a release, from"),
        (lambda: dpviz.Map(RELEASE, rectangle="x"), DomainError, "give west, south, east and nor"),
        (lambda: map_page([RELEASE], rects=[(0, 0, 1)]), DomainError, r"shape \(1, 3\): give west"),
        (lambda: report_page([RELEASE], rects=5), DomainError, r"shape \(1, 1\): give west"),
        (lambda: dpviz.build(POINTS, purpose="x"), ParameterError, "purpose='x': public data are"),
        (lambda: dpviz.build(PEOPLE, declare_public=True), ParameterError, "with public=True"),
        (lambda: dpviz.Domain((0, 0), (1, 1), cycle="day"), DomainError, "need a time axis"),
        (lambda: dpviz.Domain((0, 0), (1, 1), crs=4326), DomainError, "crs=4326: give a text"),
        (lambda: dpviz.Domain((0, 0), (1, 1), zone="Berlin"), DomainError, "'Berlin' is unknown"),
        (lambda: dpviz.load(TABLE, [0, 0, 1, 1]), DataError, "domain of type list: give a dpviz.D"),
        (lambda: dpviz.load(TABLE, BOX, public="no"), DataError, "public='no': give True or False"),
        (lambda: dpviz.load(TABLE, BOX, columns="lon"), DataError, "columns='lon': give a list of"),
        (lambda: dpviz.load(TABLE, BOX, unit=["u"]), DataError, "unit of type list: give a text"),
        (lambda: dpviz.load(Lazy(), BOX), DataError, "source of type Lazy: collect it first"),
        (lambda: dpviz.load("", ALPHABET), DataError, "source='': give the path of a file"),
        (lambda: dpviz.load("a,b\n1,2", BOX), DataError, "source is a text of several lines"),
    ],
)
def test_each_message_has_the_argument_and_the_remedy(call, error, message):
    with pytest.raises(error, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "v", "clip": [0, 5], "grid": "a"}, "grid are not numbers: give a number"),
        ({"cycle": ["day"]}, "cycle of type list: give a text"),
        ({"period": "2024,2025", "zone": np.zeros(2)}, "zone of type ndarray: give a name"),
        ({"columns": "lon"}, "columns='lon': give a list of texts"),
        *(
            ({name: value}, f"{name}='{value}' without a period or a cycle: give one, or leave")
            for name, value in (("time", "at"), ("every", "1h"), ("zone", "UTC"))
        ),
    ],
)
def test_invalid_options_of_a_domain_are_refused(options, message):
    with pytest.raises(DomainError, match=message):
        dpviz.Domain.from_bounds([0, 0, 1, 1], **options)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["Ann Smith", "Bob"]),
        np.array(["Ann Smith"]),
        pa.array(["Ann Smith"]),
        {"Ann Smith": 0.71828},
        [0.71828],
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_column_as_source_is_refused_without_its_values(column):
    """The first record of one stood in the error, as the name of a file."""
    with pytest.raises(DataError, match=r"source of type .*: give a path") as refused:
        dpviz.load(column, dpviz.Domain((0, 0), (1, 1)))
    assert "Ann" not in str(refused.value)
    assert "0.7" not in str(refused.value)
