"""The public order in which a domain's axes are halved: one bit of a cell's number each.

In turn, that is the Morton code. Where an hour is worth some metres, the axis is next that is the
longest by then, so that cells of a tree become as long in time as they are wide. Knows no record.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.errors import DomainError
from dpviz.trees.lattice import Codes

_DISTANCE = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*(m|km)\s*", re.IGNORECASE)
_METRES = {"m": 1.0, "km": 1_000.0}


@dataclass(frozen=True)
class CutOrder:
    """Axis that each cut halves, coarsest cut first, until every axis has all of its bits.

    Args:
        axes: of each cut.
        dims: how many there are, each ``len(axes) // dims`` times in ``axes``.

    >>> CutOrder((1, 1, 0, 1, 0, 0), 2).halvings(4)
    (1, 3)
    """

    axes: tuple[int, ...]
    dims: int

    @classmethod
    def in_turn(cls, dims: int, bits: int) -> CutOrder:
        """One axis after the other: the order of Morton codes."""
        return cls(tuple(range(dims)) * bits, dims)

    @classmethod
    def longest_first(cls, lengths: Sequence[float], bits: int) -> CutOrder:
        """The longest axis next, the first of equal ones.

        >>> CutOrder.longest_first([1.0, 1.0, 3.5], 2).axes
        (2, 2, 0, 1, 0, 1)
        """
        left, turns = list(lengths), []
        for _ in range(bits * len(left)):
            axis = max(range(len(left)), key=lambda at: (left[at], -at))
            turns.append(axis)
            left[axis] = left[axis] / 2.0 if turns.count(axis) < bits else -math.inf
        return cls(tuple(turns), len(left))

    def halvings(self, cuts: int) -> tuple[int, ...]:
        """Number of times that the first ``cuts`` cuts halve each axis."""
        first = self.axes[:cuts]
        return tuple(first.count(axis) for axis in range(self.dims))

    @property
    def is_morton(self) -> bool:
        """True if axes are cut in turn, as in Morton codes."""
        return self == CutOrder.in_turn(self.dims, len(self.axes) // self.dims)

    def from_morton(self, codes: Codes) -> Codes:
        """Numbers of cells in this order, uint64 (n,), of their Morton codes."""
        return self._moved(codes, back=False)

    def to_morton(self, codes: Codes) -> Codes:
        """The inverse of :meth:`from_morton`."""
        return self._moved(codes, back=True)

    def _moved(self, codes: Codes, *, back: bool) -> Codes:
        moved = np.zeros_like(codes)
        for (mask, turned), distance in self._moves:
            bits = codes & np.uint64(turned if back else mask)
            up = distance if not back else -distance
            moved |= bits << np.uint64(up) if up >= 0 else bits >> np.uint64(-up)
        return moved

    @cached_property
    def _moves(self) -> list[tuple[tuple[int, int], int]]:
        """Bits that move equally far to the left: masks of where they are and will be, and how far.

        Between a Morton code and this order.
        """
        total, seen = len(self.axes), [0] * self.dims
        masks: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for place, axis in enumerate(self.axes):
            source = seen[axis] * self.dims + axis
            seen[axis] += 1
            both = masks[source - place]
            both[0] |= 1 << (total - 1 - source)
            both[1] |= 1 << (total - 1 - place)
        return [((mask, turned), distance) for distance, (mask, turned) in masks.items()]


def metres(value: Any) -> float:
    """A distance in metres: ``500m``, ``0.5km``, or a number of metres.

    Raises:
        DomainError: none, or one that is not above 0.

    >>> metres("0.5km"), metres(250)
    (500.0, 250.0)
    """
    match = _DISTANCE.fullmatch(value) if isinstance(value, str) else None
    try:
        given = float(value) if match is None else float(match[1]) * _METRES[match[2].lower()]
    except (TypeError, ValueError, OverflowError):
        given = math.nan
    if not (math.isfinite(given) and given > 0):
        raise DomainError(f"distance {value!r}: give metres above 0, such as 500m or 0.5km")
    return given
