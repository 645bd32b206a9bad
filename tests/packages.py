"""Programs that tests need beside Python, from Debian's packages where we may install them.

Several processes run the tests, and each would find a package missing: one installs at a time, and
the next looks again.
"""

import os
import shutil
import subprocess
from contextlib import contextmanager


def can_install():
    """Whether this is root on Debian or a system like it."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


@contextmanager
def one_at_a_time():
    """Look whether something is missing, and install it, in here only; at once where we cannot."""
    if not can_install():
        yield
        return
    import fcntl

    folder = os.open("/var/lib/dpkg", os.O_RDONLY)  # apt locks files of its own inside
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def install(*packages):
    """Install Debian packages; says whether that worked."""
    if not can_install():
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", *packages])
    return all(
        subprocess.run(["apt-get", *words], env=environment, capture_output=True).returncode == 0
        for words in commands
    )
