"""What plans are worth on data that they have not seen; run on demand, and again to go on.

``uv run python -m tests.benchmarks.plans --data FOLDER -o plans.csv`` takes cases one after
another: a data set, a wish (a rectangle, areas, any square), and a proxy of the records
(synthetic proxies; a public table of others of the same population; an earlier release of those at
ε = 0.5). It plans from that alone; then the data themselves say how likely the wish holds there,
and what ε an oracle, who knows them and has the same methods, would have chosen. Rows are appended;
a page with the tables is written beside them.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import dpviz
from dpviz.domain.crs import METRES_PER_DEGREE
from dpviz.errors import ParameterError
from dpviz.evaluation.truth import exact_counts, places_of_records
from dpviz.planning.candidates import Caution
from dpviz.planning.proxy import proxy_records
from dpviz.planning.search import caution_of, least, prices
from dpviz.planning.trial import Trial
from dpviz.queries.wishes import parse, parse_all, squares
from tests.geojson import collection, feature

DATA = {
    "codepoint_london": (-0.53, 51.27, 0.35, 51.70),
    "uber_nyc_pickups_2014": (-74.30, 40.45, -73.60, 41.00),
    "beijing_taxi_30k": (115.4, 39.4, 117.6, 41.1),
    "codepoint_gb": (-8.7, 49.8, 1.8, 60.9),
    "foursquare_us_checkins": (-125.0, 24.0, -66.0, 50.0),
    "gowalla_userpoi": (-11.0, 35.0, 30.0, 62.0),
    "nyc_taxi_4d": (-74.30, 40.45, -73.60, 41.00),
    "twitter": (-125.0, 24.0, -66.0, 50.0),
}
DEVELOPED = ("codepoint_london", "beijing_taxi_30k", "foursquare_us_checkins", "nyc_taxi_4d")
"""On which the planner's figures were chosen, by other wishes; the rest are held back."""

HALVES = ("developed on", "held back")
KNOWN = Caution(1.0, 0.0)
"""The records are the proxy's: what an oracle knows."""

STANDS = ("synthetic", "table", "release")
KINDS = ("square", "rect", "areas")
RECORDS = 20_000
"""Of each data set at most, and as many others, so that a case takes a second."""

AT_MOST = 10.0
REPEATS = 3
RATIO = 1.3
DISTRICTS = 24
COLUMNS = (
    "case",
    "kind",
    "data",
    "proxy",
    "wish",
    "epsilon",
    "method",
    "likely",
    "oracle",
    "by",
    "holds",
)


def places(folder, name, bounds):
    """Longitudes and latitudes of all records of a data set, float64 (n, 2)."""
    import pyarrow.parquet as pq

    if name == "twitter":  # a histogram: its records are spread evenly inside its cells
        counts = np.load(folder / "dpbench_hist2d.npz")[name]
        cells = np.repeat(np.argwhere(counts), counts[counts > 0].astype(int), axis=0)
        unit = (cells + np.random.default_rng(0).random(cells.shape)) / counts.shape
        return np.array(bounds[:2]) + unit * np.subtract(bounds[2:], bounds[:2])
    x, y = ("dlon", "dlat") if name == "nyc_taxi_4d" else ("lon", "lat")
    table = pq.read_table(folder / f"{name}.parquet", columns=[x, y])
    return np.stack([table[x].to_numpy(), table[y].to_numpy()], axis=1)


def data_set(folder, name, bounds):
    """Records and others of the same population, as handles."""
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


def districts(others, path):
    """A file of areas of about equally many others: nearest of some of their places."""
    import shapely

    domain = others.domain
    seeds = shapely.MultiPoint(places_of_records(others, DISTRICTS, 7))
    box = shapely.box(*domain.bounds)
    cells = shapely.voronoi_polygons(seeds, extend_to=box).geoms
    shapes = [shapely.intersection(cell, box) for cell in cells]
    districts = [
        feature(shape, name=f"district {row}") for row, shape in enumerate(shapes) if shape.area > 0
    ]
    path.write_text(collection(districts))
    return path


def wish_of(kind, others, number, folder, guessed=False):
    """A wish as people have them: within 1 to 30 % of what lies there, as far as others tell.

    Of squares within 10 to 50 % of what one holds; ``guessed``: which they say, in one digit.
    """
    random = np.random.default_rng([1, number])
    domain = others.domain
    low, high = np.array(domain.lower), np.array(domain.upper)
    share = 10 ** random.uniform(-2, -0.5)
    if kind == "areas":
        file = districts(others, folder / f"{number % len(DATA)}.geojson")
        return f"areas={file} ±{100 * share:.1f}% or ±{random.integers(10, 100)}"
    if kind == "rect":
        [centre] = places_of_records(others, 1, number)
        sides = (high - low) * 10 ** random.uniform(-1.3, -0.3, 2)
        west, south = np.clip(centre - sides / 2, low, high - sides)
        rect = [float(f"{side:.5f}") for side in (west, south, west + sides[0], south + sides[1])]
        [count] = exact_counts(others, rect)
        return f"rect={','.join(map(str, rect))} ±{max(10, round(share * count))}"
    across = np.cos(np.radians(np.mean([low[1], high[1]])))
    surface = (high - low).prod() * across * (METRES_PER_DEGREE / 1000) ** 2
    size = float(f"{surface * 10 ** random.uniform(-4, -2.5):.4f}")
    counts = exact_counts(others, squares(domain, places_of_records(others, 300, number), size))
    tolerance = max(10, round(10 ** random.uniform(-1, -0.3) * counts.mean()))
    about = f" of about {float(f'{counts.mean():.1g}'):.0f}" if guessed else ""
    return f"any {size} km²{about} ±{tolerance}"


