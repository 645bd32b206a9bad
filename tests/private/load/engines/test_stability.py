"""One unit more or less in a table of a server moves the index by at most K, and no message."""

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given

import dpviz
from dpviz.domain.calendar import moment
from dpviz.private.load.selection import GRID_BITS
from tests.private.load.engines.servers import connected, create
from tests.private.load.stability import (
    BOX,
    CELLS,
    IDS,
    TIMES,
    YEAR,
    bounds,
    check,
    distance,
    layers_apart,
    of_unit,
    often,
    rows,
    typed,
    units,
    without,
)
from tests.vault import index_of, layers_of

pytestmark = pytest.mark.usefixtures("one_salt")


@pytest.mark.slow
def test_one_unit_more_moves_postgres_counts_by_at_most_its_bound(postgres):
    @often(6)
    @given(rows, units, bounds)
    @example([("1", "0.5", "0.5"), ("zed", "nan", "0.5")], "zed", 1)
    def run(records, unit, most):
        for name, each in (("here", records), ("there", without(records, unit))):
            table = typed(each)
            with connected(postgres) as db:
                db.execute(f"CREATE SCHEMA IF NOT EXISTS {name}".encode())
                columns = "who text, x double precision, y double precision"
                rows = zip(*table.to_pydict().values(), strict=True)
                create(db, f"{name}.visits", columns, rows)
        how, most = of_unit(unit, most)
        check(
            lambda name: dpviz.load(postgres, BOX, table=f"{name}.visits", **how),
            ("here", "there"),
            most,
        )

    run()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_ids_that_a_column_takes_for_the_same_are_those_of_two_units(engine, request, tmp_path):
    """Each keeps its own records: otherwise one more unit could remove those of the other."""
    if engine == "postgres":
        url = request.getfixturevalue("postgres")
        with connected(url) as db:
            db.execute(
                b"CREATE COLLATION IF NOT EXISTS anyhow "
                b"(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
            )
            for name, ids in ALIKE.items():
                create(db, name, "x float8, y float8, who text COLLATE anyhow", rows_of(ids))
    else:
        url = f"duckdb:///{tmp_path / 'a.duckdb'}"
        with duckdb.connect(str(tmp_path / "a.duckdb")) as db:
            for name, ids in ALIKE.items():
                db.execute(f"CREATE TABLE {name} (x DOUBLE, y DOUBLE, who VARCHAR COLLATE NOCASE)")
                db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows_of(ids))
    kinds = dpviz.Domain.from_bounds(BOX.bounds, BOX.columns, kind="who", kinds=("ann", "other"))
    for domain, totals in ((BOX, (2, 1)), (kinds, (2, 1))):
        here, there = (
            layers_of(dpviz.load(url, domain, table=name, unit="who")) for name in ("two", "one")
        )
        assert tuple(sum(index.total for index in each.counts) for each in (here, there)) == totals
        assert layers_apart(here.counts, there.counts) == 1
    assert [index.total for index in here.counts] == [1, 1]  # also by kind


ALIKE = {"two": ("ann", "Ann"), "one": ("ann",)}


def rows_of(ids):
    """Twenty records of each."""
    return [(n / 40, 0.5, each) for each in ids for n in range(20)]


@pytest.mark.parametrize(
    ("kind", "least"), [("int2", -(2**15)), ("int4", -(2**31)), ("int8", -(2**63))]
)
def test_the_least_whole_number_of_postgres_refuses_no_other_record(postgres, kind, least):
    """The smallest integer has no absolute value of its type."""
    with connected(postgres) as db:
        rows = [(0, 1), (least, 1), (1, least)]
        create(db, "whole", f"x {kind}, y {kind}", rows)
    domain = dpviz.Domain((-2, -2), (2, 2), ("x", "y"))
    assert index_of(dpviz.load(postgres, domain, table="whole")).total == 1


MESSY = [
    *((who, "0.5", "0.5") for who in IDS for _ in range(2)),
    *(("zed", x, y) for x, y in zip(CELLS, reversed(CELLS), strict=True)),
]
"""Ids that are easily taken for each other, or none, and every kind of coordinate."""


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "most"), [("zed", 3), (None, 1)])
def test_one_unit_more_moves_spark_counts_by_at_most_its_bound(spark_session, tmp_path, unit, most):
    """A chosen table in place of drawn ones: a query takes Spark a second or more."""
    for name, each in (("here", MESSY), ("there", without(MESSY, unit))):
        pq.write_table(typed(each), tmp_path / f"{name}.parquet")
        spark_session.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView(name)
    how, most = of_unit(unit, most)
    check(
        lambda name: dpviz.load("spark://local", BOX, table=name, name="visits", **how),
        ("here", "there"),
        most,
    )


def in_tokyo(postgres, kind, values):
    """The URL of a session there, once the table ``times`` has these and what is no time."""
    times = [*values, "infinity", "-infinity", None]
    with connected(postgres) as db:
        db.execute(b"SET TimeZone = 'UTC'")
        create(db, "times", f"who {kind}, x float8, y float8", [(each, 0.5, 0.5) for each in times])
    return f"{postgres}{'&' if '?' in postgres else '?'}options=-c%20TimeZone%3DAsia/Tokyo"


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz", "date", "double precision"])
def test_times_of_postgres_are_those_of_a_file(postgres, kind):
    """Half open and in UTC whatever the session's zone; infinity and NULL are outside."""
    given = [each for each in TIMES[:4] if kind != "date" or "T" not in each]
    inside = sum(YEAR.period[0] <= moment(each) < YEAR.period[1] for each in given)
    values = [moment(each) if kind == "double precision" else each for each in given]
    url = in_tokyo(postgres, kind, values)
    index = index_of(dpviz.load(url, YEAR, table="times"))
    assert index.total == inside > 0
    points = [[0.5, 0.5, moment(each)] for each in given]
    wanted = index_of(dpviz.from_points(points, YEAR)).coarsened(GRID_BITS[3])
    assert distance(index, wanted) == 0


@pytest.mark.slow
def test_ids_in_names_of_folders_stay_different_in_spark(spark_session, tmp_path):
    """01 and 1 are two units, whatever other folders are called."""
    for name, ids in (("here", ("01", "1")), ("there", ("01", "1", "zed"))):
        for who in ids:
            folder = tmp_path / name / f"who={who}"
            folder.mkdir(parents=True)
            pq.write_table(typed([("", f"{n / 8}", "0.5") for n in range(8)]).drop("who"),
                           folder / "a.parquet")  # fmt: skip
    usual = spark_session.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled")
    here, there = (
        index_of(dpviz.load("spark://local", BOX, table=f'parquet."{tmp_path / name}"', unit="who"))
        for name in ("here", "there")
    )
    assert (here.total, there.total, distance(here, there)) == (2, 3, 1)
    assert (
        usual
        == "true"
        == spark_session.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled")
    )
