"""Fixtures of tests on two neighbouring sources: fixed secrets, and where both stand."""

import pytest

from dpviz.private.load import aggregation, bounding


@pytest.fixture
def one_key(monkeypatch):
    """Both readings draw the same key; that it is secret and fresh is tested elsewhere."""
    monkeypatch.setattr(bounding, "fresh_key", lambda: b"k" * 16)


@pytest.fixture
def one_salt(monkeypatch):
    """Both queries of an engine have the same salt."""
    monkeypatch.setattr(aggregation.secrets, "token_hex", lambda size: "salt")


@pytest.fixture
def folders(tmp_path):
    """One salt for each of the two."""
    both = tmp_path / "one", tmp_path / "two"
    for each in both:
        each.mkdir()
    return both
