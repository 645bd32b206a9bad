"""Test plans on data they have not seen: on demand; a repeated run continues.

``uv run python -m tests.benchmarks.plans --data FOLDER -o plans.csv`` takes cases one after
another: a data set, wishes (any square; the whole area and any square), and what is known of the
records (their number and how many a square holds; or a public table of others of the same
population). It plans from that alone. Then the data themselves say which share of the squares the
release keeps, over 8 builds, and what the least ε would have been. Rows are appended; a page with
the table is written beside them.
"""

import argparse
import bisect
import csv
import itertools
import time
from pathlib import Path

import numpy as np

import dpviz
from dpviz.domain.crs import METRES_PER_DEGREE
from dpviz.errors import ParameterError
from dpviz.evaluation.truth import exact_counts, exact_total, places_of_records
from dpviz.planning.proxy import scenes_of
from dpviz.planning.search import candidates_for, cheapest_candidate, prices
from dpviz.planning.trial import Trial
from dpviz.queries.wishes import parse_all, squares
from tests.vault import index_of

TUNED = {
    "codepoint_london": (-0.53, 51.27, 0.35, 51.70),
    "beijing_taxi_30k": (115.4, 39.4, 117.6, 41.1),
    "foursquare_us_checkins": (-125.0, 24.0, -66.0, 50.0),
    "nyc_taxi_4d": (-74.30, 40.45, -73.60, 41.00),
    "checkin": (0.0, 50.0, 1.5, 51.0),
    "Loan_2D": (0.0, 50.0, 1.5, 51.0),
}
HELD_OUT = {
    "codepoint_gb": (-2.6, 53.2, -1.2, 54.0),
    "uber_nyc_pickups_2014": (-74.30, 40.45, -73.60, 41.00),
    "gowalla_userpoi": (-11.0, 35.0, 30.0, 62.0),
    "twitter": (-125.0, 24.0, -66.0, 50.0),
    "Stroke_2D": (0.0, 50.0, 1.5, 51.0),
    "BeijingTaxiE": (0.0, 50.0, 1.5, 51.0),
}
"""The figures of the planner were chosen on the first six; no plan was made for the others before.

The domains of histograms are made up, but for their sizes."""

DATA = TUNED | HELD_OUT
KINDS = ("square", "whole and square", "square, like a table")
RECORDS = 15_000
"""Of each data set at most, and as many others, so that a case takes seconds."""

SHARE, HELD, NEAR_HELD = 0.005, 100, 40
"""Squares of one share of the domain that hold so many records, and a tolerance: how far the least
ε differs between the sets where all that is public is the same."""

AT_MOST = 10.0
BUILDS = 8
RATIO = 1.3

COLUMNS = ("round", "data", "half", "kind", "wish", "epsilon", "method", "kept", "whole", "oracle")


def places(folder, name, bounds):
    """Longitudes and latitudes of all records of a data set, float64 (n, 2)."""
    import pyarrow.parquet as pq

    file = folder / f"{name}.parquet"
    if not file.exists():  # a histogram spreads its records evenly inside its cells
        counts = np.load(folder / "dpbench_hist2d.npz")[name]
        random = np.random.default_rng(0)
        size = min(2 * RECORDS, int(counts.sum()))
        cell = random.choice(counts.size, size, p=counts.ravel() / counts.sum())
        cells = np.stack(np.unravel_index(cell, counts.shape), axis=1)
        unit = (cells + random.random(cells.shape)) / counts.shape
        return np.array(bounds[:2]) + unit * np.subtract(bounds[2:], bounds[:2])
    x, y = ("dlon", "dlat") if name == "nyc_taxi_4d" else ("lon", "lat")
    table = pq.read_table(file, columns=[x, y])
    return np.stack([table[x].to_numpy(), table[y].to_numpy()], axis=1)


def data_set(folder, name):
    """Records and others of the same population, as handles."""
    bounds = DATA[name]
    points = places(folder, name, bounds)
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    points = points[((points >= low) & (points < high)).all(axis=1)]
    chosen = np.random.default_rng(0).permutation(len(points))[: 2 * RECORDS]
    half = len(chosen) // 2
    domain = dpviz.Domain.from_bounds(bounds)
    return [
        dpviz.from_points(points[part], domain, public=True)
        for part in (chosen[:half], chosen[half:])
    ]


def wishes_of(kind, others, number):
    """Wishes as people have them: a square within 3 to 30 % of what one holds, in one digit."""
    random = np.random.default_rng([2, number])
    domain = others.domain
    size = float(f"{surface(domain) * 10 ** random.uniform(-3.3, -2):.3g}")
    mean = exact_counts(others, squares(domain, places_of_records(others, 300, 1), size)).mean()
    tolerance = max(10, round(10 ** random.uniform(-1.5, -0.5) * mean))
    wish = f"any {size:.8f} km² of about {float(f'{mean:.1g}'):.0f} ±{tolerance}"
    if kind != "whole and square":
        return [wish]
    return [f"rect={','.join(map(str, domain.bounds))} ±{4 * tolerance}", wish]


def shares(truth, candidate, epsilon):
    """The share of the builds, or of the squares over builds, that keep each wish."""
    rows = [truth.odds(candidate, epsilon, row) for row in range(BUILDS)]
    kept = [[odds.mean() for odds in wishes] for wishes in rows]
    return np.mean(kept, axis=0)


