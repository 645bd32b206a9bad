"""Audits of methods on areas: with one record against without it, in a square of four quarters.

As for spatial methods, a bound above the claim refutes it, and one below proves nothing. The
records are made here: an audit never sees anybody's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.domain import Domain
from dpviz.evaluation.audit import MethodBench
from dpviz.lazy import shapely
from dpviz.methods.areas.base import AreaMethod
from dpviz.releases.areas.partition import Areas
from dpviz.trees.lattice import Int

FEATURES = (
    "count of the record's quarter",
    "count of its half",
    "count of the whole",
    "count of the other quarter of its half",
    "count of the other half",
    "counts of its quarter, its half and the whole together",
)
"""What an attacker looks at, who knows every record and asks whether one more is there."""


@dataclass(frozen=True, eq=False)
class Quarters:
    """Records in each of four quarters; the neighbour has one more in the first."""

    name: str
    counts: tuple[int, int, int, int]


def quarters(epsilon: float) -> Iterator[Quarters]:
    """The inputs that an audit tries; sizes follow the noise, which is of the order 1/ε."""
    many = math.ceil(15 / epsilon)
    yield Quarters("no record, or one", (0, 0, 0, 0))
    yield Quarters("one record in another quarter, or one more", (0, 1, 0, 0))
    yield Quarters(f"{many} records, or one more among them", (many, 0, 0, 0))
    yield Quarters(f"{many} records in each quarter, or one more", (many, many, many, many))


class AreaBench(MethodBench[Quarters, AreaMethod]):
    """Builds of a method on areas."""

    names = FEATURES

    @cached_property
    def areas(self) -> Areas:
        """Of all builds."""
        return square()

    def cases(self) -> Iterator[Quarters]:
        """See :class:`~dpviz.evaluation.audit.MethodBench`."""
        return quarters(self.epsilon)

    def inputs(self, case: Quarters) -> tuple[Int, Int]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        without: Int = np.array(case.counts)
        return without + np.array([1, 0, 0, 0]), without

    def features(self, case: Quarters, data: Int) -> list[float]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        estimate, _ = self.method.build(self.areas, data, self.budget, self.noise)
        whole, half, other, first, second = estimate[:5].tolist()
        return [first, half, whole, second, other, first + half + whole]


def square() -> Areas:
    """A square, its halves and its quarters."""
    domain = Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
    corners = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.0), (0.5, 0.5)]
    shapes = np.array([shapely.box(x, y, x + 0.5, y + 0.5) for x, y in corners], dtype=object)
    names = ("square", "west", "east", "sw", "nw", "se", "ne")
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    return Areas(domain, ("whole", "half", "quarter"), names, parent, shapes)
