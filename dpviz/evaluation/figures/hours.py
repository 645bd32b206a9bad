"""What an hour's worth in metres does: errors of timelines against errors of maps.

On the built-in year, with trees of any method that splits along the axes in the domain's order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpviz.build import build, from_points, load
from dpviz.datasets import dataset
from dpviz.domain import Domain
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, comparison, table
from dpviz.evaluation.truth import exact_counts
from dpviz.progress import Progress
from dpviz.trees.lattice import Float, Int

DATA, EPSILON, QUERIES = "year", 1.0, 200
METHODS = ("privtree", "quadtree")
WORTHS = (None, 1.0, 20.0, 500.0, 2_000.0, 10_000.0)
"""Metres; None halves time as often as the sides."""
LOADS = {
    "six hours of the whole": (1.0, 6.0),
    "a day of the whole": (1.0, 24.0),
    "a day of 4 %": (0.04, 24.0),
    "a month of 1 %": (0.01, 720.0),
    "the year of 1 %": (0.01, 8_760.0),
}
"""Share of the area and hours of a question's box."""

Errors = dict[tuple[str, float | None, str], float]
"""(method, worth of an hour, questions) → mean absolute error."""

OUTPUTS = Outputs(
    "What is an hour worth?",
    {"hours": "method,metres_an_hour_is_worth,questions,mean_absolute_error"},
)


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure, and say what a weight is good for."""
    data, made = load(DATA), dataset(DATA).table()
    points = np.column_stack([made[name] for name in data.domain.columns])
    boxes = {
        name: questions(data.domain, points, *size, seed + at)
        for at, (name, size) in enumerate(LOADS.items())
    }
    exact = {name: exact_counts(data, rects) for name, rects in boxes.items()}
    errors: Errors = {}
    for at, worth in enumerate(WORTHS):
        weighted = from_points(points, replace(data.domain, hour_worth=worth), public=True)
        for method in METHODS:
            misses: dict[str, list[float]] = {name: [] for name in LOADS}
            for repeat in range(repeats):
                release = build(weighted, method, EPSILON, seed=seed + repeat)
                for name, rects in boxes.items():
                    apart = np.abs(release.count(rects).count - exact[name])
                    misses[name].append(float(apart.mean()))
            errors |= {(method, worth, name): float(np.mean(misses[name])) for name in LOADS}
        progress((at + 1) / len(WORTHS), words(worth))
    rows = OUTPUTS.rows(
        (method, "" if worth is None else f"{worth:g}", name, f"{error:.6g}")
        for (method, worth, name), error in errors.items()
    )
    statements = compare(errors)
    page = comparison(
        OUTPUTS.title,
        f"Mean absolute error of {QUERIES} counts of each kind, around records of "
        f"{dataset(DATA).title}, at ε = {EPSILON:g}: mean of {repeats} releases with default "
        "parameters and simulated noise. In brackets below the questions, the exact mean. "
        "`uv run dpviz reproduce hours -o FOLDER` makes this page.\n\n"
        + "\n".join(error_table(errors, exact)),
        statements,
        claimed="we say",
    )
    return Reproduction(statements, page, {"hours": rows})


def questions(domain: Domain, points: Float, share: float, hours: float, seed: int) -> Float:
    """Boxes (q, 6) of one size around records, moved into the domain."""
    random = np.random.default_rng(seed)
    low, span = np.array(domain.lower), np.subtract(domain.upper, domain.lower)
    side = np.minimum(span * [share**0.5, share**0.5, 1.0], [np.inf, np.inf, hours * 3_600.0])
    corner = points[random.integers(0, len(points), QUERIES)] - side / 2
    corner = np.clip(corner, low, low + span - side)
    return np.hstack([corner, np.minimum(corner + side, domain.upper)])


def words(worth: float | None) -> str:
    """What an hour is worth."""
    return "none" if worth is None else f"{worth:,.0f} m"


def compare(errors: Errors) -> list[Statement]:
    """What the documentation says, and what we find."""
    names = list(LOADS)
    short, long = names[0], names[-1]

    def ratios(worth: float, name: str) -> list[float]:
        return [errors[each, worth, name] / errors[each, None, name] for each in METHODS]

    fine, rough = ratios(WORTHS[-1] or 0.0, short), ratios(WORTHS[-1] or 0.0, long)
    flat = ratios(WORTHS[1] or 0.0, long)
    return [
        Statement(
            "an hour that is worth many metres makes timelines better",
            f"of {short}, {words(WORTHS[-1])} have {_range(fine)} times the error of no weight",
            max(fine) < 0.5,
        ),
        Statement(
            "and maps of the whole period worse, for which an hour should be worth few",
            f"of {long}, {words(WORTHS[-1])} have {_range(rough)} times the error, "
            f"{words(WORTHS[1])} {_range(flat)} times",
            min(rough) > 1 > max(flat),
        ),
    ]


def _range(ratios: list[float]) -> str:
    low, high = f"{min(ratios):.2g}", f"{max(ratios):.2g}"
    return low if low == high else f"{low} to {high}"


def error_table(errors: Errors, exact: dict[str, Int]) -> list[str]:
    """A row for each setting, the best of a method in bold, as lines of Markdown."""
    rows = []
    for method in METHODS:
        least = {name: min(errors[method, worth, name] for worth in WORTHS) for name in LOADS}
        for worth in WORTHS:
            pairs = [(errors[method, worth, name], least[name]) for name in LOADS]
            cells = [f"**{each:,.0f}**" if each == best else f"{each:,.0f}" for each, best in pairs]
            rows.append([method, words(worth), *cells])
    asked = [f"{name} ({exact[name].mean():,.0f})" for name in LOADS]
    return table(("method", "an hour is worth", *asked), rows)
