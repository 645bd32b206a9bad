"""Ctrl-C in a long command: one line, exit code 130, no partial file, the price stays paid."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

import dpviz
from dpviz import Ledger
from dpviz.cli import interrupts, root
from dpviz.cli.root import progress
from tests.leftovers import HEARING

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends the signal of a POSIX terminal")

PATIENCE = 300
"""Seconds that ending may take on a busy machine, before the test gives it up."""

CODE = "import sys; sys.argv[0] = 'dpviz'; from dpviz.cli import program; program()"


IGNORING = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")
"""Start a command with SIGINT ignored, as background jobs of a shell, nohup and some CI do."""


@pytest.fixture
def alone(monkeypatch):
    """Reset the remembered signal after the test."""
    monkeypatch.setattr(interrupts, "_interrupted", False)


@pytest.fixture
def interrupted():
    """Run a command that gets Ctrl-C at its first progress line; return its lines."""
    started = []

    def run(folder, *words, before=(), until=None, sign=signal.SIGINT):
        process = subprocess.Popen(
            [*before, sys.executable, "-c", CODE, *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        started.append(process)
        shown = b""
        while until is not None and not until():  # noise is drawn before progress can show
            assert process.poll() is None
            time.sleep(0.05)
        while until is None and b"%" not in shown:
            shown += process.stderr.read(1)
            assert process.poll() is None, shown
        os.killpg(process.pid, sign)
        return ended(process, shown)

    yield run
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ended(process, shown):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == b""
    return (shown + err).decode().splitlines()


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_ctrl_c_while_modules_load_ends_quietly():
    """The handler comes first: a heavy library is being read when the signal arrives."""
    code = "import sys; sys.argv[0] = 'dpviz'; from dpviz.__main__ import program; program()"
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-c", code, "info", "nothing.parquet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while b"numpy" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        lines = ended(process, b"")
    finally:
        process.kill()
        process.wait()
    assert lines[-1] == "cancelled"
    assert not [line for line in lines[:-1] if not line.startswith("import time:")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "sign"),
    [((), signal.SIGINT), (IGNORING, signal.SIGINT), (HEARING, signal.SIGHUP)],
    ids=["at once", "SIGINT ignored", "the terminal closes"],
)
def test_ctrl_c_in_a_paid_build_leaves_the_old_file_and_is_recorded(
    tmp_path, interrupted, before, sign
):
    (tmp_path / "people.csv").write_text("lon,lat\n" + "0.5,0.5\n" * 1000)
    older = dpviz.from_points([[0.5, 0.5]], dpviz.Domain((0, 0), (1, 1)), public=True)
    dpviz.build(older, "ugrid", seed=0).save(tmp_path / "r.parquet")
    content = (tmp_path / "r.parquet").read_bytes()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    lines = interrupted(
        tmp_path,
        *("build", "people.csv", "--bounds=0,0,1,1", "--method", "quadtree", "--set", "height=11"),
        *("--set", "prune=0", "--ledger", "ledger.sqlite", "-o", "r.parquet"),
        before=before,
        sign=sign,
        until=lambda: ledger.path.exists() and ledger.account("people").spends,
    )
    assert lines.count("cancelled") == 1
    assert lines[-1] == "cancelled"
    assert not [line for line in lines[:-1] if "%" not in line and not line.startswith("note:")]
    assert (tmp_path / "r.parquet").read_bytes() == content
    assert names(tmp_path) == ["ledger.sqlite", "ledger.sqlite.seal", "people.csv", "r.parquet"]
    (spend,) = ledger.account("people").spends
    assert (spend.epsilon, spend.outcome) == (1.0, "failed")


@pytest.mark.slow
def test_ctrl_c_in_an_evaluation_keeps_whole_rows(tmp_path, interrupted):
    lines = interrupted(
        tmp_path,
        *("evaluate", "city-50k", "--public", "--methods", "privtree,ugrid", "--repeats", "10000"),
        *("--queries", "20", "-o", "rows.csv"),
        until=(tmp_path / "rows.csv").exists,
    )
    assert lines[-1] == "cancelled"
    assert not [line for line in lines[:-1] if "%" not in line]
    assert names(tmp_path) == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_text().endswith("\n")


@pytest.mark.parametrize(
    ("terminal", "lines"),
    [
        (False, ["ordering:  10 %\n", "drawing:  90 %\n"]),
        (
            True,
            [
                *("\x1b[Kordering:  10 %\r", "\x1b[Kordering:  50 %\r"),
                *("\x1b[Kdrawing:  90 %\r", "\x1b[Kdrawing: 100 %\r", "\r\x1b[K"),
            ],
        ),
    ],
)
def test_progress_is_one_line_on_a_terminal_and_few_lines_in_a_file(
    terminal, lines, monkeypatch, capsys
):
    now = [100.0]
    monkeypatch.setattr(root.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    report = root.progress()
    for seconds, fraction, what in (
        (0.5, 0.0, "ordering"),
        (1.0, 0.1, "ordering"),
        (1.1, 0.2, "ordering"),
        (2.0, 0.5, "ordering"),
        (12.0, 0.9, "drawing"),
        (12.1, 1.0, "drawing"),
        # Many checkpoints, one line.
        *[(12.5 + step / 1000, 1.0, "drawing") for step in range(200)],
    ):
        now[0] = 100.0 + seconds
        report(fraction, what)
    root.emit({}, False, "done")
    assert capsys.readouterr().err == "".join(lines)


@pytest.mark.usefixtures("alone")
def test_an_interrupt_that_a_library_swallowed_is_raised_again():
    """As pyarrow does when it imports pandas in the middle of a conversion."""
    report = progress()
    with contextlib.suppress(KeyboardInterrupt):  # as the library swallows it
        interrupts.interrupt(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        report(0.5, "drawing noise")
    with pytest.raises(KeyboardInterrupt):  # before a build is paid
        progress()


@pytest.mark.slow
def test_sigterm_ends_a_command_as_ctrl_c_does_and_nohup_lets_it_go_on():
    """Systems and containers end a process with it; a library's forked child dies of it."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"  # as nohup does
        "from dpviz.cli import interrupts\n"
        "interrupts.install_handlers()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "assert not interrupts.interrupted()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(300)\n"
        "assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(300)\n"
        "except KeyboardInterrupt:\n"
        "    assert interrupts.interrupted()\n"
        "    os._exit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 3


@pytest.mark.slow
def test_a_command_exits_without_the_teardown_of_modules(tmp_path):
    """A process was aborted there after a refusal, once in 140, as threads of Arrow's may do."""
    code = (
        "import os, sys\n"
        "from dpviz.cli import program\n"
        "class Last:\n"
        "    def __del__(self, write=os.write):\n"
        "        write(1, b'taken apart')\n"
        "sys.last = Last()\n"
        "program()\n"
    )
    for words, ended in ((["info", str(tmp_path / "none.parquet")], 2), (["--version"], 0)):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, timeout=99)
        assert done.returncode == ended
        assert b"taken apart" not in done.stdout
        assert (done.stdout + done.stderr).count(b"\n") == 1
