"""The query's text: public facts in, one statement in any dialect out."""

import hashlib
import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dpviz import Domain
from dpviz.errors import DataError, DpvizError, ParameterError
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.dialects import (
    DECLARED_NUMBERS,
    NO_HASH,
    NULL_CASTS,
    SHA_256,
    as_column,
    as_number,
    checked_dialect,
    dialects,
    parts_of,
    table,
)

BOX = Domain((0.1, 0.2), (0.7, 0.9))


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("dialect", dialects())
def test_every_dialect_gets_one_statement_without_decimal_constants(dialect, unit):
    if unit is not None and dialect in NO_HASH:
        with pytest.raises(ParameterError, match=f"{dialect} has no MD5.*leave out the unit"):
            checked_dialect(dialect, bounded=True)
        return
    query = CellQuery(BOX, ("lon", "lat"), 16, unit, 1 if unit is None else 3)
    text = query.sql(table("s.t"), dialect, "pepper")
    [tree] = sqlglot.parse(text, read=dialect)
    assert isinstance(tree, exp.Select)
    assert "'0.1'" in text
    literals = {each.this for each in tree.find_all(exp.Literal) if not each.is_string}
    of_ids = set() if unit is None else {"2", "4", "63", "64", "256"}
    assert literals <= {"65535", "65536", "3", "1", "0", "12", *of_ids}
    assert {each.name for each in tree.find_all(exp.Table)} >= {"t"}
    assert ("pepper" in text) == (unit is not None)


def test_the_same_query_has_the_same_rows_in_every_dialect_that_duckdb_reads_back():
    """A dialect's text, read back by sqlglot and run in DuckDB, finds the same cells."""
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t AS SELECT random() lon, random() lat FROM range(5000)")
        query = CellQuery(BOX, ("lon", "lat"), 5)
        rows = sorted(db.execute(query.sql(table("t"), "duckdb")).fetchall())
        assert sum(n for _, n in rows) > 1000
        for dialect in ("spark", "bigquery", "snowflake", "databricks", "trino"):
            text = sqlglot.transpile(query.sql(table("t"), dialect), read=dialect, write="duckdb")
            assert sorted(db.execute(text[0]).fetchall()) == rows, dialect


ONE_MD5 = "TEXTCOLLBYfGiJUETHQ4hAcKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"
"""With E in place of the A of hAcK it has the same MD5: anyone may choose such ids."""
NOT_RUN = ("clickhouse", "fabric", "materialize", "redshift", "risingwave", "tsql")
"""Dialects with functions or types of their own, which DuckDB does not read back."""


@pytest.mark.parametrize("dialect", sorted({*SHA_256} - {*NOT_RUN}))
def test_two_ids_are_one_unit_in_no_warehouse(dialect):
    """A column that takes Ann and ann for one made one unit of two: one more moved 2 K counts."""
    ids = ("Ann", "ann", "ann ", ONE_MD5, ONE_MD5.replace("hAcK", "hEcK"))
    assert len({hashlib.md5(each.encode()).digest() for each in ids}) == len(ids) - 1
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t (lon DOUBLE, lat DOUBLE, who VARCHAR COLLATE NOCASE)")
        for who in ids:
            db.execute("INSERT INTO t SELECT 0.2, 0.3, ? FROM range(3)", [who])
        query = CellQuery(BOX, ("lon", "lat"), 5, "who", 2)
        text = sqlglot.transpile(query.sql(table("t"), dialect), read=dialect, write="duckdb")
        assert sum(n for _, n in db.execute(text[0]).fetchall()) == 2 * len(ids)


@pytest.mark.parametrize("dialect", NOT_RUN)
def test_a_unit_is_its_whole_sha_256(dialect):
    """SQL Server's plain cast ends after 30 letters, and its usual rules make Ann one with ann."""
    text = CellQuery(BOX, ("lon", "lat"), 5, "who", 1).sql(table("t"), dialect)
    [unit] = [line for line in text.splitlines() if line.endswith("AS unit_value,")][:1]
    assert re.search(r"(?i)sha(2\(.*, 256\)|256|2_256)", unit)
    assert "md5" not in unit.lower()
    if dialect in ("fabric", "tsql"):
        assert "VARCHAR(MAX)" in unit
        assert "AS VARCHAR) <> ''" not in text


