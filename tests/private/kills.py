"""Builds of every kind of data, killed at random moments; what the ledger says of them after.

``python -m tests.private.kills 20`` prints how many kills of each kind came at which point.
"""

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: F401  as the next ones: loaded once, and not by every child
import pyarrow.parquet as pq  # noqa: F401
import shapely  # noqa: F401

import dpviz
from dpviz import Ledger
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph
from dpviz.sequences.alphabet import Alphabet
from tests.strategies import UNIT_SQUARE

EPSILON = 0.01


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


MOMENTS = ("before it was paid", "while it was made", "before it was saved", "later")

KINDS = {"points": points, "roads": roads, "sequences": sequences}


def build(kind, ledger, output, granted):
    """In a child: build, say that it was granted, save, end."""
    data, method, queries = KINDS[kind]()
    for _ in range(2):  # the second without what is loaded at the first
        release = dpviz.build(data, method, EPSILON, workload=queries, ledger=Ledger(ledger))
        os.write(granted, release.header.extra["release_id"].encode() + b"\n")
        dpviz.save(release, output / f"{release.header.extra['release_id']}.parquet")


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


def killed(kind, folder, delay):
    """One child that is killed so many seconds after its start; the releases that it came to."""
    child, ours = forked(partial(build, kind, folder / "ledger.sqlite", folder))
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL), f"a build that nobody killed ended with {ended}"
    with os.fdopen(ours, "rb") as pipe:
        return set(pipe.read().decode().split("\n")) - {""}


def releases(folder):
    """The files that were saved; a kill may leave a temporary one beside them, which is hidden."""
    return list(folder.glob("[!.]*.parquet"))


def checked(kind, folder, granted, before):
    """What became of one child's builds; fails where the ledger counts too little or says wrong.

    Args:
        kind: of data.
        folder: with the ledger and the releases.
        granted: ids of all releases that any child had in its hands.
        before: rows of the ledger before this child.
    """
    account = Ledger(folder / "ledger.sqlite").account(kind)
    outcome = {row.release: row.outcome for row in account.spends}
    saved = {each.stem for each in releases(folder)}
    assert granted | saved <= outcome.keys(), "a release that nobody paid for"
    assert {outcome[each] for each in granted | saved} <= {"released"}
    assert set(outcome.values()) <= {"paid", "released"}
    assert abs(account.spent - EPSILON * len(outcome)) < 1e-9
    for each in saved:
        assert dpviz.read(folder / f"{each}.parquet").header.extra["release_id"] == each
    new = list(outcome.values())[before:] if before else list(outcome.values())
    if not new:
        return MOMENTS[0]
    if "paid" in new:
        return MOMENTS[1]
    return MOMENTS[2] if granted - saved else MOMENTS[3]


def campaign(kind, kills, folder, seed=0):
    """Where so many kills of builds of one kind came: the ledger was right after each."""
    folder = Path(folder)
    Ledger(folder / "ledger.sqlite").set_total(kind, 10**6)
    data, method, queries = KINDS[kind]()
    dpviz.build(data, method, 1.0, workload=queries, ledger=None)  # loads what children need
    started = time.monotonic()
    granted = killed(kind, folder, None)
    whole = time.monotonic() - started
    assert len(granted) == 2
    for each in releases(folder):
        each.unlink()
    came, before = Counter(), 2
    for delay in np.random.default_rng(seed).uniform(0, whole, kills):
        for each in releases(folder):
            each.unlink()
        mine = killed(kind, folder, delay)
        came[checked(kind, folder, mine, before)] += 1
        before = len(Ledger(folder / "ledger.sqlite").account(kind).spends)
    assert granted <= {row.release for row in Ledger(folder / "ledger.sqlite").account(kind).spends}
    return dict(came)


def main(kills):
    outcomes = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            outcomes[kind] = campaign(kind, kills, folder)
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]))
