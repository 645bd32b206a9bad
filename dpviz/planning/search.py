"""The least ε at which wishes hold, over methods and their parameters."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from dpviz.checks import require, texts
from dpviz.domain import Domain
from dpviz.errors import DomainError, ParameterError
from dpviz.planning.calls import code_of_places
from dpviz.planning.proxy import scenes_of
from dpviz.planning.trial import EPSILON_LIMIT, Candidate, Trial, area_source
from dpviz.private.handle import DataHandle
from dpviz.progress import Progress, silent
from dpviz.queries.wishes import Wish, parse_all, squares
from dpviz.releases.counts import PointRelease
from dpviz.trees.prior import Prior

MIN_EPSILON = 0.001
"""Smallest ε tried."""

MAX_EPSILON = 10.0
"""Default for the largest ε: beyond it a guarantee is weak."""

MAX_PER_UNIT = 1_000_000_000
"""Most records of one privacy unit."""

EPSILON_RATIO = 1.1
"""Ratio of two consecutive ε that are tried."""

MIN_STEPS_BETTER = 2
"""Steps of ε by which a later candidate must beat the best one before it."""

AREAS_ASSUMPTION = (
    "The places of the wishes are counted by themselves, and nothing between them: --map plans a "
    "map of cells, in which any other place can be asked too."
)
"""Assumption stated if the cells are the areas of the wishes."""

FOLLOWED = (
    "They follow the prior as closely as those of the public table do. Without it a map would need "
    "ε = {}."
)
"""Assumption stated with a prior."""

WIDENING_FACTORS = tuple(EPSILON_RATIO**power for power in range(146))
"""Factors that widen tolerances, to find feasible ones: up to a million."""

BY_AREA = Candidate("areas", areas=True)
"""Method if all wishes name areas of one file, or rectangles that do not overlap: no other needs
less noise than one draw per area."""

TREE = Candidate("ladder_tree")

SIDES = 1e-4, 1.0
"""Least and largest side of squares, as shares of the domain's, for a tuned hot grid."""


@dataclass(frozen=True)
class WishOdds:
    """A wish in words, and the probability that it holds."""

    wish: str
    probability: float


