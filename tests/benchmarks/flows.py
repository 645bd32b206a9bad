"""Errors of flows between areas on real data: `pairs`, `all-pairs` and InfTDA.

    DPVIZ_SHARED_DATA=../shared/data uv run --with inf-tda==0.1 \\
        python -m tests.benchmarks.flows -o assets/docs/results
    uv run --with inf-tda==0.1 python -m tests.benchmarks.flows --sets nyc7 --epsilons 1 --repeats 2

With ``-o`` the runs go to flows.csv of that folder, in place of earlier ones of the same data set,
ε and method; all others stay. If the folder is assets/docs/results, the tables of flows.md are
made from the whole file. InfTDA is measured if package ``inf-tda`` can be imported. Simulated
noise of seeds 0, 1 and so on; that of InfTDA has no seed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

import numpy as np
import pandas as pd

import dpviz
from dpviz.errors import ParameterError
from dpviz.private.flows import FlowData, exact_flows
from dpviz.releases.flows.table import MARGINS

from .inftda import INSTALLED, Published, inftda, with_sums
from .pages import ASSETS, write_measured

FILES = {
    "nyc": ("New York taxi trips", "nyc_taxi_4d", (-74.30, 40.45, -73.60, 41.00)),
    "four": ("Foursquare check-ins", "foursquare_us_checkins", (-125, 24, -66, 50)),
}
"""Title, file and public bounds."""

SETS = {"nyc7": ("nyc", 7), "nyc8": ("nyc", 8), "four3": ("four", 3), "four4": ("four", 4)}
"""Name → file and resolution of its H3 cells."""

INFTDA = {"InfTDA": False, "InfTDA, ends in turn": True}
"""Name → divide one end of a pair at a time."""

METHODS = {
    "pairs": "**`pairs`**",
    "pairs, count": "`pairs`, column `count`",
    "all-pairs": "`all-pairs`",
    **{name: name for name in INFTDA},
}
"""Name in the file → name in the tables."""

ERRORS = {
    "pairs_l1": "pairs: L1",
    "pairs_rms": "pairs: rms",
    "sums_l1": "sums: L1",
    "sums_rms": "sums: rms",
    "top_mean": "top 100: mean error",
    "top_rms": "top 100: rms",
    "top_found": "top 100: found",
}
"""Column of the file → column of the tables."""

TOP = 100

CELL = ["data", "epsilon", "method"]


def flows_of(file: str, resolution: int) -> FlowData:
    """The records of a file between H3 cells; consecutive check-ins of a person are a step."""
    name, path, bounds = FILES[file]
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", ASSETS.parents[1] / "shared" / "data"))
    table = pd.read_parquet(folder / f"{path}.parquet")
    columns = ["plon", "plat", "dlon", "dlat"]
    if "user_id" in table:
        table = table.sort_values(["user_id", "time"], kind="stable")
        places, users = table[["lon", "lat"]].to_numpy(), table["user_id"].to_numpy()
        steps = np.hstack([places[:-1], places[1:]])[users[1:] == users[:-1]]
        table = pd.DataFrame(steps, columns=columns)
    areas = dpviz.hexagons(resolution, dpviz.Domain(bounds[:2], bounds[2:]))
    return dpviz.load(table, dpviz.Flows(areas), columns=columns, name=name, public=True)


def exact_pairs(data: FlowData) -> Published:
    cells, counts = exact_flows(data)
    return with_sums(data.flows.origins.leaves, cells[:, 1], cells[:, 2], counts)


def ours(data: FlowData, method: str, epsilon: float, seed: int) -> Iterator[Published]:
    """A release of our method, by its column ``whole`` and by its column ``count``."""
    table = dpviz.build(data, method, epsilon, seed=seed).table(data.flows.levels[-1])
    areas = data.flows.origins
    number = {name: at for at, name in enumerate(areas.names[areas.first_leaf :])}
    pairs = table[table["margin"] == ""]
    origin, destination = (pairs[end].map(number).to_numpy() for end in ("origin", "destination"))
    sums = pd.concat([table[table["margin"] == margin] for margin in MARGINS])
    for column in ("whole", "count"):
        estimates, totals = (each[column].to_numpy(float) for each in (pairs, sums))
        yield origin * areas.leaves + destination, estimates, totals


def errors_of(exact: Published, estimate: Published) -> list[float]:
    """Errors of all pairs, of the sums, and of the pairs with the largest exact counts."""
    keys = np.union1d(exact[0], estimate[0])
    counts = np.zeros((2, len(keys)))
    for row, (pairs, values, _) in zip(counts, (exact, estimate), strict=True):
        row[np.searchsorted(keys, pairs)] = values
    error, sums = counts[1] - counts[0], estimate[2] - exact[2]
    largest, published = np.argsort(-counts, axis=1, kind="stable")[:, :TOP]
    areas, top = len(sums) / 2, error[largest]
    return [
        *(np.abs(error).sum(), math.sqrt((error**2).sum()) / areas),
        *(np.abs(sums).sum(), math.sqrt((sums**2).mean())),
        *(np.abs(top).mean(), math.sqrt((top**2).mean())),
        float(len(np.intersect1d(largest, published))),
    ]


def measured(sets: list[str], epsilons: list[float], repeats: int) -> pd.DataFrame:
    """A row of errors per run of each method; the time taken is printed."""
    rows: list[tuple[object, ...]] = []
    for name in sets:
        start, data = time.process_time(), flows_of(*SETS[name])
        exact = exact_pairs(data)
        for epsilon, run in itertools.product(epsilons, range(repeats)):
            estimates = dict(zip(METHODS, ours(data, "pairs", epsilon, run), strict=False))
            with contextlib.suppress(ParameterError):  # more pairs than a release holds
                estimates["all-pairs"], _ = ours(data, "all-pairs", epsilon, run)
            if INSTALLED:
                estimates |= {each: inftda(data, epsilon, turn) for each, turn in INFTDA.items()}
            for method, estimate in estimates.items():
                rows.append((name, epsilon, method, run, *errors_of(exact, estimate)))
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    return pd.DataFrame(rows, columns=[*CELL, "run", *ERRORS]).round(6)


def merged(earlier: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, and earlier ones of other data sets, ε and methods, in order."""
    again = earlier.set_index(CELL).index.isin(rows.set_index(CELL).index)
    place = {name: at for names in (SETS, METHODS) for at, name in enumerate(names)}
    return pd.concat([earlier[~again], rows]).sort_values(
        [*CELL, "run"],
        key=lambda each: each.map(place) if each.name in ("data", "method") else each,
    )


