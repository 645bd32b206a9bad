"""How long Ctrl-C takes in every long command; run on demand.

``uv run python -m tests.benchmarks.bench_cancel`` runs each command once to its end, then anew with
SIGINT at moments spread over that time, and writes the table of ``assets/speed.md``.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .pages import write_measured

CODE = "import sys; sys.argv[0] = 'dpviz'; from dpviz_command import program; program()"
RECORDS = 1_000_000
POINTS = "--bounds=0,0,1,1 --public -o out.parquet"
TRIPS = "generate:3000 --graph nodes.csv,edges.csv --crs none"
COMMANDS = {
    "build, CSV": f"build p.csv {POINTS}",
    "build, Parquet": f"build p.parquet {POINTS}",
    "build, GeoPackage": f"build p.gpkg {POINTS}",
    "build, folder by DuckDB": f"build folder {POINTS}",
    "build, kdtree": f"build p.parquet {POINTS} --method kdtree",
    "build, dawa": f"build p.parquet {POINTS} --method dawa",
    "build, quadtree of height 10": f"build p.parquet {POINTS} --method quadtree --set height=10",
    "roads build": f"roads build {TRIPS} --public -o roads.parquet",
    "sequences build": "sequences build visits.txt --alphabet a,b,c --public -o visits.parquet",
    "plan": "plan --bounds=0,0,1,1 --want 'any 10 km2 +-100'",
    "evaluate": "evaluate city-50k --public --queries 1000 -o rows.csv --repeats 2",
    "match": "match city.parquet city.parquet --within 100",
    "share": "share city.parquet -o share.html",
    "report": "report city.parquet -o report.html",
}


def prepare(folder):
    """The files of the commands."""
    random = np.random.default_rng(0)
    points = np.round(random.beta(2, 5, (RECORDS, 2)), 6)
    table = pa.table({"lon": points[:, 0], "lat": points[:, 1]})
    (folder / "folder").mkdir()
    pyarrow.csv.write_csv(table, folder / "p.csv")
    for name in ("p.parquet", "folder/a.parquet"):
        pyarrow.parquet.write_table(table, folder / name)
    few = geopandas.points_from_xy(*points[:200_000].T, crs="EPSG:4326")
    geopandas.GeoDataFrame(geometry=few).to_file(folder / "p.gpkg")
    side = 40
    nodes = [f"{k},{k % side},{k // side}" for k in range(side * side)]
    pairs = [(k, k + 1) for k in range(side * side) if k % side < side - 1]
    pairs += [(k, k + side) for k in range(side * (side - 1))]
    edges = [f"{k},{a},{b},1" for k, (a, b) in enumerate(pairs)]
    (folder / "nodes.csv").write_text("\n".join(["node,x,y", *nodes]))
    (folder / "edges.csv").write_text("\n".join(["edge,src,dst,length", *edges]))
    letters = random.choice(list("abc"), (200_000, 8))
    (folder / "visits.txt").write_text("\n".join(map(" ".join, letters)))
    start("build city-50k -o city.parquet", folder).communicate()


def start(words, folder):
    for output in ("rows.csv", "rows.plan.json"):  # an evaluation would go on from there
        (folder / output).unlink(missing_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *shlex.split(words)],
        cwd=folder,
        env={**os.environ, "DPVIZ_LEDGER": str(folder / "ledger.sqlite")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def used(process):
    """Seconds of processor time so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(words, folder, after):
    """Seconds until the end, and of the processor; None where it had ended before."""
    process = start(words, folder)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        before = last = used(process)
        sent = time.perf_counter()
        os.killpg(process.pid, signal.SIGINT)
        while process.poll() is None:
            last = max(last, used(process))
            time.sleep(0.005)
        seconds = time.perf_counter() - sent
        lines = process.stderr.read().decode().splitlines()
        if process.returncode == 130 and lines[-1] == "cancelled":
            return seconds, last - before
        assert process.returncode == 0, lines  # it was ending
    finally:
        process.stderr.close()
    return None


def row(name, words, folder, moments):
    began = time.perf_counter()
    whole = start(words, folder)
    _, error = whole.communicate()
    assert whole.returncode == 0, error.decode()
    length = time.perf_counter() - began
    times = [1.0, *(length * (k + 1) / (moments + 1) for k in range(moments))]
    ends = [end for after in times if (end := interrupted(words, folder, after)) is not None]
    seconds, spent = np.array(ends).T
    return (
        f"| {name} | {length:.1f} s | {len(ends)} | {np.median(seconds):.2f} s "
        f"| {seconds.max():.2f} s | {spent.max():.2f} s | {os.getloadavg()[0]:.0f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=5)
    moments = parser.parse_args().moments
    os.nice(5)
    lines = [
        "| command | whole | interrupts | median | longest | processor, most | load |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as name:
        folder = Path(name)
        prepare(folder)
        for command, words in COMMANDS.items():
            lines.append(row(command, words, folder, moments))
            print(lines[-1], flush=True)
    write_measured("speed.md", "bench_cancel", lines)


if __name__ == "__main__":
    main()