@dataclass(frozen=True)
class Plan:
    """Method and least ε with which wishes hold, and the code that builds the release.

    Attributes:
        epsilon: the least ε found, for one privacy unit.
        method, parameters: of the build at this ε.
        wishes: each with its probability at this ε.
        budget: planned spending: purpose and ε.
        assumed: assumptions of the plan, one sentence each.
        command, python: code that builds the release.
    """

    epsilon: float
    method: str
    parameters: dict[str, Any]
    wishes: tuple[WishOdds, ...]
    budget: tuple[dict[str, Any], ...]
    assumed: tuple[str, ...]
    command: str
    python: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def plan(
    domain: Domain,
    wishes: Iterable[str],
    *,
    records: int | None = None,
    like: DataHandle | PointRelease | None = None,
    at_most: float = MAX_EPSILON,
    source: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    seed: int = 0,
    as_map: bool = False,
    prior: Prior | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Find the method and the least ε for which wishes hold, without reading the records.

    Args:
        domain: the public box, 2-D.
        wishes: accuracy targets, such as ``rect=W,S,E,N ±200``, ``areas=wards.gpkg ±5% or ±20 at
            95%`` or ``any 1 km² ±50``: each area by itself, a square around any record.
        records: a public guess of their number; by default 100,000, or the number in ``like``.
        like: public records, or an earlier release, that are spread as these records are; by
            default a synthetic city scaled to the domain.
        at_most: the largest ε that may be spent.
        source: a name for the command that is written; it is not opened.
        unit: column of the privacy unit, for the command.
        max_per_unit: most records of one unit: each is paid with its part of ε.
        seed: seed of proxy, places and noise.
        as_map: consider only methods whose cells cover the box, so that other places can be
            queried too. Otherwise, if all wishes name areas of one file, or rectangles that do not
            overlap, only these are counted.
        prior: PUBLIC data from :func:`dpviz.prior` that a map follows; requires ``like``, other
            public records that show how closely.
        progress: called with (fraction, what); may raise to cancel.

    Raises:
        ParameterError: an invalid wish; or one that no method fulfils up to ``at_most``; the
            message states feasible tolerances.
        DomainError: a place outside the domain, or a domain that is not 2-D.
        PrivacyError: ``like`` is not public.
        DataError: a file of areas that cannot be read.

    >>> import dpviz
    >>> city = dpviz.Domain((2.0, 48.0), (3.0, 49.0))
    >>> planned = dpviz.plan(city, ["rect=2,48,3,49 ±100"], records=5_000)
    >>> planned.epsilon < 0.1
    True
    """
    require(domain, Domain, "domain", ParameterError)
    wishes = texts(wishes, "wishes", ParameterError)
    if not MIN_EPSILON <= at_most <= EPSILON_LIMIT:
        raise ParameterError(
            f"at most epsilon={at_most:g}: give {MIN_EPSILON:g} or more, to {EPSILON_LIMIT:g}"
        )
    if not 1 <= max_per_unit <= MAX_PER_UNIT:
        raise ParameterError(f"max_per_unit={max_per_unit}: give 1 to {MAX_PER_UNIT:,}")
    if seed < 0:
        raise ParameterError(f"seed={seed}: give a whole number from 0")
    if domain.dims != 2:  # checked before the wishes, whose places are in two dimensions
        raise DomainError(
            f"a plan is for places in two dimensions, the domain has {domain.dims}: give W,S,E,N"
        )
    if prior is not None and not isinstance(like, DataHandle):
        raise ParameterError(
            "a prior (--prior) needs like (--like), public records that lie to it as yours do: "
            "without them a plan would take your records to lie exactly as it says"
        )
    asked = parse_all(wishes)
    scenes, times, assumed = scenes_of(domain, records, like, seed, asked)
    how: dict[str, Any] = {"times": times, "max_per_unit": max_per_unit, "seed": seed}
    how |= {"sampled": like is not None, "anywhere": like is None}
    how |= {"as_map": as_map or prior is not None}
    trial = Trial(scenes, asked, **how, prior=prior)
    if trial.no_areas:
        why = f"The areas are answered by other cells, not counted themselves: {trial.no_areas}."
        assumed = (*assumed, why)
    candidate, epsilon = cheapest_candidate(trial, prices(at_most), progress)
    if candidate.areas:
        assumed = (*assumed, AREAS_ASSUMPTION)
    if prior is not None:
        bare, grid = Trial(scenes, asked, **how), prices(at_most)
        row = min(first_row(bare, each, grid) for each in candidates_for(domain, asked))
        other = f"{grid[row]:g}" if row < len(grid) else f"more than {at_most:g}"
        assumed = (*assumed, FOLLOWED.format(other))
    odds = trial.probabilities(candidate, epsilon).tolist()
    header = trial.release(candidate, epsilon).header
    price = trial.price(epsilon)
    chosen = header.parameters
    stated = {name: chosen[name] for name in candidate.parameters}
    unit = unit or ("COLUMN" if max_per_unit > 1 else None)
    code = code_of_places(
        domain,
        method=candidate.name,
        parameters=stated,
        epsilon=epsilon,
        source=source,
        reading={"unit": unit, "max_per_unit": max_per_unit} if unit else {},
        areas=area_source(asked) if candidate.areas else None,
        prior=None if prior is None else prior.facts,
        building={"wishes": [str(wish) for wish in asked]},
    )
    return Plan(
        epsilon,
        candidate.name,
        stated,
        tuple(WishOdds(str(wish), round(each, 4)) for wish, each in zip(asked, odds, strict=True)),
        tuple(
            {"purpose": row["purpose"], "epsilon": row["epsilon"] * epsilon / price}
            for row in header.budget
        ),
        assumed,
        code.command(),
        code.python(),
    )


def prices(at_most: float) -> list[float]:
    """The ε that are tried, ascending; the last is the largest that may be spent.

    >>> prices(0.0013)
    [0.001, 0.0011, 0.00121, 0.0013]
    """
    count = math.ceil(math.log(at_most / MIN_EPSILON) / math.log(EPSILON_RATIO) - 1e-9)
    grid = [float(f"{MIN_EPSILON * EPSILON_RATIO**row:.3g}") for row in range(count)]
    return [*grid, at_most]


def candidates_for(domain: Domain, wishes: Sequence[Wish]) -> tuple[Candidate, ...]:
    """The methods that are tried: a ladder tree, and a hot grid for each size of squares.

    >>> city = Domain((0.0, 0.0), (10_000.0, 10_000.0), crs="EPSG:32631")
    >>> candidates_for(city, [Wish(square=1.0, absolute=50.0)])[1].parameters
    {'side': 0.1}
    """
    surface = float(np.prod(np.subtract(domain.upper, domain.lower)))
    middle = np.add(domain.lower, domain.upper)[None] / 2
    sides: dict[float, None] = {}
    for size in sorted({wish.square for wish in wishes if wish.square}):
        [square] = squares(domain, middle, size)
        side = math.sqrt(float(np.prod(square[2:] - square[:2])) / surface)
        sides[float(f"{min(max(side, SIDES[0]), SIDES[1]):.2g}")] = None
    return TREE, *(Candidate("hot_grid", {"side": side}) for side in sides)


def cheapest_candidate(
    trial: Trial, grid: Sequence[float], progress: Progress | None = None
) -> tuple[Candidate, float]:
    """The candidate that needs the least ε, and how much.

    A candidate is examined closely only if it is clearly better than the best one before
    it: the minimum of several estimates is biased downwards.

    Raises ParameterError: none fulfils the wishes at any price of the grid.
    """
    progress = progress or silent
    candidates: Sequence[Candidate] = (BY_AREA,)
    if trial.areas is None:
        candidates = candidates_for(trial.scenes[0].domain, trial.wishes)
    best, row = None, len(grid)
    for done, candidate in enumerate(candidates):
        progress(done / len(candidates), f"planning: {candidate.name}")
        ahead = row if best is None else max(row - MIN_STEPS_BETTER, 0)
        if best is None or (ahead and trial.holds(candidate, grid[ahead - 1])):
            first = first_row(trial, candidate, grid[:ahead])
            best, row = (candidate, first) if first < ahead else (best, row)
    progress(1.0, "planning")
    if best is None:
        raise ParameterError(_impossible(trial, candidates, grid[-1]))
    return best, grid[row]


def first_row(trial: Trial, candidate: Candidate, grid: Sequence[float]) -> int:
    """First row of an ascending grid that fulfils all wishes, by bisection; else its length."""
    return bisect_left(grid, True, key=lambda epsilon: trial.holds(candidate, epsilon))


def _impossible(trial: Trial, candidates: Sequence[Candidate], epsilon: float) -> str:
    """Message that no method fulfils the wishes, with tolerances that are feasible at ε."""
    wider = min((_widened(trial, candidate, epsilon) for candidate in candidates), key=max)
    advice = "less at once, or wider tolerances"
    if math.isfinite(max(wider)):
        wishes = [
            _rounded_up(wish.widened(factor)) if factor > 1.0 else wish
            for wish, factor in zip(trial.wishes, wider, strict=True)
        ]
        if all(wish.relative < 0.995 for wish in wishes):  # a tolerance of 100 % says nothing
            advice = " and ".join(f'"{wish}"' for wish in wishes)
    return (
        f"no method fulfils the wishes with epsilon up to {epsilon:g}: possible would be {advice}; "
        "or allow more"
    )


def _widened(trial: Trial, candidate: Candidate, epsilon: float) -> list[float]:
    """Factor by which each tolerance must be widened, to within a tenth; infinite if never."""

    def holds(row: int, factor: float) -> bool:
        odds = trial.probabilities(candidate, epsilon, factor)
        return bool(odds[row] >= trial.wishes[row].confidence)

    rows = range(len(trial.wishes))
    steps = [bisect_left(WIDENING_FACTORS, True, key=partial(holds, row)) for row in rows]
    return [(*WIDENING_FACTORS, math.inf)[step] for step in steps]


def _rounded_up(wish: Wish) -> Wish:
    """Tolerances with two digits, none of them narrower."""

    def rounded(value: float) -> float:
        if not value:
            return 0.0
        unit = 10.0 ** (math.floor(math.log10(value)) - 1)
        return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")

    relative, absolute = rounded(wish.relative), rounded(wish.absolute)
    return Wish(**{**vars(wish), "relative": relative, "absolute": absolute})
