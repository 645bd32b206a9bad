"""What intervals of kinds and values cover where edges cut cells: counts and sums of rides.

As for counts alone, the noise is a promise and the uniformity error beside it an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpviz.build import DataHandle, build, load
from dpviz.evaluation.figures.intervals import QUERIES, SIZES, Row, covered, together
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, mean_of, table
from dpviz.evaluation.truth import exact_counts, exact_sums, of_one_kind
from dpviz.progress import Progress
from dpviz.queries.workloads import workload
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.sums import SumAnswers
from dpviz.trees.lattice import Float

DATA = "rides"
METHODS = ("quadtree", "privtree", "ugrid")
EPSILONS = (0.1, 1.0)
ALL = "all kinds"

INTRO = """\
# {title}

Share of {of:,} random rectangles ({each} each small, medium, large and huge) of the built-in \
`{data}` whose exact count, or sum of clipped values, lies in the 95 % interval of the noise \
alone, and in that interval widened by the uniformity error; in brackets, the least of the \
four sizes. Means of {repeats} releases with default parameters and simulated noise. The \
widened interval is an ESTIMATE that no theorem backs. The uniformity errors of several kinds \
are added by standard deviations, as kinds are uneven in the same places. \
`uv run dpviz reproduce attributes -o FOLDER --repeats {repeats}` makes this page.

"""

OUTPUTS = Outputs(
    "What intervals of kinds and values cover when edges cut cells",
    {"attributes": "method,epsilon,what,of,size,repeat,noise_only,with_uniformity"},
)


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure, and say what is covered."""
    handle = load(DATA)
    loads = [workload(handle.domain, size, QUERIES, seed) for size in SIZES]
    truths = [list(exact(handle, each.rects)) for each in loads]
    tasks = [(method, epsilon) for method in METHODS for epsilon in EPSILONS]
    cells: list[tuple[Any, ...]] = []
    for done, (method, epsilon) in enumerate(tasks, 1):
        for repeat in range(repeats):
            release = build(handle, method, epsilon, seed=seed + repeat)
            for load_, truth in zip(loads, truths, strict=True):
                for (what, of, answers), true in zip(
                    asked(release, load_.rects), truth, strict=True
                ):
                    inside, widened = covered(answers, true)
                    setting = method, epsilon, what, of, load_.size, repeat
                    cells.append((*setting, f"{inside.mean():.4f}", f"{widened.mean():.4f}"))
        progress(done / len(tasks), f"{method}, epsilon {epsilon:g}")
    rows = OUTPUTS.rows(cells)
    statements = compare(rows)
    return Reproduction(statements, page(rows, repeats, statements), {"attributes": rows})


def asked(
    release: PointRelease, rects: Float
) -> Iterator[tuple[str, str, RangeAnswers | SumAnswers]]:
    """Counts and sums of all kinds together and of each."""
    for kind in (None, *release.kinds):
        yield "counts", kind or ALL, release.count(rects, kind=kind)
        yield "sums", kind or ALL, release.sum(rects, kind=kind)


def exact(handle: DataHandle, rects: Float) -> Iterator[Float]:
    """The same without noise, in the same order."""
    kinds = handle.domain.kinds
    assert kinds is not None
    for kind in (None, *kinds.names):
        records = handle if kind is None else of_one_kind(handle, kind)
        yield exact_counts(records, rects).astype(np.float64)
        yield exact_sums(handle, rects, kind)


def compare(rows: Sequence[Row]) -> list[Statement]:
    """What the documentation says, and what we find."""
    settings = ("method", "epsilon", "of", "size")
    return [
        together(
            [row for row in rows if row["what"] == what],
            settings,
            f"95 % of the {what}",
            "{0}, ε = {1:g}, {2}, {3}",
        )
        for what in ("counts", "sums")
    ]


def page(rows: Sequence[Row], repeats: int, statements: Sequence[Statement]) -> str:
    """The Markdown page."""
    head = [f"{what}, {which}" for what in ("counts", "sums") for which in ("noise", "widened")]
    about = INTRO.format(
        title=OUTPUTS.title, of=len(SIZES) * QUERIES, each=QUERIES, data=DATA, repeats=repeats
    )
    rest = []
    for key in dict.fromkeys((row["method"], row["epsilon"], row["of"]) for row in rows):
        wanted = dict(zip(("method", "epsilon", "of"), key, strict=True))
        cells = []
        for what in ("counts", "sums"):
            for column in ("noise_only", "with_uniformity"):
                sizes = [mean_of(rows, column, what=what, size=size, **wanted) for size in SIZES]
                cells.append(f"{np.mean(sizes):.1%} ({min(sizes):.1%})")
        rest.append([f"`{key[0]}`", f"{key[1]:g}", key[2], *cells])
    lines = [*about.splitlines(), *table(("method", "ε", "of", *head), rest), ""]
    return "\n".join([*lines, *(f"- {each.claim}: {each.measured}." for each in statements)]) + "\n"
