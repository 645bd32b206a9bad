"""Loops that are compiled at their first call."""

import os
import subprocess
import sys

import pytest

from dpviz.trees.compiled import compiled

FORKED = """
import multiprocessing
import numba as nb
import numpy as np
from dpviz.trees.compiled import compiled

def added(values):
    total = 0
    for place in nb.prange(len(values)):
        total += values[place]
    return total

loop = compiled(parallel=True)(added)
values = np.arange(100_000)
here = loop(values)
context = multiprocessing.get_context("fork")
answers = context.SimpleQueue()
child = context.Process(target=lambda: answers.put(loop(values)))
child.start()
child.join()
assert child.exitcode == 0, child.exitcode
there = answers.get()
assert there == here == values.sum(), (there, here)
"""
"""A loop of the test's own: those of trees take seconds to be compiled for one thread."""


def test_a_loop_is_compiled_where_its_code_cannot_be_kept():
    """As in a package that is read-only, for a user without a folder of caches."""
    nowhere = {}
    exec("def double(n): return 2 * n", nowhere)
    double = compiled()(nowhere["double"])
    assert double(21) == 42
    assert len(double.signatures) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_process_that_was_forked_after_a_loop_goes_on_to_use_it():
    """OpenMP ended it, where a build had been paid for."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, "Terminating" in done.stderr) == (0, False), done.stderr
