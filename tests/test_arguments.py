"""What public functions are given of another type: one line, whatever it is."""

import inspect
from types import GenericAlias
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.arguments import fields_of, fitting, hints_of
from dpviz.domain.attributes import Kinds, Values
from dpviz.errors import DataError, DomainError, DpvizError, ParameterError, ReleaseError

BOX = dpviz.Domain((0, 0), (1, 1))
ALPHABET = dpviz.Alphabet(("a", "b"))
POINTS = dpviz.from_points(np.random.default_rng(0).random((300, 2)), BOX, public=True)
RELEASE = dpviz.build(POINTS, seed=1)
WALKS = dpviz.load(pa.table({"walk": [["a", "b"], ["b"]]}), ALPHABET, name="w", public=True)
SEQUENCES = dpviz.build(WALKS, seed=1)
AREAS = dpviz.hexagons(2, BOX)
COUNTS = dpviz.cell_counts(pa.table({"lon": [0.1], "lat": [0.2]}), BOX)

ODD = (None, -1, 1.5, np.nan, True, 10**400, "", b"x", [None], {}, {1}, object(), "a\0b", "x" * 999)
"""Of each, some parameters take it and others must refuse it."""

CALLS: dict[Any, dict[str, Any]] = {
    dpviz.build: {"data": POINTS},
    dpviz.cell_counts: {"frame": pa.table({"lon": [0.1], "lat": [0.2]}), "domain": BOX},
    dpviz.cell_sql: {"relation": "t", "domain": BOX},
    dpviz.export: {"release": RELEASE, "path": "r.csv"},
    dpviz.from_counts: {"tables": COUNTS, "domain": BOX, "name": "x"},
    dpviz.from_points: {"points": [[0.1, 0.2]], "domain": BOX},
    dpviz.hexagons: {"resolution": 1, "domain": BOX},
    dpviz.load: {"source": pa.table({"lon": [0.1], "lat": [0.2]}), "domain": BOX},
    dpviz.match: {"release_a": RELEASE, "release_b": RELEASE, "within": 0.1},
    dpviz.method: {"name": "ugrid"},
    dpviz.plan: {"domain": BOX, "wishes": ["rect=0,0,1,1 ±100"], "repeats": 0, "records": 100},
    dpviz.read: {"path": "r.parquet"},
    dpviz.read_areas: {"path": "a.geojson"},
    dpviz.save: {"release": RELEASE, "path": "r.parquet"},
    dpviz.save_counts: {"handle": POINTS, "path": "c.parquet"},
    dpviz.Domain.from_bounds: {"bounds": [0, 0, 1, 1]},
    BOX.to_lattice: {"points": [[0.1, 0.2]]},
    RELEASE.count: {"queries": [0, 0, 1, 1]},
    RELEASE.sample: {"n": 1},
    RELEASE.save: {"path": "r.parquet"},
    SEQUENCES.codes: {"symbols": ["a"]},
    SEQUENCES.count: {"queries": [["a"]]},
    SEQUENCES.next: {"context": ["a"]},
    SEQUENCES.sample: {"n": 1},
    SEQUENCES.top: {"k": 1},
    dpviz.Alphabet: {"names": ("a", "b")},
    dpviz.Areas: {name: getattr(AREAS, name) for name in fields_of(dpviz.Areas)},
    dpviz.Domain: {"lower": (0, 0), "upper": (1, 1)},
    Kinds: {"column": "kind", "names": ("a", "b")},
    Values: {"column": "value", "low": 0.0, "high": 1.0},
}


def test_an_alias_of_arrays_asks_for_an_array():
    """As NumPy's own are from 2.5 on, which Python 3.11 does not get."""

    class Alias:
        __value__ = np.ndarray[Any, np.dtype[Any]]

    hint = GenericAlias(Alias(), (np.float64,))
    assert fitting(np.zeros(2), hint, "parent", ParameterError).shape == (2,)
    with pytest.raises(ParameterError, match=r"^parent=None: give a NumPy array$"):
        fitting(None, hint, "parent", ParameterError)


