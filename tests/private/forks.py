"""Code in forks of one process that has loaded what a build needs: each would take over a second.

``python -m tests.private.forks`` reads orders from its standard input, and ends with it.
"""

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

import dpviz
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph
from dpviz.sequences.alphabet import Alphabet
from tests.strategies import UNIT_SQUARE


def points():
    return dpviz.from_points(np.full((100, 2), 0.5), UNIT_SQUARE, name="points"), "ugrid", None


def roads():
    nodes = {"node": [1, 2, 3, 4], "x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}
    streets = road_graph(nodes, {"src": [1, 2, 3], "dst": [2, 3, 4]})
    trips = RoadData("roads", streets, Paths.of([[0, 1], [1, 2]] * 50))
    return trips, "event-histogram", Paths.of([[0, 1]])


def sequences():
    rows = Sequences.of([[0, 1], [1]] * 50)
    return SequenceData("sequences", Alphabet(("a", "b")), rows), "markov", None


KINDS = {"points": points, "roads": roads, "sequences": sequences}
"""Data of each kind, a method and the workload that it needs."""


def forked(run):
    """A child that is given one end of a pipe; its id, and the other end."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run(theirs)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(theirs)
    return child, ours


def load():
    """Import all that builds of every kind of data import."""
    with tempfile.TemporaryDirectory() as folder:
        for make in KINDS.values():
            data, method, queries = make()
            release = dpviz.build(data, method, 1.0, workload=queries, ledger=None)
            dpviz.save(release, Path(folder) / "release.parquet")


def outcome(code, words, environment):
    """The exit code of a child that runs such code with these arguments, and what it printed."""

    def run(pipe):
        os.dup2(pipe, 1)
        os.close(pipe)
        os.environ.update(environment)
        sys.argv[1:] = words
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()

    child, ours = forked(run)
    with os.fdopen(ours) as pipe:
        printed = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed


if __name__ == "__main__":
    load()
    for line in sys.stdin:
        print(json.dumps(outcome(*json.loads(line))), flush=True)
