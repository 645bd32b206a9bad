"""Figure 7 of the ICDE paper: private record matching on several kinds of trees, with times.

G. Cormode et al., ICDE 2012, §8.3, on the problem of A. Inan et al., EDBT 2010: two owners publish
trees, all of the counts' budget on the leaves; only leaves that may hold a match are compared.
"""

from __future__ import annotations

import itertools
from statistics import geometric_mean
from typing import Any

from dpviz.build import build, from_points
from dpviz.datasets import registers
from dpviz.domain import Domain
from dpviz.evaluation.experiments import SECONDS, Build, method_of_text, parsed, timed_build
from dpviz.evaluation.figures.report import Reproduction, Statement, least_of
from dpviz.evaluation.matching import match_truth
from dpviz.evaluation.plots import Lines, line_figure
from dpviz.evaluation.rows import Group, MeasureRow, grouped, markdown, means
from dpviz.private.handle import DataHandle
from dpviz.private.load.data import load
from dpviz.progress import Progress, part_of
from dpviz.releases.points.matching import GUARANTEE, PADDINGS, match

RATIO = "reduction_ratio"
Means = dict[Group, float]

EPSILONS = (0.1, 0.25, 0.5, 1.0)
ATTRIBUTES = (2, 3, 4)
"""Numbers of the registers' columns: the address, the time of birth, the income."""

TIMED = "city-250k"
"""The built-in data of figure 7(a)."""

TREES = {
    "quad-baseline": "quadtree:budget=leaf:prune=0",
    "kd-noisymean": "kd-noisymean:budget=leaf:prune=0:height=5",
    "kd-standard": "kd-standard:budget=leaf:prune=0:height=5",
    "kd-hybrid": "kd-hybrid:budget=leaf:prune=0:height=5:switch=3",
    "PrivTree": "privtree",
}
"""The paper's names, and PrivTree beside them; the others have about a thousand leaves."""

HEIGHTS = {2: 5, 3: 3, 4: 2}
"""Levels of the quadtree: 1,024, 512 and 256 leaves."""

CONSTRUCTION = {
    "quad-opt": "quad-opt",
    "kd-standard": "kd-standard",
    "kd-hybrid": "kd-hybrid",
    "kd-cell": "kd-cell:log_grid=10",
    "kd-noisymean": "kd-noisymean",
    "Hilbert-R": "hilbert_rtree",
}


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure all trees and compare the results with the paper's statements."""
    rows: list[MeasureRow] = []
    for at, dims in enumerate(ATTRIBUTES):
        rows += measure_pairs(dims, repeats, seed, part_of(progress, at, len(ATTRIBUTES)))
    mean = means(rows)
    times = construction(repeats, seed)
    panels: dict[str, Lines] = {}
    for (name, epsilon, size, measure), values in grouped(rows).items():
        if measure == RATIO and size.endswith("noisy"):
            panels.setdefault(size, {}).setdefault(name, {})[epsilon] = values
    return Reproduction(
        "Private record matching (ICDE 2012, figure 7)",
        f"Reduction ratio of two registers of {registers.SIZE:,} invented people, of whom "
        f"{registers.SHARED_SIZE:,} stand in both with typing errors; matches are records within "
        f"{', '.join(f'{each:g}' for each in registers.ERRORS)} in longitude, latitude, year of "
        f"birth and income; means of {repeats} repetitions. The paper's data are not public. "
        "\"Noisy\" padding is the paper's: dummies up to a leaf's noisy count, records above it "
        'suppressed, so that matches are lost. "Upward" padding adds enough dummies that with '
        f"probability 1 − 10⁻⁶ no record is suppressed: it keeps every match, and what it costs in "
        f"comparisons stands beside it. {GUARANTEE} "
        "`uv run dpviz reproduce matching -o FOLDER` makes this page.\n\n" + table(mean),
        compare(mean, least_of(times, SECONDS)),
        {"matching": rows, "matching-times": times},
        {"matching": line_figure(panels, "ε of each owner", "reduction ratio")},
    )


def tree(name: str, dims: int) -> tuple[str, dict[str, Any]]:
    """The method of a tree and its parameters, by the number of attributes."""
    method, parameters = parsed(TREES[name])
    height = {"height": str(HEIGHTS[dims])} if name == "quad-baseline" else {}
    return method, {**parameters, **height}


def pair_of_registers(dims: int) -> tuple[DataHandle, DataHandle]:
    """Both registers with their first attributes, over one public domain."""
    low, high = registers.LIMITS
    domain = Domain(low[:dims], high[:dims], registers.COLUMNS[:dims])
    a, b = (
        from_points(
            registers.register(each)[:, :dims], domain, public=True, name=f"register-{each}"
        )
        for each in "ab"
    )
    a.synthetic = b.synthetic = True
    return a, b


