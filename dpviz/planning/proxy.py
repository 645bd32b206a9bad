"""Public scenes that represent the data owner's records while a release is planned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.build import from_points
from dpviz.domain import Domain
from dpviz.errors import DomainError, ParameterError
from dpviz.evaluation.synthetic_proxy import check_guess, synthetic_proxy
from dpviz.evaluation.truth import exact_counts, exact_total, places_of_records
from dpviz.private.handle import DataHandle
from dpviz.queries.wishes import Wish, squares
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.trees.lattice import Float, Int

DEFAULT_RECORDS = 100_000
"""Default guess of the number of records."""

MAX_RECORDS = 100_000
"""Most records of a proxy: beyond it, each represents several."""

TOWN_WEIGHTS = ((*(0.05,) * 4, *(1.5,) * 8), (1.0,) * 12)
"""Weights of the default cascades: one town in a wide box; and records clumped alike on every
scale, with correlation dimension 1.32."""

CELL_WEIGHTS = (2.0,) * 6
"""Weights of the cascade inside the cells of an earlier release."""

FINE_WEIGHTS = (0.3, 1.0, 4.0)
"""Weights of cascades below the size of a square: many, some, and hardly any shared places."""

DRAWS = 4
"""Draws of each cascade: a plan must hold in each, since real records are one draw.

With :data:`FINE_WEIGHTS`, chosen on six public data sets: assets/docs/results/plans.md."""

DRAWS_TRIED = 2
"""Draws of a cascade made for each one used: its sums vary widely from draw to draw."""

SHARED_PLACE_SHARE = 0.15
"""Share of synthetic records that stand at places which many share: stations, shops, blocks."""

RECORDS_PER_PLACE = 0.1
"""Records at a shared place, as a share of the records in a square of the wish."""

RECORDS_PER_PLACE_OF_ALL = 0.001
"""Records at a shared place, as a share of all records, if no wish states a square's count."""

ANYWHERE = (
    "They are spread at worst as the people of a synthetic city scaled to the box, or as towns "
    "that are clumped alike on every scale, with crowded spots, and lie at the edge of any "
    "rectangle."
)

QUARTERS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.bool_)


def clumped(
    domain: Domain, low: Float, high: Float, per_box: Int, weights: Sequence[float], seed: int
) -> DataHandle:
    """Public synthetic records that are clumped inside boxes, like typical locations of people.

    A box's records go to its four quarters in Dirichlet parts, level by level: a random
    multiplicative cascade, whose correlation dimension is log₂((4w + 1)/(w + 1)) for one weight w.

    Args:
        low: lower corners of the boxes, coordinates, float64 (k, 2).
        per_box: number of records in each box, int64 (k,).
        weights: weights of the Dirichlet distribution of each level: the smaller, the more clumped.
    """
    random = np.random.default_rng(seed)
    single = []
    for weight in weights:
        single.append(random.uniform(low, high)[per_box == 1])
        low, high, per_box = low[per_box > 1], high[per_box > 1], per_box[per_box > 1]
        middle = (low + high) / 2
        quarters = random.multinomial(per_box, random.dirichlet(np.full(4, weight), len(per_box)))
        low = np.where(QUARTERS, middle[:, None], low[:, None]).reshape(-1, 2)
        high = np.where(QUARTERS, high[:, None], middle[:, None]).reshape(-1, 2)
        per_box = quarters.reshape(-1)
        low, high, per_box = low[per_box > 0], high[per_box > 0], per_box[per_box > 0]
    spread = random.uniform(np.repeat(low, per_box, axis=0), np.repeat(high, per_box, axis=0))
    return from_points(np.concatenate([*single, spread]), domain, public=True)


def matching_clumps(
    domain: Domain, records: int, size: float, about: float, fine: float, seed: int
) -> list[DataHandle]:
    """Synthetic records with about this mean number of records in a square around a record.

    Returns the closest :data:`DRAWS` of :data:`DRAWS_TRIED` times as many draws.

    Args:
        records: their total number.
        size: size of the squares, km².
        about: mean number of records in a square around a record.
        fine: weight of the cascade's levels below the size of a square.
    """
    # pairs: probability that two records lie in the same quarter.
    low, high = np.array([domain.lower]), np.array([domain.upper])
    [square] = squares(domain, (low + high) / 2, size)
    share = float(np.prod((square[2:] - square[:2]) / (high - low)))
    levels = max(1, round(math.log2(1.0 / share) / 2)) if share < 1.0 else 1
    pairs = min(max(about / records, 1e-9), 0.9) ** (1.0 / levels)  # per level
    weight = 50.0 if pairs <= 0.26 else (1.0 - pairs) / (4.0 * pairs - 1.0)
    weights = (*(weight,) * levels, *(fine,) * 6)
    drawn = []
    for row in range(DRAWS_TRIED * DRAWS):
        handle = clumped(domain, low, high, np.array([records]), weights, seed + row)
        places = places_of_records(handle, 300, seed)
        mean = float(exact_counts(handle, squares(domain, places, size)).mean())
        drawn.append((abs(math.log(mean / about)), row, handle))
    return [handle for _, _, handle in sorted(drawn)[:DRAWS]]


