"""What intervals cover: exact counts of rectangles whose edges cut leaves.

The 95 % interval of an answer is for its noise alone; the uniformity error beside it is an estimate
that no theorem backs. Here is how often the two together hold the exact count, on public data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.build import build, load
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, mean_of, table
from dpviz.evaluation.truth import exact_counts, hot
from dpviz.methods import of_kind
from dpviz.progress import Progress
from dpviz.queries.workloads import workload
from dpviz.releases.answers import INTERVAL_SDS, RangeAnswers
from dpviz.releases.points.sums import SumAnswers
from dpviz.trees.lattice import Float, Int

SETS = {"city-250k": 2, "trips-200k": 4}
"""Built-in public data, and their dimensions."""

EPSILONS = (0.1, 1.0)
SIZES = ("small", "medium", "large", "huge")
HOT = "hot"
QUERIES = 500
WANTED = 0.95

Row = dict[str, Any]

OUTPUTS = Outputs(
    "What intervals cover when edges cut leaves",
    {"intervals": "data,method,epsilon,size,repeat,noise_only,with_uniformity,needed"},
)


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure, and say what they cover."""
    tasks = [
        (data, name, epsilon)
        for data, dims in SETS.items()
        for name, kind in sorted(of_kind("points").items())
        if kind().private and dims in kind.dims
        for epsilon in EPSILONS
    ]
    rows: list[Row] = []
    for data, dims in SETS.items():
        handle = load(data)
        loads = [workload(handle.domain, size, QUERIES, seed) for size in SIZES]
        loads += [hot(handle, HOT, QUERIES, seed)] if dims == 2 else []
        exact = [exact_counts(handle, each.rects) for each in loads]
        for _, name, epsilon in [task for task in tasks if task[0] == data]:
            for repeat in range(repeats):
                release = build(handle, name, epsilon, seed=seed + repeat)
                facts = {"data": data, "method": name, "epsilon": epsilon}
                rows += [
                    {**facts, "size": each.size, "repeat": repeat}
                    | measured(release.count(each.rects), truth)
                    for each, truth in zip(loads, exact, strict=True)
                ]
            done = len({(row["data"], row["method"], row["epsilon"]) for row in rows})
            progress(done / len(tasks), f"{name}, epsilon {epsilon:g}")
    statements = compare(rows)
    return Reproduction(statements, page(rows, repeats, statements), {"intervals": rows})


def measured(answers: RangeAnswers, exact: Int) -> Row:
    """Shares of exact counts that are held, and how wide the widened interval must have been.

    ``needed`` is the factor by which half the width might be multiplied and hold 95 % of them.
    """
    inside, widened = covered(answers, exact)
    half = INTERVAL_SDS * (answers.noise_sd + answers.uniformity_sd) + 1.0
    off = np.abs(answers.count - exact) / half
    return {
        "noise_only": f"{inside.mean():.4f}",
        "with_uniformity": f"{widened.mean():.4f}",
        "needed": f"{np.quantile(off, WANTED):.3f}",
    }


def covered(answers: RangeAnswers | SumAnswers, exact: Int | Float) -> tuple[Float, Float]:
    """Whether exact counts lie in the noise interval, and in it widened by the uniformity error.

    The uniformity error is shown at the interval's level, 2.12 standard deviations, and added.
    """
    spread = INTERVAL_SDS * answers.uniformity_sd
    inside = (answers.low <= exact) & (exact <= answers.high)
    widened = (answers.low - spread <= exact) & (exact <= answers.high + spread)
    return inside.astype(np.float64), widened.astype(np.float64)


def compare(rows: Sequence[Row]) -> list[Statement]:
    """What the documentation says of intervals, and what we find."""
    anywhere = [row for row in rows if row["size"] != HOT]
    settings = ("data", "method", "epsilon", "size")
    claim = "the exact count of 95 % of the rectangles"
    return [together(anywhere, settings, claim, "{1}, {0}, ε = {2:g}, {3}")]


def together(rows: Sequence[Row], columns: Sequence[str], claim: str, least: str) -> Statement:
    """Whether widened intervals hold enough in every setting.

    Args:
        rows: of all settings.
        columns: that tell settings apart.
        claim: what is said to be held.
        least: how the setting is written that holds least, by the places of its columns.
    """
    keys = sorted({tuple(row[name] for name in columns) for row in rows})
    wanted = [dict(zip(columns, key, strict=True)) for key in keys]
    shares = [mean_of(rows, "with_uniformity", **each) for each in wanted]
    lowest, key = min(zip(shares, keys, strict=True))
    good = sum(share >= WANTED for share in shares)
    return Statement(
        f"interval and uniformity error together hold {claim}",
        f"in {good} of {len(keys)} settings; least {lowest:.1%} ({least.format(*key)})",
        good == len(keys),
    )


def page(rows: Sequence[Row], repeats: int, statements: Sequence[Statement]) -> str:
    """The Markdown page."""
    lines = [
        f"# {OUTPUTS.title}",
        "",
        f"Share of {len(SIZES) * QUERIES:,} random rectangles (0.01 to 100 % of the volume, "
        f"{QUERIES} each small, medium, large and huge) whose exact count lies in the 95 % "
        "interval of the noise alone, and in that interval widened by the uniformity error; the "
        "least of the four sizes; how much of the widened interval would have been needed for 95 % "
        "(median of the sizes; 1 is exact, below it is too wide). Means of "
        f"{repeats} releases with default parameters and simulated noise. Rectangles of one "
        "release share its noise: of a single release nearly all of the huge ones are held, or far "
        "too few. The noise interval holds for rectangles that follow the cells; the widened one "
        "is an ESTIMATE that no theorem backs. `uv run dpviz reproduce intervals -o FOLDER` makes "
        "this page.",
        "",
        "*Hot*: squares of 0.2 to 0.8 % of the side, each around a record. Such a square was "
        "chosen because records are there, and inside a leaf that is larger nobody can know where "
        "they are: no interval that is not far too wide everywhere else holds 95 % of these.",
    ]
    for data, dims in SETS.items():
        title = "in four dimensions" if dims > 2 else "in two dimensions"
        head = ["method", "ε", "noise alone", "widened", "least size", "needed"]
        head += ["hot"] if dims == 2 else []
        settings = dict.fromkeys(
            (row["method"], row["epsilon"]) for row in rows if row["data"] == data
        )
        cells = [line(rows, data, name, epsilon) for name, epsilon in settings]
        lines += ["", f"## `{data}`, {title}", "", *table(head, cells)]
    lines += ["", *(f"{each.claim}: {each.measured}." for each in statements)]
    return "\n".join(lines) + "\n"


def line(rows: Sequence[Row], data: str, name: str, epsilon: float) -> list[str]:
    """The cells of one line of the table."""
    here = [
        row for row in rows if (row["data"], row["method"], row["epsilon"]) == (data, name, epsilon)
    ]

    def by_size(column: str) -> list[float]:
        return [mean_of(here, column, size=size) for size in SIZES]

    widened = by_size("with_uniformity")
    cells = [np.mean(by_size("noise_only")), np.mean(widened), min(widened)]
    texts = [f"{each:.1%}" for each in cells] + [f"{np.median(by_size('needed')):.2f}"]
    if SETS[data] == 2:
        texts.append(f"{mean_of(here, 'with_uniformity', size=HOT):.1%}")
    return [f"`{name}`", f"{epsilon:g}", *texts]