@pytest.mark.parametrize(
    ("function", "name"),
    [(each, name) for each in CALLS for name in inspect.signature(each).parameters],
    ids=lambda each: getattr(each, "__qualname__", each),
)
def test_what_is_given_is_taken_or_refused_in_one_line(function, name, tmp_path, monkeypatch):
    """No message is in the words of Python or of a library, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    messages = []
    for odd in ODD:
        try:
            function(**{**CALLS[function], name: odd})
        except DpvizError as error:
            messages.append(str(error))
    assert "\n" not in "".join(messages)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dpviz.Alphabet(None), ParameterError, "names=None: give a list of texts"),
        (lambda: dpviz.Alphabet("home"), ParameterError, "names='home': give a list of texts"),
        (lambda: dpviz.hexagons("5", BOX), ParameterError, "resolution='5': give a whole number"),
        (lambda: dpviz.hexagons(5.5, BOX), ParameterError, "resolution=5.5: give a whole number"),
        (lambda: dpviz.hexagons(5, [0, 0, 1, 1]), ParameterError, "domain of type list: give a"),
        (
            lambda: dpviz.hexagons(5, dpviz.Domain((0,) * 4, (1,) * 4)),
            ParameterError,
            "in 4 dimensions: give a 2-D box",
        ),
        (lambda: dpviz.build(POINTS, wishes=None), ParameterError, "wishes=None: give a list"),
        (lambda: dpviz.build(POINTS, workload=object()), DomainError, "workload are no numbers"),
        (lambda: dpviz.build(POINTS, simulate="no"), ParameterError, "give True or False"),
        (lambda: dpviz.Ledger(5), DpvizError, "path=5: give the path of a file"),
        (lambda: dpviz.Ledger().spend(None, 1, what="x"), DpvizError, "dataset=None: give a"),
        (lambda: dpviz.match(RELEASE, RELEASE, "0.1"), DomainError, "no numbers: give one, or one"),
        (lambda: dpviz.read("r.parquet", "road"), ReleaseError, "kind='road': give one of points,"),
        (lambda: RELEASE.save("r.CSV"), ReleaseError, r"write .csv by dpviz.export\(release, path"),
        (lambda: dpviz.save(RELEASE, "r.gpkg"), ReleaseError, "give a .parquet file"),
        (lambda: RELEASE.count_regions("a.geojson"), DomainError, "'a.geojson': give polygons"),
        (lambda: SEQUENCES.count(["ab"]), ParameterError, r"'ab' is one text: .* \['ab'\]"),
        (lambda: dpviz.Map([RELEASE]), ReleaseError, "release of type list: give a release, from"),
        (
            lambda: dpviz.Map(RELEASE, rectangle=(0, 0, 1)),
            DomainError,
            "give west, south, east and",
        ),
        (lambda: dpviz.Map(RELEASE, rectangle="x"), DomainError, "give west, south, east and nor"),
        (lambda: dpviz.read(b"r.parquet"), ReleaseError, "path of type bytes: give the path"),
        (lambda: dpviz.save(RELEASE, "a\0b"), ReleaseError, "give the path of a file"),
        (lambda: dpviz.save(RELEASE, "x" * 300), ReleaseError, "with names of up to 255 bytes"),
        (lambda: dpviz.save(RELEASE, ""), ReleaseError, "path='': give the path of a file"),
        (lambda: dpviz.save(None, "r.parquet"), ReleaseError, "release=None: give a release"),
        (lambda: dpviz.export(POINTS, "r.csv"), ReleaseError, "release of type DataHandle: give a"),
        (lambda: dpviz.Domain((0, 0), (1, 1), crs=4326), DomainError, "crs=4326: give a text"),
        (lambda: dpviz.Domain((0, 0), (1, 1), zone="Berlin"), DomainError, "'Berlin' is not known"),
    ],
)
def test_each_says_what_and_the_remedy(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": "a"}, "grid='a': give a number"),
        ({"kinds": 5, "kind": "k"}, "kinds=5: give a list of texts"),
        ({"cycle": ["day"]}, "cycle of type list: give a text"),
        ({"period": "2024,2025", "zone": np.zeros(2)}, "zone of type ndarray: give a name"),
        ({"columns": "lon"}, "columns='lon': give a list of texts"),
    ],
)
def test_what_a_domain_is_made_of(options, message):
    given = {"value": "v", "clip": [0, 5]} if "grid" in options else {}
    with pytest.raises(DomainError, match=message):
        dpviz.Domain.from_bounds([0, 0, 1, 1], **given, **options)


def test_a_zone_is_a_name_or_a_zone_info():
    domain = dpviz.Domain.from_bounds(
        [0, 0, 1, 1], period="2024-01-01,2025-01-01", zone=ZoneInfo("Europe/Berlin")
    )
    assert domain.zone == "Europe/Berlin"


def test_an_empty_list_is_no_rectangles():
    timed = dpviz.Domain.from_bounds([0, 0, 1, 1], period="2024-01-01,2025-01-01")
    for domain in (BOX, timed):
        assert domain.boxes(domain.over([]) if domain.time else [])[0].shape == (0, domain.dims)
    assert len(RELEASE.count([])) == len(RELEASE.count(np.zeros((0, 4)))) == 0


def test_sequences_are_sampled_without_a_number_too():
    assert len(SEQUENCES.sample(seed=1)) == 1_000


def test_what_holds_much_is_shown_in_one_line():
    """The names of a city's hexagons alone were half a megabyte."""
    matching = dpviz.match(RELEASE, RELEASE, 0.1)
    graph = dpviz.load("city", kind="roads").graph
    for each in (AREAS, ALPHABET, matching, graph, dpviz.hexagons(4, BOX)):
        assert len(repr(each)) < 100
        assert "\n" not in repr(each)
    assert repr(ALPHABET) == "Alphabet(2 symbols)"