def oracle(truth, grid):
    """The least ε of the methods, for one who knows the records."""

    def holds(candidate, epsilon):
        return bool((shares(truth, candidate, epsilon) >= truth.confidence).all())

    found = []
    for candidate in candidates_for(truth.scenes[0].domain, truth.wishes):
        ahead = grid[: bisect.bisect_left(grid, min(found, default=np.inf))]
        row = bisect.bisect_left(ahead, True, key=lambda epsilon: holds(candidate, epsilon))
        found += [ahead[row]] if row < len(ahead) else []
    return min(found, default=np.nan)


def case(folder, name, kind, number):
    """One row: the plan, and what the data say of it."""
    records, others = data_set(folder, name)
    asked = parse_all(wishes_of(kind, others, number))
    like = others if kind.endswith("table") else None
    count = exact_total(records) if like is None else None
    scenes, times, _ = scenes_of(others.domain, count, like, number, asked)
    row = dict.fromkeys(COLUMNS, "")
    row |= {"data": name, "half": "tuned" if name in TUNED else "held out", "kind": kind}
    row |= {"wish": "; ".join(str(wish) for wish in asked)}
    grid = prices(AT_MOST)
    row["oracle"] = oracle(Trial([records], asked, seed=1_000, as_map=True), grid)
    options = {"sampled": like is not None, "anywhere": like is None}
    trial = Trial(scenes, asked, times=times, seed=number, as_map=True, **options)
    try:
        candidate, epsilon = cheapest_candidate(trial, grid)
    except ParameterError:
        return row | {"method": "refused"}
    row |= {"epsilon": epsilon, "method": words(candidate)}
    fresh = Trial([records], asked, seed=2_000, as_map=True)
    kept = shares(fresh, candidate, epsilon)
    row["kept"] = round(kept[-1], 4)
    row["whole"] = round(kept[0], 4) if len(asked) > 1 else ""
    return row


def spread(folder, name):
    """The least ε for squares of :data:`HELD` records in :data:`SHARE` of the domain."""
    records, _ = data_set(folder, name)
    domain = records.domain
    size = float(f"{SHARE * surface(domain):.3g}")
    centres = places_of_records(records, 2_000, 1)
    mean = (exact_counts(records, squares(domain, centres, size)) - 1).mean()
    total = exact_total(records)
    chosen = np.random.default_rng(3).permutation(total)[: round(total * HELD / mean)]
    thinned = dpviz.from_points(every_place(records)[chosen], domain, public=True)
    asked = parse_all([f"any {size:.8f} km² ±{NEAR_HELD}"])
    return oracle(Trial([thinned], asked, seed=1_000, as_map=True), prices(AT_MOST))


def every_place(records):
    index = index_of(records)
    return records.domain.to_coordinates(np.repeat(index.cells, index.weights, axis=0) + 0.5)


def surface(domain):
    """Surface of a domain in km²."""
    low, high = np.array(domain.lower), np.array(domain.upper)
    across = np.cos(np.radians(np.mean([low[1], high[1]])))
    return (high - low).prod() * across * (METRES_PER_DEGREE / 1000) ** 2


def words(candidate):
    return " ".join([candidate.name, *map(str, candidate.parameters.values())])


def least_kept(row):
    return min(float(row[name]) for name in ("kept", "whole") if row[name] != "")


def ratio(row):
    return float(row["epsilon"]) / float(row["oracle"])


def page(rows):
    """A table of the sets, the least share kept and the ratios of each kind; and one of halves."""
    rows = [row for row in rows if row["epsilon"]]
    lines = ["| data | half | " + " | ".join(KINDS) + " |", "|---|---|---|---|---|"]
    for name in DATA:
        cells = [name, "tuned" if name in TUNED else "held out"]
        for kind in KINDS:
            some = [row for row in rows if (row["data"], row["kind"]) == (name, kind)]
            kept = ", ".join(f"{least_kept(row):.1%}" for row in some)
            cells.append(f"{kept} at {', '.join(f'{ratio(row):.2f}' for row in some)}")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| half | wishes | plans | kept | median ratio | largest | ≤ 1.3 | ≤ 2 |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for half, kind in itertools.product(("tuned", "held out", ""), (*KINDS, "")):
        some = [row for row in rows if half in row["half"] and kind in ("", row["kind"])]
        if some:
            kept = np.array([least_kept(row) for row in some])
            ratios = np.array([ratio(row) for row in some])
            near = " | ".join(str((ratios <= most + 0.005).sum()) for most in (RATIO, 2.0))
            lines.append(
                f"| {half or 'all'} | {kind or 'all'} | {len(some)} | {(kept >= 0.95).sum()} "
                f"| {np.median(ratios):.2f} | {ratios.max():.2f} | {near} |"
            )
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=Path("plans.csv"))
    parser.add_argument("--sets", nargs="+", choices=DATA, default=[*DATA])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--spread", action="store_true")
    parser.add_argument("--seconds", type=float, default=3_600)
    chosen = parser.parse_args()
    if chosen.spread:
        for name in chosen.sets:
            print(name, spread(chosen.data, name), sep="\t", flush=True)
        return
    started = time.monotonic()
    rows = []
    if chosen.output.exists():
        with chosen.output.open(newline="") as file:
            rows = list(csv.DictReader(file))
    done = {(int(row["round"]), row["kind"], row["data"]) for row in rows}
    for key in itertools.product(range(chosen.rounds), chosen.kinds, chosen.sets):
        turn, kind, name = key
        if key not in done and time.monotonic() - started < chosen.seconds:
            number = 100 * turn + KINDS.index(kind) * len(DATA) + [*DATA].index(name)
            rows.append(case(chosen.data, name, kind, number) | {"round": turn})
            with chosen.output.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            chosen.output.with_suffix(".md").write_text(page(rows))
            print(*rows[-1].values(), sep="\t", flush=True)


if __name__ == "__main__":
    main()
