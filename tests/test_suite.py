"""The test suite itself: it leaves no process and no payment in the user's ledger."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpviz import Ledger
from tests import leftovers

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
KILLED = f"""
import os, pathlib, signal, subprocess, time

def test_that_is_killed(tmp_path):
    program = ["sleep", "10000"]
    server = subprocess.Popen(program, start_new_session=True)
    pathlib.Path("run").write_text(os.environ["{leftovers.NAME}"])
    os.kill(os.getppid(), signal.SIGTERM)
    server.wait()
"""


def test_a_run_that_is_ended_leaves_no_process(tmp_path):
    """A worker of xdist waits for a server when its own parent is ended."""
    (tmp_path / "test_killed.py").write_text(KILLED)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    del environment[leftovers.NAME]
    plugins = ["-p", "xdist", "-p", "tests.leftovers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "1", *plugins, "test_killed.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == -15, done.stdout + done.stderr
    run = (tmp_path / "run").read_text()
    for _ in range(600):
        if not list(leftovers.carrying(run)):
            return
        time.sleep(0.1)
    raise AssertionError("a process outlived the run by a minute")


@pytest.fixture(scope="module")
def of_the_module():
    return Ledger().path


def test_fixtures_pay_from_a_ledger_of_the_test_run(ledgers, of_the_module):
    """Module fixtures are built before a test's own ledger exists, and outlive it."""
    assert of_the_module != Ledger().path
    assert of_the_module.parent == Ledger().path.parent == ledgers
