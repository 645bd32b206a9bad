"""Files of (cell, count) rows: results of a warehouse, and counts that new days are appended to."""

import json
import shutil
import stat
from dataclasses import replace
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz
from dpviz.domain.attributes import Values
from dpviz.errors import DataError, DpvizError
from dpviz.private.index import PointIndex
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.counts import merged
from dpviz.private.load.dialects import table
from dpviz.private.load.tables.confined import ConfinedTable
from tests.commands import fails, run
from tests.private.load.engines.cases import CASES, digest
from tests.vault import index_of

CASE = CASES["plane0"]
BOX = CASE.domain


def bounds(domain=BOX):
    return "--bounds=" + ",".join(map(repr, domain.bounds))


def by_hand(query, case=CASE, salt=""):
    """The rows that a warehouse would export."""
    with duckdb.connect() as db:
        db.register("points", case.table)
        return pa.table(db.execute(query.sql(table("points"), "duckdb", salt)).fetchnumpy())


@pytest.fixture
def days(tmp_path):
    """Three days of the case, one of them a folder."""
    third = CASE.table.num_rows // 3
    pq.write_table(CASE.table.slice(0, third), tmp_path / "one.parquet")
    pv.write_csv(CASE.table.slice(third, third), tmp_path / "two.csv")
    (tmp_path / "three").mkdir()
    pq.write_table(CASE.table.slice(2 * third), tmp_path / "three" / "a.parquet")
    return [tmp_path / name for name in ("one.parquet", "two.csv", "three")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet", "folder", "upper case", "decimal", "plain"])
def test_the_result_of_the_query_is_a_source(tmp_path, kind):
    case = CASES["trips" if kind in ("folder", "decimal") else "plane0"]
    query = CellQuery(case.domain, case.domain.columns, 9)
    rows = by_hand(query, case)
    rows = rows.take(np.random.default_rng(3).permutation(len(rows)))
    path = tmp_path / f"{kind}.parquet"
    if kind == "csv":
        path = tmp_path / "rows.csv"
        pv.write_csv(rows, path)
    elif kind == "folder":
        path.mkdir()
        for part in range(3):
            pq.write_table(rows.slice(part * 100, 100), path / f"{part}.parquet")
        pq.write_table(rows.slice(300), path / "rest.parquet")
    elif kind == "upper case":
        pq.write_table(rows.rename_columns([each.upper() for each in rows.column_names]), path)
    elif kind == "decimal":
        wide = [column.cast(pa.decimal128(38, 0)) for column in rows.columns]
        pq.write_table(pa.table(wide, names=rows.column_names), path)
    elif kind == "plain":
        pq.write_table(rows.rename_columns(["cell", "count"]), path)
    else:
        pq.write_table(rows, path)
    handle = dpviz.load(path, case.domain, bits=9)
    assert digest(index_of(handle)) == digest(case.expected(9))
    assert (handle.bits, handle.unit, handle.public) == (9, "one record", False)


def test_a_bounded_result_brings_its_bound(tmp_path):
    query = CellQuery(BOX, ("lon", "lat"), 16, "who", 3)
    pq.write_table(by_hand(query), tmp_path / "rows.parquet")
    handle = dpviz.load(tmp_path / "rows.parquet", BOX, unit="who", max_per_unit=3)
    assert digest(index_of(handle)) == digest(CASE.expected(rows=CASE.chosen(3)))
    assert handle.max_per_unit == 3
    for wrong in (
        {},
        {"unit": "who", "max_per_unit": 2},
        {"unit": "other", "max_per_unit": 3},
        {"unit": "who", "max_per_unit": 3, "bits": 15},
    ):
        with pytest.raises(DataError, match="was counted with other public facts"):
            dpviz.load(tmp_path / "rows.parquet", BOX, **wrong)
    other = dpviz.Domain(BOX.lower, (BOX.upper[0], BOX.upper[1] + 1))
    with pytest.raises(DataError, match="was counted with other public facts"):
        dpviz.load(tmp_path / "rows.parquet", other, unit="who", max_per_unit=3)
    pq.write_table(pa.table({"cell": [1], "n": [2]}), tmp_path / "plain.parquet")
    with pytest.raises(DataError, match="does not say that it was bounded for each who"):
        dpviz.load(tmp_path / "plain.parquet", BOX, unit="who", max_per_unit=3)


@pytest.mark.slow
def test_results_of_several_queries_in_a_folder_are_not_bounded_together(tmp_path):
    """Each keeps K records of a unit: together they had 2 K, and the noise was of K."""
    query, read = CellQuery(BOX, ("lon", "lat"), 16, "who", 3), {"unit": "who", "max_per_unit": 3}
    files = [tmp_path / name for name in ("one.parquet", "two.parquet")]
    for salt, path in zip("ab", files, strict=True):
        pq.write_table(by_hand(query, salt=salt), path)
    with pytest.raises(DataError, match="of several queries, whose bounds of each who add up"):
        dpviz.load(tmp_path, BOX, **read)
    assert dpviz.load(files, BOX, **read, bits=16).max_per_unit == 6
    rows = pq.read_table(files[0])
    for path, start in zip(files, (0, 500), strict=True):  # one result, in two files
        pq.write_table(rows.slice(start, 500 if start == 0 else None), path)
    assert index_of(dpviz.load(tmp_path, BOX, **read)).total == len(CASE.chosen(3))


@pytest.mark.parametrize(
    ("cell", "n", "message"),
    [
        ([2**32], [1], r"a cell is not a number from 0 to 2\^32 − 1: give the bits .*now 16"),
        ([-1], [1], "a cell is not a number from 0"),
        ([1], [-1], "a count is below 0"),
        ([1, None], [1, 1], "column cell has missing values"),
        ([1, 2], [1, None], "column n has missing values"),
        ([1.5], [1], "column cell does not hold whole numbers"),
        ([1], [Decimal("0.5")], "column n does not hold whole numbers"),
        (["secret"], [1], "column cell does not hold whole numbers"),
        ([1, 2], [2**62, 2**62], r"the counts add up to more than 2\^53"),
    ],
)
def test_rows_that_no_query_gives(tmp_path, cell, n, message):
    pq.write_table(pa.table({"cell": cell, "n": n}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=message) as caught:
        dpviz.load(tmp_path / "rows.parquet", BOX)
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_days_are_merged_as_if_they_were_one_table(days):
    together = dpviz.load(days, BOX)
    assert digest(index_of(together)) == digest(CASE.expected())
    assert (together.name, together.bits, together.max_per_unit) == ("one", 16, 1)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 15), max_size=30), min_size=1, max_size=4))
