"""The compiled loops are loaded while the first page is read."""

import subprocess
import sys
import time

LOADED = """
import sys
from dpviz.ui.shared import warm
warm.preload().join()
assert set(warm.FIRST) <= set(sys.modules)
warm.PAUSE = 0.0
assert warm.warm() is warm.warm()
warm.warm().join()
from dpviz.trees.kernels import count_boxes, walk_tree
print(len(count_boxes.__wrapped__.signatures), len(walk_tree.__wrapped__.signatures))
"""
STOPPED = """
from dpviz.ui.shared import warm
warm.PAUSE = 60.0
warm.warm()
"""


def output(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_both_loops_are_compiled_for_what_the_pages_ask():
    assert output(LOADED).split() == ["1", "1"]


def test_a_server_that_is_stopped_waits_for_nothing():
    started = time.monotonic()
    assert output(STOPPED) == ""
    assert time.monotonic() - started < 50
