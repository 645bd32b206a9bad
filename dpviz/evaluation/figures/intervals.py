"""What intervals cover: exact counts of rectangles whose edges cut leaves.

The 95 % interval of an answer is for its noise alone; the uniformity error beside it is an estimate
that no theorem backs. Here is how often the two together hold the exact count, on public data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpviz.build import build, load
from dpviz.datasets import dataset
from dpviz.evaluation.figures.report import Statement, write_rows
from dpviz.evaluation.truth import exact_counts
from dpviz.files import write_bytes
from dpviz.methods import of_kind
from dpviz.progress import Progress
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.workloads import workload

if TYPE_CHECKING:
    from dpviz.releases.points.range_count import RangeAnswers
    from dpviz.trees.lattice import Float, Int

DATA = "city-250k"
EPSILONS = (0.1, 1.0)
SIZES = ("small", "medium", "large")
QUERIES = 2_000
WANTED = 0.95

Coverage = dict[tuple[str, float], tuple[float, float]]
"""(method, ε) → shares of the rectangles: in the noise interval, and in the widened one."""


def reproduce(folder: Path, repeats: int, seed: int, progress: Progress | None) -> list[Statement]:
    """Measure, write ``intervals.csv`` and ``intervals.md``, and say what they cover."""
    handle = load(DATA)
    loads = [workload(handle.domain, size, QUERIES, seed) for size in SIZES]
    exact = [exact_counts(handle, each.rects) for each in loads]
    methods = sorted(
        name for name, kind in of_kind("points").items() if kind().private and 2 in kind.dims
    )
    tasks = [(name, epsilon) for name in methods for epsilon in EPSILONS]
    rows = []
    for done, (name, epsilon) in enumerate(tasks, 1):
        for repeat in range(repeats):
            release = build(handle, name, epsilon, seed=seed + repeat)
            for each, truth in zip(loads, exact, strict=True):
                inside, widened = covered(release.count(each.rects), truth)
                rows.append(
                    {
                        "method": name,
                        "epsilon": epsilon,
                        "size": each.size,
                        "repeat": repeat,
                        "noise_only": f"{inside.mean():.4f}",
                        "with_uniformity": f"{widened.mean():.4f}",
                    }
                )
        if progress is not None:
            progress(done / len(tasks), f"{name}, epsilon {epsilon:g}")
    write_rows(folder / "intervals.csv", rows)
    errors = {
        (name, epsilon): tuple(
            float(
                np.mean(
                    [
                        float(str(row[kind]))
                        for row in rows
                        if (row["method"], row["epsilon"]) == (name, epsilon)
                    ]
                )
            )
            for kind in ("noise_only", "with_uniformity")
        )
        for name, epsilon in tasks
    }
    coverage = {key: (pair[0], pair[1]) for key, pair in errors.items()}
    write_bytes(folder / "intervals.md", page(coverage, repeats).encode())
    return compare(coverage)


def covered(answers: RangeAnswers, exact: Int) -> tuple[Float, Float]:
    """Whether exact counts lie in the noise interval, and in it widened by the uniformity error.

    The uniformity error is shown at the interval's level, 2.12 standard deviations, and added.
    """
    spread = INTERVAL_SDS * answers.uniformity_sd
    inside = (answers.low <= exact) & (exact <= answers.high)
    widened = (answers.low - spread <= exact) & (exact <= answers.high + spread)
    return inside.astype(np.float64), widened.astype(np.float64)


def compare(coverage: Coverage) -> list[Statement]:
    """What the documentation says of intervals, and what we find."""
    widened = {key: pair[1] for key, pair in coverage.items()}
    short = sorted((share, key) for key, share in widened.items() if share < WANTED)
    worst, (name, epsilon) = min((share, key) for key, share in widened.items())
    return [
        Statement(
            "interval and uniformity error together hold the exact count of 95 % of the rectangles",
            f"in {len(widened) - len(short)} of {len(widened)} settings; least {worst:.1%} "
            f"({name}, ε = {epsilon:g})",
            not short,
        )
    ]


def page(coverage: Coverage, repeats: int) -> str:
    """The Markdown page."""
    lines = [
        "# What intervals cover when edges cut leaves",
        "",
        f"Share of {len(SIZES) * QUERIES:,} random rectangles (0.01 to 10 % of the area, a third "
        f"each small, medium and large) of {dataset(DATA).title} whose exact count lies in the "
        f"95 % interval of the noise alone, and in that interval widened by the uniformity error; "
        f"mean of {repeats} releases with default parameters and simulated noise. The noise "
        "interval holds for rectangles that follow the cells; the widened one is an ESTIMATE that "
        "no theorem backs. `uv run dpviz reproduce intervals -o FOLDER` makes this page.",
        "",
        "| method | "
        + " | ".join(f"ε = {e:g}: noise alone | with uniformity error" for e in EPSILONS)
        + " |",
        "|---|" + "---|" * (2 * len(EPSILONS)),
    ]
    for name in dict.fromkeys(name for name, _ in coverage):
        cells = [f"{share:.1%}" for epsilon in EPSILONS for share in coverage[name, epsilon]]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    lines += ["", *(f"{each.claim}: {each.measured}." for each in compare(coverage))]
    return "\n".join(lines) + "\n"