class Lazy:
    """What polars makes of ``frame.lazy()``."""

    def collect(self):
        """The table."""


@pytest.mark.parametrize("kind", ["points", "sequences"])
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "source of type NoneType: give a path"),
        ("", "source='': give the path of a file"),
        (b"13.4,52.5", "source of type bytes: give a path"),
        ("lon,lat\n13.4,52.5", "^source is a text of several lines: give the path of a file$"),
        (5, "source of type int: give a path"),
        (Lazy(), "source of type Lazy: collect it first"),
    ],
)
def test_what_is_no_source(source, message, kind):
    domain = BOX if kind == "points" else ALPHABET
    with pytest.raises(DataError, match=message):
        dpviz.load(source, domain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": 5}, "columns=5: give a list of texts"),
        ({"columns": "lon"}, "columns='lon': give a list of texts"),
        ({"progress": 5}, "progress=5: give a function"),
        ({"name": " "}, "name=' ': name the data set"),
        ({"unit": ["u"]}, "unit of type list: give a text"),
    ],
)
def test_what_a_source_is_read_with(options, message):
    with pytest.raises(DataError, match=message):
        dpviz.load(pa.table({"lon": [0.1], "lat": [0.2]}), BOX, **options)


def test_every_annotation_of_a_checked_function_is_known_where_it_stands():
    """One that only a type checker imports would leave its parameter unchecked."""
    public = [getattr(dpviz, name) for name in dpviz.__all__ if name != "Map"]
    methods = [each for cls in public if isinstance(cls, type) for each in vars(cls).values()]
    for function in (*public, *methods):
        if hasattr(function, "__wrapped__"):
            inner = inspect.unwrap(function)
            for name, hint in hints_of(inner).items():
                assert hint is not Any or inner.__annotations__[name][:3] in ("Any", "Arr"), name


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([0.71828, 0.5]),
        pd.Series(["Ann Smith", "Bob"]),
        pd.Index(["Ann Smith"]),
        np.array(["Ann Smith"]),
        pa.array(["Ann Smith"]),
        {"Ann Smith": 0.71828},
        [0.71828],
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_column_is_no_list_of_files_and_none_of_it_is_shown(column):
    """The first record of one stood in the error, as the name of a file."""
    with pytest.raises(DataError, match=r"source of type .*: give a path") as refused:
        dpviz.load(column, dpviz.Domain((0, 0), (1, 1)))
    assert "Ann" not in str(refused.value)
    assert "0.7" not in str(refused.value)
