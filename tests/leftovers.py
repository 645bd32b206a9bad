"""No process outlives the tests that started it, however they end.

Servers, browsers, databases and Java are ended by the fixtures that start them, which a killed
pytest never comes back to. So each run has a name in its environment, which every process that it
starts inherits, and one watcher beside it that sleeps until the run has ended and then ends
whatever still carries the name. On Linux; elsewhere the fixtures are all there is.
"""

import os
import select
import signal
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

NAME = "DPVIZ_TEST_RUN"
PATIENCE = 5
"""Seconds that a process may take to end by itself, before it is killed."""
HEARING = (
    sys.executable,
    "-c",
    "import os, signal, sys\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])",
)
"""Put before a command: it hears SIGHUP, also where nohup, which ignores it, started the tests."""


def pytest_configure(config):
    """One watcher for the run: processes of xdist are part of it."""
    if NAME in os.environ or not hasattr(os, "pidfd_open") or not Path("/proc/self").exists():
        return
    run = os.environ[NAME] = uuid.uuid4().hex
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), run]
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    # In its own process group, so that the terminal's Ctrl-C does not reach it.
    os.posix_spawn(sys.executable, command, {}, file_actions=silent, setpgroup=0)


def carrying(run):
    """The ids of processes with this name in their environment."""
    wanted = f"{NAME}={run}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
        except OSError:  # ended, or of another user
            continue


def ended(pid, run):
    """Waits until the process is gone, then ends all that carry the name, gently at first."""
    with suppress(ProcessLookupError):
        select.select([os.pidfd_open(pid)], [], [])
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for each in carrying(run):
            with suppress(ProcessLookupError):
                os.kill(each, sign)
        for _ in range(PATIENCE * 10):
            if not any(carrying(run)):
                return
            time.sleep(0.1)


if __name__ == "__main__":
    ended(int(sys.argv[1]), sys.argv[2])
