"""The query's text: public facts in, one statement in any dialect out."""

import pytest
import sqlglot
from sqlglot import exp

from dpviz import Domain
from dpviz.errors import DataError, ParameterError
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.dialects import DIALECTS, checked_dialect, parts_of, table

BOX = Domain((0.1, 0.2), (0.7, 0.9))


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gets_one_statement_without_decimal_constants(dialect, unit):
    query = CellQuery(BOX, ("lon", "lat"), 16, unit, 1 if unit is None else 3)
    text = query.sql(table("s.t"), dialect, "pepper")
    [tree] = sqlglot.parse(text, read=dialect)
    assert isinstance(tree, exp.Select)
    assert "'0.1'" in text
    literals = {each.this for each in tree.find_all(exp.Literal) if not each.is_string}
    assert literals <= {"65535", "65536", "3", "1", "0", "12", "63", "256"}
    assert {each.name for each in tree.find_all(exp.Table)} >= {"t"}
    assert ("pepper" in text) == (unit is not None)


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
    for dialect in DIALECTS:
        text = exp.select("*").from_(table(name)).sql(dialect=dialect)
        [tree] = sqlglot.parse(text, read=dialect)
        [parsed] = tree.find_all(exp.Table)
        assert ".".join(each.name for each in parsed.parts) == ".".join(names), dialect
        assert all(each.args["quoted"] for each in parsed.parts), dialect


@pytest.mark.parametrize("name", ["", ".", "a..b", "a.b.c.d", '"a', 'a"b', ".a", "a."])
def test_a_name_that_is_no_table_is_refused(name):
    with pytest.raises(DataError, match=r"give table, schema\.table"):
        table(name)


def test_a_cycle_is_refused_before_a_query_is_sent():
    weeks = Domain.from_bounds([0, 0, 1, 1], time="t", cycle="week")
    query = CellQuery(weeks, ("a", "b"), 4, clock="instant")
    for write in (query.sql, query.records_sql):
        with pytest.raises(DataError, match=r"^cycle='week'.*: export the rows to one file"):
            write(table("t"), "duckdb")


def test_dialects_are_found_by_any_of_their_names():
    assert checked_dialect(" PostgreSQL ") == "postgres"
    with pytest.raises(ParameterError, match=r"'bigquery' is not known: .* dpviz.cell_counts"):
        checked_dialect("bigquery")
