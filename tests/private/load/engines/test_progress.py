"""A running query tells how far it is, and is cancelled in its engine."""

import time

import duckdb
import pytest

import dpviz
from dpviz.errors import DataError
from dpviz.files import limits
from dpviz.files.sandbox import run_in_sandbox
from dpviz.private.load import dialects
from dpviz.private.load.engines import duck
from dpviz.private.load.engines.duck import Duck
from tests.private.load.engines.servers import connected

BOX = dpviz.Domain((0, 0), (1, 1))
SLOW = "SELECT random() AS lon, random() AS lat, 1 AS who FROM "

PATIENCE = 300
"""Seconds that a busy machine may take to end what would take hours."""


class StopPressedError(Exception):
    """Raised by a progress report, as the app does when a visitor presses stop."""


def endless_view(path):
    """The URL of a new file of DuckDB with a view `slow`, which takes hours."""
    with duckdb.connect(str(path)) as db:
        db.execute(f"CREATE VIEW slow AS {SLOW} range(1000000000000)")
    return f"duckdb:///{path}"


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def slow(request, tmp_path_factory):
    """The URL of an engine with a view `slow` that takes hours; how many queries still run."""
    if request.param == "duckdb":
        path = tmp_path_factory.mktemp("slow") / "slow.duckdb"
        # This reader refuses views, and a table ends too soon.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Duck, "relation", lambda self, name: dialects.table(name))
            yield endless_view(path), lambda: 0
        return
    if request.param == "spark":
        session = request.getfixturevalue("spark_session")
        session.sql(f"{SLOW} range(1000000000000)").createOrReplaceTempView("slow")
        yield "spark://local", lambda: len(session.sparkContext.statusTracker().getActiveJobsIds())
        return
    url = request.getfixturevalue("postgres")
    view = f"CREATE OR REPLACE VIEW slow AS {SLOW} pg_proc a, pg_proc b, pg_proc c"
    with connected(url) as db:
        db.execute(view.encode())

    def running():
        with connected(url) as db:
            asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dpviz'"
            return db.execute(asked).fetchone()[0]

    yield url, running


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "who"])
def test_a_query_is_cancelled_where_it_runs(slow, unit):
    url, running = slow
    reports = []

    def stop(fraction, what):
        reports.append((fraction, what))
        if running() > 0 or (url.startswith("duckdb") and len(reports) == 5):
            raise StopPressedError

    started = time.monotonic()
    with pytest.raises(StopPressedError):
        dpviz.load(url, BOX, table="slow", bits=4, unit=unit, progress=stop)
    assert time.monotonic() - started < PATIENCE
    assert all(0 <= fraction <= 1 for fraction, _ in reports)
    title = {"duckdb": "DuckDB", "postgresql": "PostgreSQL", "spark": "Spark"}
    assert reports[-1][1] == f"counting in {title[url.partition(':')[0]]}"
    deadline = time.monotonic() + PATIENCE
    while running() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running() == 0


@pytest.fixture
def endless(tmp_path, monkeypatch):
    """The URL of a DuckDB file whose views take hours."""
    monkeypatch.setattr(Duck, "relation", lambda self, name: dialects.table(name))
    monkeypatch.setattr(limits, "ENGINE_SECONDS", limits.ENGINE_SECONDS._replace(most=0))
    return endless_view(tmp_path / "endless.duckdb")


@pytest.mark.slow
def test_a_query_that_never_ends_is_one_clear_line(endless):
    with pytest.raises(DataError, match=r"did not end within the time .*: give Par") as error:
        dpviz.load(endless, BOX, table="slow", bits=4)
    assert "\n" not in str(error.value)


def test_a_database_file_at_which_its_child_dies_is_one_clear_line(endless, monkeypatch):
    task = "tests.files.test_sandbox:crashing"
    monkeypatch.setattr(
        duck, "run_in_sandbox", lambda *_, where, **__: run_in_sandbox(task, where=where)
    )
    with pytest.raises(DataError, match=r"^endless\.duckdb cannot be read within"):
        dpviz.load(endless, BOX, table="slow", bits=4)


def test_progress_reaches_its_end_and_never_turns_back(source):
    place, table = source("plane0")
    fractions = []
    dpviz.load(
        place,
        BOX,
        table=table,
        columns=None if table and table.endswith("_points") else ["lon", "lat"],
        unit="who",
        progress=lambda fraction, what: fractions.append(fraction),
    )
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
