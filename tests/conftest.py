"""Fixtures of the whole suite."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Compiled code is slow on its first call only, and a failure must come back at the next run.
settings.register_profile("dpviz", deadline=None, derandomize=True)
settings.load_profile("dpviz")


def pytest_xdist_auto_num_workers(config) -> int:
    """The whole suite on every core; chosen tests in one process, where they start at once."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, 4)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it are skipped without."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder}: set DPVIZ_SHARED_DATA")
    return folder
