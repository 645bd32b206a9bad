"""What plans are worth on data that they have not seen; run on demand, and again to go on.

``uv run python -m tests.benchmarks.plans --data FOLDER -o plans.csv --seconds 600`` draws cases one
after another until the time is over: a data set, a wish, and the proxy of the records (the
synthetic city; a public table of others of the same population; an earlier release at ε = 0.5). It
plans from that alone; then the data themselves say how likely the wish holds there, and what ε an
oracle, who knows them and has the same methods, would have chosen. Rows are appended; a page with
the table is written beside them.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import dpviz
from dpviz.errors import ParameterError
from dpviz.evaluation.truth import places_of_records
from dpviz.planning.proxy import proxy_records
from dpviz.planning.search import caution_of, least, prices
from dpviz.planning.trial import KNOWN, Trial
from dpviz.wishes import METRES_PER_DEGREE, parse_all

DATA = {
    "codepoint_london": (-0.53, 51.27, 0.35, 51.70),
    "uber_nyc_pickups_2014": (-74.30, 40.45, -73.60, 41.00),
    "beijing_taxi_30k": (115.4, 39.4, 117.6, 41.1),
    "codepoint_gb": (-8.7, 49.8, 1.8, 60.9),
    "foursquare_us_checkins": (-125.0, 24.0, -66.0, 50.0),
}
STANDS = ("synthetic", "table", "release")
RECORDS = 40_000
"""Of each data set, so that a case takes seconds."""

AT_MOST = 10.0
RATIO = 1.3
COLUMNS = ("case", "data", "proxy", "wish", "epsilon", "method", "likely", "oracle", "holds")


def data_set(path, bounds):
    """Records and others of the same population, as handles."""
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["lon", "lat"])
    points = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    points = points[((points >= low) & (points < high)).all(axis=1)]
    chosen = np.random.default_rng(0).permutation(len(points))[: 2 * RECORDS]
    half = len(chosen) // 2
    domain = dpviz.Domain.from_bounds(bounds)
    return [
        dpviz.from_points(points[part], domain, public=True)
        for part in (chosen[:half], chosen[half:])
    ]


def wish_of(handle, number):
    """A wish as people have them: a rectangle, or any square, within a share of the records."""
    random = np.random.default_rng([1, number])
    domain = handle.domain
    low, high = np.array(domain.lower), np.array(domain.upper)
    tolerance = round(RECORDS * 10 ** random.uniform(-2.5, -1.3))
    if random.random() < 0.5:
        [centre] = places_of_records(handle, 1, number)
        sides = (high - low) * 10 ** random.uniform(-1.3, -0.3, 2)
        west, south = np.clip(centre - sides / 2, low, high - sides)
        rect = (west, south, west + sides[0], south + sides[1])
        return f"rect={','.join(f'{side:.5f}' for side in rect)} ±{tolerance}"
    across = np.cos(np.radians(np.mean([low[1], high[1]])))
    surface = (high - low).prod() * across * (METRES_PER_DEGREE / 1000) ** 2
    return f"any {surface * 10 ** random.uniform(-4, -2.5):.4f} km² ±{tolerance}"


def case(number, handles):
    """One row: the plan, and what the data say of it."""
    names = list(handles)
    name = names[number % len(names)]
    stand = STANDS[number // len(names) % len(STANDS)]
    records, others = handles[name]
    wish = wish_of(records, number)
    like = {"synthetic": None, "table": others}.get(stand)
    if stand == "release":
        like = dpviz.build(others, "privtree", 0.5, seed=number, ledger=None)
    proxy, _ = proxy_records(records.domain, RECORDS, like, number)
    asked, grid = parse_all([wish]), prices(AT_MOST)
    row = {"case": number, "data": name, "proxy": stand, "wish": wish}
    truth = Trial(records, asked, repeats=4, seed=1_000 + number, caution=KNOWN)
    try:
        how = {"caution": caution_of(like), "anywhere": like is None}
        candidate, epsilon = least(Trial(proxy, asked, repeats=4, seed=number, **how), grid)
    except ParameterError:
        return row | {"epsilon": "", "method": "refused", "likely": "", "oracle": "", "holds": ""}
    [likely] = truth.probabilities(candidate, epsilon)
    try:
        oracle = least(truth, grid)[1]
    except ParameterError:
        oracle = np.inf
    return row | {
        "epsilon": epsilon,
        "method": " ".join([candidate.name, *map(str, candidate.parameters.values())]),
        "likely": round(likely, 4),
        "oracle": oracle,
        "holds": int(likely >= asked[0].confidence),
    }


def page(rows):
    """The table, and what is true of it."""
    lines = [
        "# Plans, on data that they have not seen",
        "",
        "`uv run python -m tests.benchmarks.plans --data FOLDER -o plans.csv --seconds 600`, run "
        "again to go on. Each case is a data set (40,000 records of it), a wish and the proxy "
        "for the records. The promise holds where its probability on the data themselves, over the "
        "noise, is at least the 95 % that were wished for. The oracle knows the data and chooses "
        "among the same methods.",
        "",
        "| stands in | cases | refused | the promise holds | median ε / oracle's "
        "| at most 1.3 times |",
        "|---|---|---|---|---|---|",
    ]
    for stand in (*STANDS, "all"):
        chosen = [row for row in rows if stand in (row["proxy"], "all")]
        planned = [row for row in chosen if row["epsilon"] != ""]
        if not planned:
            continue
        ratios = np.array([float(row["epsilon"]) / float(row["oracle"]) for row in planned])
        holds = np.mean([int(row["holds"]) for row in planned])
        lines.append(
            f"| {stand} | {len(chosen)} | {len(chosen) - len(planned)} | {holds:.0%} "
            f"| {np.median(ratios):.2f} | {np.mean(ratios <= RATIO):.0%} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=Path("plans.csv"))
    parser.add_argument("--cases", type=int, default=240)
    parser.add_argument("--seconds", type=float, default=600)
    chosen = parser.parse_args()
    started = time.monotonic()
    rows = []
    if chosen.output.exists():
        with chosen.output.open(newline="") as file:
            rows = list(csv.DictReader(file))
    handles = {
        name: data_set(chosen.data / f"{name}.parquet", bounds) for name, bounds in DATA.items()
    }
    for number in range(len(rows), chosen.cases):
        if time.monotonic() - started > chosen.seconds:
            break
        rows.append(case(number, handles))
        with chosen.output.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        chosen.output.with_suffix(".md").write_text(page(rows))
        print(*rows[-1].values(), sep="\t", flush=True)


if __name__ == "__main__":
    main()
