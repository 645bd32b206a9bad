"""Code in forks of one process that has loaded what a build needs: each would take over a second.

``python -m tests.private.forks`` reads orders from its standard input, and ends with it.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import dpviz
from tests.private.kills import KINDS, forked


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