def with_spots(handle: DataHandle, each: float, seed: int) -> DataHandle:
    """Shift the records around the box, and put a part of them at shared places.

    A record that leaves the box enters at the opposite side. Without the shift, the cells of trees,
    which halve the box, would be the cells of the cascade, and leaves would be too even.

    ``each``: records at a shared place.
    """
    total = exact_total(handle)
    random = np.random.default_rng(seed)
    low, high = np.array(handle.domain.lower), np.array(handle.domain.upper)
    shift = random.random(2) * (high - low)
    places = low + (places_of_records(handle, total, seed) - low + shift) % (high - low)
    moved = int(SHARED_PLACE_SHARE * total)
    spots = places[total - max(round(moved / max(each, 2.0)), 1) :]
    places[:moved] = spots[random.integers(len(spots), size=moved)]
    return from_points(places, handle.domain, public=True)


def _synthetic(
    domain: Domain, records: int, wishes: Sequence[Wish], seed: int
) -> tuple[list[DataHandle], int]:
    """Synthetic scenes, and the number of real records that each of their records represents.

    The error of a square depends on how clumped the records are: if wishes state the number of
    records in a square, all scenes match it. Otherwise the scenes are towns, and the city of the
    lessons. No scene depends on a tolerance, so that a wider one is never harder to keep.
    """
    places, times = places_for(records)
    guesses = dict.fromkeys((wish.square, wish.about / times) for wish in wishes if wish.about)
    if guesses:
        return [
            with_spots(each, RECORDS_PER_PLACE * about, seed)
            for size, about in guesses
            for fine in FINE_WEIGHTS
            for each in matching_clumps(domain, places, size, about, fine, seed)
        ], times
    low, high = np.array([domain.lower]), np.array([domain.upper])
    towns = [
        clumped(domain, low, high, np.array([places]), weights, seed + row)
        for row in range(DRAWS)
        for weights in TOWN_WEIGHTS
    ]
    spotted = [
        with_spots(each, RECORDS_PER_PLACE_OF_ALL * places, seed + row)
        for row, each in enumerate(towns)
    ]
    return [*spotted, synthetic_proxy(domain, places, seed)], times


def places_for(records: int) -> tuple[int, int]:
    """Number of records of a proxy, and number of real records that each represents.

    >>> places_for(1_000), places_for(250_000)
    ((1000, 1), (83333, 3))
    """
    times = math.ceil(records / MAX_RECORDS)
    return round(records / times), times


def _inside_cells(release: PointRelease, records: int | None, seed: int) -> tuple[DataHandle, int]:
    """Synthetic records with the cell counts of a release, clumped inside its cells."""
    nodes, domain = release.nodes, release.domain
    leaf = np.flatnonzero(nodes.leaf)
    counts = np.maximum(nodes.count[leaf], 0.0)
    total = counts.sum()
    if not total:
        raise ParameterError("the earlier release holds no record: plan from another, or none")
    places, times = places_for(max(round(total), 1) if records is None else records)
    per_box = np.random.default_rng(seed).multinomial(places, counts / total)
    low, high = (domain.to_coordinates(side[leaf]) for side in (nodes.lo, nodes.hi))
    return clumped(
        domain, low[per_box > 0], high[per_box > 0], per_box[per_box > 0], CELL_WEIGHTS, seed
    ), times


def scenes_of(
    domain: Domain,
    records: int | None,
    like: DataHandle | PointRelease | None,
    seed: int,
    wishes: Sequence[Wish] = (),
) -> tuple[list[DataHandle], int, tuple[str, ...]]:
    """Public scenes, the real records per record of a scene, and their assumptions.

    Args:
        records: a public guess of their number; None: as in ``like``.
        like: public records, or an earlier release; None: synthetic records.
        wishes: accuracy targets; their squares may state how clumped the records are.

    Raises:
        DomainError: another domain than ``like`` has.
        ParameterError: an invalid guess, or a data set to resemble that has no records.
        PrivacyError: ``like`` is not public.
    """
    if records is not None:
        check_guess(records)
    scaled = () if records is None else (f"There are about {records:,} records: your guess.",)
    if like is None:
        records = DEFAULT_RECORDS if records is None else records
        guesses = tuple(
            f"A square of {wish.square:g} km² around a record holds {wish.about:,.0f}: your guess."
            for wish in wishes
            if wish.about
        )
        return *_synthetic(domain, records, wishes, seed), (
            f"There are about {records:,} records: a guess.",
            *(guesses or (ANYWHERE,)),
            "A public table that is spread as they are gives a sharper figure.",
        )
    if like.domain != domain:
        raise DomainError("the public records (like) lie in another domain: give the same bounds")
    if isinstance(like, CountRelease):
        handle, times = _inside_cells(like, records, seed)
        spread = "They are spread as in the earlier release, and in clumps inside its cells."
        return [handle], times, (*scaled, spread)
    total = exact_total(like)
    if not total:
        raise ParameterError(
            "no public record is within the bounds: give bounds that hold some, or leave out like "
            "(--like)"
        )
    if records is None and total <= MAX_RECORDS:
        whole = "They are as many, and spread as, the records of the public table."
        return [like], 1, (whole,)
    places, times = places_for(total if records is None else records)
    handle = from_points(places_of_records(like, places, seed), domain, public=True)
    return [handle], times, (*scaled, "They are spread as those of the public table.")
