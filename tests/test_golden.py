"""Files that were written once are read with every value in place."""

import json

import pytest

import dpviz
from dpviz.releases.header import SCHEMA
from tests.golden.make import HERE, MADE, facts

FOLDER = HERE / f"schema-{SCHEMA}"
WANTED = json.loads((FOLDER / "facts.json").read_text())


@pytest.mark.parametrize("name", MADE)
def test_a_stored_file_is_read_as_it_was_written(name):
    """If the folder is missing, the schema is new: run ``python -m tests.golden.make`` once."""
    read = facts(dpviz.read(FOLDER / f"{name}.parquet"))
    assert set(read) == set(WANTED[name])
    for what, value in WANTED[name].items():
        assert read[what] == pytest.approx(value, rel=1e-12), what
