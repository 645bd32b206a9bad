"""One unit more or less in a table of a server moves the index by at most K, and no message."""

from datetime import UTC, datetime

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given

import dpviz
from dpviz.domain.calendar import moment
from dpviz.private.load.selection import GRID_BITS
from tests.private.load.stability import (
    BOX,
    CELLS,
    EDGES,
    IDS,
    TIMES,
    WEEK,
    YEAR,
    bounds,
    check,
    distance,
    of_unit,
    often,
    rows,
    typed,
    units,
    without,
)

pytestmark = pytest.mark.usefixtures("one_salt")


def test_postgres(postgres):
    import psycopg

    @often(6)
    @given(rows, units, bounds)
    @example([("1", "0.5", "0.5"), ("zed", "nan", "0.5")], "zed", 1)
    def run(records, unit, most):
        for name, each in (("here", records), ("there", without(records, unit))):
            table = typed(each)
            with psycopg.connect(postgres) as db:
                db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())
                db.execute(f"CREATE SCHEMA {name}".encode())
                columns = "who text, x double precision, y double precision"
                db.execute(f"CREATE TABLE {name}.visits ({columns})".encode())
                with db.cursor().copy(f"COPY {name}.visits FROM STDIN") as copy:
                    for row in zip(*table.to_pydict().values(), strict=True):
                        copy.write_row(row)
        how, most = of_unit(unit, most)
        check(
            lambda name: dpviz.load(postgres, BOX, table=f"{name}.visits", **how),
            ("here", "there"),
            most,
        )

    run()


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_ids_that_a_column_takes_for_the_same_are_those_of_two_units(engine, request, tmp_path):
    """Each keeps its own records: else one unit more would take away the other's, too."""
    if engine == "postgres":
        url = request.getfixturevalue("postgres")
        with psycopg_of(url) as db:
            db.execute(
                b"CREATE COLLATION IF NOT EXISTS anyhow "
                b"(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
            )
            for name, ids in ALIKE.items():
                db.execute(f"DROP TABLE IF EXISTS {name}".encode())
                columns = "x float8, y float8, who text COLLATE anyhow"
                db.execute(f"CREATE TABLE {name} ({columns})".encode())
                db.execute(f"INSERT INTO {name} {rows_of(ids)}".encode())
    else:
        url = f"duckdb:///{tmp_path / 'a.duckdb'}"
        with duckdb.connect(str(tmp_path / "a.duckdb")) as db:
            for name, ids in ALIKE.items():
                db.execute(f"CREATE TABLE {name} (x DOUBLE, y DOUBLE, who VARCHAR COLLATE NOCASE)")
                db.execute(f"INSERT INTO {name} {rows_of(ids)}")
    kinds = dpviz.Domain.from_bounds(BOX.bounds, BOX.columns, kind="who", kinds=("ann", "other"))
    for domain, totals in ((BOX, (2, 1)), (kinds, (2, 1))):
        here, there = (
            dpviz.load(url, domain, table=name, unit="who")._layers for name in ("two", "one")
        )
        assert tuple(sum(index.total for index in each.counts) for each in (here, there)) == totals
        assert sum(map(distance, here.counts, there.counts)) == 1
    assert [index.total for index in here.counts] == [1, 1]  # so are kinds


ALIKE = {"two": ("ann", "Ann"), "one": ("ann",)}


def rows_of(ids):
    """Twenty records of each, as SQL."""
    values = (f"({n / 40}, 0.5, '{each}')" for each in ids for n in range(20))
    return f"VALUES {', '.join(values)}"


@pytest.mark.parametrize(
    ("kind", "least"), [("int2", -(2**15)), ("int4", -(2**31)), ("int8", -(2**63))]
)
def test_the_least_whole_number_of_postgres_refuses_no_other_record(postgres, kind, least):
    """It has no absolute value of its type."""
    with psycopg_of(postgres) as db:
        db.execute(b"DROP TABLE IF EXISTS whole")
        db.execute(f"CREATE TABLE whole (x {kind}, y {kind}, v {kind})".encode())
        db.execute(f"INSERT INTO whole VALUES (0, 1, 1), ({least}, 1, 1), (0, 1, {least})".encode())
    domain = dpviz.Domain.from_bounds((-2, -2, 2, 2), ("x", "y"), value="v", clip=(-3, 3))
    layers = dpviz.load(postgres, domain, table="whole")._layers
    assert layers.counts[0].total == 2
    assert layers.sums[0].total * domain.values.grid == pytest.approx(-2)


