"""Entry point of ``dpviz`` and ``python -m dpviz``; handles Ctrl-C while the package loads."""

import os
import signal
from types import FrameType


def program() -> None:
    """Run a command of :mod:`dpviz.cli`, which handles the signals itself once it is loaded."""
    signal.signal(signal.SIGINT, _leave)
    from dpviz.cli import program as loaded

    loaded()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Exit at once: while modules load there is nothing to clean up."""
    try:
        os.write(2, b"cancelled\n")
    finally:  # also if the terminal is closed
        os._exit(130)


if __name__ == "__main__":
    program()
