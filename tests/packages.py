"""Programs that tests need beside Python, from Debian's packages where we may install them.

Several processes run the tests, and each would find a package missing: one installs at a time, and
the next looks again.
"""

import os
import shutil
import subprocess
import time
from contextlib import contextmanager

PATIENCE = 300
"""Seconds that we wait while another program, such as a new machine's first update, installs."""


def can_install():
    """Return True for root on Debian or a similar system."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


@contextmanager
def one_at_a_time():
    """Look whether something is missing, and install it, in here only; at once where we cannot."""
    if not can_install():
        yield
        return
    import fcntl

    folder = os.open("/var/lib/dpkg", os.O_RDONLY)  # apt locks files in it
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def install(*packages):
    """Install Debian packages; says whether that worked."""
    if not can_install():
        return False
    commands = (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", *packages])
    end = time.monotonic() + PATIENCE
    return all(_worked(["apt-get", *words], end) for words in commands)


def _worked(command, end):
    """Run a command of apt until no other program holds its locks; return its success.

    Its option ``DPkg::Lock::Timeout`` waits for two of the four.
    """
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    while True:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode == 0 or "Could not get lock" not in done.stderr:
            return done.returncode == 0
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
