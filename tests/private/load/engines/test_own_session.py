"""Spark in a process without a session: dpviz starts one of its own and ends it."""

import subprocess
import sys

import pytest

import dpviz
from tests.private.load.engines.cases import CASES


@pytest.mark.slow
def test_the_command_starts_and_ends_a_session_of_its_own(java, folders, tmp_path):
    case, output = CASES["plane0"], tmp_path / "r.parquet"
    box = ",".join(map(repr, case.domain.bounds))
    words = ["spark://local", "--table", str(folders / "plane0" / "day=2"), f"--bounds={box}"]
    code = "from dpviz.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "build", *words, "--public", "--seed", "1", "-o", output],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "NOT PRIVATE: simulated noise" in done.stdout
    assert "FutureWarning" not in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["r.parquet"]
    answers = dpviz.read(output).count(case.domain.bounds)
    assert abs(answers.count[0] - 1000) < 200
