"""The synthetic proxy of an owner's records, or other public ones, while a release is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpviz.build import from_points
from dpviz.errors import DomainError
from dpviz.evaluation.synthetic_proxy import synthetic_proxy
from dpviz.evaluation.truth import exact_total, places_of_records
from dpviz.releases.points.release import PointRelease

if TYPE_CHECKING:
    from dpviz.build import DataHandle
    from dpviz.domain import Domain

GUESS = 100_000
"""Records, where nothing is said of their number."""

MOST = 1_000_000
"""Records of a proxy."""


def proxy_records(
    domain: Domain, records: int | None, like: DataHandle | PointRelease | None, seed: int
) -> tuple[DataHandle, tuple[str, ...]]:
    """A public handle, and what it assumes in sentences.

    Args:
        domain: of the release that is planned, 2-D.
        records: their number by a public guess; None: as in ``like``.
        like: public records, or an earlier release; None: a synthetic city.
        seed: of samples.

    Raises:
        DomainError: another domain than ``like`` has, or one that is not 2-D.
        ParameterError: fewer than one record.
        PrivacyError: ``like`` is not public.
    """
    if domain.dims != 2:
        raise DomainError(
            f"a plan is for places in two dimensions, the domain has {domain.dims}: give W,S,E,N"
        )
    scaled = () if records is None else (f"There are about {records:,} records: your guess.",)
    if like is None:
        records = GUESS if records is None else records
        return synthetic_proxy(domain, records, seed), (
            f"There are about {records:,} records: a guess.",
            "They are spread as the people of a synthetic city scaled to the box; its towns may "
            "lie at the edge of any rectangle.",
            "Records that are more clumped need a larger ε, or a public table that is spread as "
            "they are (--like).",
        )
    if like.domain != domain:
        raise DomainError("what the records are like lies in another domain: give the same bounds")
    if isinstance(like, PointRelease):
        count = None if records is None else min(records, MOST)
        points = like.sample(count, seed)
        handle = from_points(points, domain, public=True)
        return handle, (*scaled, "They are spread as in the earlier release.")
    if records is None and exact_total(like) <= MOST:
        return like, ("They are as many, and spread as, the records of the public table.",)
    count = min(exact_total(like) if records is None else records, MOST)
    points = places_of_records(like, count, seed)
    handle = from_points(points, domain, public=True)
    return handle, (*scaled, "They are spread as those of the public table.")
