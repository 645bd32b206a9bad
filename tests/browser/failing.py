"""The app whose reading or build fails where it is asked to.

A file, which the environment names, says what fails: a step, of how many records, and their file,
which the failure quotes. Noise is from a seed: an honest noisy total is the exact one at times, not
at this.
"""

import os
from pathlib import Path

import numpy as np

from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.sources import SecureNoise
from dpviz.ui.shared.shell import run


def failing(step, works):
    def fail(first, *arguments, **options):
        records = len(arguments[0]) if step == "from_codes" else first.total
        now, number, path = Path(os.environ["DPVIZ_TEST_SWITCH"]).read_text().split(maxsplit=2)
        if (now, int(number)) != (step, records):  # other mouse events are synthetic
            return works(first, *arguments, **options)
        raise RuntimeError(f"{Path(path).read_text().splitlines()[1]} of {records}")

    return fail


if __name__ == "__main__":
    draws = np.random.default_rng(8)
    SecureNoise.words = lambda noise, n: draws.integers(0, 2**64, n, dtype=np.uint64)
    for name in ("from_codes", "first_rows"):
        method = getattr(PointIndex, name)
        if not hasattr(method, "fails"):
            replaced = failing(name, method)
            replaced.fails = True
            setattr(PointIndex, name, replaced)
    run()
