"""The query's text: public facts in, one statement in any dialect out."""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dpviz import Domain
from dpviz.errors import DataError, DpvizError, ParameterError
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.dialects import checked_dialect, dialects, parts_of, table

BOX = Domain((0.1, 0.2), (0.7, 0.9))


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("dialect", dialects())
def test_every_dialect_gets_one_statement_without_decimal_constants(dialect, unit):
    query = CellQuery(BOX, ("lon", "lat"), 16, unit, 1 if unit is None else 3)
    text = query.sql(table("s.t"), dialect, "pepper")
    [tree] = sqlglot.parse(text, read=dialect)
    assert isinstance(tree, exp.Select)
    assert "'0.1'" in text
    literals = {each.this for each in tree.find_all(exp.Literal) if not each.is_string}
    of_long_ids = {"63", "256"} if dialect == "duckdb" else set()
    assert literals <= {"65535", "65536", "3", "1", "0", "12", *of_long_ids}
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


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "mysql", "trino", "databricks"])
def test_two_ids_are_one_unit_in_no_warehouse(dialect):
    """A column that takes Ann and ann for one made one unit of two: one more moved 2 K counts."""
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t (lon DOUBLE, lat DOUBLE, who VARCHAR COLLATE NOCASE)")
        db.execute("INSERT INTO t VALUES (0.2, 0.3, 'Ann'), (0.2, 0.3, 'Ann'), (0.6, 0.7, 'ann')")
        query = CellQuery(BOX, ("lon", "lat"), 5, "who", 1)
        text = sqlglot.transpile(query.sql(table("t"), dialect), read=dialect, write="duckdb")
        assert sum(n for _, n in db.execute(text[0]).fetchall()) == 2


def test_sql_server_keeps_long_ids_and_their_letters():
    """A plain cast ends after 30 letters there, and its usual rules make Ann one with ann."""
    text = CellQuery(BOX, ("lon", "lat"), 5, "who", 1).sql(table("t"), "tsql")
    assert "CAST(source.[who] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS unit_value" in text


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
