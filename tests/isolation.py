"""Fixtures of tests and doctests alike: a plugin, since doctests stand outside this folder."""

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

# Other threads of a matrix product waste shared cores: each spins for
# about 15 ms after its part. The library reads this when it is loaded, here and in child processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Compile for a generic processor: compiling for this one takes a quarter longer.
os.environ.setdefault("NUMBA_CPU_NAME", "generic")

# Servers, commands and child processes cache bytecode, as with a user. Set here, because pytest
# would otherwise also rewrite a hundred modules of its plugins, in every process.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@contextmanager
def new_ledger(folder: Path) -> Iterator[None]:
    """Inside, a new ledger pays and releases are kept beside it; processes inherit both."""
    name = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPVIZ_LEDGER", str(folder / f"{name}.sqlite"))
        patch.setenv("DPVIZ_RELEASES", str(folder / name))
        yield


@pytest.fixture(scope="session", autouse=True)
def ledgers(tmp_path_factory) -> Iterator[Path]:
    """A folder for the ledgers of this run; fixtures of the session pay from one in it, too."""
    folder = tmp_path_factory.mktemp("ledgers")
    with new_ledger(folder):
        yield folder


@pytest.fixture(scope="module", autouse=True)
def a_ledger_of_the_module(ledgers):
    """Fixtures of a module are made before any test's own ledger is there."""
    with new_ledger(ledgers):
        yield


@pytest.fixture(autouse=True)
def no_ledger_of_the_user(ledgers):
    """Each test pays from a ledger of its own."""
    with new_ledger(ledgers):
        yield


@pytest.fixture(autouse=True)
def the_program_stays_the_same():
    """Restore ``__main__`` after a test ran a page: a worker started later would run the page."""
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
