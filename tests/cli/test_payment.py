"""Invalid builds fail before payment; later failures are recorded in the ledger."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import dpviz
from dpviz.cli import outputs
from tests.commands import as_json, fails, refused, run


@pytest.fixture
def words(tmp_path, streets):
    """A build command of each kind, on sensitive files, and the name that pays."""
    points = np.random.default_rng(0).random((60, 2))
    rows = "".join(f"{x},{y}\n" for x, y in points)
    (tmp_path / "points.csv").write_text(f"lon,lat\n{rows}")
    (tmp_path / "visits.txt").write_text("a b\nb a b\n")
    return {
        "points": ["build", str(tmp_path / "points.csv"), "--bounds=0,0,1,1", "--method=ugrid"],
        "walks": ["build", str(tmp_path / "walks.csv"), streets, "--workload=clustered:1"],
        "visits": ["build", str(tmp_path / "visits.txt"), "--alphabet=a,b"],
    }


def outcomes(name):
    return [row.outcome for row in dpviz.Ledger().account(name).spends]


KINDS = ("points", "walks", "visits")
RELEASES = {
    "points": ("dpviz.private.layers", "CountRelease"),
    "walks": ("dpviz.build", "count_release"),
    "visits": ("dpviz.build", "SequenceRelease"),
}
METHODS = {
    "points": "dpviz.methods.points.ugrid.UniformGrid.build",
    "walks": "dpviz.methods.roads.histogram.EventHistogram.build",
    "visits": "dpviz.methods.sequences.markov.Markov.build",
}


def fail(*_, **__):
    raise RuntimeError("secret 51.50137")


@pytest.mark.parametrize(
    ("kind", "step"),
    [("points", "method"), ("points", "header"), *((kind, "release") for kind in KINDS)],
)
def test_a_fault_after_payment_is_recorded_and_quotes_no_value(
    words, tmp_path, monkeypatch, caplog, kind, step
):
    if step == "method":
        monkeypatch.setattr(METHODS[kind], fail)
    else:
        place, name = ("dpviz.build", "header_of") if step == "header" else RELEASES[kind]
        monkeypatch.setattr(importlib.import_module(place), name, fail)
    with caplog.at_level("DEBUG"):
        line = fails(*words[kind], "-o", tmp_path / "out.parquet")
    assert "failed after epsilon=1 was paid, which stays spent: RuntimeError" in line
    assert "secret" not in line + caplog.text
    assert not any(b"secret" in path.read_bytes() for path in dpviz.Ledger().files if path.exists())
    assert outcomes(kind) == ["failed"]
    assert not list(tmp_path.glob("*.parquet"))


KILLED = """
import json, os, signal, sys
from importlib import import_module
from pathlib import Path
import pyarrow.parquet as pq
from dpviz import Ledger
from dpviz.private.ledger import book, file
from tests.cli.test_payment import METHODS
from tests.commands import run

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(file.sqlite3.Connection):
    def execute(self, *sql):
        self.writes = sql[0] == "BEGIN IMMEDIATE" or getattr(self, "writes", False)
        return die() if self.writes and sql[0] == "COMMIT" else super().execute(*sql)

def dying(*words, connect=file.sqlite3.connect, **more):
    return connect(*words, factory=Dying, **more)

def unsealed(path, head, **_):
    return None if book.read_seal(path) == head else die()

def half(writer, *table):
    written(writer, *table)
    die()

def build(kind):
    module, _, name = METHODS[kind].removesuffix(".build").rpartition(".")
    return kind, f"{kind} noise", getattr(import_module(module), name), "build", die

