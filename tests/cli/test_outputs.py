"""No command writes over what it reads, over records, or over the ledger."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import geopandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import dpviz
from dpviz.cli.outputs import locked
from dpviz.errors import ParameterError
from dpviz.files.writing import name_hash
from tests.commands import fails, refused, run

BOX = "--bounds=0,0,1,1"


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("ending", ["", ".seal"])
@pytest.mark.parametrize("named", [True, False])
def test_no_command_writes_over_the_ledger(folder, monkeypatch, there, ending, named):
    ledger = folder / "paid.parquet"
    if there:
        dpviz.Ledger(ledger).set_total("points", 1)
    if not named:
        monkeypatch.setenv("DPVIZ_LEDGER", str(ledger))
    if ending:
        (folder / "link.parquet").symlink_to(f"{ledger}.seal")
        ledger = folder / "link.parquet"
    words = ["build", "points.csv", BOX, "-o", ledger]
    words += ["--ledger", folder / "paid.parquet"] if named else []
    refused(folder, words, "its seal: name another file")
    if not named:
        words = ["sample", "r.parquet", "-o", ledger]
        refused(folder, words, "its seal: name another file")


@pytest.mark.slow
@pytest.mark.parametrize("evaluates", [True, False], ids=["evaluate", "build"])
def test_of_two_commands_that_write_one_file_at_once_the_second_is_refused(
    folder, monkeypatch, evaluates
):
    """Regression: each build paid and one release was left; each evaluation wrote every row."""
    module, name = dpviz, "load"
    words = ["build", "points.csv", BOX, "-o", "new.parquet"]
    if evaluates:
        module, name = importlib.import_module("dpviz.evaluation.experiments"), "run"
        words = ["evaluate", "points.csv", BOX, "--public", "--methods", "ugrid", "-o", "new.csv"]
        words += ["--epsilons", 1, "--sizes", "small", "--repeats", 1, "--queries", 9]
    work = getattr(module, name)

    def while_another_one_begins(*given, **how):
        monkeypatch.setattr(module, name, work)
        with pytest.raises(ParameterError, match="another command is writing it: wait"):
            run(*words)
        return work(*given, **how)

    monkeypatch.setattr(module, name, while_another_one_begins)
    assert run(*words)[0] == 0
    assert not [each for each in folder.iterdir() if each.name.startswith(".")]
    if evaluates:
        assert len((folder / "new.csv").read_text().splitlines()) == 1 + 5  # one row per measure
    else:
        assert len(dpviz.Ledger().account("points").spends) == 1


@pytest.mark.slow
def test_a_file_that_may_hold_records_is_not_replaced(folder, streets):
    """Any plain file was, unless the command read it too."""
    words = ["build", "walks.csv", streets, "--public", "--seed", 1, "-o", "roads.parquet"]
    assert run(*words, "--method", "event-histogram", "--workload", "clustered:1")[0] == 0
    assert run("build", "city", "--side=8", "--public", "--seed", 1, "-o", "s.parquet")[0] == 0
    pq.write_table(pa.table({"lon": [0.1], "lat": [0.2]}), "raw.parquet")
    for words in (
        ["sample", "r.parquet", "-o", "points.csv"],
        ["export", "r.parquet", "-o", "points.csv"],
        ["export", "roads.parquet", "-o", "nodes.csv"],
        ["sample", "s.parquet", "-o", "walks.csv"],
        ["build", "points.csv", BOX, "-o", "raw.parquet"],
        ["match", "r.parquet", "r.parquet", "--within", "0.1", "-o", "raw.parquet"],
    ):
        refused(folder, words, "exists: name another file, or delete it")
    (folder / "empty.csv").touch()
    for output in ("r.png", "r.png", "empty.csv"):
        assert run("picture" if output == "r.png" else "export", "r.parquet", "-o", output)[0] == 0


@pytest.mark.slow
def test_the_lock_of_a_killed_command_is_ignored(folder):
    code = (
        "import os, signal; from dpviz.cli.outputs import locked\n"
        "with locked('new.parquet'): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code])
    assert len([each for each in folder.iterdir() if each.name.endswith(".lock")]) == 1
    assert run("build", "points.csv", BOX, "-o", "new.parquet")[0] == 0
    assert not [each for each in folder.iterdir() if each.name.endswith(".lock")]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_a_lock_on_a_removed_file_is_refused(folder, monkeypatch):
    """The file that it opened is no longer the one at that path: two could hold one name."""
    import fcntl

    lock, flock = folder / f".dpviz.{name_hash(Path('new.parquet'))}.lock", fcntl.flock

    def ended_first(file, how):
        lock.unlink()
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", ended_first)
    with pytest.raises(ParameterError, match="another command"), locked("new.parquet"):
        pytest.fail("two hold one name")


def test_no_command_writes_over_what_it_reads(folder, streets):
    shape = geopandas.GeoSeries([shapely.box(0, 0, 1, 1)], crs="EPSG:4326").to_frame("geometry")
    shape.to_parquet("a.parquet")
    (folder / "also.parquet").hardlink_to("a.parquet")
    (folder / "link.parquet").symlink_to("a.parquet")
    for name in ("q", "rects", "wr"):
        shutil.copy("r.parquet", f"{name}.parquet")
    match = ["match", "r.parquet", "r.parquet", "--within", "0.1", "--public"]
    for name in ("m.png", "m.html", "e.csv"):
        shutil.copy("r.parquet", name)
    (folder / "parts").mkdir()
    shutil.copy("r.parquet", "parts/p.parquet")
    for words in (
        *([command, "m.html", "-o", "m.html"] for command in ("share", "report")),
        ["picture", "m.png", "-o", "m.png"],
        ["export", "e.csv", "-o", "e.csv"],
        ["sample", "q.parquet", "-o", "q.parquet"],
        ["build", "parts", BOX, "-o", "parts/p.parquet"],
        ["build", "points.csv", "--areas", "a.parquet", "-o", "a.parquet"],
        [*match, "--records-a", "q.parquet", "--records-b", "points.csv", "-o", "q.parquet"],
        [*match, "--records-b", "q.parquet", "--records-a", "points.csv", "-o", "q.parquet"],
        ["build", "walks.csv", streets, "--workload", "wr.parquet", "-o", "wr.parquet"],
        ["build", "points.csv", BOX, "--workload", "rects.parquet", "-o", "rects.parquet"],
        ["evaluate", "points.csv", BOX, "--public", "-o", "points.csv"],
        ["evaluate", "w.txt", "--public", "--alphabet", "points.csv", "-o", "points.csv"],
    ):
        refused(folder, words, "is one of the inputs: name another file")


def test_an_unwritable_folder_is_refused_before_the_work(folder, monkeypatch):
    """Regression: it failed after minutes, when it wrote."""

    def read_only(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", read_only)
    monkeypatch.setattr("dpviz.evaluation.figures.FIGURES", {"fanout": lambda *_: []})
    words = ("reproduce", "fanout", "-o", folder)
    refused(folder, words, "cannot be written (Read-only file system)")
    words = ("evaluate", "points.csv", BOX, "--public", "-o", "o.csv", "--plot", "e.png")
    refused(folder, words, "'e.png': the folder cannot be written (Read-only file system)")


def test_a_folder_or_a_broken_link_as_ledger_is_named_in_the_error(folder):
    words = ("ledger", "show", "--ledger", ".")
    refused(folder, words, "error: .: the ledger is a folder: name a file in it")
    (folder / "l.sqlite").symlink_to(folder / "none" / "l.sqlite")
    words = ("build", "points.csv", BOX, "--max-per-unit", "1", "-o", "o.parquet")
    words = (*words, "--ledger", "l.sqlite")
    refused(folder, words, "l.sqlite: the ledger cannot be made (No such file or directory)")


@pytest.mark.slow
def test_a_total_under_either_name_of_a_file_limits_its_builds(tmp_path, monkeypatch):
    """The command said that nothing limits what is spent, while the other name's total did."""
    monkeypatch.chdir(tmp_path)
    Path("visits.ndjson").write_text('{"lon": 0.5, "lat": 0.5}\n')
    words = ["build", "visits.ndjson", BOX, "--columns", "lon,lat", "--epsilon", "0.5"]
    assert "'visits' has no lifetime budget yet" in run(*words, "-o", "first.parquet")[2]
    assert run("ledger", "set", "visits.ndjson", "--epsilon", "0.9")[0] == 0
    code, _, err = run(*words[:-1], "0.4", "-o", "second.parquet")
    assert code == 0
    assert "no lifetime budget yet" not in err
    assert "on data set 'visits'" in fails(*words, "-o", "third.parquet")
