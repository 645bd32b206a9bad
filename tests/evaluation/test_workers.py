"""Worker processes end with the command that started them, however it ends."""

import os
import select
import signal
import subprocess
import sys

import pytest

KILLED = """
import os, signal
from dpviz.evaluation.workers import finished

def number(_):
    return os.getpid()

if __name__ == "__main__":
    results = finished(number, range(9), 2)
    print(next(results), flush=True)
    input()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no handles on processes here")
def test_a_killed_parent_leaves_no_worker(tmp_path):
    """They waited for a next task that nobody would give them."""
    program = tmp_path / "killed.py"
    program.write_text(KILLED)
    command = [sys.executable, str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        ended, worker = [], os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.stdin.write(b"\n")
            parent.stdin.flush()
            parent.wait()
            ended, _, _ = select.select([worker], [], [], 120)
            assert ended
        finally:
            if not ended:
                signal.pidfd_send_signal(worker, signal.SIGKILL)
            os.close(worker)
