"""Synthetic proxies of an owner's records, or other public ones, while a release is planned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.build import DataHandle, from_points
from dpviz.domain import Domain
from dpviz.errors import DomainError, ParameterError
from dpviz.evaluation.synthetic_proxy import MOST, check_guess, synthetic_proxy
from dpviz.evaluation.truth import exact_counts, exact_total, places_of_records, standing_for
from dpviz.queries.wishes import Wish, squares
from dpviz.releases.points.release import PointRelease
from dpviz.trees.lattice import Float, Int

GUESS = 100_000
"""Records, where nothing is said of their number."""

TOWNS = ((*(0.05,) * 4, *(1.5,) * 8), (*(0.15,) * 4, *(1.5,) * 8), (1.0,) * 12)
"""Weights of the cascades that stand in where nothing is known, the most demanding first: one town
in a wide box; a few; and clumped alike on every scale, of correlation dimension 1.32."""

INSIDE = (2.0,) * 6
"""Of the cascade inside the cells of an earlier release."""

FINE = (0.3, 1.0)
"""Weights of the cascades below the size of a square: places that many share, and hardly any."""

PRECISE = ((4.0, FINE[0]), (10.0, FINE[1]))
"""Where nobody says how many records a square holds: so many times its tolerance, as who asks for
± T has 10 to 50 % of it in mind; with the weight below it."""

ANYWHERE = (
    "They are spread at worst as the people of a synthetic city scaled to the box, or as towns "
    "that are clumped alike on every scale, and lie at the edge of any rectangle."
)

DRAWS = 4
"""Of a cascade, whose sums vary widely from draw to draw."""

QUARTERS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.bool_)


def clumped(
    domain: Domain, low: Float, high: Float, held: Int, weights: Sequence[float], seed: int
) -> DataHandle:
    """Public synthetic records that are clumped inside boxes, as those of people often are.

    A box's records go to its four quarters in Dirichlet parts, level by level: a random
    multiplicative cascade, whose correlation dimension is log₂((4w + 1)/(w + 1)) for one weight w.

    Args:
        domain: public, 2-D.
        low: lower corners of the boxes, coordinates, float64 (k, 2).
        high: upper ones.
        held: records of each, int64 (k,).
        weights: of the Dirichlet law of each level: the smaller, the more clumped.
        seed: of the draw.
    """
    random = np.random.default_rng(seed)
    single = []
    for weight in weights:
        single.append(random.uniform(low, high)[held == 1])
        low, high, held = low[held > 1], high[held > 1], held[held > 1]
        middle = (low + high) / 2
        quarters = random.multinomial(held, random.dirichlet(np.full(4, weight), len(held)))
        low = np.where(QUARTERS, middle[:, None], low[:, None]).reshape(-1, 2)
        high = np.where(QUARTERS, high[:, None], middle[:, None]).reshape(-1, 2)
        held = quarters.reshape(-1)
        low, high, held = low[held > 0], high[held > 0], held[held > 0]
    rest = random.uniform(np.repeat(low, held, axis=0), np.repeat(high, held, axis=0))
    return from_points(np.concatenate([*single, rest]), domain, public=True)


def as_clumped_as(
    domain: Domain, records: int, size: float, about: float, fine: float, seed: int
) -> DataHandle:
    """Synthetic records of which a square around one holds about so many.

    Args:
        domain: public, 2-D.
        records: in all.
        size: of the squares, km².
        about: records in one, on average over records.
        fine: weight of the cascade's levels below the size of a square.
        seed: of the draws, of which the closest is taken.
    """
    low, high = np.array([domain.lower]), np.array([domain.upper])
    [square] = squares(domain, (low + high) / 2, size)
    share = float(np.prod((square[2:] - square[:2]) / (high - low)))
    levels = max(1, round(math.log2(1.0 / share) / 2)) if share < 1.0 else 1
    pairs = min(max(about / records, 1e-9), 0.9) ** (1.0 / levels)  # in one quarter, level by level
    weight = 50.0 if pairs <= 0.26 else (1.0 - pairs) / (4.0 * pairs - 1.0)
    weights = (*(weight,) * levels, *(fine,) * 6)
    drawn = []
    for row in range(DRAWS):
        handle = clumped(domain, low, high, np.array([records]), weights, seed + row)
        places = places_of_records(handle, 300, seed)
        mean = float(exact_counts(handle, squares(domain, places, size)).mean())
        drawn.append((abs(math.log(mean / about)), row, handle))
    return min(drawn)[2]


def _of_squares(wishes: Sequence[Wish]) -> bool:
    """Whether all wishes are of squares, and tell how many records one holds."""
    return bool(wishes) and all(wish.square and (wish.about or wish.absolute) for wish in wishes)


def _guesses(wish: Wish) -> list[tuple[float, float, float]]:
    """Of a square its size, how many records it holds, and how clumped they are inside it."""
    if wish.about:
        return [(wish.square, wish.about, fine) for fine in FINE]
    return [(wish.square, times * wish.absolute, fine) for times, fine in PRECISE]


def _synthetic(
    domain: Domain, records: int, wishes: Sequence[Wish], seed: int
) -> tuple[DataHandle, ...]:
    """The synthetic proxies where nothing is known of the records.

    How clumped they are decides what a square needs: where all wishes are of squares, they hold as
    many as their owner guesses, or as the tolerances tell. Else it is the city of the lessons, and
    towns in clumps.
    """
    if _of_squares(wishes):  # what they hold is guessed, so of more records there are more squares
        guesses = dict.fromkeys(guess for wish in wishes for guess in _guesses(wish))
        return tuple(
            as_clumped_as(domain, min(records, MOST), *guess, seed + DRAWS * row)
            for row, guess in enumerate(guesses)
        )
    low, high = np.array([domain.lower]), np.array([domain.upper])
    places, times = places_for(records)
    held = np.array([places])
    towns = (
        standing_for(clumped(domain, low, high, held, weights, seed + row), times)
        for row, weights in enumerate(TOWNS)
    )
    return *towns, standing_for(synthetic_proxy(domain, places, seed), times)


def places_for(records: int) -> tuple[int, int]:
    """How many places a proxy has, and how many records stand at each.

    >>> places_for(1_000), places_for(2_500_000)
    ((1000, 1), (833333, 3))
    """
    times = math.ceil(records / MOST)
    return round(records / times), times


def _inside_cells(release: PointRelease, records: int | None, seed: int) -> DataHandle:
    """Records as in a release, and clumped inside its cells: it knows no more than their counts."""
    nodes, domain = release.nodes, release.domain
    leaf = np.flatnonzero(nodes.leaf)
    counts = np.maximum(nodes.count[leaf], 0.0)
    total = counts.sum()
    if not total:
        raise ParameterError("the earlier release holds no record: plan from another, or none")
    places, times = places_for(max(round(total), 1) if records is None else records)
    held = np.random.default_rng(seed).multinomial(places, counts / total)
    low, high = (domain.to_coordinates(side[leaf]) for side in (nodes.lo, nodes.hi))
    handle = clumped(domain, low[held > 0], high[held > 0], held[held > 0], INSIDE, seed)
    return standing_for(handle, times)


def _held(wishes: Sequence[Wish]) -> list[str]:
    """What a plan for squares alone assumes of each, one sentence; nothing for other wishes."""
    if not _of_squares(wishes):
        return []
    return [
        f"A square of {wish.square:g} km² around a record holds {wish.about:,.0f}: your guess."
        if wish.about
        else f"A square of {wish.square:g} km² around a record holds at most some "
        f"{PRECISE[-1][0] * wish.absolute:,.0f}: ten times the tolerance. Say how many it does, as "
        'in "any 1 km² of about 400 ±50", for a smaller ε.'
        for wish in wishes
    ]


def proxy_records(
    domain: Domain,
    records: int | None,
    like: DataHandle | PointRelease | None,
    seed: int,
    wishes: Sequence[Wish] = (),
) -> tuple[list[DataHandle], tuple[str, ...]]:
    """Public handles, of which a plan takes the worst, and what they assume in sentences.

    Args:
        domain: of the release that is planned, 2-D.
        records: their number by a public guess; None: as in ``like``.
        like: public records, or an earlier release; None: a synthetic city.
        seed: of samples.
        wishes: what is asked: of squares it tells how clumped the records are.

    Raises:
        DomainError: another domain than ``like`` has.
        ParameterError: a guess that nobody may make, or records to be like of which there are none.
        PrivacyError: ``like`` is not public.
    """
    if records is not None:
        check_guess(records)
    scaled = () if records is None else (f"There are about {records:,} records: your guess.",)
    if like is None:
        records = GUESS if records is None else records
        return list(_synthetic(domain, records, wishes, seed)), (
            f"There are about {records:,} records: a guess.",
            *(_held(wishes) or (ANYWHERE,)),
            "A public table that is spread as they are gives a sharper figure.",
        )
    if like.domain != domain:
        raise DomainError("what the records are like lies in another domain: give the same bounds")
    if isinstance(like, PointRelease):
        return [_inside_cells(like, records, seed)], (
            *scaled,
            "They are spread as in the earlier release, and in clumps inside its cells.",
        )
    if not exact_total(like):
        raise ParameterError(
            "no public record is within the bounds: give bounds that hold some, or leave out like "
            "(--like)"
        )
    if records is None and exact_total(like) <= MOST:
        return [like], ("They are as many, and spread as, the records of the public table.",)
    places, times = places_for(exact_total(like) if records is None else records)
    points = places_of_records(like, places, seed)
    handle = standing_for(from_points(points, domain, public=True), times)
    return [handle], (*scaled, "They are spread as those of the public table.")
