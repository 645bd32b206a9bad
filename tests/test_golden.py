"""Releases written by every earlier version are read, with every value in place."""

import json

import pytest

from dpviz.releases.header import SCHEMA
from tests.golden.make import HERE, MADE, facts, room

FOLDERS = sorted(HERE.glob("schema-*"))


def test_the_present_schema_has_its_golden_files():
    """Where this fails, the schema is new: run ``python -m tests.golden.make`` once."""
    assert [folder.name for folder in FOLDERS] == [
        f"schema-{number}" for number in range(1, SCHEMA + 1)
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("name", sorted(MADE))
def test_an_old_file_is_read_as_it_was_written(folder, name):
    found = facts(room(name).read(folder / f"{name}.parquet"))
    wanted = json.loads((folder / "facts.json").read_text())[name]
    assert set(found) == set(wanted)
    for what, value in wanted.items():
        assert found[what] == pytest.approx(value, rel=1e-12), what
