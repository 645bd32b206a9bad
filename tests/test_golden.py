"""Releases written by every earlier version are read, with every value in place."""

import json

import pytest

import dpviz
from dpviz.network import files as road_files
from dpviz.release import SCHEMA
from tests.golden.make import HERE, facts

FOLDERS = sorted(HERE.glob("schema-*"))


def test_the_present_schema_has_its_golden_files():
    """Where this fails, the schema is new: run ``python -m tests.golden.make`` once."""
    assert [folder.name for folder in FOLDERS] == [
        f"schema-{number}" for number in range(1, SCHEMA + 1)
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("name", ["points", "trips", "roads"])
def test_an_old_file_is_read_as_it_was_written(folder, name):
    read = road_files.read if name == "roads" else dpviz.read
    found = facts(read(folder / f"{name}.parquet"))
    wanted = json.loads((folder / "facts.json").read_text())[name]
    assert found == pytest.approx(wanted, rel=1e-12)
