"""Fixtures of the whole suite."""

import atexit
import gc
import os
import zlib
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Almost nothing that is loaded first becomes garbage: collecting it took a fifth of loading.
gc.disable()

# Compiled code is slow on its first call only, and a failing example must be repeatable.
# A busy machine generates examples slowly, which is no failure.
settings.register_profile(
    "dpviz",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dpviz")


def pytest_xdist_auto_num_workers(config) -> int:
    """The whole suite on every core; chosen tests in one process, where they start at once.

    One more than there are cores: who drives a browser mostly waits for it.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, 4) + 1


def drives_a_browser(item):
    return "browser" in getattr(item, "fixturenames", ())


def starts_java(item):
    case = getattr(item, "callspec", None)
    values = [] if case is None else [each for each in case.params.values() if type(each) is str]
    return "java" in getattr(item, "fixturenames", ()) or "spark" in values


@pytest.hookimpl(wrapper=True, tryfirst=True)  # first: pytest selects tests by marks afterwards
def pytest_collection_modifyitems(config, items):
    """Mark campaigns and tests that start Java or a browser as slow, but for those marked smoke."""
    for item in items:
        drives = drives_a_browser(item) and not item.get_closest_marker("smoke")
        if drives or starts_java(item) or item.get_closest_marker("campaign"):
            item.add_marker(pytest.mark.slow)
    yield
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = arranged(items, workers) if workers > 1 else items


def arranged(items, workers):
    """Tests in the order in which workers share them out: each starts with one equal part.

    Types and Java begin the first part and the browser the second one, so that one Java and one
    browser serve all of their tests, and short tests come last.
    """
    heads = [
        [each for each in items if each.name.endswith("[mypy]") or starts_java(each)],
        [each for each in items if drives_a_browser(each)],
    ]
    first = {id(each) for head in heads for each in head}
    rest = [each for each in items if id(each) not in first]
    order, size = [], len(items) // workers
    for head in heads:
        many = max(size - len(head), 0)
        order += head + rest[:many]
        rest = rest[many:]
    return order + rest


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Garbage is looked for again once all is loaded; also by the process that only hands out."""
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Freeze all loaded objects, so that garbage collections skip them.

    Nor need there be one after every 700 objects: that took a twentieth of the whole suite.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    # Compiled libraries report remaining objects as leaks, also frozen ones. Not earlier:
    # pytest collects garbage of tests twice before this hook.
    atexit.register(gc.unfreeze)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with _noise(item, item.path.name):  # fixtures of a module are built at its first test
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with _noise(item, item.nodeid):
        return (yield)


def _noise(item, seed):
    """The bits of noise fit for release come from a seed in the tests' own process.

    What fails once in a thousand runs would be red every week in a suite of thousands.
    """
    from dpviz.private.mechanisms.sources import SecureNoise

    if item.get_closest_marker("entropy"):
        return nullcontext()
    random = np.random.default_rng(zlib.crc32(seed.encode()))
    bits = partial(random.integers, 0, 2**64, dtype=np.uint64)
    return patch.object(SecureNoise, "words", lambda _, n: bits(n))


@pytest.fixture
def in_this_process(monkeypatch):
    """Files are read without a child: what that would hide, such as a crash, is seen, and a busy
    machine does not run into its limit of time."""
    monkeypatch.setattr("dpviz.files.sandbox.CAN_FORK", False)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; tests that need it are skipped without."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder}: set DPVIZ_SHARED_DATA")
    return folder
