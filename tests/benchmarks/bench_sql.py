"""A folder of Parquet larger than memory should be; run on demand.

``uv run python -m tests.benchmarks.bench_sql`` writes 100 million clustered records of two million
persons to a temporary folder (2 GB), counts them by cell with and without a bound per person, each
in a process of its own, prints seconds and peak memory, and deletes the folder.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpviz
from tests.benchmarks.bench_speed import DOMAIN
from tests.benchmarks.pages import apart
from tests.vault import index_of

CHUNK = 5_000_000
PERSONS = 2_000_000


def records(rows, random, centres, weight):
    """Clusters of all sizes, as towns are; some persons have many records, most few."""
    chosen = random.choice(len(centres), rows, p=weight / weight.sum())
    spread = 0.0005 * (1 + np.sqrt(weight))[chosen, None]
    points = np.round(centres[chosen] + random.normal(size=(rows, 2)) * spread, 5)
    person = (PERSONS * random.random(rows) ** 2).astype(np.int32)
    return pa.table({"lon": points[:, 0], "lat": points[:, 1], "person": person})


def write(folder, rows):
    random = np.random.default_rng(0)
    centres = random.uniform([-8.0, 50.2], [1.2, 60.0], size=(4000, 2))
    weight = random.pareto(1.1, len(centres)) + 0.05
    for number, start in enumerate(range(0, rows, CHUNK)):
        table = records(min(CHUNK, rows - start), random, centres, weight)
        pq.write_table(table, folder / f"{number}.parquet")


def measured(folder, options):
    """Load in this process: seconds, seconds of CPU, GB at the peak, records and cells."""
    started = time.perf_counter()
    handle = dpviz.load(folder, DOMAIN, public=True, **options)
    seconds = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20
    return seconds, cpu, peak, index_of(handle).total, len(index_of(handle).codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as name:
        started = time.perf_counter()
        write(Path(name), rows)
        print(f"{rows:,} records written in {time.perf_counter() - started:.0f} s", flush=True)
        for what, options in (
            ("no bound", {}),
            ("10 records per person", {"unit": "person", "max_per_unit": 10}),
        ):
            seconds, cpu, peak, records, cells = apart(measured, Path(name), options)
            print(
                f"{what}: {seconds:.1f} s ({cpu:.0f} s of CPU), {peak:.2f} GB, "
                f"{records:,} records, {cells:,} cells",
                flush=True,
            )


if __name__ == "__main__":
    main()
