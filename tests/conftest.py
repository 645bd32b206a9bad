"""Fixtures of the whole suite."""

import os
import uuid
from pathlib import Path

import pytest
from hypothesis import settings

# Compiled code is slow on its first call only, and a failure must come back at the next run.
settings.register_profile("dpviz", deadline=None, derandomize=True)
settings.load_profile("dpviz")


@pytest.fixture(scope="session")
def ledgers(tmp_path_factory) -> Path:
    """A folder for the ledgers of this run."""
    return tmp_path_factory.mktemp("ledgers")


@pytest.fixture(autouse=True)
def no_ledger_of_the_user(ledgers, monkeypatch):
    """Each test pays from a ledger of its own; processes that it starts inherit it."""
    monkeypatch.setenv("DPVIZ_LEDGER", str(ledgers / f"{uuid.uuid4().hex}.sqlite"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it are skipped without."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder}: set DPVIZ_SHARED_DATA")
    return folder
