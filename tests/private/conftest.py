"""What tests of the ledger share."""

import pytest

from dpviz import Ledger


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")
