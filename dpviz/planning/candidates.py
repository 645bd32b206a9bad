"""Candidates of a plan: methods with their parameters, and safety margins for the proxy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.queries.wishes import Wish, squares

SURE = 1.645
"""Standard errors of a mean over builds or places that are taken off: a one-sided 95 % limit."""


@dataclass(frozen=True)
class Caution:
    """Safety margins for records that are distributed otherwise than those of a proxy.

    Attributes:
        sure: standard errors that are taken off what is a mean over places or builds.
        variance: of a count in another sample, less one in the proxy, as a multiple of the count:
            its root is taken off the least count, where a tolerance is a share of it.
    """

    sure: float = SURE
    variance: float = 0.0


SYNTHETIC = Caution()
"""The proxy is synthetic: nothing is known of the records."""

SAMPLED = Caution(math.sqrt(2.0) * SURE, 2.0)
"""The proxy is another sample of the population: two samples, whose variances add up."""

SMOOTHED = Caution(2.0 * SURE, 3.0)
"""The proxy is made from a release."""


@dataclass(frozen=True)
class Candidate:
    """A method with its parameters.

    Attributes:
        name: of the method.
        parameters: in place of its defaults.
        areas: its cells are the areas that all wishes are of.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    areas: bool = False


BY_AREA = Candidate("areas", areas=True)
"""Where all wishes are of one file of areas, or of rectangles that do not overlap: no other needs
less noise than one draw for each."""

TREE = Candidate("ladder_tree")
GRIDS = tuple(Candidate("ugrid", {"cells": cells}) for cells in (16, 128))

SIDES = 1e-4, 1.0
"""Sides of squares, as shares of the domain's, that a hot grid is made for."""


def candidates_for(domain: Domain, wishes: Sequence[Wish]) -> tuple[Candidate, ...]:
    """The methods that are tried: a hot grid for each size of squares, a ladder tree, flat grids.

    >>> city = Domain((0.0, 0.0), (10_000.0, 10_000.0), crs="EPSG:32631")
    >>> candidates_for(city, [Wish(square=1.0, absolute=50.0)])[0].parameters
    {'side': 0.1}
    """
    surface = float(np.prod(np.subtract(domain.upper, domain.lower)))
    middle = np.add(domain.lower, domain.upper)[None] / 2
    grids: dict[float, None] = {}
    for size in sorted({wish.square for wish in wishes if wish.square}):
        [square] = squares(domain, middle, size)
        side = math.sqrt(float(np.prod(square[2:] - square[:2])) / surface)
        grids[float(f"{min(max(side, SIDES[0]), SIDES[1]):.2g}")] = None
    hot = (Candidate("hot_grid", {"side": side}) for side in grids)
    return *hot, TREE, *GRIDS
