"""How threads of compiled loops wait for their next call."""

import os


def sleep_between_calls() -> None:
    """Threads of OpenMP sleep when a loop is done; whoever has set another way keeps it.

    By itself each keeps its core busy for a while, in case another loop follows. Where visitors,
    or tests, share the cores, a call that takes 0.3 ms then waited 15 ms for its own threads.
    Comes before the first loop: the library reads it when it is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
