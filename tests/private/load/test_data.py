"""One door for data of every kind: which reader a domain, a kind and the arguments choose."""

import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.errors import BudgetError, DataError
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph
from tests.vault import index_of, sequences_of, trips_of

BOX = dpviz.Domain((0, 0), (1, 1), columns=("x", "y"))
ABC = dpviz.Alphabet(("a", "b", "c"))
STREETS = road_graph(
    {"node": [1, 2, 3], "x": [0.0, 1.0, 2.0], "y": [0.0, 0.0, 0.0]},
    {"edge": ["p", "q"], "src": [1, 2], "dst": [2, 3]},
)
PLACES = pd.DataFrame(
    {
        "x": [0.1, 0.9, 0.1, 0.9],
        "y": [0.5, 0.5, 0.5, 0.5],
        "who": ["u", "u", "u", "v"],
        "when": pd.to_datetime(
            ["2030-01-01T08", "2030-01-01T09", "2030-01-03T08", "2030-01-01T08"]
        ),
    }
)
WALKS = pa.table({"walk": [["a", "b"], ["c"], ["a", "z"]]})
TRIPS = pd.DataFrame({"edges": [["p", "q"], ["q"], ["x"]]})


def test_the_domain_says_what_the_data_are():
    points = dpviz.load(PLACES, BOX, unit="who", max_per_unit=2, name="places")
    assert (points.kind, index_of(points).total) == ("points", 3)
    walks = dpviz.load(WALKS, ABC, name="walks")
    assert (walks.kind, len(sequences_of(walks))) == ("sequences", 2)
    assert sequences_of(dpviz.load(WALKS, ABC, drop_unknown=True)).length.tolist() == [2, 1, 1]
    trips = dpviz.load(TRIPS, STREETS, name="trips")
    assert (trips.kind, len(trips_of(trips))) == ("roads", 2)
    visits = dpviz.load(
        PLACES, BOX, kind="sequences", unit="who", time="when", max_per_unit=2, side=2
    )
    assert sequences_of(visits).length.tolist() == [2, 1, 1]  # u's second day, a gap of two, and v
    assert visits.unit == "one who with at most 2 sequences"
    for data in (points, walks, trips, visits):
        assert not data.public
        queries = Paths.of([[0, 1]]) if data is trips else None
        release = dpviz.build(data, epsilon=1.0, workload=queries, ledger=None)
        assert release.kind == data.kind


@pytest.mark.slow
def test_built_in_data_of_every_kind_need_no_domain():
    kinds = [
        dpviz.load("city-50k"),
        *(dpviz.load("city", kind=kind) for kind in ("sequences", "roads")),
    ]
    assert [data.kind for data in kinds] == ["points", "sequences", "roads"]
    assert all(data.public and data.synthetic for data in kinds)
    sensitive = dpviz.load("city", kind="sequences", public=False, max_per_unit=2, side=4)
    assert (sensitive.public, sensitive.unit) == (False, "one person with at most 2 sequences")


@pytest.mark.parametrize(
    ("source", "domain", "options", "message"),
    [
        (
            WALKS,
            ABC,
            {"crs": "EPSG:4326"},
            "crs goes with points, or places in time, or trips, or flows, the data are seq",
        ),
        (TRIPS, STREETS, {"columns": ("edges", "x")}, "columns=edges, x: for trips, name edges"),
        (
            PLACES,
            BOX,
            {"time": "when"},
            "time goes with places in time, or trips, or flows, the data are points",
        ),
        (PLACES, BOX, {"kind": "sequences", "time": "when"}, "by person and time: name both"),
        (PLACES, BOX, {"kind": "roads"}, "trips need a road graph, not a box: give"),
        (PLACES, BOX, {"kind": "tracks"}, "no data of kind 'tracks': give points, sequences"),
        (WALKS, ABC, {"kind": "points"}, "a domain of sequences, and kind='points'"),
        (WALKS, ABC, {"columns": ("walk", "way")}, "2 columns for sequences: name the one"),
        (
            "tracks.csv",
            None,
            {"kind": "sequences"},
            "places in time need a domain: give the box or an",
        ),
        ("trips.csv", None, {"kind": "roads"}, "trips need a domain: give the RoadGraph"),
        ([[0.5, 0.5]], BOX, {}, "to dpviz.from_points"),
        (WALKS, ABC, {"public": "no"}, "public='no': give True or False"),
        (PLACES, BOX, {"name": 5}, "data set name 5: give a text"),
        (
            PLACES,
            BOX,
            {"unit": "who", "max_per_unit": 1.5},
            "at most 1.5 records per unit: give a whole number",
        ),
    ],
)
def test_options_that_exclude_each_other_are_refused_in_one_line(source, domain, options, message):
    with pytest.raises((DataError, BudgetError), match=message) as caught:
        dpviz.load(source, domain, **options)
    assert "\n" not in str(caught.value)