def title(name: str) -> str:
    file, resolution = SETS[name]
    return f"{FILES[file][0]}, H3 {resolution}"


def with_spread(errors: pd.Series) -> str:
    """Mean ± standard deviation, with about three digits."""
    mean, deviation = errors.mean(), errors.std()
    digits = sum(mean < limit for limit in (100, 10, 1, 0.1))
    return f"{mean:,.{digits}f} ± {deviation:,.{digits}f}"


def page(runs: pd.DataFrame) -> Iterator[str]:
    """The tables, in Markdown, after our error as a share of that of the better InfTDA."""
    means = runs.groupby(CELL)[list(ERRORS)[:-1]].mean()
    rivals = means[means.index.isin(INFTDA, level="method")].groupby(CELL[:-1]).min()
    shares = (means.xs("pairs", level="method") / rivals).stack().dropna()
    if len(shares):
        data, epsilon, error = shares.idxmax()
        yield (
            "Error of `pairs` as a share of that of the better InfTDA: "
            f"{geometric_mean(shares):.2f} in the geometric mean of {len(shares)}, at most "
            f"{shares.max():.2f} ({ERRORS[error]}; {title(data)}, ε = {epsilon:g})."
        )
    for name, rows in runs.groupby("data", sort=False):
        yield from ("", f"## {title(name)}", "", f"| ε | method | {' | '.join(ERRORS.values())} |")
        yield "|---" * (len(ERRORS) + 2) + "|"
        for (epsilon, method), errors in rows.groupby(CELL[1:], sort=False):
            cells = [with_spread(errors[column]) for column in ERRORS]
            yield f"| {epsilon:g} | {METHODS[method]} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, help="folder for the runs and the tables")
    options = parser.parse_args()
    runs = measured(options.sets, options.epsilons or [0.1, 1.0, 10.0], options.repeats)
    if options.output is not None:
        path = options.output / "flows.csv"
        if path.is_file():
            runs = merged(pd.read_csv(path), runs)
        runs.to_csv(path, index=False, lineterminator="\n")
    lines = list(page(runs))
    print("\n".join(lines))
    if options.output is not None and options.output.resolve() == (ASSETS / "results").resolve():
        write_measured("results/flows.md", "flows", lines)


if __name__ == "__main__":
    main()
