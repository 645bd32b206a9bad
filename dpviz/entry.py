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
    from dpviz.cli import program as loaded

    loaded()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """While modules load there is nothing to put in order."""
    os.write(2, b"cancelled\n")
    os._exit(INTERRUPTED)
