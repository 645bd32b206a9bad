"""A year of a city: a million records by ward, day and category, from each source; on demand.

``uv run python -m tests.benchmarks.bench_tables`` writes the records as CSV, Parquet and a database
of DuckDB, and to a PostgreSQL of its own (it needs PostgreSQL with PostGIS, and Java for Spark),
builds the table from each by the command line, and writes the table of ``assets/speed.md``.
Processor seconds are of all processes of the command, and of the server beside it.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

import dpviz
from tests.private.load.engines import servers
from tests.wards import voronoi

from .pages import fields_of, seconds_of, shown, write_measured

BOX = dpviz.Domain((-74.3, 40.45), (-73.6, 41.0), ("lon", "lat"))
MODES = ("bike", "walk", "bus", "car", "tram")
FRAME = (
    *("--areas=wards.gpkg", "--levels=city,district,ward"),
    *("--kind=mode", f"--kinds={','.join(MODES)}"),
    *("--time=at", "--every=1d", "--period=2024-01-01,2024-12-31"),
)
PERSONS = ("--unit=who", "--max-per-unit=10")


def records(rows):
    """Clusters as towns are, over the year; persons of whom some have many records."""
    random = np.random.default_rng(0)
    heads = random.uniform(BOX.lower, BOX.upper, (400, 2))
    places = heads[random.integers(0, 400, rows)] + random.normal(0, 0.02, (rows, 2))
    lon, lat = np.clip(places, BOX.lower, BOX.upper).round(6).T
    moments = np.datetime64("2024-01-01", "us") + random.integers(0, 365 * 86_400, rows) * 1_000_000
    return pa.table(
        {
            "lon": lon,
            "lat": lat,
            "at": pa.array(moments, pa.timestamp("us", "UTC")),
            "mode": random.choice(MODES, rows),
            "who": (rows // 10 * random.random(rows) ** 2).astype(np.int64),
            "fare": random.gamma(2, 8, rows).round(2),
        }
    )


def write(rows):
    """The records and 1,000 wards in 32 districts, in the current folder."""
    table = records(rows)
    pq.write_table(table, "visits.parquet")
    pq.write_table(table.slice(0, 1), "one.parquet")
    pv.write_csv(table, "visits.csv")
    with duckdb.connect("visits.duckdb") as db:
        db.execute("CREATE TABLE visits AS FROM 'visits.parquet'")
    areas = voronoi(BOX, 1000, 0)
    rows = range(areas.first_leaf, len(areas))
    names = {
        "ward": [areas.names[row] for row in rows],
        "district": [areas.names[areas.parent[row]] for row in rows],
        "city": "all",
    }
    geopandas.GeoDataFrame(names, geometry=areas.shapes, crs=4326).to_file("wards.gpkg")


def copy(url):
    """The records as a table of PostgreSQL."""
    columns = "lon float8, lat float8, at timestamptz, mode text, who bigint, fare float8"
    with servers.connected(url) as db:
        db.execute(f"CREATE TABLE visits ({columns})".encode())
        with db.cursor().copy("COPY visits FROM STDIN (FORMAT csv, HEADER true)") as target:
            target.write(Path("visits.csv").read_bytes())


def descendants(number):
    found = [str(number)]
    for child in Path(f"/proc/{number}/task/{number}/children").read_text().split():
        found += descendants(child)
    return found


def sampled(number, cpu):
    """Memory in GB that a process and its descendants have now; their seconds go to ``cpu``."""
    kilobytes = 0
    try:
        for each in descendants(number):
            cpu[each] = seconds_of(fields_of(each)[11:13])
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            kilobytes += int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    except (OSError, StopIteration):
        pass  # it has ended meanwhile
    return kilobytes / 2**20


def measured(*words, server=None):
    """Run a command: processor seconds and GB at the peak."""
    before = 0.0 if server is None else seconds_of(fields_of(server)[11:15])
    peak, cpu = 0.0, {}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = subprocess.Popen([sys.executable, "-m", "dpviz", *words], **quiet)
    while command.poll() is None:
        peak = max(peak, sampled(command.pid, cpu))
        time.sleep(0.02)
    assert command.returncode == 0, words
    after = 0.0 if server is None else seconds_of(fields_of(server)[11:15])
    return sum(cpu.values()) + after - before, peak


def report():
    yield "| source | processor | memory |"
    yield "|---|---|---|"
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as folder:
        os.chdir(folder)
        os.environ["XDG_DATA_HOME"] = folder
        write(1_000_000)
        server = servers.serve_postgres(servers.installed_postgres())
        url = next(server).url
        copy(url)
        children = ["pgrep", "-P", str(os.getpid()), "postgres"]
        postgres = subprocess.run(children, capture_output=True, text=True).stdout.split()[0]
        spark = "spark://local", f'--table=parquet."{folder}/visits.parquet"'
        start = "spark://local", f'--table=parquet."{folder}/one.parquet"'
        duck, remote = ("duckdb:///visits.duckdb", "--table=visits"), (url, "--table=visits")
        for name, words, beside in (
            ("CSV", ("visits.csv",), None),
            ("CSV, with sums of a value", ("visits.csv", "--sum=fare", "--clip=0,50"), None),
            ("Parquet", ("visits.parquet",), None),
            ("Parquet, 10 records per person", ("visits.parquet", *PERSONS), None),
            ("DuckDB", duck, None),
            ("DuckDB, 10 records per person", (*duck, *PERSONS), None),
            ("PostgreSQL", remote, postgres),
            ("PostgreSQL, 10 records per person", (*remote, *PERSONS), postgres),
            ("Spark", spark, None),
            ("Spark, a single record", start, None),
        ):
            Path("table.parquet").unlink(missing_ok=True)
            dataset = name.replace(",", "")
            build = ("build", *words, *FRAME, f"--dataset={dataset}", "-o", "table.parquet")
            seconds, peak = measured(*build, server=beside)
            yield f"| {name} | {seconds:.1f} s | {peak:.2f} GB |"
        export = ("export", "table.parquet", "--all-nodes", "-o", "table.csv")
        seconds, peak = measured(*export)
        yield f"| 2.3 million rows to CSV | {seconds:.1f} s | {peak:.2f} GB |"
        server.close()


if __name__ == "__main__":
    write_measured("speed.md", "bench_tables", shown(report()))
