"""The engines, each with the same tables in it."""

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from tests.private.load.engines import servers
from tests.private.load.engines.cases import CASES


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder of Parquet per case: two files, one of them in a folder below."""
    root = tmp_path_factory.mktemp("parquet")
    for name, case in CASES.items():
        (root / name / "day=2").mkdir(parents=True)
        half = case.table.num_rows // 2
        pq.write_table(case.table.slice(0, half), root / name / "a.parquet")
        pq.write_table(case.table.slice(half), root / name / "day=2" / "b.parquet")
    return root


@pytest.fixture(scope="session")
def duckdb_file(folders):
    path = folders / "cases.duckdb"
    with duckdb.connect(str(path)) as db:
        for name in CASES:
            db.execute(f"CREATE TABLE {name} AS FROM read_parquet('{folders / name}/**/*.parquet')")
    return path


@pytest.fixture(scope="session")
def postgres_server():
    programs = servers.installed_postgres()
    if programs is None:
        pytest.skip(servers.NO_POSTGRES)
    yield from servers.serve_postgres(programs)


@pytest.fixture(scope="session")
def postgres(postgres_server):
    """The URL of a database with every case, in 2-D also as a table of points."""
    with servers.connected(postgres_server.url) as db:
        db.execute("CREATE EXTENSION postgis")
        for name, case in CASES.items():
            quoted = {column: '"' + column.replace('"', '""') + '"' for column in case.types}
            typed = ", ".join(f"{quoted[column]} {kind}" for column, kind in case.types.items())
            servers.create(db, name, typed, zip(*case.table.to_pydict().values(), strict=True))
            if case.domain.dims == 2:
                x, y = (quoted[column] for column in case.domain.columns)
                db.execute(
                    f"CREATE TABLE {name}_points AS SELECT who, "
                    f"ST_SetSRID(ST_MakePoint({x}, {y}), 4326)::geometry(Point, 4326) AS geom "
                    f"FROM {name}".encode()
                )
    return postgres_server.url


@pytest.fixture(scope="session")
def java():
    """Only for tests that ask for it, or have a parameter spark: they come together."""
    if not servers.has_java():
        pytest.skip(servers.NO_JAVA)


@pytest.fixture(scope="session")
def without_session(java, folders, tmp_path_factory):
    """Output and files of a command that reads by Spark without a session; and its folder.

    It comes before the session of these tests, which goes on in the same Java: to start one takes
    longer than most of what these tests ask of it.
    """
    folder, case = tmp_path_factory.mktemp("alone"), CASES["plane0"]
    box = ",".join(map(repr, case.domain.bounds))
    table = f'parquet."{folders / "plane0" / "day=2"}"'
    words = ["spark://local", "--table", table, f"--bounds={box}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run("build", *words, "--public", "--seed", "1", "-o", folder / "r.parquet")
    return folder, *done, servers.spark_runs()


@pytest.fixture(scope="session")
def spark_session(without_session, tmp_path_factory):
    yield from servers.serve_spark(tmp_path_factory.mktemp("warehouse"))


@pytest.fixture(scope="session", params=["folder", "duckdb", "postgres", "postgis", "spark"])
def source(request):
    """A function from a case's name to the source and the table for ``dpviz.load``."""
    kind = request.param
    if kind == "folder":
        folders = request.getfixturevalue("folders")
        return lambda name: (folders / name, None)
    if kind == "duckdb":
        url = f"duckdb:///{request.getfixturevalue('duckdb_file')}"
        return lambda name: (url, f"main.{name}")
    if kind == "spark":
        session, folders = map(request.getfixturevalue, ("spark_session", "folders"))

        def of_spark(name):
            files = [str(path) for path in sorted((folders / name).rglob("*.parquet"))]
            session.read.parquet(*files).createOrReplaceTempView(name)
            return "spark://local", name

        return of_spark
    url = request.getfixturevalue("postgres")

    def of_postgres(name):
        points = kind == "postgis" and CASES[name].domain.dims == 2
        return url, f"public.{name}{'_points' if points else ''}"

    return of_postgres
