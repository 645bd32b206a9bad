"""No file stalls, exhausts or fools a reader: records, or one clear line that tells nothing."""

import resource
import signal
import time
import zlib
from contextlib import contextmanager

import numpy as np
import pytest

from dpviz.errors import DpvizError
from dpviz.private.load.points import columns as source_columns
from tests.fuzz.inputs import formats
from tests.fuzz.mutants import SECRET, byte_mutant

pytestmark = pytest.mark.slow

SECONDS = 10
BYTES = 10**9
FORMATS = formats()


@contextmanager
def watchdog():
    """Ends what takes longer than a file may, on a machine that is busy as well."""

    def bark(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(6 * SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def withstands(name, seed, folder):
    """Processor seconds that a mutant took; fails where it does harm."""
    suffix, content, mutation, read = FORMATS[name]
    mutation = byte_mutant if seed % 5 == 4 else mutation
    random = np.random.default_rng([zlib.crc32(name.encode()), seed])
    path = folder / f"{seed}.{suffix}"
    path.write_bytes(mutation(content, random))
    started = time.process_time()
    try:
        with watchdog():
            read(path)
    except DpvizError as error:
        words = str(error)
        assert "\n" not in words, seed
        assert len(words) < 700, seed
        is_public = name.partition(",")[0] in ("streets", "districts", "alphabet")
        assert is_public or is_a_name(path) or SECRET not in words, seed
    path.unlink()
    return time.process_time() - started


def is_a_name(path):
    """Return whether the mutation put the secret into a column name, which may be shown."""
    try:
        return any(SECRET in column.name for column in source_columns(path))
    except DpvizError:
        return False


def run(name, seeds, folder):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    slowest = max(withstands(name, seed, folder) for seed in seeds)
    assert slowest < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < BYTES


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 612), marks=pytest.mark.campaign)]
)
@pytest.mark.parametrize("name", FORMATS)
def test_mutants_of_every_input_format_are_read_or_refused(name, seeds, tmp_path):
    run(name, seeds, tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_the_seeds_are_sound(name, tmp_path):
    suffix, content, _, read = FORMATS[name]
    path = tmp_path / f"seed.{suffix}"
    path.write_bytes(content)
    read(path)
