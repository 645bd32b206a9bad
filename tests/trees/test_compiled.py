"""Loops that are compiled at their first call."""

import os
import subprocess
import sys

import pytest

from dpviz.trees.compiled import compiled

FORKED = """
import multiprocessing
import numpy as np
import dpviz

points = np.random.default_rng(0).beta(2, 5, size=(3000, 2))
data = dpviz.from_points(points, dpviz.Domain((0, 0), (1, 1)), public=True)
queries = np.tile([0.1, 0.1, 0.5, 0.5], (3000, 1))

def work():
    release = dpviz.build(data, "kdtree", 1.0, seed=1)
    return len(release.nodes), release.count(queries).count[0]

context = multiprocessing.get_context("fork")
answers = context.SimpleQueue()
here = work()
child = context.Process(target=lambda: answers.put(work()))
child.start()
child.join()
assert child.exitcode == 0, child.exitcode
there = answers.get()
assert there == here, (there, here)
"""


def test_a_loop_is_compiled_where_its_code_cannot_be_kept():
    """As in a package that is read-only, for a user without a folder of caches."""
    nowhere = {}
    exec("def double(n): return 2 * n", nowhere)
    double = compiled()(nowhere["double"])
    assert double(21) == 42
    assert len(double.signatures) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_process_that_was_forked_after_a_loop_goes_on_to_use_it():
    """OpenMP ended it, where a build had been paid for."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, "Terminating" in done.stderr) == (0, False), done.stderr
