"""Exact answers, inside the wall and for public data only."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpviz.errors import PrivacyError
from dpviz.lattice import Int
from dpviz.private.handle import DataHandle


def exact_counts(handle: DataHandle, rects: ArrayLike) -> Int:
    """Exact records in rectangles (snapped as queries are), int64 of shape (q,).

    Raises:
        PrivacyError: the data set is not declared public.
    """
    if not handle.public:
        raise PrivacyError("exact counts of sensitive data are never shown")
    return handle._index.box_counts(*handle.domain.boxes(rects))


def exact_total(handle: DataHandle) -> int:
    """The exact number of records inside the domain.

    Raises:
        PrivacyError: the data set is not declared public.
    """
    if not handle.public:
        raise PrivacyError("exact counts of sensitive data are never shown")
    return handle._index.total
