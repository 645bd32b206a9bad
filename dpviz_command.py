"""Entry point of the command ``dpviz``, outside the package: Ctrl-C is heard before that loads."""

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def program() -> None:
    """Run a command of :mod:`dpviz.cli`, which hears Ctrl-C itself once it is loaded."""
    signal.signal(signal.SIGINT, _leave)
    from dpviz.cli import program as loaded

    loaded()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """While modules load there is nothing to put in order."""
    os.write(2, b"cancelled\n")
    os._exit(INTERRUPTED)