written, commands = pq.ParquetWriter.write_table, json.loads(sys.argv[2])
for kind, step, place, name, instead in (
    ("points", "entry", book, "Entry", die),
    ("points", "commit", file.sqlite3, "connect", dying),
    ("points", "seal", book, "write_seal", unsealed),
    *map(build, commands),
    ("points", "made", import_module("dpviz.build"), "header_of", die),
    ("points", "half", pq.ParquetWriter, "write_table", half),
    ("points", "whole", Path, "replace", die),
    ("points", "named", Ledger, "record_outcome", die),
):
    if os.fork() == 0:
        setattr(place, name, instead)
        run(*commands[kind], f"--dataset={step}", "-o", Path(sys.argv[1]) / f"{step}.parquet")
        os._exit(1)
    assert os.WTERMSIG(os.wait()[1]) == signal.SIGKILL
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_kill_never_leaves_an_unpaid_release_nor_one_to_pay_twice_without_a_word(
    words, tmp_path, monkeypatch
):
    """The next build pays again, and says that the last one has not ended."""
    # Creates the ledger; killed at "commit", the child adds nothing.
    dpviz.Ledger().set_total("entry", 1)
    child = [sys.executable, "-c", KILLED, str(tmp_path), json.dumps(words)]
    subprocess.run(child, cwd=Path(__file__).parents[2], timeout=100, check=True)
    assert [outcomes(step) for step in ("entry", "commit")] == [[], []]
    assert [outcomes(step) for step in ("seal", *(f"{kind} noise" for kind in KINDS))] == (
        4 * [["paid"]]
    )
    monkeypatch.chdir(tmp_path)
    steps = ("made", "half", "whole", "named")
    assert [outcomes(step) for step in steps] == 4 * [["paid"]]
    assert [each.name for each in tmp_path.glob("[!.]*.parquet")] == ["named.parquet"]
    hidden = list(tmp_path.glob(".dpviz-*"))
    assert len(hidden) == 2
    for each in hidden:
        os.utime(each, (0, 0))
    for step in ("made", "half", "whole"):
        _, _, notes = run(*words["points"], f"--dataset={step}", "-o", f"{step}.parquet")
        assert f"note: the last build of '{step}' (ε = 1, " in notes
        assert outcomes(step) == ["paid", "released"]
    assert not list(tmp_path.glob(".dpviz-*"))
    reason = "is a release that was paid for: name another"
    assert reason in fails(*words["points"], "--dataset=named", "-o", "named.parquet")
    (spend,) = dpviz.Ledger().account("named").spends
    assert dpviz.read("named.parquet").header.extra["release_id"] == spend.release


