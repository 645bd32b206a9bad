"""Figure 5 of the ICDE paper: kd-trees of six kinds, by ε and query shape.

G. Cormode et al., ICDE 2012, §8.2: eight levels of fanout 4, 30 % of ε for medians, descendants of
nodes with fewer than 32 records pruned.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import geometric_mean

from dpviz.datasets import dataset
from dpviz.evaluation.figures.report import Reproduction, Statement
from dpviz.evaluation.figures.shapes import DATA, METRIC, SHAPES, measure_errors
from dpviz.evaluation.plots import error_figure
from dpviz.evaluation.rows import means
from dpviz.progress import Progress

EPSILONS = (0.1, 0.5, 1.0)
METHODS = {
    "kd-pure": "kd_pure",
    "kd-true": "kd_true",
    "kd-standard": "kd-standard",
    "kd-hybrid": "kd-hybrid",
    "kd-cell": "kd-cell:log_grid=10",
    "kd-noisymean": "kd-noisymean",
}
"""The paper's names and ours. Cells are a 1024th of the domain's sides; the paper's are 0.01°."""

PRIVATE = ("kd-standard", "kd-hybrid", "kd-cell", "kd-noisymean")

Errors = dict[tuple[str, float, str], float]
"""By the paper's name of the method, ε and shape."""


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure and compare."""
    rows = measure_errors(tuple(METHODS.values()), EPSILONS, SHAPES, repeats, seed, progress)
    names = {ours: name for name, ours in METHODS.items()}
    rows = [replace(row, method=names[row.method]) for row in rows]
    errors = {key[:3]: mean for key, mean in means(rows).items() if key[3] == METRIC}
    return Reproduction(
        "Kd-trees compared (ICDE 2012, figure 5)",
        f"Median relative error of 600 queries with an answer, per shape; mean and band of "
        f"{repeats} repetitions on {dataset(DATA).title} (the paper: 1.63 million road "
        "intersections). A shape covers the same share of our domain as of the paper's. Kd-pure "
        "and kd-true are NOT PRIVATE: references. Medians are drawn with ε in the exponent, where "
        "the paper's have ε/2; cells are a 1024th of the domain's sides, about twice the paper's. "
        "`uv run dpviz reproduce kdtrees -o FOLDER` makes this page.",
        compare(errors),
        {"kdtrees": rows},
        {"kdtrees": error_figure(rows, (METRIC,))},
    )


def compare(errors: Errors) -> list[Statement]:
    """The statements of §8.2 on figure 5, and what we find."""
    settings = [(epsilon, shape) for epsilon in EPSILONS for shape in SHAPES]
    pure = [errors["kd-pure", *setting] for setting in settings]
    true = [errors["kd-true", *setting] for setting in settings]

    def ratio(upper: str, lower: str) -> float:
        return geometric_mean(errors[upper, *at] / errors[lower, *at] for at in settings)

    counts_cost, medians_cost = ratio("kd-true", "kd-pure"), ratio("kd-standard", "kd-true")
    cell = {
        at: geometric_mean(errors["kd-cell", e, at] / errors["kd-hybrid", e, at] for e in EPSILONS)
        for at in SHAPES
    }
    means = {name: geometric_mean(errors[name, *at] for at in settings) for name in PRIVATE}
    highest = max(PRIVATE, key=lambda name: max(errors[name, *at] for at in settings))
    top = max(errors[highest, *at] for at in settings)
    best = min(means, key=lambda name: means[name])
    weak = sum(
        errors["kd-noisymean", *at] == max(errors[other, *at] for other in PRIVATE)
        for at in settings
    )
    return [
        Statement(
            "Even a kd-tree without noise (kd-pure) has some error, from the uniformity assumption",
            f"kd-pure: {min(pure):.2%} to {max(pure):.2%}",
            min(pure) > 0,
        ),
        Statement(
            "Noise in the counts alone (kd-true) does not degrade accuracy dramatically: below 1 %",
            f"kd-true: {min(true):.2%} to {max(true):.2%}, {counts_cost:.2g} times kd-pure's error",
            max(true) < 0.01,
        ),
        Statement(
            "The noise in the medians has the greater impact",
            f"kd-standard has {medians_cost:.2g} times the error of kd-true, and kd-true "
            f"{counts_cost:.2g} times that of kd-pure (geometric means)",
            medians_cost > counts_cost,
        ),
        Statement(
            "Kd-noisymean is weak",
            f"the largest error of the four private trees in {weak} of {len(settings)} settings",
            weak > len(settings) / 2,
        ),
        Statement(
            "Kd-cell is good on small square queries, and dominated by kd-hybrid on large ones",
            "kd-cell's error as a multiple of kd-hybrid's: "
            + ", ".join(f"{value:.2g} for {shape}" for shape, value in cell.items()),
            cell["(1, 1)"] <= 1 < cell["(10, 10)"],
        ),
        Statement(
            "All errors are small: under 10 % even at ε = 0.1",
            f"the largest of a private tree is {top:.1%} ({highest})",
            top < 0.1,
        ),
        Statement(
            "Kd-hybrid is the most reliably accurate",
            "geometric means: " + ", ".join(f"{name} {value:.2%}" for name, value in means.items()),
            best == "kd-hybrid",
        ),
    ]
