"""The compiled loops are loaded while the first page is read."""

import contextlib
import os
import re
import subprocess
import sys
import time

import pytest

from dpviz.ui.shared import warm

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
from dpviz.evaluation.audit import tiny
from dpviz.evaluation.road_audit import road_subject
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.roads import search
warm.road_loops()
for name in ("event-histogram", "min+opt+tru"):
    subject = road_subject(tiny(name, "roads"), 1.0)
    for data in (subject.cases[0].larger, subject.cases[0].smaller):
        subject.build(data, Budget(1.0), SimulatedNoise(0))
print(*[len(each.signatures) for each in (search.best_tree, search.optimise, search.run_variance)])
"""
STOPPED = """
from dpviz.ui.shared import warm
warm.PAUSE = 600.0
warm.warm()
"""


def finished(script, **environment):
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=550, env=environment or None
    )


def test_loops_are_compiled_for_what_pages_and_methods_ask_and_their_threads_sleep():
    """OpenMP says itself how its threads wait."""
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = finished(LOADED, **inherited, OMP_DISPLAY_ENV="true")
    layer, *compiled = done.stdout.split()
    assert compiled == ["1"] * 5
    assert layer != "omp" or re.search(r"OMP_WAIT_POLICY ?= ?'PASSIVE'", done.stderr)


def test_a_server_that_is_stopped_waits_for_nothing():
    started = time.monotonic()
    assert finished(STOPPED).stdout == ""
    assert time.monotonic() - started < 500


@pytest.mark.skipif(not hasattr(os, "nice"), reason="processes without priorities")
def test_the_compiler_makes_way_for_every_other_process_and_ends_well(monkeypatch):
    monkeypatch.setattr(warm, "in_cache", lambda module: False)
    monkeypatch.setattr(warm, "PAUSE", 0.2)
    apart = warm.compile_apart()
    priorities, ends = set(), time.monotonic() + 120
    while apart.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(ProcessLookupError):
            priorities.add(os.getpriority(os.PRIO_PROCESS, apart.pid))
        time.sleep(0.01)
    apart.kill()
    assert apart.wait() == 0
    assert min(os.getpriority(os.PRIO_PROCESS, 0) + 19, 19) in priorities


def test_nothing_is_compiled_apart_that_is_in_the_cache(monkeypatch, tmp_path):
    module, cache = tmp_path / "loops.py", tmp_path / "__pycache__"
    module.write_text(2 * "\n@compiled()\ndef walk(): pass\n")
    cache.mkdir()
    assert not warm.in_cache(module)
    (cache / "loops.cpython-311.pyc").touch()
    assert not warm.in_cache(module)
    index = cache / "loops.walk-12.py311.nbi"
    index.touch()
    os.utime(module, (1e9, 1e9))
    assert not warm.in_cache(module)  # of a server that ended before its compiler
    (cache / "loops.climb-15.py311.nbi").touch()
    assert warm.in_cache(module)
    os.utime(index, (1e9 - 1, 1e9 - 1))  # of the module as it was before
    assert not warm.in_cache(module)
    monkeypatch.setattr(warm, "COMPILED", (module, module))
    monkeypatch.setattr(warm.subprocess, "Popen", lambda *_, **__: "begun")
    assert warm.compile_apart() == "begun"
    index.touch()
    assert warm.compile_apart() is None


def test_other_folders_of_caches_are_looked_into(monkeypatch, tmp_path):
    module, elsewhere = tmp_path / "trees" / "loops.py", tmp_path / "caches"
    cache = elsewhere / "trees_0123456789abcdef"
    for folder in (module.parent, cache):
        folder.mkdir(parents=True)
    module.write_text("\n@compiled()\ndef walk(): pass\n")
    os.utime(module, (1e9, 1e9))
    (cache / "loops.walk-12.py311.nbi").touch()
    monkeypatch.setattr(warm, "user_cache_dir", lambda *_: tmp_path / "nothing")
    assert not warm.in_cache(module)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(elsewhere))
    assert warm.in_cache(module)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(warm, "user_cache_dir", lambda *_: elsewhere)
    assert warm.in_cache(module)


def test_every_module_with_compiled_loops_of_the_pages_is_looked_for():
    modules = warm.PACKAGE.rglob("*.py")
    compiled = {each for each in modules if "\n@compiled(" in each.read_text("utf-8")}
    assert set(warm.COMPILED) <= compiled
    assert {each.name for each in compiled - set(warm.COMPILED)} == {"sensitivity.py"}


def test_a_server_starts_where_no_more_processes_may(monkeypatch):
    def refused(*_, **__):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(warm, "in_cache", lambda module: False)
    monkeypatch.setattr(warm.subprocess, "Popen", refused)
    assert warm.compile_apart() is None
