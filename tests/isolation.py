"""Fixtures of tests and doctests alike: a plugin, since doctests stand outside this folder."""

import sys
import uuid
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def ledgers(tmp_path_factory) -> Path:
    """A folder for the ledgers of this run."""
    return tmp_path_factory.mktemp("ledgers")


@pytest.fixture(autouse=True)
def no_ledger_of_the_user(ledgers, monkeypatch):
    """Each test pays from a ledger of its own, and keeps its releases; its processes inherit it."""
    name = uuid.uuid4().hex
    monkeypatch.setenv("DPVIZ_LEDGER", str(ledgers / f"{name}.sqlite"))
    monkeypatch.setenv("DPVIZ_RELEASES", str(ledgers / name))


@pytest.fixture(autouse=True)
def the_program_stays_the_same():
    """A page that is run in a test takes the place of ``__main__``, and leaves it there; a worker
    process that is started later would run that page in place of its work, and die of it."""
    program = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = program
