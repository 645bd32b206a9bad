"""Files to an index, beside DuckDB's read of the same columns; run on demand.

``uv run python -m tests.benchmarks.bench_reading`` writes five million records as CSV and sixteen
million as Parquet to a temporary folder (350 MB), reads each in processes of their own, and writes
the table of ``assets/docs/speed.md``.
"""

import resource
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import dpviz
from dpviz.files import sandbox
from tests.vault import index_of

from .pages import apart, shown, write_measured

DOMAIN = dpviz.Domain((0, 0), (1, 1))
CHUNK = 1_000_000


def chunks(rows):
    """Records in the lower left, rounded to a decimetre, a million at a time."""
    random = np.random.default_rng(0)
    for _ in range(rows // CHUNK):
        points = np.round(random.beta(2, 5, (CHUNK, 2)), 6)
        yield pa.table({"lon": points[:, 0], "lat": points[:, 1]})


def write(path, rows):
    schema = pa.schema([("lon", pa.float64()), ("lat", pa.float64())])
    writer = {".csv": pyarrow.csv.CSVWriter, ".parquet": pyarrow.parquet.ParquetWriter}
    with writer[path.suffix](path, schema) as file:
        for chunk in chunks(rows):
            file.write_table(chunk)


def ours(path):
    return index_of(dpviz.load(path, DOMAIN)).total


def theirs(path):
    read = f"SELECT lon, lat FROM '{path}'"
    return len(duckdb.connect().execute(read).fetchnumpy()["lon"])


def sorted_codes(path):
    """The same number of 64-bit codes, sorted: the minimum of any index."""
    rows = 5 * CHUNK if path.suffix == ".csv" else 16 * CHUNK
    codes = np.random.default_rng(1).integers(0, 2**52, rows, dtype=np.uint64)
    start = time.process_time()
    codes.sort()
    return time.process_time() - start


def measured(work, path):
    """Processor seconds and peak memory in MB, in this process."""
    sandbox.CAN_FORK = False  # memory of child processes counts here
    start = time.process_time()
    result = work(path)
    spent = result if work is sorted_codes else time.process_time() - start
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def least(work, path, runs=3):
    """The least time of a few fresh processes, and the memory of the last."""
    seconds, peaks = zip(*(apart(measured, work, path) for _ in range(runs)), strict=True)
    return min(seconds), peaks[-1]


def report():
    yield "| file | index | DuckDB | index ÷ DuckDB | index ÷ `np.sort` | memory | DuckDB's |"
    yield "|---|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as folder:
        for name, rows in (("five.csv", 5 * CHUNK), ("sixteen.parquet", 16 * CHUNK)):
            path = Path(folder) / name
            write(path, rows)
            (mine, memory), (duck, held) = least(ours, path), least(theirs, path)
            codes, _ = least(sorted_codes, path, runs=1)
            kind = "CSV" if path.suffix == ".csv" else "Parquet"
            yield (
                f"| {kind}, {rows:,} records | {mine:.2f} s | {duck:.2f} s | {mine / duck:.1f} "
                f"| {mine / codes:.1f} | {memory:.0f} MB | {held:.0f} MB |"
            )


if __name__ == "__main__":
    write_measured("speed.md", "bench_reading", shown(report()))
