"""Fixtures of the ledger's tests."""

import pytest

from dpviz import Ledger


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")