def psycopg_of(url):
    import psycopg

    return psycopg.connect(url)


MESSY = [
    *((who, "0.5", "0.5") for who in IDS for _ in range(2)),
    *(("zed", x, y) for x, y in zip(CELLS, reversed(CELLS), strict=True)),
]
"""Ids that are easily taken for each other, or none, and every kind of coordinate."""


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "most"), [("zed", 3), (None, 1)])
def test_spark(spark_session, tmp_path, unit, most):
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


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz"])
def test_clocks_of_a_zone_in_postgres_are_those_of_a_file(postgres, kind):
    """At the edges of summer too, whatever the session's zone; each on its place in the week."""
    import psycopg

    seconds = [moment(each, WEEK.zone) for each in EDGES]
    stated = [datetime.fromtimestamp(each, UTC) for each in seconds]
    with psycopg.connect(postgres) as db:
        db.execute(b"DROP TABLE IF EXISTS times")
        db.execute(f"CREATE TABLE times (who {kind}, x float8, y float8)".encode())
        for value in [*(EDGES if kind == "timestamp" else stated), "infinity", None]:
            db.execute(b"INSERT INTO times VALUES (%s, 0.5, 0.5)", [value])
    url = f"{postgres}{'&' if '?' in postgres else '?'}options=-c%20TimeZone%3DAsia/Tokyo"
    index = dpviz.load(url, WEEK, table="times")._index
    wanted = dpviz.from_points([[0.5, 0.5, each] for each in seconds], WEEK)._index
    assert index.total == len(EDGES) - 1
    assert distance(index, wanted.coarsened(GRID_BITS[3])) == 0


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz", "date", "double precision"])
def test_times_of_postgres_are_those_of_a_file(postgres, kind):
    """Half open and in UTC whatever the session's zone; infinity and NULL are outside."""
    import psycopg

    given = [each for each in TIMES[:4] if kind != "date" or "T" not in each]
    inside = sum(YEAR.period[0] <= moment(each) < YEAR.period[1] for each in given)
    values = [moment(each) if kind == "double precision" else each for each in given]
    with psycopg.connect(postgres) as db:
        db.execute(b"SET TimeZone = 'UTC'")
        db.execute(b"DROP TABLE IF EXISTS times")
        db.execute(f"CREATE TABLE times (who {kind}, x float8, y float8)".encode())
        for value in [*values, "infinity", "-infinity", None]:
            db.execute(b"INSERT INTO times VALUES (%s, 0.5, 0.5)", [value])
    url = f"{postgres}{'&' if '?' in postgres else '?'}options=-c%20TimeZone%3DAsia/Tokyo"
    index = dpviz.load(url, YEAR, table="times")._index
    assert index.total == inside > 0
    points = [[0.5, 0.5, moment(each)] for each in given]
    wanted = dpviz.from_points(points, YEAR)._index.coarsened(GRID_BITS[3])
    assert distance(index, wanted) == 0


@pytest.mark.slow
def test_ids_that_spark_finds_in_names_of_folders(spark_session, tmp_path):
    """01 and 1 are two units, whatever other folders are called."""
    for name, ids in (("here", ("01", "1")), ("there", ("01", "1", "zed"))):
        for who in ids:
            folder = tmp_path / name / f"who={who}"
            folder.mkdir(parents=True)
            pq.write_table(typed([("", f"{n / 8}", "0.5") for n in range(8)]).drop("who"),
                           folder / "a.parquet")  # fmt: skip
    usual = spark_session.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled")
    here, there = (
        dpviz.load("spark://local", BOX, table=str(tmp_path / name), unit="who")._index
        for name in ("here", "there")
    )
    assert (here.total, there.total, distance(here, there)) == (2, 3, 1)
    assert (
        usual
        == "true"
        == spark_session.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled")
    )