def test_the_page_names_the_dialects_whose_columns_must_be_declared():
    page = (Path(__file__).parents[4] / "assets" / "sources.md").read_text("utf-8")
    numbers, _, units = page.partition("**What is no number**")[2].partition("**A unit's id**")
    units = units.partition("few digits.")[2].partition("\n\n")[0]
    for dialect in dialects():
        for text, known in ((numbers, DECLARED_NUMBERS), (units, NO_HASH)):
            named = re.search(rf"(?i)\b{dialect}(ql)?\b", text) is not None
            assert named == (dialect in known), dialect


@pytest.mark.parametrize("dialect", dialects())
def test_a_cast_of_a_coordinate_cannot_fail(dialect):
    """sqlglot writes a plain cast where it knows no other: in SQLite, texts lay at 0, 0."""
    written = as_number(as_column("lon"), dialect).sql(dialect=dialect)
    safe = re.search(r"(TRY_?|SAFE_)CAST\(|TYPEOF\(|toFloat64OrNull\(", written) is not None
    assert safe == (dialect not in (*DECLARED_NUMBERS, *NULL_CASTS))


def test_a_text_in_sqlite_is_no_coordinate():
    """It gives a column no type: each cell has its own."""
    query = CellQuery(Domain((-1.0, -1.0), (1.0, 1.0)), ("lon", "lat"), 1)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (lon, lat)")
        cells = (0.5, 0, "0.5", "here", "", None, b"0.5", math.inf, 2)
        db.executemany("INSERT INTO t VALUES (?, 0.5)", [(cell,) for cell in cells])
        assert db.execute(query.sql(table("t"), "sqlite")).fetchall() == [(3, 2)]


def test_the_count_column_carries_a_check_of_the_public_facts():
    names = {
        CellQuery(BOX, ("a", "b"), 16).count_column,
        CellQuery(BOX, ("a", "b"), 15).count_column,
        CellQuery(BOX, ("a", "b"), 16, "who", 1).count_column,
        CellQuery(BOX, ("a", "b"), 16, "who", 2).count_column,
        CellQuery(BOX, ("a", "b"), 16, "other", 2).count_column,
        CellQuery(Domain((0.1, 0.2), (0.7, 0.8)), ("a", "b"), 16).count_column,
        CellQuery(Domain((0.1, 0.2), (0.7, 0.9), crs="EPSG:3857"), ("a", "b"), 16).count_column,
    }
    assert len(names) == 7
    same = CellQuery(Domain((0.1, 0.2), (0.7, 0.9), ("p", "q")), ("geom",), 16).count_column
    assert same == CellQuery(BOX, ("a", "b"), 16).count_column


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("t", ["t"]),
        ("s.t", ["s", "t"]),
        ("c.s.t", ["c", "s", "t"]),
        ('"a.b"."c""d"', ["a.b", 'c"d']),
        ("t; DROP TABLE x --", ["t; DROP TABLE x --"]),
        ("(SELECT 1)", ["(SELECT 1)"]),
    ],
)
def test_every_part_of_a_table_name_is_quoted(name, names):
    assert parts_of(name) == names
    for dialect in dialects():
        text = exp.select("*").from_(table(name)).sql(dialect=dialect)
        [tree] = sqlglot.parse(text, read=dialect)
        [parsed] = tree.find_all(exp.Table)
        assert ".".join(each.name for each in parsed.parts) == ".".join(names), dialect
        assert all(each.args["quoted"] for each in parsed.parts), dialect


@pytest.mark.parametrize("name", ["", ".", "a..b", "a.b.c.d", '"a', 'a"b', ".a", "a."])
def test_names_that_are_no_table(name):
    with pytest.raises(DataError, match=r"give table, schema\.table"):
        table(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("a", "b", "c"), 16), "3 columns for 2 dimensions"),
        ((("a", "b"), 0), "bits=0: give 1 to 26"),
        ((("a", "b"), 27), "bits=27: give 1 to 26"),
        ((("a", "b"), 16, "who", 0), "at most 0 records per unit"),
    ],
)
def test_bad_requests(arguments, message):
    with pytest.raises(DpvizError, match=message):
        CellQuery(BOX, *arguments)


def test_dialects_by_name():
    assert checked_dialect(" PostgreSQL ") == "postgres"
    with pytest.raises(ParameterError, match=r"'cobol' is not known: give one of .*bigquery"):
        checked_dialect("cobol")
    with pytest.raises(ParameterError, match="oracle has no MD5"):
        checked_dialect("oracle", bounded=True)
