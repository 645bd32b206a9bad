"""How long Ctrl-C takes in every long command; run on demand.

``uv run python -m tests.benchmarks.bench_cancel`` runs each command once to its end, then anew with
SIGINT at moments spread over that time, and writes the table of ``assets/speed.md``. Some get
SIGTERM (``--term``), and busy loops run beside them (``--busy 3``). What is left behind fails it.
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
import shapely

from .pages import fields_of, seconds_of, write_measured

DPVIZ = Path(sys.executable).with_name("dpviz")
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
    "build, trips": f"build {TRIPS} --public -o out.parquet",
    "build, sequences": "build visits.txt --alphabet a,b,c --public -o out.parquet",
    "plan": "plan --bounds=0,0,1,1 --want 'any 10 km2 +-100'",
    "build, areas": f"build p.parquet {POINTS} --areas squares.geojson --name name",
    "evaluate": "evaluate city-50k --public --queries 1000 -o out.csv --repeats 2",
    "evaluate, 2 processes": (
        "evaluate city-50k --public --queries 1000 -o out.csv --repeats 2 --processes 2"
    ),
    "evaluate, sequences": ("evaluate visits.txt --alphabet a,b,c --public -o out.csv --repeats 2"),
    "audit": "audit privtree --trials 4000",
    "reproduce": "reproduce fanout -o figures --repeats 1",
    "match": "match city.parquet city.parquet --within 100 -o out.parquet",
    "query, every area": "query squares.parquet --areas",
    "share": "share city.parquet -o out.html",
    "report": "report city.parquet -o out.html",
    "export": "export city.parquet -o out.gpkg",
}
RESUMED = {"out.csv"}
"""What an evaluation leaves on purpose: whole rows, from which the same command goes on."""


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
    boxes = shapely.box(*np.divmod(np.arange(2500), 50), *np.add(np.divmod(np.arange(2500), 50), 1))
    squares = geopandas.GeoSeries(boxes, crs="EPSG:4326").affine_transform([0.02, 0, 0, 0.02, 0, 0])
    names = [f"square {k}" for k in range(len(squares))]
    geopandas.GeoDataFrame({"name": names}, geometry=squares).to_file(folder / "squares.geojson")
    (folder / "figures").mkdir()
    (folder / "tmp").mkdir()
    for words in (
        "build city-50k -o city.parquet",
        "build p.parquet --bounds=0,0,1,1 --public --areas squares.geojson --name name "
        "-o squares.parquet",
    ):
        process = start(words, folder)
        _, error = process.communicate()
        assert process.returncode == 0, error.decode()


def start(words, folder):
    for output in folder.glob("out*"):  # an evaluation would go on from there
        output.unlink()
    return subprocess.Popen(
        [DPVIZ, *shlex.split(words)],
        cwd=folder,
        env={
            **os.environ,
            "DPVIZ_LEDGER": str(folder / "ledger.sqlite"),
            "TMPDIR": f"{folder}/tmp",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def processor_time(process):
    """Seconds of processor time so far."""
    return seconds_of(fields_of(process.pid)[11:13])


def names(folder):
    return {str(each.relative_to(folder)) for each in folder.rglob("*")} - RESUMED


def interrupted(words, folder, after, number):
    """Seconds until the end, and of the processor; None where it had ended before."""
    process, before_it = start(words, folder), names(folder)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        before = last = processor_time(process)
        sent = time.perf_counter()
        os.killpg(process.pid, number)
        while process.poll() is None:
            last = max(last, processor_time(process))
            time.sleep(0.005)
        seconds = time.perf_counter() - sent
        lines = process.stderr.read().decode().splitlines()
        if process.returncode == 130 and lines[-1] == "cancelled":
            assert lines.count("cancelled") == 1, lines
            assert names(folder) - {"ledger.sqlite", "ledger.sqlite.seal"} <= before_it, words
            return seconds, last - before
        assert process.returncode == 0, lines  # it was ending
    finally:
        process.stderr.close()
    return None


def row(name, words, folder, moments, number):
    began = time.perf_counter()
    whole = start(words, folder)
    _, error = whole.communicate()
    assert whole.returncode == 0, error.decode()
    length = time.perf_counter() - began
    times = [1.0, *(length * (k + 1) / (moments + 1) for k in range(moments))]
    ends = [
        end for after in times if (end := interrupted(words, folder, after, number)) is not None
    ]
    seconds, spent = np.array(ends).T
    return (
        f"| {name} | {length:.1f} s | {len(ends)} | {np.median(seconds):.2f} s "
        f"| {seconds.max():.2f} s | {spent.max():.2f} s | {os.getloadavg()[0]:.0f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=5)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--term", action="store_true")
    parser.add_argument("--only", nargs="*", help="these commands; the page stays as it is")
    chosen = parser.parse_args()
    number = signal.SIGTERM if chosen.term else signal.SIGINT
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(chosen.busy)]
    os.nice(5)
    lines = [
        "| command | whole | interrupts | median | longest | processor, most | load |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="dpviz-bench-") as name:
        folder = Path(name)
        try:
            prepare(folder)
            for command in chosen.only or COMMANDS:
                words = COMMANDS[command]
                lines.append(row(command, words, folder, chosen.moments, number))
                print(lines[-1], flush=True)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    if not (chosen.only or chosen.term):
        write_measured("speed.md", "bench_cancel", lines)


if __name__ == "__main__":
    main()