def test_merging_equals_counting_together(tables):
    domain = dpviz.Domain((0,), (1,))

    def index(rows):
        return PointIndex.from_cells(domain, np.array(rows, dtype=np.int64).reshape(-1, 1))

    whole = index(tables[0])
    for part in tables[1:]:
        whole = whole.merged(index(part))
    assert digest(whole) == digest(index([row for part in tables for row in part]))


def test_kept_counts_say_that_they_are_sensitive_and_are_the_owner_s_alone(tmp_path):
    path = tmp_path / "all.SENSITIVE.parquet"
    handle = dpviz.load("city-50k", public=False, bits=8)
    for name in ("all.parquet", "all.SENSITIVE.csv"):
        with pytest.raises(DataError, match="EXACT COUNTS go to a file such as all"):
            dpviz.save_counts(handle, tmp_path / name)
    dpviz.save_counts(handle, path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    facts = json.loads(pq.read_schema(path).metadata[b"dpviz.counts"])
    assert facts["warning"] == "SENSITIVE: EXACT COUNTS, NOT A RELEASE"
    assert pq.read_table(path).column_names == ["cell", "n"]
    with pytest.raises(DpvizError):
        dpviz.read(path)
    with pytest.raises(DataError, match="is marked SENSITIVE: count the sources again as public"):
        dpviz.load(path, public=True)
    public = dpviz.load("city-50k", bits=8)
    dpviz.save_counts(public, tmp_path / "city.parquet")
    assert dpviz.load(tmp_path / "city.parquet").public
    assert not dpviz.load(tmp_path / "city.parquet", public=False).public


@pytest.mark.slow
def test_bounds_of_a_unit_add_up_over_appended_days(tmp_path, days):
    path = tmp_path / "all.SENSITIVE.parquet"
    options = {"unit": "who", "max_per_unit": 2}
    dpviz.save_counts(dpviz.load(days[0], BOX, bits=16, **options), path)
    handle = dpviz.load([path, *days[1:]], **options)
    assert handle.max_per_unit == 6
    assert handle.unit == "one who with at most 6 records"
    assert handle.accounted_unit == "one who"
    dpviz.save_counts(handle, path)
    assert dpviz.load(path).max_per_unit == 6
    release = dpviz.build(dpviz.load(path), "ugrid", 1.0)
    assert sum(row["epsilon"] for row in release.header.budget) == pytest.approx(1.0)
    assert "6 records" in release.header.guarantee


@pytest.mark.slow
def test_counts_that_are_appended_to_while_they_are_read(tmp_path, days, monkeypatch):
    """The bound of a unit that a file states is of the rows in it, not of those before."""
    first, second = tmp_path / "first.SENSITIVE.parquet", tmp_path / "both.SENSITIVE.parquet"
    read = {"unit": "who", "max_per_unit": 2, "name": "visits"}
    dpviz.save_counts(dpviz.load(days[0], CASE.domain, **read), first)
    dpviz.save_counts(dpviz.load([first, days[1]], **read), second)
    asked = ConfinedTable._asked

    def meanwhile(table, task, *arguments):
        if task == "records":
            second.replace(first)
        return asked(table, task, *arguments)

    monkeypatch.setattr(ConfinedTable, "_asked", meanwhile)
    with pytest.raises(DataError, match="changed while it was read: try again"):
        dpviz.load(first)
    monkeypatch.undo()
    assert dpviz.load(first).max_per_unit == 4


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Counts in a file, which no test changes."""
    handle = dpviz.load(CASE.table, BOX, bits=16, name="one")
    return dpviz.save_counts(handle, tmp_path_factory.mktemp("stored") / "all.SENSITIVE.parquet")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"domain": dpviz.Domain((0, 0), (1, 1))}, "with domain of its own: it has"),
        ({"bits": 15}, "with bits of its own: it has 16"),
        ({"unit": "who"}, "with unit of its own: it has one record"),
        ({"columns": ["cell", "n"]}, "with columns of its own: leave them out"),
        ({"domain": replace(BOX, values=Values("fare", 0, 20))}, "hold no sums: leave the values"),
    ],
)
def test_what_is_said_must_be_what_the_file_states(stored, options, message):
    with pytest.raises(DataError, match=message):
        dpviz.load(stored, **options)


@pytest.mark.parametrize(
    "facts",
    [
        "{",
        "[]",
        "[" * 100_000,
        {"version": 2},
        {"bits": 60},
        {"bits": 0},
        {"max_per_unit": 0},
        {"domain": {"lower": [0], "upper": [0], "columns": ["x"], "crs": "EPSG:4326", "bits": 30}},
        {"parts": 5},
        {"unit": None, "name": None, "public": "no", "warning": 3, "version": "x"},
    ],
)
def test_damaged_facts_are_one_line(tmp_path, stored, facts):
    path, content = tmp_path / "all.SENSITIVE.parquet", pq.read_table(stored)
    if isinstance(facts, dict):
        facts = json.dumps({**json.loads(content.schema.metadata[b"dpviz.counts"]), **facts})
    pq.write_table(content.replace_schema_metadata({b"dpviz.counts": facts.encode()}), path)
    with pytest.raises(DataError, match=r"newer version|damaged or cut short"):
        dpviz.load(path)


def test_a_part_is_known_under_another_name_and_in_its_folder(tmp_path, days):
    other, folder = tmp_path / "link.parquet", days[2]
    other.hardlink_to(days[0])
    inside, kept = folder / "a.parquet", tmp_path / "kept.SENSITIVE.parquet"
    dpviz.save_counts(dpviz.load(folder, BOX, bits=16), kept)
    for one, again in ((days[0], other), (folder, inside), (inside, folder), (kept, inside)):
        with pytest.raises(DataError, match="already: a record that is counted twice"):
            dpviz.load([one, again], BOX, bits=16)
    assert digest(index_of(dpviz.load([kept, other, days[1]], BOX))) == digest(CASE.expected())


def test_a_part_that_is_copied_again_to_its_place_is_known(tmp_path, days):
    """As a tool that synchronises folders writes it: a new file, of the old time."""
    kept = dpviz.save_counts(dpviz.load(days[0], BOX, bits=16), tmp_path / "k.SENSITIVE.parquet")
    again = tmp_path / "again"
    shutil.copy2(days[0], again)
    again.replace(days[0])
    with pytest.raises(DataError, match="already: a record that is counted twice"):
        dpviz.load([kept, days[0]], BOX)


def test_a_table_in_memory_that_is_kept_twice_is_known(tmp_path):
    """By its records, as it has no place: a job that runs again would count them again."""
    one, two = (
        dpviz.save_counts(dpviz.load(CASE.table, BOX, bits=16), tmp_path / f"{n}.SENSITIVE.parquet")
        for n in range(2)
    )
    with pytest.raises(DataError, match="already: a record that is counted twice"):
        dpviz.load([one, two])


@pytest.mark.slow
def test_saved_counts_replace_no_records_and_a_release_names_none_of_their_parts(tmp_path, days):
    records, path = tmp_path / "raw.SENSITIVE.parquet", tmp_path / "all.SENSITIVE.parquet"
    pq.write_table(CASE.table, records)
    handle = dpviz.load(days[0], BOX, bits=16, name="trips")
    with pytest.raises(DataError, match="exists and holds no counts per cell: name another file"):
        dpviz.save_counts(handle, records)
    dpviz.save_counts(handle, path)
    dpviz.save_counts(dpviz.load([path, days[1]]), path)
    assert run("build", path, "-o", tmp_path / "r.parquet")[0] == 0
    header = dpviz.read(tmp_path / "r.parquet").header
    assert "parts" not in json.dumps(header.to_dict())


def test_what_cannot_be_merged(tmp_path, days):
    path = tmp_path / "all.SENSITIVE.parquet"
    dpviz.save_counts(dpviz.load(days, BOX), path)
    copy = tmp_path / "copy.SENSITIVE.parquet"
    copy.write_bytes(path.read_bytes())
    with pytest.raises(DataError, match=r"two.csv is in all.SENSITIVE.parquet already: a record"):
        dpviz.load([path, days[1]])
    with pytest.raises(DataError, match=r"copy.SENSITIVE.parquet is in all.SENSITIVE.parquet"):
        dpviz.load([path, copy])
    with pytest.raises(DataError, match=r"two.csv is in two.csv already"):
        dpviz.load([days[1], days[1]], BOX)
    with pytest.raises(DataError, match="different units: one record; one who"):
        merged([dpviz.load(path), dpviz.load(days[1], BOX, bits=16, unit="who")])
    with pytest.raises(DataError, match="no source"):
        dpviz.load([], BOX)


def test_the_printed_query_s_result_builds_a_release(tmp_path):
    words = ["--unit", "who", "--max-per-unit", 4, "--bits", 12, bounds()]
    query = dpviz.cell_sql("points", CASE.domain, bits=12, unit="who", max_per_unit=4)
    with duckdb.connect() as db:
        db.register("points", CASE.table)
        rows = pa.table(db.execute(query).fetchnumpy())
    pv.write_csv(rows, tmp_path / "rows.csv")
    code, out, _ = run("build", tmp_path / "rows.csv", "-o", tmp_path / "r.parquet", *words)
    assert code == 0
    assert "one who with at most 4 records" in out
    wrong = ["--unit", "who", "--max-per-unit", 3, "--bits", 12, bounds()]
    assert "was counted with other public facts" in fails(
        "build", tmp_path / "rows.csv", "-o", tmp_path / "q.parquet", *wrong
    )
    with pytest.raises(DpvizError, match="dialect 'x' is not known"):
        dpviz.cell_sql("points", CASE.domain, dialect="x")
