"""Spark where no session is active: dpviz starts one of its own and ends it."""

import pytest

import dpviz
from tests.private.load.engines.cases import CASES


@pytest.mark.slow
def test_the_command_starts_and_ends_a_session_of_its_own(without_session):
    folder, code, output, errors, still_runs = without_session
    assert code == 0, errors
    assert "NOT PRIVATE: simulated noise" in output
    assert "FutureWarning" not in errors
    assert not still_runs
    assert [each.name for each in folder.iterdir()] == ["r.parquet"]
    assert dpviz.read(folder / "r.parquet").header.source == "day_2"
    box = CASES["plane0"].domain.bounds
    assert abs(dpviz.read(folder / "r.parquet").count(box).count[0] - 1000) < 200
