"""Fixtures of tests and doctests alike: a plugin, since doctests stand outside this folder."""

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
