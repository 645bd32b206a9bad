"""The ladder tree with a public prior beside the one without, set by set.

    uv run python -m tests.benchmarks.priors
    uv run python -m tests.benchmarks.priors --ablation

A set is split in halves, of which the earlier is the prior, or another set is its prior. Mirrored,
shuffled and uniform priors, and those of another city, are useless on purpose. Sets come from the
folder of ``DPVIZ_SHARED_DATA``. Simulated noise, fixed seeds, one core.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import geometric_mean
from unittest.mock import patch

import numpy as np

import dpviz
from dpviz.domain import Domain
from dpviz.evaluation.truth import exact_counts, relative_errors, sanity_bound, squares_at_records
from dpviz.methods.points import cell_tree
from dpviz.methods.points.ladder_tree import LadderTree
from dpviz.queries.workloads import workload
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.trees import guided, prior
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import refine
from dpviz.trees.lattice import Float, Int
from dpviz.trees.shrinkage import shrink_tree
from tests.vault import index_of

from .pages import ASSETS, write_measured

COLUMNS = ("small", "medium", "large", "hot")
EPSILONS = (0.05, 0.2, 0.8)
BOX = {
    "uber_nyc_pickups_2014": (-74.30, 40.45, -73.60, 41.00),
    "foursquare_us_checkins": (-125.0, 24.0, -66.0, 50.0),
    "codepoint_london": (-0.53, 51.27, 0.35, 51.70),
    "codepoint_gb": (-8.7, 49.8, 1.8, 60.9),
    "beijing_taxi_30k": (115.4, 39.4, 117.6, 41.1),
    "gowalla_userpoi": (-180.0, -90.0, 180.0, 90.0),
    "uk_accidents": (-8.7, 49.8, 1.8, 60.9),
    "houston_crime": (-95.95, 29.45, -95.0, 30.15),
    "chicago_crime": (-87.95, 41.63, -87.50, 42.05),
}


def places(file: str, columns: str = "lon lat", order: str | None = None) -> Float:
    """Coordinates of a shared file; in order of a column, at random with ``random``."""
    import pyarrow.parquet as pq

    table = pq.read_table(Path(os.environ["DPVIZ_SHARED_DATA"]) / f"{file}.parquet")
    points = np.stack([table[name].to_numpy() for name in columns.split()], axis=1)
    if order == "random":
        return points[np.random.default_rng(1).permutation(len(points))]
    return points if order is None else points[np.argsort(table[order].to_numpy(), kind="stable")]


def halves(file: str, order: str) -> Callable[[], tuple[str, Float, Float]]:
    """The later half as records, the earlier one as the prior."""

    def read() -> tuple[str, Float, Float]:
        points = places(file, order=order)
        return file, points[len(points) // 2 :], points[: len(points) // 2]

    return read


def other(
    file: str, columns: str, box: str, *source: str
) -> Callable[[], tuple[str, Float, Float]]:
    """Records of one file, another file as the prior."""
    return lambda: (box, places(file, columns), places(*source))


UBER, FOURSQUARE, GOWALLA = "uber_nyc_pickups_2014", "foursquare_us_checkins", "gowalla_userpoi"
TAXI, ACCIDENTS = "nyc_taxi_4d", "uk_accidents"
TUNED = {
    "Uber (earlier half)": halves(UBER, "time"),
    "Foursquare (earlier half)": halves(FOURSQUARE, "time"),
    "London post codes (half)": halves("codepoint_london", "random"),
    "taxi pickups (Uber)": other(TAXI, "plon plat", UBER, UBER),
    "Uber (taxi drop-offs)": other(UBER, "lon lat", UBER, TAXI, "dlon dlat"),
    "Foursquare (Gowalla)": other(FOURSQUARE, "lon lat", FOURSQUARE, GOWALLA),
}
"""Sets that constants were tuned on, with their priors."""

HELD_OUT = {
    "British accidents (post codes)": other(ACCIDENTS, "lon lat", ACCIDENTS, "codepoint_gb"),
    "Houston crime (earlier half)": halves("houston_crime", "time"),
    "Chicago crime (earlier half)": halves("chicago_crime", "time"),
    "Beijing taxis (half)": halves("beijing_taxi_30k", "random"),
    "British post codes (half)": halves("codepoint_gb", "random"),
    "Gowalla (half of the users)": halves(GOWALLA, "user_id"),
    "Gowalla (Foursquare, US only)": other(GOWALLA, "lon lat", GOWALLA, FOURSQUARE),
}
"""Sets that no constant was tuned on."""


def mirrored(box: tuple[float, ...], points: Float) -> Float:
    return np.column_stack([box[0] + box[2] - points[:, 0], points[:, 1]])


def uniform(box: tuple[float, ...], points: Float) -> Float:
    """The same number of points anywhere."""
    low, high = np.split(np.array(box), 2)
    return low + np.random.default_rng(3).random(points.shape) * (high - low)


def shuffled(box: tuple[float, ...], points: Float) -> Float:
    """The same points, after the cells of a 64 × 64 grid were exchanged at random."""
    low, high = np.split(np.array(box), 2)
    inside = points[((points >= low) & (points < high)).all(axis=1)]
    place = (inside - low) / (high - low) * 64
    cell = np.floor(place).astype(np.int64)
    to = np.random.default_rng(5).permutation(64 * 64)[cell @ [64, 1]]
    return low + (np.column_stack(np.divmod(to, 64)) + place - cell) / 64 * (high - low)


CITY_OF = {
    UBER: "codepoint_london",
    FOURSQUARE: "codepoint_gb",
    "codepoint_london": UBER,
    "codepoint_gb": FOURSQUARE,
    "beijing_taxi_30k": UBER,
    GOWALLA: "codepoint_gb",
    "houston_crime": UBER,
    "chicago_crime": UBER,
}
"""Set whose points, moved into the box of another, are its prior of another city."""


def another_city(box: tuple[float, ...], points: Float) -> Float:
    """Points of another set, moved into the box."""
    name = CITY_OF[next(name for name, each in BOX.items() if each == box)]
    low, high = np.split(np.array(box), 2)
    from_low, from_high = np.split(np.array(BOX[name]), 2)
    return low + (places(name) - from_low) / (from_high - from_low) * (high - low)


USELESS = {
    "mirrored": mirrored,
    "uniform": uniform,
    "shuffled": shuffled,
    "another city": another_city,
}

Row = tuple[str, float, str, str, int, float, float, int]
"""Set, ε, column, what was built, seed, mean relative error, share of intervals, nodes."""


class Case:
    """One set: its records, prior and queries."""

    def __init__(self, name: str, many: int, useless: str = "") -> None:
        file, points, public = (TUNED | HELD_OUT)[name]()
        box = BOX[file]
        if useless:
            public = USELESS[useless](box, public)
        self.name = f"{name.split(' (')[0]} ({useless})" if useless else name
        domain = Domain(box[:2], box[2:])
        self.handle = dpviz.from_points(points, domain, public=True, name="set")
        self.prior = dpviz.prior(public, domain)
        self.rects = {size: workload(domain, size, many, seed=17).rects for size in COLUMNS[:3]}
        self.rects["hot"] = squares_at_records(self.handle, "hot", many, seed=17).rects
        self.exact = {size: exact_counts(self.handle, each) for size, each in self.rects.items()}
        self.bound = sanity_bound(index_of(self.handle).total)

    def measured(self, method: str, epsilon: float, seed: int, **how: object) -> dict[str, Float]:
        """Mean relative error, share of intervals that hold, for each column."""
        release = dpviz.build(self.handle, method, epsilon, seed=seed, **how)
        errors = {}
        for size, rects in self.rects.items():
            answers, exact = release.count(rects), self.exact[size]
            half = INTERVAL_SDS * np.sqrt(answers.noise_sd**2 + answers.uniformity_sd**2)
            low, high = np.floor(answers.count - half), np.ceil(answers.count + half)
            held = ((low <= exact) & (exact <= high)).mean()
            errors[size] = np.array(
                [relative_errors(answers.count, exact, self.bound).mean(), held, len(release.nodes)]
            )
        return errors


def rows(case: Case, seeds: int) -> Iterator[Row]:
    """Rows of one case: both methods with and without the prior; the hot grid in hot squares."""
    for epsilon in EPSILONS:
        for seed in range(seeds):
            how = {"prior": case.prior}
            for what, method, options in (
                ("none", "ladder_tree", {}),
                ("prior", "ladder_tree", how),
                ("hot_grid", "hot_grid", {}),
                ("hot_grid, prior", "hot_grid", how),
            ):
                for size, (error, held, nodes) in case.measured(
                    method, epsilon, seed, **options
                ).items():
                    if method == "ladder_tree" or size == "hot":
                        yield case.name, epsilon, size, what, seed, error, held, int(nodes)


def page(found: list[Row]) -> Iterator[str]:
    """The table: error with the prior as a share of that without, and its spread over seeds."""
    cells: dict[tuple[str, float, str], dict[str, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for name, epsilon, size, what, _, error, held, _ in found:
        cells[name, epsilon, size][what].append((error, held))
    mean = {
        key: {what: np.mean(each, axis=0) for what, each in by.items()} for key, by in cells.items()
    }
    ratio = {key: each["prior"][0] / each["none"][0] for key, each in mean.items()}
    titles = [*COLUMNS, "hot grid in hot", "better of both in hot", "intervals hold"]
    yield f"| set (prior) | ε | {' | '.join(titles)} |"
    yield "|---" * (len(titles) + 2) + "|"
    names = list(dict.fromkeys(key[0] for key in ratio))
    unchanged = {
        name
        for name in names
        if all(
            each["prior"][0] == each["none"][0]
            and each.get("hot_grid, prior", [0])[0] == each.get("hot_grid", [0])[0]
            for key, each in mean.items()
            if key[0] == name
        )
    }
    for name in names:
        for epsilon in EPSILONS if name not in unchanged else ():
            texts = []
            pairs = [(size, "prior", "none") for size in COLUMNS]
            for size, with_prior, without in [*pairs, ("hot", "hot_grid, prior", "hot_grid")]:
                both, means = cells[name, epsilon, size], mean[name, epsilon, size]
                each = [a[0] / b[0] for a, b in zip(both[with_prior], both[without], strict=True)]
                spread = np.std(each, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
                texts.append(f"{means[with_prior][0] / means[without][0]:.3f} ± {spread:.3f}")
            at = mean[name, epsilon, "hot"]
            best = min(at["prior"][0], at["hot_grid, prior"][0])
            best /= min(at["none"][0], at["hot_grid"][0])
            held = min(mean[name, epsilon, size]["prior"][1] for size in COLUMNS)
            held = min(held, at["hot_grid, prior"][1])
            bare = min(mean[name, epsilon, size]["none"][1] for size in COLUMNS)
            bare = min(bare, at["hot_grid"][1])
            shown = f"{name} | {epsilon:g} | {' | '.join(texts)} | {best:.3f}"
            yield f"| {shown} | {held:.3f} ({bare:.3f} without) |"
    yield ""
    for name in names:
        if name in unchanged:
            yield f"- {name}: the same in every build"
            continue
        each = [value for key, value in ratio.items() if key[0] == name]
        yield f"- {name}: geometric mean {geometric_mean(each):.3f}, worst {max(each):.3f}"


def refined(nodes: Decomposition, slope: Float, *_: object) -> Decomposition:
    return refine(nodes)


def even(nodes: Decomposition, slope: Float, *how: object) -> Decomposition:
    return guided.with_sub_cells(nodes, np.full_like(slope, 0.25), *how)


def shrunk(parent: Int, raw: tuple[Float, Float], *_: object) -> Float:
    return shrink_tree(parent, *raw)[0]


ADD = prior.Fitting.add


def alone(self: prior.Fitting, *families: Float) -> prior.Fit:
    self.sums[:] = 0.0
    return ADD(self, *families)


ABLATIONS: dict[str, list[tuple[object, str, object]]] = {
    "all parts": [],
    "no sub-cells, slopes instead": [(cell_tree, "with_sub_cells", refined)],
    "no slopes where no fit is used": [(cell_tree, "with_sub_cells", even)],
    "estimates as without a prior": [(cell_tree, "guided_estimates", shrunk)],
    "thresholds as without": [(LadderTree, "thresholds", lambda self, fit: self)],
    "counts far off move too": [(guided, "MAX_OFF_SDS", np.inf)],
    "trusted wherever it is used": [(prior, "MAX_MISFIT", np.inf)],
    "each level fitted alone": [(prior.Fitting, "add", alone)],
    "used from any gain": [(prior, "MIN_GAIN", 1.0)],
    "a = 1 only": [(prior, "ADDED", (1.0,))],
    "cells of any number of records": [(guided, "MIN_RECORDS", 0.0)],
}
"""Name → attributes that are replaced."""


def ablated(name: str, cases: list[Case], seeds: int) -> dict[str, float]:
    """Geometric mean over cells of each case, without a part."""
    with ExitStack() as stack:
        for owner, attribute, value in ABLATIONS[name]:
            stack.enter_context(patch.object(owner, attribute, value))
        means = {}
        for case in cases:
            ratios = []
            for epsilon in EPSILONS:
                with_prior, without = (
                    np.mean(
                        [
                            [
                                each[0]
                                for each in case.measured(
                                    "ladder_tree", epsilon, seed, **how
                                ).values()
                            ]
                            for seed in range(seeds)
                        ],
                        axis=0,
                    )
                    for how in ({"prior": case.prior}, {})
                )
                ratios += (with_prior / without).tolist()
            means[case.name] = geometric_mean(ratios)
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ablation", action="store_true", help="the sets tuned on, part by part")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--only", default="", help="sets whose name starts so")
    parser.add_argument("-o", "--output", type=Path, help="folder for the rows and the table")
    options = parser.parse_args()
    if options.ablation:
        cases = [Case(name, options.queries) for name in TUNED]
        print("|  | " + " | ".join(case.name for case in cases) + " | all |")
        print("|---" * (len(cases) + 2) + "|")
        for name in ABLATIONS:
            means = ablated(name, cases, options.seeds)
            texts = [f"{each:.3f}" for each in (*means.values(), geometric_mean(means.values()))]
            print(f"| {name} | {' | '.join(texts)} |", flush=True)
        return
    found: list[Row] = []
    judged = [name for name in TUNED | HELD_OUT if "half" in name or name.startswith("British")]
    useless = [(name, what) for name in judged for what in USELESS]
    for name, what in [*((name, "") for name in TUNED | HELD_OUT), *useless]:
        if name.startswith(options.only):
            found += list(rows(Case(name, options.queries, what), options.seeds))
            print("\n".join(page(found)), flush=True)
    if options.output is not None:
        with (options.output / "prior.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["set", "epsilon", "column", "what", "seed", "error", "held", "nodes"])
            for *text, error, held, nodes in found:
                writer.writerow((*text, f"{error:.5g}", f"{held:.4g}", nodes))
        if options.output.resolve() == (ASSETS / "results").resolve():
            write_measured("results/prior.md", "prior", list(page(found)))


if __name__ == "__main__":
    main()
