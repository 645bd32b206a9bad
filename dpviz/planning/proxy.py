"""Synthetic proxies of an owner's records, or other public ones, while a release is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpviz.build import from_points
from dpviz.errors import DomainError, ParameterError
from dpviz.evaluation.synthetic_proxy import synthetic_proxy
from dpviz.evaluation.truth import exact_total, places_of_records
from dpviz.releases.points.release import PointRelease
from dpviz.trees.lattice import Float, Int

if TYPE_CHECKING:
    from dpviz.build import DataHandle
    from dpviz.domain import Domain

GUESS = 100_000
"""Records, where nothing is said of their number."""

MOST = 1_000_000
"""Records of a proxy."""

TOWNS = ((*(0.05,) * 4, *(1.5,) * 8), (*(0.15,) * 4, *(1.5,) * 8), (1.0,) * 12)
"""Weights of the cascades that stand in where nothing is known, the most demanding first: one town
in a wide box; a few; and clumped alike on every scale, of correlation dimension 1.32."""

INSIDE = (2.0,) * 6
"""Of the cascade inside the cells of an earlier release."""

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
        parts = random.multinomial(held, random.dirichlet(np.full(4, weight), len(held)))
        low = np.where(QUARTERS, middle[:, None], low[:, None]).reshape(-1, 2)
        high = np.where(QUARTERS, high[:, None], middle[:, None]).reshape(-1, 2)
        held = parts.reshape(-1)
        low, high, held = low[held > 0], high[held > 0], held[held > 0]
    rest = random.uniform(np.repeat(low, held, axis=0), np.repeat(high, held, axis=0))
    return from_points(np.concatenate([*single, rest]), domain, public=True)


def _synthetic(domain: Domain, records: int, seed: int) -> tuple[DataHandle, ...]:
    """What stands in where nothing is known: the city of the lessons, and towns in clumps."""
    low, high = np.array([domain.lower]), np.array([domain.upper])
    held = np.array([min(records, MOST)])
    towns = (
        clumped(domain, low, high, held, weights, seed + row) for row, weights in enumerate(TOWNS)
    )
    return *towns, synthetic_proxy(domain, records, seed)


def _inside_cells(release: PointRelease, records: int | None, seed: int) -> DataHandle:
    """Records as in a release, and clumped inside its cells: it knows no more than their counts."""
    nodes, domain = release.nodes, release.domain
    leaf = np.flatnonzero(nodes.leaf)
    counts = np.maximum(nodes.count[leaf], 0.0)
    total = counts.sum()
    if not total:
        raise ParameterError("the earlier release holds no record: plan from another, or none")
    records = min(round(total) if records is None else records, MOST)
    held = np.random.default_rng(seed).multinomial(records, counts / total)
    low, high = (domain.to_coordinates(side[leaf]) for side in (nodes.lo, nodes.hi))
    return clumped(domain, low[held > 0], high[held > 0], held[held > 0], INSIDE, seed)


def proxy_records(
    domain: Domain, records: int | None, like: DataHandle | PointRelease | None, seed: int
) -> tuple[list[DataHandle], tuple[str, ...]]:
    """Public handles, of which a plan takes the worst, and what they assume in sentences.

    Args:
        domain: of the release that is planned, 2-D.
        records: their number by a public guess; None: as in ``like``.
        like: public records, or an earlier release; None: a synthetic city.
        seed: of samples.

    Raises:
        DomainError: another domain than ``like`` has, or one that is not 2-D.
        ParameterError: fewer than one record, or a release without any.
        PrivacyError: ``like`` is not public.
    """
    if domain.dims != 2:
        raise DomainError(
            f"a plan is for places in two dimensions, the domain has {domain.dims}: give W,S,E,N"
        )
    scaled = () if records is None else (f"There are about {records:,} records: your guess.",)
    if like is None:
        records = GUESS if records is None else records
        return list(_synthetic(domain, records, seed)), (
            f"There are about {records:,} records: a guess.",
            "They are spread at worst as the people of a synthetic city scaled to the box, or as "
            "towns that are clumped alike on every scale, and lie at the edge of any rectangle.",
            "A public table that is spread as they are (--like) gives a sharper figure.",
        )
    if like.domain != domain:
        raise DomainError("what the records are like lies in another domain: give the same bounds")
    if isinstance(like, PointRelease):
        return [_inside_cells(like, records, seed)], (
            *scaled,
            "They are spread as in the earlier release, and in clumps inside its cells.",
        )
    if records is None and exact_total(like) <= MOST:
        return [like], ("They are as many, and spread as, the records of the public table.",)
    count = min(exact_total(like) if records is None else records, MOST)
    points = places_of_records(like, count, seed)
    handle = from_points(points, domain, public=True)
    return [handle], (*scaled, "They are spread as those of the public table.")