def sort_of(number):
    """The proxy, and what the wish is of: every data set meets each of both."""
    number //= len(DATA)
    return STANDS[number % len(STANDS)], KINDS[number // len(STANDS) % len(KINDS)]


def case(number, handles, folder, silent=False):
    """One row: the plan, and what the data say of it."""
    name, (stand, kind) = list(handles)[number % len(handles)], sort_of(number)
    records, others = handles[name]
    wish = wish_of(kind, others, number, folder, guessed=stand == "synthetic" and not silent)
    like = {"synthetic": None, "table": others}.get(stand)
    if stand == "release":
        like = dpviz.build(others, "privtree", 0.5, seed=number, ledger=None)
    asked, grid = parse_all([wish]), prices(AT_MOST)
    count = RECORDS if like is None else None
    proxies = proxy_records(others.domain, count, like, number, asked)[0]
    shown = str(parse(wish).public())
    row = {"case": number, "kind": kind, "data": name, "proxy": stand, "wish": shown}
    row |= dict.fromkeys(COLUMNS[5:], "")
    truth = Trial([records], asked, repeats=REPEATS, seed=1_000 + number, caution=KNOWN)
    try:
        chosen, oracle = least(truth, grid)
        row |= {"oracle": oracle, "by": words(chosen)}
    except ParameterError:
        row |= {"oracle": "inf"}
    how = {"caution": caution_of(like), "anywhere": like is None}
    try:
        candidate, epsilon = least(Trial(proxies, asked, repeats=REPEATS, seed=number, **how), grid)
    except ParameterError:
        return row | {"method": "refused"}
    [likely] = truth.probabilities(candidate, epsilon)
    return row | {
        "epsilon": epsilon,
        "method": words(candidate),
        "likely": round(likely, 4),
        "holds": int(likely >= asked[0].confidence),
    }


def words(candidate):
    return " ".join([candidate.name, *map(str, candidate.parameters.values())])


def table(rows, column, values):
    """Figures by the values of a column, and over all."""
    lines = [
        f"| {column} | cases | refused | the promise holds | ε / oracle's: median | 90 % of cases "
        "| at most 1.3 times |",
        "|---|---|---|---|---|---|---|",
    ]
    for value in (*values, "all"):
        chosen = [row for row in rows if value in (row[column], "all")]
        planned = [row for row in chosen if row["epsilon"] != ""]
        if not planned:
            continue
        ratios = np.array([float(row["epsilon"]) / float(row["oracle"]) for row in planned])
        holds = sum(int(row["holds"]) for row in planned)
        lines.append(
            f"| {value} | {len(chosen)} | {len(chosen) - len(planned)} "
            f"| {holds} ({holds / len(planned):.0%}) | {np.median(ratios):.2f} "
            f"| {np.quantile(ratios, 0.9):.2f} | {np.mean(ratios <= RATIO):.0%} |"
        )
    return "\n".join(lines)


def page(rows):
    """The tables."""
    rows = [{**row, "half": HALVES[row["data"] not in DEVELOPED]} for row in rows]
    squared = [row for row in rows if row["kind"] == "square"]
    return "\n\n".join(
        [
            "All wishes, on the data sets that the planner was developed on, and on the others:",
            table(rows, "half", HALVES),
            "All wishes, by what they are of:",
            table(rows, "kind", KINDS),
            "All wishes, by proxy:",
            table(rows, "proxy", STANDS),
            "Squares alone, by proxy:",
            table(squared, "proxy", STANDS),
            "Squares alone, on the halves:",
            table(squared, "half", HALVES),
            "Squares alone, by data set:",
            table(squared, "data", tuple(DATA)),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=Path("plans.csv"))
    parser.add_argument("--cases", type=int, default=216)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[*KINDS, *STANDS], help="of these words")
    parser.add_argument("--sets", nargs="+", choices=DATA, default=[*DATA])
    parser.add_argument("--silent", action="store_true", help="nobody says what a square holds")
    parser.add_argument("--seconds", type=float, default=3_600)
    chosen = parser.parse_args()
    started = time.monotonic()
    rows = []
    if chosen.output.exists():
        with chosen.output.open(newline="") as file:
            rows = list(csv.DictReader(file))
    handles = {name: data_set(chosen.data, name, bounds) for name, bounds in DATA.items()}
    folder = chosen.output.parent
    done = {int(row["case"]) for row in rows}
    for number in range(chosen.start, chosen.start + chosen.cases):
        chosen_set = list(DATA)[number % len(DATA)] in chosen.sets
        if number in done or not chosen_set or not {*sort_of(number)} <= {*chosen.only}:
            continue
        if time.monotonic() - started > chosen.seconds:
            break
        rows.append(case(number, handles, folder, chosen.silent))
        with chosen.output.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        chosen.output.with_suffix(".md").write_text(page(rows))
        print(*rows[-1].values(), sep="\t", flush=True)


if __name__ == "__main__":
    main()
