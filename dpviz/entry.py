"""Entry point of the command ``dpviz``: Ctrl-C is heard before the package loads.

It is installed beside the package as ``dpviz_command``, so that importing it imports nothing else.
"""

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def program() -> None:
    """Run a command of :mod:`dpviz.cli`, which hears Ctrl-C itself once it is loaded."""
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _leave)
    from dpviz.cli import program as loaded

    loaded()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """While modules load there is nothing to put in order."""
    try:
        os.write(2, b"cancelled\n")
    finally:  # also where the terminal is gone
        os._exit(INTERRUPTED)
