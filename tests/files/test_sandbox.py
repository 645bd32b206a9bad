"""Malicious files end their child process, and leave one line of error."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from dpviz.errors import DataError, DomainError
from dpviz.files import limits, sandbox
from tests.vault import index_of

pytestmark = pytest.mark.skipif(not sandbox.CAN_FORK, reason="needs fork: see the module")


def made(rows):
    return pa.table({"value": np.arange(rows)})


def length_of(text):
    return made(len(text))


def modules():
    return pa.table({"name": sorted(sys.modules)})


def refused():
    raise DomainError("this is the line")


def hungry():
    return pa.table({"value": np.ones(limits.CHILD_MEMORY.most // 4)})


def endless():
    while True:
        pass


def sleeping():
    time.sleep(10_000)


def crashing():
    os.kill(os.getpid(), signal.SIGSEGV)


def wrong():
    return {}["SECRET"]


def filling():
    with open("/tmp/dpviz-filling", "wb") as file:  # noqa: PTH123
        os.unlink("/tmp/dpviz-filling")  # noqa: PTH108
        file.seek(1 << 36)  # sparse, so that it fits the disk if nothing stops it
        file.write(b"1")
    return made(1)


def drivers():
    import pyogrio

    return pa.table({"name": sorted(pyogrio.list_drivers())})


def run(task, *arguments):
    return sandbox.run_in_sandbox(
        f"tests.files.test_sandbox:{task.__name__}", *arguments, where="a.file"
    )


def test_a_table_comes_back_whole():
    assert run(made, 100_000)["value"].to_numpy().sum() == 100_000 * 99_999 // 2
    assert run(made, 0).num_rows == 0


@pytest.mark.parametrize("length", [40_000, 1_000_000])
def test_a_long_order_arrives_whole(length):
    """A line may cut what is longer than one of the system's buffers, here or elsewhere."""
    assert run(length_of, "ä" * length).num_rows == length


def test_a_refusal_keeps_its_kind_and_words():
    with pytest.raises(DomainError, match=r"^this is the line$"):
        run(refused)


@pytest.mark.slow
@pytest.mark.parametrize("task", [hungry, crashing, wrong, filling])
def test_a_death_is_one_clear_line(task):
    with pytest.raises(DataError, match=r"^a\.file cannot be read within 8 seconds"):
        run(task)
    assert run(made, 1).num_rows == 1


@pytest.mark.parametrize("task", [endless, pytest.param(sleeping, marks=pytest.mark.slow)])
def test_time_is_limited(task, monkeypatch):
    monkeypatch.setattr(sandbox, "seconds", lambda size: 1)
    with pytest.raises(DataError, match="cannot be read within"):
        run(task)


@pytest.fixture
def fork_server(monkeypatch):
    """A new one, which has read nothing yet."""
    monkeypatch.setattr(sandbox, "_fork_server", sandbox._ForkServer())
    yield sandbox._fork_server
    sandbox._fork_server.stop()


@pytest.mark.slow
def test_no_module_of_the_current_folder_is_loaded(fork_server, tmp_path, monkeypatch):
    """The working folder may hold a stranger's modules; the fork server runs without limits."""
    for planted in ("numpy", "pyarrow", "json", "dpviz"):
        (tmp_path / f"{planted}.py").write_text(f"open('{planted} ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert run(made, 3).num_rows == 3
    assert list(tmp_path.glob("* ran")) == []


@pytest.mark.slow
def test_the_fork_server_holds_what_parses_and_nothing_that_releases(fork_server):
    fork_server.warm()
    names = run(modules)["name"].to_pylist()
    assert "dpviz.files.sandbox" in names
    assert [name for name in names if name.startswith(("dpviz.methods", "dpviz.build"))] == []


def test_a_child_has_no_driver_that_opens_other_files():
    """GDAL opens nothing else, whatever an earlier check has missed."""
    names = set(run(drivers)["name"].to_pylist())
    assert {"ESRI Shapefile", "GPKG", "PMTiles"} <= names
    assert not set(sandbox.SANDBOXED["GDAL_SKIP"].split(",")) & names
    assert "OGR_VRT" in sandbox.SANDBOXED["GDAL_SKIP"]


@pytest.mark.slow
def test_a_fork_server_that_was_killed_is_started_anew():
    run(made, 1)
    sandbox._fork_server._process.kill()
    sandbox._fork_server._process.wait(120)
    assert run(made, 2).num_rows == 2


@pytest.mark.slow
def test_the_fork_server_ends_with_its_parent():
    code = (
        "from dpviz.files import sandbox; sandbox.warm(); sandbox._fork_server._process.poll();"
        "print(sandbox._fork_server._process.pid, flush=True); import os; os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    fork_server = int(done.stdout)
    for _ in range(300):
        try:
            os.kill(fork_server, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the fork server outlived its parent by 30 s")


@pytest.mark.slow
def test_bytes_of_foreign_parquet_are_parsed_by_the_child_only(tmp_path, monkeypatch):
    """pyarrow aborts its process at some damaged footers: this one never looks."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    import dpviz
    from dpviz.releases.store import kind_in
    from tests.golden.make import MADE

    release = MADE["points"]()
    path, folder = release.save(tmp_path / "release.parquet"), tmp_path / "folder"
    folder.mkdir()
    pq.write_table(pa.table({"x": [0.5], "y": [0.5]}), folder / "a.parquet")

    opened = []

    def opened_here(*args, **options):
        opened.append(args)
        raise AssertionError("opened in this process")

    for name in ("ParquetFile", "read_schema", "read_metadata", "read_table"):
        monkeypatch.setattr(pq, name, opened_here)
    monkeypatch.setattr(ds, "dataset", opened_here)
    assert dpviz.read(path).header == release.header
    assert kind_in(path) == "points"
    box = dpviz.Domain((0, 0), (1, 1), ("x", "y"))
    for source in (folder, folder / "a.parquet"):
        assert index_of(dpviz.load(source, box)).total == 1
    assert opened == []


def test_a_release_at_which_its_child_dies_is_one_clear_line(tmp_path, monkeypatch):
    import dpviz
    from dpviz.errors import ReleaseError
    from dpviz.releases import files
    from dpviz.releases.store import kind_in

    path = tmp_path / "a.parquet"
    path.write_bytes(files.MAGIC)
    original = files.run_in_sandbox
    task = f"tests.files.test_sandbox:{crashing.__name__}"
    monkeypatch.setattr(
        files, "run_in_sandbox", lambda _, *__, where, **___: original(task, where=where)
    )
    with pytest.raises(
        ReleaseError, match=r"^a\.parquet: not a readable Parquet file, or damaged$"
    ):
        dpviz.read(path)
    assert kind_in(path) is None


@pytest.mark.slow
def test_stopping_ends_the_children_that_still_read():
    """As with Ctrl-C: what a task holds open is closed without waiting for the task."""
    fork_server = sandbox._ForkServer()
    ours, theirs = os.pipe()
    with sandbox._sink() as sink:
        order = [f"{__name__}:sleeping", (), (), 60, 1 << 34]
        fork_server._send(json.dumps(order).encode(), sink.fileno(), theirs)
    os.close(theirs)
    fork_server.stop()
    try:
        assert select.select([ours], [], [], 60)[0], "the child still holds its end"
        assert os.read(ours, 1) == b""
    finally:
        os.close(ours)
