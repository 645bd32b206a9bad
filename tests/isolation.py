"""Fixtures of tests and doctests alike: a plugin, since doctests stand outside this folder."""

import sys
import uuid
from functools import cache
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


@pytest.fixture(scope="session", autouse=True)
def commands_are_made_once():
    """Typer makes every command anew at each call: more than half of what most calls took."""
    with pytest.MonkeyPatch.context() as patch:
        if "typer" in sys.modules:
            from typer import main, testing

            once = cache(main.get_command)
            patch.setattr(main, "get_command", once)
            patch.setattr(testing, "_get_command", once)
        yield
