"""Our methods beside the best of all others, in every cell of a table.

    uv run python -m tests.benchmarks.everywhere
    uv run python -m tests.benchmarks.everywhere --hot

A cell is a data set, an ε and a column: a workload's queries. What is declared for the column and
the number of dimensions choose our method, without a look at the records. The
others are every flat grid (sides in steps of √2, the best one of each cell: an oracle), AG,
PrivTree and DAWA with its proof. ``--hot`` is of the two columns of small squares, five ε and flat
grids only. Sets that are not built in come from the folder of ``DPVIZ_SHARED_DATA``. Simulated
noise, fixed seeds, one core.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

import numpy as np

import dpviz
from dpviz.datasets import DATASETS
from dpviz.domain import Domain
from dpviz.evaluation.experiments import method_of_text, with_workload
from dpviz.evaluation.truth import (
    SQUARE_SIDES,
    exact_counts,
    relative_errors,
    sanity_bound,
    squares_at_records,
)
from dpviz.methods.points.declared import Declared
from dpviz.private.handle import DataHandle
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.queries.workloads import workload
from dpviz.trees.lattice import Float, Int, grid_edges
from tests.vault import index_of

from .pages import ASSETS, write_measured

BUILT_IN = ("city-250k", "persons", "trips-200k")
SHARED = {
    "Beijing": ("beijing_taxi_30k", "lon lat", (115.4, 39.4, 117.6, 41.1)),
    "Britain": ("codepoint_gb", "lon lat", (-8.7, 49.8, 1.8, 60.9)),
    "London": ("codepoint_london", "lon lat", (-0.53, 51.27, 0.35, 51.70)),
    "Gowalla": ("gowalla_userpoi", "lon lat", (-180, -90, 180, 90)),
    "Foursquare": ("foursquare_us_checkins", "lon lat", (-125, 24, -66, 50)),
    "New York": ("uber_nyc_pickups_2014", "lon lat", (-74.30, 40.45, -73.60, 41.00)),
    "San Francisco": (
        "san_francisco_cabs",
        "lon lat",
        (-122.50764, 37.70794, -122.35978, 37.81944),
    ),
    "New York trips": (
        "nyc_taxi_4d",
        "plon plat dlon dlat",
        (-74.30, 40.45, -74.30, 40.45, -73.60, 41.00, -73.60, 41.00),
    ),
}
"""Name → file, columns, public bounds."""

COLUMNS = {
    "small": Declared("uniform"),
    "medium": Declared("uniform"),
    "large": Declared("uniform"),
    "districts": Declared("districts"),
    "hot-0": Declared("hot", side=float(np.mean(SQUARE_SIDES["hot-0"]))),
    "hot": Declared("hot"),
}
"""Column → the workload that is declared for it; the smallest squares as a file of them is."""

RIVALS = ("agrid", "privtree", "dawa")
DISTRICTS = (5, 8)
"""Halvings of the records: 32 and 256 districts."""

MISSED = 1.05
"""A ratio above this is no longer as good as the best."""

Row = tuple[str, float, str, str, int, float]
"""Data set, ε, column, method, repetition, mean relative error."""

Summary = tuple[str, float, str, str, int, float, float]
"""Data set, ε, column, method, how many repetitions, their mean error and its standard error."""


def sets(names: list[str]) -> Iterator[DataHandle]:
    """The data sets of these names, or all that there are."""
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", ASSETS.parents[1] / "shared" / "data"))
    for name in names or [*BUILT_IN, *SHARED]:
        if name in DATASETS:
            data = DATASETS[name]
            points, domain = data.points(), data.domain
        else:
            import pyarrow.parquet as pq

            file, columns, bounds = SHARED[name]
            path = folder / f"{file}.parquet"
            if not path.is_file():
                print(f"{name}: no {path}", flush=True)
                continue
            table = pq.read_table(path, columns=columns.split())
            points = np.stack([table[each].to_numpy() for each in columns.split()], axis=1)
            dims = len(bounds) // 2
            domain = Domain(bounds[:dims], bounds[dims:])
        yield dpviz.from_points(points, domain, name=name, public=True)


def districts(handle: DataHandle) -> Float:
    """Rectangles that fill the domain and hold about equally many records each."""
    domain, records = (
        handle.domain,
        np.repeat(index_of(handle).cells, index_of(handle).weights, axis=0),
    )
    boxes = [(np.zeros(domain.dims, np.int64), np.full(domain.dims, domain.side), records)]
    rects = []
    for halving in range(max(DISTRICTS) + 1):
        if halving in DISTRICTS:
            rects += [domain.to_coordinates(np.array(box[:2])).ravel() for box in boxes]
        boxes = [part for box in boxes for part in halved(*box, halving % domain.dims)]
    return np.array(rects)


def halved(low: Int, high: Int, records: Int, axis: int) -> Iterator[tuple[Int, Int, Int]]:
    """A box and its records, cut at their median along an axis."""
    middle = (low[axis] + high[axis]) // 2
    cut = int(np.median(records[:, axis])) if len(records) else middle
    cut = min(max(cut, low[axis] + 1), high[axis] - 1)
    for below in (True, False):
        lower, upper = low.copy(), high.copy()
        (upper if below else lower)[axis] = cut
        yield lower, upper, records[(records[:, axis] < cut) == below]


def queries(handle: DataHandle, columns: list[str], many: int) -> dict[str, Float]:
    rects = {}
    for column in columns:
        if column in SQUARE_SIDES:
            rects[column] = squares_at_records(handle, column, many, seed=17).rects
        elif column == "districts":
            rects[column] = districts(handle)
        else:
            rects[column] = workload(handle.domain, column, many, seed=17).rects
    return rects


def flat_sides(dims: int) -> list[int]:
    """Cells per side, in steps of √2, up to four million cells."""
    first, last = (8, 22) if dims == 2 else (4, 11)
    return [round(2 ** (step / 2)) for step in range(first, last + 1)]


class FlatGrid:
    """Answers of a flat grid of any side to many rectangles, by sums over all smaller places.

    Args:
        handle: public records.
        side: cells per side.
        rects: (q, 2·dims).
    """

    def __init__(self, handle: DataHandle, side: int, rects: Float) -> None:
        line = grid_edges(handle.domain.side, side)
        self.counts = index_of(handle).histogram([line] * handle.domain.dims)
        ends = np.stack(handle.domain.boxes(rects))
        self.cell = np.clip(np.searchsorted(line, ends, side="right") - 1, 0, side - 1)
        self.part = (ends - line[self.cell]) / np.diff(line)[self.cell]

    def answers(self, epsilon: float, noise: SimulatedNoise) -> Float:
        drawn = noise.two_sided(self.counts.size, epsilon).reshape(self.counts.shape)
        below = np.pad(self.counts + drawn, [(1, 0)] * self.counts.ndim)
        for axis in range(below.ndim):
            np.cumsum(below, axis=axis, out=below)
        total = np.zeros(self.cell.shape[1])
        axes = np.arange(below.ndim)
        # Each corner of a rectangle lies in a cell, between that cell's own corners.
        for corner in itertools.product((0, 1), repeat=below.ndim):
            cell, part = self.cell[corner, :, axes], self.part[corner, :, axes]
            sign = (-1.0) ** (below.ndim - sum(corner))
            for step in itertools.product((0, 1), repeat=below.ndim):
                up = np.array(step)[:, None]
                total += sign * np.prod(np.where(up, part, 1 - part), axis=0) * below[*(cell + up)]
        return total


class Bench:
    """One data set: its queries, their exact answers, and the errors of whatever answers them."""

    def __init__(self, handle: DataHandle, columns: list[str], many: int) -> None:
        self.handle = handle
        self.rects = queries(handle, columns, many)
        self.exact = {name: exact_counts(handle, rects) for name, rects in self.rects.items()}
        self.bound = sanity_bound(index_of(handle).total)

    def error(self, column: str, answers: Float) -> float:
        return float(relative_errors(answers, self.exact[column], self.bound).mean())

    def flat(self, epsilons: list[float], repeats: int) -> Iterator[Row]:
        columns = list(self.rects)
        ends = np.cumsum([len(self.rects[column]) for column in columns])[:-1]
        every = np.concatenate(list(self.rects.values()))
        for side in flat_sides(self.handle.domain.dims):
            grid, noise = FlatGrid(self.handle, side, every), SimulatedNoise(side)
            for epsilon, repeat in itertools.product(epsilons, range(repeats)):
                answers = np.split(grid.answers(epsilon, noise), ends)
                for column, each in zip(columns, answers, strict=True):
                    error = self.error(column, each)
                    yield self.handle.name, epsilon, column, f"flat {side}", repeat, error

    def method(self, name: str, epsilon: float, columns: list[str], repeats: int) -> Iterator[Row]:
        for repeat in range(repeats):
            seed = zlib.crc32(f"{self.handle.name} {name} {epsilon} {repeat}".encode())
            release = dpviz.build(self.handle, method_of_text(name), epsilon, seed=seed)
            for column in columns:
                error = self.error(column, release.count(self.rects[column]).count)
                yield self.handle.name, epsilon, column, name, repeat, error

    def ours(self) -> dict[str, list[str]]:
        """Our method for each column, and the columns it is for."""
        chosen = defaultdict(list)
        for column in self.rects:
            declared, plane = COLUMNS[column], self.handle.domain.dims == 2
            best = "hot_grid" if declared.name == "hot" and plane else "ladder_tree"
            chosen[with_workload(best, declared)].append(column)
        return chosen


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """All rows, set by set; what it took is printed."""
    columns = list(SQUARE_SIDES) if options.hot else list(COLUMNS)
    for handle in sets(options.sets):
        if options.hot and handle.domain.dims > 2:
            continue
        start = time.process_time()
        bench = Bench(handle, columns, options.queries)
        yield from bench.flat(options.epsilons, options.repeats)
        for epsilon in options.epsilons:
            for name, wanted in bench.ours().items():
                for row in bench.method(name, epsilon, wanted, options.repeats):
                    yield *row[:3], f"ours: {row[3]}", *row[4:]
            for name in () if options.hot else RIVALS:
                if handle.domain.dims in dpviz.METHODS[name].dims:
                    repeats = min(options.repeats, 4) if name == "dawa" else options.repeats
                    yield from bench.method(name, epsilon, columns, repeats)
        print(f"{handle.name}: {time.process_time() - start:.0f} s", flush=True)


def repeated(rows: list[Row]) -> Iterator[Summary]:
    """The repetitions of each data set, ε, column and method in one."""
    errors: dict[tuple[str, float, str, str], list[float]] = defaultdict(list)
    for *cell, _, error in rows:
        errors[*cell].append(error)
    for cell, each in errors.items():
        deviation = float(np.std(each, ddof=1)) if len(each) > 1 else math.nan
        yield *cell, len(each), float(np.mean(each)), deviation / math.sqrt(len(each))


def page(summaries: list[Summary]) -> Iterator[str]:
    """The table, in Markdown: our error as a share of the best other's."""
    means: dict[tuple[str, float, str], dict[str, float]] = defaultdict(dict)
    for data, epsilon, column, name, _, mean, _ in summaries:
        means[data, epsilon, column]["ours" if name.startswith("ours: ") else name] = mean
    ratios, best = {}, {}
    for cell, mean in means.items():
        ours = mean.pop("ours")
        best[cell] = min(mean, key=lambda name: mean[name])
        ratios[cell] = ours / mean[best[cell]]
    columns = list(dict.fromkeys(column for *_, column in ratios))
    yield f"| | ε | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 2) + "|"
    previous = ""
    for data, epsilon in dict.fromkeys(cell[:2] for cell in ratios):
        texts = []
        for column in columns:
            ratio = ratios[data, epsilon, column]
            text = f"**{ratio:.2f}**" if ratio > MISSED else f"{ratio:.2f}"
            texts.append(f"{text} {best[data, epsilon, column]}")
        yield f"| {data if data != previous else ''} | {epsilon:g} | {' | '.join(texts)} |"
        previous = data
    overall = [
        geometric_mean(ratios[cell] for cell in ratios if cell[2] == column) for column in columns
    ]
    yield f"| geometric mean | | {' | '.join(f'{each:.3f}' for each in overall)} |"
    held = sum(ratio <= MISSED for ratio in ratios.values())
    yield ""
    yield f"{held} of {len(ratios)} cells are at most {MISSED}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hot", action="store_true", help="small squares, beside flat grids only")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=[])
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")])
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("-o", "--output", type=Path, help="folder for the rows and the table")
    options = parser.parse_args()
    usual = [0.05, 0.1, 0.2, 0.4, 0.8] if options.hot else [0.05, 0.2, 0.8]
    options.epsilons = options.epsilons or usual
    name = "everywhere-hot" if options.hot else "everywhere"
    rows = list(repeated(list(measured(options))))
    lines = list(page(rows))
    print("\n".join(lines))
    if options.output is not None:
        with (options.output / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("data", "epsilon", "column", "method", "repeats", "error", "spread"))
            writer.writerows((*row[:-2], f"{row[-2]:.5g}", f"{row[-1]:.2g}") for row in rows)
        if options.output.resolve() == (ASSETS / "results").resolve():
            write_measured("results/everywhere.md", name, lines)


if __name__ == "__main__":
    main()