def test_a_fault_after_saving_keeps_the_release(words, tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.cli.build.emit", fail)
    with pytest.raises(RuntimeError):
        run(*words["points"], "-o", tmp_path / "out.parquet")
    assert outcomes("points") == ["released"]
    assert (tmp_path / "out.parquet").stat().st_size > 0


def unwritable(monkeypatch, folders):
    """Files in these folders cannot take their names, as on a disk that is full by then."""
    replace = Path.replace

    def refusing(path, target):
        if any(Path(target).is_relative_to(folder) for folder in folders):
            raise OSError(28, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refusing)


@pytest.mark.slow
def test_a_release_that_cannot_be_written_is_kept_beside_the_ledger(words, tmp_path, monkeypatch):
    output = tmp_path / "out" / "release.parquet"
    output.parent.mkdir()
    monkeypatch.setenv("DPVIZ_LEDGER", str(tmp_path / "books" / "ledger.sqlite"))
    unwritable(monkeypatch, [output.parent])
    line = fails(*words["points"], "-o", output)
    (rescued,) = (tmp_path / "books").glob("release-*.parquet")
    assert f"which was paid for, is saved as {rescued}" in line
    assert outcomes("points") == ["released"]
    assert not list(output.parent.iterdir())


def test_a_release_that_can_be_written_nowhere_is_recorded_as_lost(words, tmp_path, monkeypatch):
    unwritable(monkeypatch, ["/"])
    assert "the release is lost" in fails(*words["points"], "-o", tmp_path / "out.parquet")
    assert outcomes("points") == ["lost"]


BEFOREHAND = {
    "all": [
        (["--method", "none"], "unknown"),
        (["--set", "nothing=1"], "no parameter"),
        (["--epsilon", "nan"], "epsilon=nan: give a positive"),
    ],
    "points": [
        (["-o", "lost/out.parquet"], "in a folder that exists"),
        (["-o", "out.csv"], "give a .parquet file"),
        (["-o", "out\udcff.parquet"], "the name is not valid Unicode: choose another file name"),
        (["--seed", "1"], "NOT PRIVATE"),
        (["--seed", "-1", "--public"], "seed=-1: give a whole number from 0"),
        (["--crs", "EPSG:999999"], "CRS 'EPSG:999999' is unknown"),
        (["--crs", "EPSG:32631"], "lie outside the area of use of EPSG:32631"),
        (["--bounds=40,-100,41,-99"], "lie outside the area of use"),
        (["--method", "quadtree", "--set", "height=12"], "public cap of 8,000,000 nodes"),
        (["--method", "privelet", "--set", "log_cells=20"], "log_cells=20: 2^40 cells"),
        (["--method", "privtree", "--set", "axes=3"], "the data has 2 dimensions"),
        (["--method", "quad_exact"], "NO PRIVACY GUARANTEE"),
        (["--method", "ladder_tree", "--set", "c=70"], "a number from 0.5 to 50"),
        (["--set", "c"], "give key=value"),
        (["--bounds=1,50,-1,52"], "'lon' run from 1 to -1"),
        (["--bounds=1,50,2"], "bounds hold 3 numbers"),
        (["--bounds=1,50,2,north"], "'north' is not a number"),
        (["--columns", "lon,absent"], "absent"),
    ],
    "walks": [
        (["--crs", "EPSG:999999"], "CRS 'EPSG:999999' is unknown"),
        (["--workload", "clustered:0"], "give numbers from 1"),
        (["--neighbours", "swap"], "choose one of"),
    ],
    "visits": [(["--neighbours", "swap"], "choose one of")],
}


@pytest.mark.parametrize(
    ("kind", "more", "reason"),
    [
        (kind, *case)
        for kind in KINDS
        for case in [*BEFOREHAND["all"], *BEFOREHAND[kind]]
    ],
)  # fmt: skip
def test_refusals_before_payment_cost_nothing_and_leave_the_old_file(
    words, tmp_path, monkeypatch, kind, more, reason
):
    monkeypatch.chdir(tmp_path)
    output = [] if "-o" in more else ["-o", "out.parquet"]
    given = {word.partition("=")[0] for word in more}
    command = [word for word in words[kind] if word.partition("=")[0] not in given]
    older = dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)), public=True)
    dpviz.build(older, "ugrid", seed=0).save("out.parquet")
    refused(tmp_path, (*command, *output, *more), reason)
    assert outcomes(kind) == []


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_saving_leaves_the_old_file_and_is_recorded(
    words, tmp_path, monkeypatch
):
    """Half of the file is written; after it stands, the release is not lost."""
    output = tmp_path / "out.parquet"
    older = dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)), public=True)
    dpviz.build(older, "ugrid", seed=0).save(output)
    content = output.read_bytes()
    writer, replace = pyarrow.parquet.ParquetWriter, Path.replace

    def half(self, table, *rest):
        written(self, table, *rest)
        raise KeyboardInterrupt

    def late(self, target):
        replace(self, target)
        raise KeyboardInterrupt

    written = writer.write_table
    monkeypatch.setattr(writer, "write_table", half)
    run(*words["points"], "-o", output)
    assert output.read_bytes() == content
    assert not list(tmp_path.glob(".dpviz-*"))
    assert outcomes("points") == ["lost"]
    monkeypatch.setattr(writer, "write_table", written)
    monkeypatch.setattr(Path, "replace", late)
    run(*words["points"], "-o", output)
    assert dpviz.read(output).header.extra["release_id"]
    assert outcomes("points") == ["lost", "released"]


def test_a_release_that_was_paid_for_is_not_written_over(words, tmp_path):
    """The same command again, by mistake, cost as much again, and the first release was gone."""
    output = tmp_path / "out.parquet"
    for _ in range(2):  # a free release may be replaced
        assert run(*words["points"], "-o", output, "--public", "--seed=1", "--dataset=free")[0] == 0
    assert run(*words["points"], "-o", output)[0] == 0
    paid = output.read_bytes()
    line = fails(*words["points"], "-o", output)
    assert line.startswith("error: out.parquet is a release that was paid for: name another file")
    assert outcomes("points") == ["released"]
    newer = paid.replace(b'"schema": 2', b'"schema": 9')
    assert newer != paid
    output.write_bytes(newer)
    assert "paid for" in fails(*words["points"], "-o", output)
    other = tmp_path / "other.parquet"
    assert run(*words["points"], "-o", other)[0] == 0
    refused(tmp_path, ("sample", other, "-o", output), "is a release that was paid for")


