"""Kinds by every engine: those that a file of the same records gives."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.domain.attributes import Kinds
from dpviz.errors import DataError, ParameterError
from dpviz.private.areas import AreaData
from dpviz.releases.areas.table_steps import record_domain
from dpviz.roads.steps import Steps
from tests.commands import run
from tests.private.load.engines.servers import connected, create
from tests.private.load.stability import database, layers_apart
from tests.vault import counts_of, layers_of
from tests.wards import voronoi

BOX = dpviz.Domain.from_bounds(
    [0, 0, 1, 1],
    ("x", "y"),
    kind="mode",
    kinds=["bike", 'it\'s \\ "new"', "other"],
    value="stars",
    clip=(-2, 20),
    grid=0.3,
)
READ = {"columns": ("x", "y"), "bits": 4, "public": True}


def table(n=400):
    """Kinds listed, not listed and missing; floats that are no ids."""
    random = np.random.default_rng(0)
    modes = ["bike", "Bike", " bike", 'it\'s \\ "new"', "tram", "", None]
    stars = [1.0, 2.0, 2.5, 10.0, -3.0, 1.2e10, 4e15, float("nan"), None]
    sizes = [0.1, 1.0, 2.0**24, 1.2e10, float("nan"), None]
    columns = {
        "who": pa.array([f"u{each}" for each in random.integers(0, 90, n)]),
        "x": pa.array(random.uniform(-0.1, 1.1, n)),
        "y": pa.array(random.uniform(0, 1, n)),
        "mode": pa.array([modes[each] for each in random.integers(0, len(modes), n)]),
        "stars": pa.array([stars[each] for each in random.integers(0, len(stars), n)]),
        "at": pa.array(random.uniform(-86_400, 31 * 86_400, n)),
        "size": pa.array([sizes[each] for each in random.integers(0, len(sizes), n)], pa.float32()),
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attributes")
    pq.write_table(table(), folder / "rides.parquet")
    return folder


def of_duckdb(folder, request):
    return database(folder / "rides.duckdb", rides=folder / "rides.parquet"), "rides"


def of_postgres(folder, request):
    url = request.getfixturevalue("postgres")
    with connected(url) as db:
        columns = (
            "who text, x double precision, y double precision, mode text, stars float8, at float8, "
            "size float4"
        )
        create(db, "rides", columns, zip(*table().to_pydict().values(), strict=True))
    return url, "public.rides"


def of_spark(folder, request):
    session = request.getfixturevalue("spark_session")
    session.read.parquet(str(folder / "rides.parquet")).createOrReplaceTempView("rides")
    return "spark://local", "rides"


ENGINES = {"duckdb": of_duckdb, "postgres": of_postgres, "spark": of_spark}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)  # the names show which cases start Java
def test_every_engine_gives_the_layers_of_a_file(engine, records, request):
    url, name = ENGINES[engine](records, request)
    wanted = layers_of(dpviz.load(records / "rides.parquet", BOX, **READ))
    layers = layers_of(dpviz.load(url, BOX, table=name, **READ))
    assert all(index.total for index in wanted.counts)
    assert layers_apart(wanted.counts, layers.counts) == 0
    for one, other in zip(wanted.sums, layers.sums, strict=True):
        assert one.codes.tolist() == other.codes.tolist()
        assert one.weights.tolist() == other.weights.tolist()
    # The salt of public data is fixed, so that every engine keeps the same records of a unit.
    read = {**READ, "unit": "who", "max_per_unit": 1}
    by_folder = layers_of(dpviz.load(records, BOX, **read))
    bounded = layers_of(dpviz.load(url, BOX, table=name, **read))
    total = sum(index.total for index in bounded.counts)
    assert 0 < total <= 90
    assert layers_apart(by_folder.counts, bounded.counts) == 0
    sums = [[index.weights.tolist() for index in each.sums] for each in (by_folder, bounded)]
    assert sums[0] == sums[1]


def tables_of(*modes):
    """The domain of records that are counted by area, day and mode."""
    days = Steps.of("at", "1970-01-01,1970-01-31", "1d")
    box = dpviz.Domain((0, 0), (1, 1), ("x", "y"))
    return record_domain(box, days, Kinds("mode", modes))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_table_of_a_file(engine, records, request):
    """By area, day and category, on the lattice that decides in which area a record is."""
    url, name = ENGINES[engine](records, request)
    domain = tables_of("bike", "Bike", " bike", 'it\'s \\ "new"', "tram", "car", "other")
    read = {"columns": ("x", "y"), "bits": domain.bits, "public": True}
    areas = voronoi(domain.without_time.counts_only, 12, 3)
    wanted, counted = (
        counts_of(AreaData(dpviz.load(each, domain, table=part, **read), areas, "1d"))
        for each, part in ((records / "rides.parquet", None), (url, name))
    )
    assert wanted.sum() > 200
    assert counted.tolist() == wanted.tolist()
    with pytest.raises(ParameterError, match="too many for a domain with kinds"):
        dpviz.load(url, tables_of(*"abcdefgh"), table=name, **read)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("column", ["stars", "size"])
def test_floats_are_no_ids_and_no_kinds(engine, column, records, request):
    """Each engine writes them in its own way, and NaN too: refused by the type of the column."""
    url, name = ENGINES[engine](records, request)
    box = dpviz.Domain.from_bounds([0, 0, 1, 1], ("x", "y"), kind=column, kinds=("1", "2"))
    for domain, unit in ((box, None), (BOX, column)):
        with pytest.raises(DataError, match=f"column '{column}' of rides holds floats"):
            dpviz.load(url, domain, table=name, columns=("x", "y"), unit=unit)


def test_a_table_with_sums_from_duckdb_is_the_release_of_the_csv(records, tmp_path):
    """With the noise of one seed, by area, day, category and clipped value."""
    rides = table().drop_columns(["stars", "size", "at"])
    hours = pa.array(np.arange(len(rides)) * 3_600_000_000, pa.timestamp("us", "UTC"))
    rides = rides.append_column("at", hours)
    rides = rides.append_column("fare", pa.array(np.linspace(-3, 30, len(rides))))
    pq.write_table(rides, tmp_path / "rides.parquet")
    pv.write_csv(rides, tmp_path / "rides.csv")
    url = database(tmp_path / "rides.duckdb", rides=tmp_path / "rides.parquet")
    areas = ["--areas=rect=0,0,0.5,1;rect=0.5,0,1,1", "--bounds=0,0,1,1", "--columns=x,y"]
    areas += ["--public", "--seed=1"]
    frame = ["--time=at", "--every=1w", "--period=1970-01-01,1970-01-29", "--kind=mode"]
    frame += ["--kinds=bike,other", "--sum=fare", "--clip=0,20", "--unit=who", "--max-per-unit=40"]
    built = []
    for source in ([tmp_path / "rides.csv"], [url, "--table=rides"]):
        output = tmp_path / f"{len(built)}.parquet"
        code, _, errors = run("build", *source, *areas, *frame, "-o", output)
        assert code == 0, errors
        built.append(dpviz.read(output).table())
    assert built[0]["sum"].abs().sum() > 1000
    assert built[0].equals(built[1])
