"""Builds of points, roads and sequences are killed at random moments: the ledger stays right."""

import json
import os
import subprocess
import sys

import pytest

from tests.private.kills import KINDS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forks")
@pytest.mark.parametrize("kills", [2, pytest.param(300, marks=pytest.mark.campaign)])
def test_a_kill_at_any_moment_of_a_build_leaves_the_ledger_right(kills):
    """In a process of its own: forks of one with threads may hang."""
    command = [sys.executable, "-m", "tests.private.kills", str(kills)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout)
    assert {kind: sum(came[kind].values()) for kind in came} == dict.fromkeys(KINDS, kills)