def test_a_full_disk_costs_nothing(words, tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "MIN_FREE_BYTES", 10**18)
    command = (*words["points"], "-o", tmp_path / "out.parquet")
    refused(tmp_path, command, "MB are free on this disk")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is full")
@pytest.mark.parametrize("shell", ['"$@" 2>/dev/full', '"$@" <&- >&- 2>&-'])
def test_a_paid_build_ends_well_if_standard_files_are_closed_or_full(words, tmp_path, shell):
    """Regression: writing a note or progress failed and ended the build after ε was spent."""
    output = tmp_path / "out.parquet"
    command = [sys.executable, "-m", "dpviz", *words["points"], "-o", str(output)]
    done = subprocess.run(["sh", "-c", shell, "sh", *command], timeout=100, check=False)
    assert done.returncode == 0
    assert dpviz.read(output).header.epsilon == 1
    assert outcomes("points") == ["released"]
    if "full" in shell:
        missing = [*command[:-1], str(tmp_path / "nowhere" / "out.parquet")]
        done = subprocess.run(["sh", "-c", shell, "sh", *missing], timeout=100, check=False)
        assert done.returncode == 2


@pytest.mark.slow
def test_public_data_get_exact_noise_without_a_seed(words, tmp_path):
    output = tmp_path / "out.parquet"

    def guarantee(*more):
        return as_json(*words["points"], "-o", output, "--public", *more)["guarantee"]

    assert guarantee().endswith("records declared public by the owner")
    assert guarantee("--seed=1").startswith("NOT PRIVATE: simulated noise")
    assert outcomes("points") == []
    assert "simulated noise is NOT PRIVATE" in fails(*words["points"], "-o", output, "--seed=1")


@pytest.mark.slow
def test_sensitive_data_are_not_declared_public_in_passing(words, tmp_path):
    output, paid = (["-o", tmp_path / f"{name}.parquet"] for name in ("out", "paid"))
    line = "--declare-public requires --public: give both, or neither"
    refused(tmp_path, (*words["points"], *output, "--declare-public"), line)
    assert run(*words["points"], *paid)[0] == 0
    line = fails(*words["points"], *output, "--public")
    assert "data set 'points' is recorded as sensitive" in line
    assert run(*words["points"], *output, "--public", "--declare-public")[0] == 0
    assert dpviz.Ledger().account("points").public
    assert run(*words["points"], *output, "--public")[0] == 0


def test_prices_to_replace_count_half(words, tmp_path):
    dpviz.Ledger().set_total("walks", 1)
    more = ["-o", tmp_path / "out.parquet", "--neighbours", "replace"]
    assert run(*words["walks"], *more)[0] == 0
    assert dpviz.Ledger().account("walks").left == 0.5


def test_the_ledgers_commands_set_show_and_verify():
    total = run("ledger", "set", "people", "--epsilon", "1")[1]
    assert "left of ε = 1 (to add or remove one privacy unit)" in total
    assert "1 entry, as it was written" in run("ledger", "verify")[1]
    dpviz.Ledger().spend("People.csv", 0.5, what="x", unit="one person")
    shown = run("ledger", "show")[1]
    assert shown.startswith("people: ε = 0.5 left of ε = 1 (to add or remove one person)")
    assert "2 entries, all as they were written" in run("ledger", "verify")[1]
    path = dpviz.Ledger().path
    path.write_bytes(path.read_bytes()[:5000])
    assert "damaged" in fails("ledger", "verify")


@pytest.mark.parametrize("kind", KINDS)
def test_evaluations_of_sensitive_data_are_refused(words, tmp_path, kind):
    dpviz.Ledger().spend(kind, 0.1, what="x")
    command = [word.replace("build", "evaluate") for word in words[kind]]
    command = [each for each in command if not each.startswith(("--method=", "--workload="))]
    line = f"data set '{kind}' is recorded as sensitive"
    refused(tmp_path, (*command, "--public", "-o", tmp_path / "out.csv"), line)


def test_info_says_what_no_ledger_holds(words, tmp_path):
    handle = dpviz.load(words["points"][1], dpviz.Domain((0, 0), (1, 1)))
    dpviz.save(dpviz.build(handle, "ugrid", ledger=None), tmp_path / "r.parquet")
    assert "ledger: not entered in a ledger" in run("info", tmp_path / "r.parquet")[1]