def measure_pairs(dims: int, repeats: int, seed: int, progress: Progress) -> list[MeasureRow]:
    """Leaves, ratios and recall of every tree, at every ε, with both paddings."""
    pair = pair_of_registers(dims)
    rows: list[MeasureRow] = []
    settings = list(itertools.product(TREES, EPSILONS))
    for at, (name, epsilon) in enumerate(settings):
        progress(at / len(settings), f"{dims} attributes, {name}")
        method, parameters = tree(name, dims)
        for repeat in range(repeats):
            a, b = (
                build(data, method, epsilon, seed=seed + 2 * repeat + side, **parameters)
                for side, data in enumerate(pair)
            )
            for padding in PADDINGS:
                matching = match(a, b, registers.ERRORS[:dims], padding=padding)
                truth = match_truth(matching, a, b, *pair)
                values = {
                    "leaves": len(matching.leaves_a),
                    RATIO: round(matching.reduction_ratio, 6),
                    "true_reduction_ratio": round(truth.reduction_ratio, 6),
                    "recall": round(truth.recall, 6),
                }
                size = size_label(dims, padding)
                rows += [MeasureRow(name, epsilon, size, repeat, *each) for each in values.items()]
    return rows


def size_label(dims: int, padding: str) -> str:
    """Text of a row's column ``size``: the number of attributes and the padding."""
    return f"{dims} attributes, {padding}"


def construction(repeats: int, seed: int) -> list[MeasureRow]:
    """Seconds to build each tree of figure 7(a)."""
    data = load(TIMED)
    rows = []
    for (name, words), repeat in itertools.product(CONSTRUCTION.items(), range(repeats)):
        task = Build(name, 1.0, repeat, seed + repeat)
        _, seconds = timed_build(data, method_of_text(words), task)
        rows.append(MeasureRow(name, 1.0, TIMED, repeat, SECONDS, seconds))
    return rows


def table(mean: Means) -> str:
    """Markdown table of leaves, reduction ratios and recall of each tree."""
    head = (
        *("attributes", "tree", "leaves", "ε", "ratio, noisy padding", "its recall"),
        *("ratio, upward padding", "its recall", "ratio of exact sizes"),
    )
    lines = []
    for dims, name, epsilon in itertools.product(ATTRIBUTES, TREES, EPSILONS):
        noisy, upward = ((name, epsilon, size_label(dims, each)) for each in ("noisy", "upward"))
        cells = [f"{dims}", name, f"{mean[*noisy, 'leaves']:,.0f}", f"{epsilon:g}"]
        for at in (noisy, upward):
            cells += [f"{mean[*at, RATIO]:.4f}", f"{mean[*at, 'recall']:.3f}"]
        lines.append([*cells, f"{mean[*noisy, 'true_reduction_ratio']:.4f}"])
    return "\n".join(markdown(head, lines))


def compare(mean: Means, seconds: dict[str, float]) -> list[Statement]:
    """The statements of §8.3 and of figure 7(a), and what we find."""
    settings = [(dims, epsilon) for dims in ATTRIBUTES for epsilon in EPSILONS]

    def work(name: str, dims: int, epsilon: float) -> float:
        return 1 - mean[name, epsilon, size_label(dims, "noisy"), RATIO]

    def wins(better: str, other: str) -> str:
        count = sum(work(better, *at) < work(other, *at) for at in settings)
        return f"{count} of {len(settings)} settings against {other}"

    def share(better: str, other: str) -> float:
        ratios = (work(better, *at) / max(work(other, *at), 1e-9) for at in settings)
        return geometric_mean(max(each, 1e-9) for each in ratios)

    quad, noisymean = share("kd-standard", "quad-baseline"), share("kd-standard", "kd-noisymean")
    times = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    return [
        Statement(
            "7(b): kd-standard improves appreciably over kd-noisymean and quad-baseline",
            f"kd-standard leaves {noisymean:.2f} times the work of kd-noisymean and {quad:.2f} "
            f"times that of quad-baseline (geometric means); less work in "
            f"{wins('kd-standard', 'kd-noisymean')}, {wins('kd-standard', 'quad-baseline')}",
            quad < 0.95 and noisymean < 0.95,
        ),
        Statement(
            "7(a): trees that only divide the domain take much less time than those that look at "
            "the data, kd-hybrid lies in between",
            times,
            2 * seconds["quad-opt"] < seconds["kd-hybrid"] < seconds["kd-standard"],
        ),
        Statement(
            "7(a): the Hilbert R-tree takes the most time",
            times,
            seconds["Hilbert-R"] == max(seconds.values()),
        ),
        Statement(
            "7(a): kd-cell takes a long time, more than kd-hybrid",
            times,
            seconds["kd-cell"] > seconds["kd-hybrid"],
        ),
    ]
