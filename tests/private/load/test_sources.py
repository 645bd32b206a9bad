"""dpviz.load: every source gives an opaque handle."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.errors import DataError
from dpviz.files import sandbox
from dpviz.private.ledger import account_key
from dpviz.private.ledger.names import stem
from dpviz.private.load.check import check_source
from dpviz.private.load.tables.formats import FORMATS
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact
from tests.vault import index_of

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


def test_how_many_were_dropped_is_known_for_public_data_only(taxi):
    path, _ = taxi
    assert dpviz.load(path, NYC, public=True).tally.dropped == {Fact.OUTSIDE: 4}
    assert dpviz.load(path, NYC).tally is None


@pytest.mark.slow
def test_a_built_in_set_can_be_bounded():
    handle = dpviz.load("persons", unit="person", max_per_unit=2)
    assert index_of(handle).total == 2 * 5_000
    again = dpviz.load("persons", unit="person", max_per_unit=2)
    np.testing.assert_array_equal(index_of(handle).codes, index_of(again).codes)


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
def test_bad_requests_are_refused_in_one_line(arguments, message):
    with pytest.raises(DataError, match=message):
        dpviz.load(**arguments)


@pytest.fixture
def calls(monkeypatch):
    """The tasks of children, and what is done before each."""
    run, tasks, before = sandbox._ForkServer.run, [], {}

    def noted(self, task, *order):
        before.get(len(tasks), lambda: None)()
        tasks.append(task.partition(":")[2])
        return run(self, task, *order)

    monkeypatch.setattr(sandbox._ForkServer, "run", noted)
    return tasks, before


@pytest.mark.skipif(not sandbox.CAN_FORK, reason="needs fork: see dpviz.files.sandbox")
def test_a_file_is_given_to_as_few_children_as_it_has_questions(taxi, tmp_path, calls):
    """The layout answers whether a file holds counts; a folder is counted by DuckDB."""
    path, _ = taxi
    tasks, _ = calls
    dpviz.load(path, NYC)
    assert tasks == ["layout", "records"]
    tasks.clear()
    dpviz.load(tmp_path, NYC)
    assert tasks == ["footers"]


def truncated(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def other_columns(path):
    pq.write_table(pa.table({"a": [1.0]}), path)


@pytest.mark.skipif(not sandbox.CAN_FORK, reason="needs fork: see dpviz.files.sandbox")
@pytest.mark.parametrize("change", [truncated, other_columns, Path.unlink])
@pytest.mark.parametrize("when", [0, 1])
def test_a_file_that_changes_while_it_is_read_is_one_clear_line(taxi, calls, change, when):
    path, _ = taxi
    _, before = calls
    before[when] = lambda: change(path)
    with pytest.raises(DataError) as caught:
        dpviz.load(path, NYC, name="taxi")
    assert "\n" not in str(caught.value)
    assert "-73" not in str(caught.value)


def test_what_a_file_says_beside_its_columns_is_no_word_of_ours(taxi):
    """The child's own statements travel under a name that a file may use as well."""
    path, _ = taxi
    wrong = json.dumps({"crs": "EPSG:27700", "declares": False, "json": ["lon"], "broken": 7})
    table = pq.read_table(path).replace_schema_metadata({"stated": wrong, "pandas": "{"})
    pq.write_table(table, path)
    opened = open_table(path)
    assert (opened.crs, opened.declares) == (None, True)
    handle = dpviz.load(path, NYC, public=True)
    assert (index_of(handle).total, handle.tally.dropped) == (36, {Fact.OUTSIDE: 4})


def test_files_of_a_folder_are_looked_at_by_a_child(taxi, tmp_path):
    """A damaged one is one clear line, wherever it stands, and also beside counts."""
    path, _ = taxi
    whole = path.read_bytes()
    for first, second in ((whole[:-20], whole), (whole, whole[:-20])):
        (tmp_path / "a.parquet").write_bytes(first)
        path.write_bytes(second)
        with pytest.raises(DataError, match=r"cannot be read as Parquet: it is damaged"):
            dpviz.load(tmp_path, NYC)
    for name, kind in (("a", pa.int32()), ("taxi", pa.int64())):  # two types with the same meaning
        rows = {"cell": pa.array([1, 2], kind), "n": pa.array([3, 4], kind)}
        pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")
    assert index_of(dpviz.load(tmp_path, NYC, bits=9)).total == 14
    with pytest.raises(DataError, match=r"column 'cell' is int32 in one file of"):
        dpviz.load(tmp_path, NYC, columns=["cell", "n"])


def test_a_total_under_the_name_of_a_file_is_kept_whatever_its_ending():
    """A total of visits.ndjson, or of visits.2030.zip, limited nothing."""
    endings = {each for form in FORMATS.values() for each in form.endings}
    for ending in [*endings, ".csv.gz", ".SENSITIVE.parquet"]:
        assert stem(f"visits{ending}") == account_key(f"visits{ending}") == "visits"
    for name in ("visits.2030.zip", "visits.2030", ".csv"):
        assert account_key(stem(name)) == account_key(name) != "visits"


def test_a_record_outside_the_area_and_the_period_counts_as_outside_the_area():
    day = {"time": "t", "period": ("2024-01-01", "2024-01-02")}
    domain = dpviz.Domain.from_bounds([0, 0, 1, 1], **day)
    records = {
        "lon": [0.5, 0.5, 9.0, 9.0, 0.5],
        "lat": [0.5] * 5,
        "t": ["2024-01-01T12:00", "2025-01-01", "2024-01-01T12:00", "2025-01-01", "soon"],
    }
    tally, _ = check_source(pd.DataFrame(records), domain)
    expected = {Fact.OUTSIDE: 2, Fact.OUTSIDE_PERIOD: 1, Fact.NO_TIME: 1}
    assert tally.dropped == expected
    assert tally[Fact.LOADED] == 1
