"""Files of (cell, count) rows: results of the query that another engine ran."""

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
from dpviz.errors import DataError, ParameterError
from dpviz.private.index import PointIndex
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.dialects import table
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
    """Regression: each result keeps K records of a unit; together they had 2 K, noise for K."""
    query, read = CellQuery(BOX, ("lon", "lat"), 16, "who", 3), {"unit": "who", "max_per_unit": 3}
    files = [tmp_path / name for name in ("one.parquet", "two.parquet")]
    for salt, path in zip("ab", files, strict=True):
        pq.write_table(by_hand(query, salt=salt), path)
    with pytest.raises(DataError, match="of several queries, whose bounds for each who would add"):
        dpviz.load(tmp_path, BOX, **read)
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
def test_rows_that_no_query_gives_are_refused(tmp_path, cell, n, message):
    pq.write_table(pa.table({"cell": cell, "n": n}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=message) as caught:
        dpviz.load(tmp_path / "rows.parquet", BOX)
    assert "secret" not in str(caught.value)


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
    with pytest.raises(ParameterError, match="dialect 'x' is not known"):
        dpviz.cell_sql("points", CASE.domain, dialect="x")
