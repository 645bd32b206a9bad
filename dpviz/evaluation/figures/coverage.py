"""What intervals cover where edges follow the cells: answers of every kind, over many releases.

There the 95 % interval of the noise is a promise, not an estimate. Small made-up data, simulated
noise, and rectangles and areas that no cell crosses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpviz.build import AreaData, build, load
from dpviz.domain import Domain
from dpviz.evaluation.figures.report import Outputs, Reproduction, Statement, table
from dpviz.lazy import pd, scipy, shapely
from dpviz.progress import Progress
from dpviz.releases.answers import Answers, difference
from dpviz.releases.areas.hierarchy import hierarchy
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.sums import SumAnswers
from dpviz.trees.lattice import Float

RECORDS = 1_200
SIDE = 8.0
CLIP = (0.0, 50.0)
KINDS = ("bike", "walk", "other")
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")
RECTS = {
    "whole": [0.0, 0.0, 8.0, 8.0],
    "quarter": [0.0, 0.0, 4.0, 4.0],
    "sixteenth": [0.0, 4.0, 2.0, 6.0],
}
CELLS = 8
"""Of the grid, per side."""

SETTINGS = (("ugrid", 1.0), ("areas", 0.1), ("areas", 1.0))
"""Methods whose cells are public, so that no pruned one crosses the edge of a question; and ε."""
ENOUGH = 0.94
MANY = 1_000
"""Releases from which on the mean over questions, which share their noise, says something."""

FALSE_ALARM = 1e-6
"""Of one kind of answers, were each covered in exactly 95 %."""

Shares = dict[tuple[str, float, str, str], float]
"""(method, ε, what is asked for, of which part) → share of the releases whose interval holds it."""


AnsweredQueries = Iterator[tuple[str, list[str], Answers | SumAnswers | Quotients, Any]]
"""What, of which parts, the intervals, and what is true."""

OUTPUTS = Outputs("What intervals cover", {"coverage": "method,epsilon,what,of,covered"})


def reproduce(repeats: int, seed: int, progress: Progress) -> Reproduction:
    """Measure, and say what is covered."""
    hits: Shares = {}
    records = people(seed)
    for done, (method, epsilon) in enumerate(SETTINGS, 1):
        answers_of = _Areas(records) if method == "areas" else _Points(records)
        for repeat in range(repeats):
            for what, labels, answer, truth in answers_of(epsilon, seed + repeat):
                held = (answer.low <= truth) & (truth <= answer.high)
                for part, hit in zip(labels, held, strict=True):
                    key = method, epsilon, what, part
                    hits[key] = hits.get(key, 0.0) + float(hit)
        progress(done / len(SETTINGS), f"{method}, epsilon {epsilon:g}")
    shares = {key: count / repeats for key, count in hits.items()}
    rows = OUTPUTS.rows((*key, f"{share:.4f}") for key, share in shares.items())
    statements = compare(shares, repeats)
    return Reproduction(statements, page(shares, repeats, statements), {"coverage": rows})


def people(seed: int) -> pd.DataFrame:
    """Made-up records: denser in one corner, of uneven kinds, with values that the clip cuts."""
    random = np.random.default_rng(seed)
    day = random.choice(2, RECORDS, p=[0.6, 0.4])
    return pd.DataFrame(
        {
            "x": SIDE * random.beta(2, 4, RECORDS),
            "y": SIDE * random.beta(3, 2, RECORDS),
            "mode": np.array(KINDS)[random.choice(3, RECORDS, p=[0.55, 0.3, 0.15])],
            "fare": random.gamma(2.0, 9.0, RECORDS),
            "time": pd.Timestamp(DAYS[0]) + pd.to_timedelta(day * 24 + 12, unit="h"),
        }
    )


class _Points:
    """Answers of grids: with kinds and values, and of two days."""

    def __init__(self, records: pd.DataFrame) -> None:
        box = [0.0, 0.0, SIDE, SIDE]
        self.data = load(
            records,
            Domain.from_bounds(box, ("x", "y"), kind="mode", kinds=KINDS, value="fare", clip=CLIP),
            public=True,
        )
        self.timed = load(
            records,
            Domain.from_bounds(box, ("x", "y"), time="time", period=(DAYS[0], DAYS[-1])),
            public=True,
        )
        self.records, self.rects = records, list(RECTS.values())
        x, y = records["x"].to_numpy(), records["y"].to_numpy()
        self.inside = [(x >= w) & (x < e) & (y >= s) & (y < n) for w, s, e, n in self.rects]

    def _exact(self, where: Any = True, values: Any = 1.0) -> Float:
        of_all = np.broadcast_to(values, len(self.records))
        return np.array([of_all[each & where].sum() for each in self.inside])

    def __call__(self, epsilon: float, seed: int) -> AnsweredQueries:
        release, other = (
            build(self.data, "ugrid", epsilon, seed=at, cells=CELLS)
            for at in (seed, seed + 1_000_003)
        )
        kind = self.records["mode"].to_numpy()
        fare = np.clip(self.records["fare"].to_numpy(), *CLIP)
        yield from self._attributes(release, kind, fare)
        names, rects = list(RECTS), self.rects
        count = release.count(rects)
        apart = difference(count, other.count(rects), independent=True)
        yield "differences", [f"two releases, {name}" for name in names], apart, 0.0
        one, two = (release.count(rects, kind=name) for name in KINDS[:2])
        true = self._exact(kind == KINDS[0]) - self._exact(kind == KINDS[1])
        apart = difference(one, two, independent=True)
        yield "differences", [f"two kinds, {name}" for name in names], apart, true
        yield from self._days(build(self.timed, "ugrid", epsilon, seed=seed, cells=CELLS))

    def _attributes(self, release: PointRelease, kind: Any, fare: Float) -> AnsweredQueries:
        rects = self.rects
        for name in (None, KINDS[-1]):
            where = np.full(len(kind), True) if name is None else kind == name
            labels = [f"{name or 'all kinds'}, {part}" for part in RECTS]
            exact, total = self._exact(where), self._exact(where, fare)
            yield "counts", labels, release.count(rects, kind=name), exact
            yield "sums", labels, release.sum(rects, kind=name), total
            yield "means", labels, release.mean(rects, kind=name), total / exact
            if name is not None:
                yield "shares", labels, release.share(rects, name), exact / self._exact()

    def _days(self, release: PointRelease) -> AnsweredQueries:
        days = [(DAYS[0], DAYS[1]), (DAYS[1], DAYS[2])]
        one, two = (release.count(self.rects, day) for day in days)
        first = self.records["time"].to_numpy() < np.datetime64(DAYS[1])
        true = self._exact(first) - self._exact(~first)
        apart = difference(one, two, independent=False)
        yield "differences", [f"two days, {name}" for name in RECTS], apart, true


class _Areas:
    """Answers of areas on three levels."""

    def __init__(self, records: pd.DataFrame) -> None:
        self.areas = squares()
        domain = self.areas.domain
        self.data = AreaData(load(records, domain, public=True), self.areas)
        x, y = records["x"].to_numpy(), records["y"].to_numpy()
        at = (x // 2).astype(int) * 4 + (y // 2).astype(int)
        wards = np.bincount(at, minlength=16).astype(float)
        self.exact = np.array([wards.sum(), wards[:8].sum(), wards[8:].sum(), *wards])

    def __call__(self, epsilon: float, seed: int) -> AnsweredQueries:
        release = build(self.data, "areas", epsilon, seed=seed)
        labels = [f"area {name}" for name in self.areas.names]
        answers = release.answers
        yield "counts", labels, answers, self.exact
        wards = self.areas.slices[-1]
        mine, next_ = (answers.rows(np.arange(wards.start + at, wards.stop, 2)) for at in (0, 1))
        true = self.exact[wards][::2] - self.exact[wards][1::2]
        names = [f"wards {2 * at} and {2 * at + 1}" for at in range(8)]
        yield "differences", names, difference(mine, next_, independent=False), true


def squares() -> Areas:
    """Sixteen wards in two districts in one country, in the order of their columns."""
    domain = Domain.from_bounds([0.0, 0.0, SIDE, SIDE], ("x", "y"))
    shapes = [shapely.box(x, y, x + 2, y + 2) for x in (0, 2, 4, 6) for y in (0, 2, 4, 6)]
    paths = [("all", f"district {at // 8}", f"ward {at:02}") for at in range(16)]
    _, names, parent = hierarchy(paths, ("country", "district", "ward"))
    levels = ("country", "district", "ward")
    return Areas(domain, levels, tuple(names), parent, np.array(shapes, dtype=object))


def compare(shares: Shares, repeats: int) -> list[Statement]:
    """What is promised of each kind of answer, and what we find.

    A single question may come out lower by chance: were all of exactly 95 %, one of them would miss
    more often than is allowed here with odds of at most 1e-6.
    """
    statements = []
    for what in dict.fromkeys(key[2] for key in shares):
        asked = {key: share for key, share in shares.items() if key[2] == what}
        least = min(asked, key=lambda key: asked[key])
        mean = float(np.mean(list(asked.values())))
        misses = scipy.stats.binom.isf(FALSE_ALARM / len(asked), repeats, 0.05)
        statements.append(
            Statement(
                f"95 % intervals of {what} hold at least {ENOUGH:.0%}",
                f"{mean:.1%} of {len(asked)} questions; least {asked[least]:.1%} "
                f"({least[0]}, ε = {least[1]:g}, {least[3]})",
                (mean >= ENOUGH or repeats < MANY)
                and round(repeats * (1 - asked[least])) <= misses,
            )
        )
    return statements


def page(shares: Shares, repeats: int, statements: list[Statement]) -> str:
    """The Markdown page."""
    whats = list(dict.fromkeys(key[2] for key in shares))
    lines = [
        f"# {OUTPUTS.title}",
        "",
        f"Share of {repeats:,} releases of {RECORDS:,} made-up records in whose 95 % interval the "
        "exact answer lies: mean over the questions of each kind, and the least of them. No cell "
        "crosses the edge of a question, so nothing is assumed of how records lie inside cells. "
        "Noise is simulated, of the exact law. `uv run dpviz reproduce coverage -o FOLDER "
        f"--repeats {repeats}` makes this page.",
        "",
    ]
    rows = []
    for method, epsilon in dict.fromkeys(key[:2] for key in shares):
        cells = []
        for what in whats:
            covered = [share for key, share in shares.items() if key[:3] == (method, epsilon, what)]
            cells.append(f"{np.mean(covered):.1%} ({min(covered):.1%})" if covered else "")
        rows.append([f"`{method}`", f"{epsilon:g}", *cells])
    lines += [*table(("method", "ε", *whats), rows), ""]
    lines += [*(f"- {each.claim}: {each.measured}." for each in statements)]
    return "\n".join(lines) + "\n"
