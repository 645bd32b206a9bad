"""Share of rectangles whose exact count lies in the interval, where edges cut leaves.

    uv run python -m tests.benchmarks.intervals -o assets/docs/results

Real sets come from the folder of ``DPVIZ_SHARED_DATA``; those that are not there are left out.
Simulated noise, fixed seeds.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import dpviz
from dpviz.domain import Domain
from dpviz.evaluation.truth import exact_counts, squares_at_records
from dpviz.methods import METHODS, of_kind
from dpviz.queries.workloads import SIZES, workload
from dpviz.releases.answers import RangeAnswers
from dpviz.trees.lattice import Float

from .pages import write_measured
from .priors import BOX, places

FACTORS = np.geomspace(0.05, 8.0, 180)
HOLD = 0.94
BUILT_IN = "city-250k", "trips-200k"
REAL = {
    "beijing_taxi_30k": "Beijing taxis",
    "chicago_crime": "Chicago crime",
    "houston_crime": "Houston crime",
    "foursquare_us_checkins": "Foursquare",
    "gowalla_userpoi": "Gowalla",
    "uber_nyc_pickups_2014": "Uber",
    "codepoint_london": "London post codes",
    "codepoint_gb": "British post codes",
}
EPSILONS = {True: (0.1, 1.0), False: (0.05, 0.2, 0.8, 2.0)}
"""Of built-in and real sets."""

Row = tuple[str, str, float, str, int, float, float, float]
"""Set, method, ε, size, repeat, shares held by the noise alone and by both, factor needed."""


def held(answers: RangeAnswers, half: Float, exact: Float) -> float:
    """Share of exact counts within whole-numbered intervals."""
    low, high = np.floor(answers.count - half), np.ceil(answers.count + half)
    return float(((low <= exact) & (exact <= high)).mean())


def rows(name: str, seeds: int, queries: int) -> Iterator[Row]:
    """Rows of one set; all methods on built-in sets, those for small squares on real ones."""
    if name in BUILT_IN:
        data = dpviz.load(name)
    else:
        domain = Domain(BOX[name][:2], BOX[name][2:])
        data = dpviz.from_points(places(name), domain, public=True, name=name)
    rects = {size: workload(data.domain, size, queries, seed=17).rects for size in SIZES}
    if data.domain.dims == 2:
        rects["hot"] = squares_at_records(data, "hot", queries, seed=17).rects
    exact = {size: exact_counts(data, each) for size, each in rects.items()}
    private = [key for key, each in of_kind("points").items() if each.guarantee != "none"]
    fit = [key for key in sorted(private) if data.domain.dims in METHODS[key].dims]
    for method in fit if name in BUILT_IN else ("hot_grid", "ladder_tree"):
        for epsilon in EPSILONS[name in BUILT_IN]:
            for seed in range(seeds):
                release = dpviz.build(data, method, epsilon, seed=seed)
                for size, each in rects.items():
                    answers = release.count(each)
                    both = answers.total_error
                    shares = [held(answers, f * both, exact[size]) for f in FACTORS]
                    needed = FACTORS[min(int(np.argmax(np.array(shares) >= 0.95)), 179)]
                    alone = held(answers, answers.half_width, exact[size])
                    together = held(answers, both, exact[size])
                    yield name, method, epsilon, size, seed, alone, together, float(needed)


def table(found: list[Row], names: list[str], titles: dict[str, str]) -> Iterator[str]:
    """One line per set, method and ε; means over releases."""
    cells: dict[tuple[str, str, float], dict[str, list[Float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for name, method, epsilon, size, _, *shares in found:
        if name in names:
            cells[name, method, epsilon][size].append(np.array(shares))
    hot = any("hot" in each for each in cells.values())
    heads = [*(["set"] if titles else []), "method", "ε", "noise alone", "both", "least size"]
    heads += ["needed", *(["hot", "needed in hot"] if hot else [])]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for (name, method, epsilon), by_size in cells.items():
        mean = {size: np.mean(each, axis=0) for size, each in by_size.items()}
        sizes = np.array([mean[size] for size in SIZES])
        texts = [*([titles[name]] if titles else []), f"`{method}`", f"{epsilon:g}"]
        texts += [f"{sizes[:, 0].mean():.1%}", f"{sizes[:, 1].mean():.1%}"]
        texts += [f"{sizes[:, 1].min():.1%}", f"{np.median(sizes[:, 2]):.2f}"]
        texts += [f"{mean['hot'][1]:.1%}", f"{mean['hot'][2]:.2f}"] if hot else []
        yield f"| {' | '.join(texts)} |"


def short(found: list[Row], titles: dict[str, str]) -> Iterator[str]:
    """The settings in which fewer than :data:`HOLD` hold."""
    cells: dict[tuple[str, str, float, str], list[float]] = defaultdict(list)
    for name, method, epsilon, size, _, _, together, _ in found:
        cells[name, method, epsilon, size].append(together)
    mean = {key: float(np.mean(each)) for key, each in cells.items()}
    for hot in (False, True):
        of_kind = {key: each for key, each in mean.items() if (key[3] == "hot") == hot}
        below = {key: each for key, each in of_kind.items() if each < HOLD}
        words = ", ".join(
            f"{titles.get(name, name)} `{method}` ε = {epsilon:g}"
            f"{'' if hot else ' ' + size} {each:.1%}"
            for (name, method, epsilon, size), each in sorted(below.items(), key=lambda x: x[1])
        )
        kind = "Hot squares" if hot else "Random rectangles"
        yield (
            f"- {kind}: {len(of_kind) - len(below)} of {len(of_kind)} settings hold {HOLD:.0%}"
            + (f"; less in {words}." if below else ".")
        )


def write(found: list[Row], real: dict[str, str], output: Path | None) -> None:
    """Print the tables; write them and the rows where a folder is given."""
    pages = {name: list(table(found, [name], {})) for name in BUILT_IN}
    pages["real"] = list(table(found, list(real), real))
    pages["short"] = list(short(found, real))
    for lines in pages.values():
        print("\n".join(lines), "\n")
    if output is None:
        return
    with (output / "intervals.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["data", "method", "epsilon", "size", "repeat", "noise_only", "both", "needed"]
        )
        for name, method, epsilon, size, seed, *shares in found:
            writer.writerow([name, method, epsilon, size, seed, *(f"{x:.4f}" for x in shares)])
    for mark, lines in pages.items():
        write_measured("results/intervals.md", mark, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("-o", "--output", type=Path, help="folder for the rows and the tables")
    options = parser.parse_args()
    folder = Path(os.environ.get("DPVIZ_SHARED_DATA", "."))
    real = {key: title for key, title in REAL.items() if (folder / f"{key}.parquet").exists()}
    found: list[Row] = []
    for name in (*BUILT_IN, *real):
        found += rows(name, options.seeds, options.queries)
        print(name, flush=True)
    write(found, real, options.output)


if __name__ == "__main__":
    main()
