"""The compiled loops are loaded while the first page is read."""

import os
import re
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
from dpviz.releases.points.range_count import BULK
import dpviz
from dpviz.evaluation.truth import without_noise
data = dpviz.load("persons")
release = dpviz.build(data, "quadtree", 1.0, seed=1, height=6)
cells = release.nodes.lo, release.nodes.hi
assert len(release.nodes) > BULK
without_noise(data, release).count_boxes(*cells)
from numba import threading_layer
from dpviz.trees.kernels import count_boxes, walk_tree
print(threading_layer(), *[len(each.__wrapped__.signatures) for each in (count_boxes, walk_tree)])
"""
STOPPED = """
from dpviz.ui.shared import warm
warm.PAUSE = 60.0
warm.warm()
"""


def finished(script, **environment):
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, env=environment or None
    )


def test_both_loops_are_compiled_for_what_the_pages_ask_and_their_threads_sleep():
    """OpenMP says itself how its threads wait."""
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = finished(LOADED, **inherited, OMP_DISPLAY_ENV="true")
    layer, *compiled = done.stdout.split()
    assert compiled == ["1", "1"]
    assert layer != "omp" or re.search(r"OMP_WAIT_POLICY ?= ?'PASSIVE'", done.stderr)


def test_a_server_that_is_stopped_waits_for_nothing():
    started = time.monotonic()
    assert finished(STOPPED).stdout == ""
    assert time.monotonic() - started < 50
