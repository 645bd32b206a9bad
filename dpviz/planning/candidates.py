"""What a plan tries: methods with their parameters, and how far it trusts what it tries them on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GRID = "ugrid"


SURE = 1.645
"""Standard errors of a mean over builds or places that are taken off: a one-sided 95 % limit."""


@dataclass(frozen=True)
class Caution:
    """How far records may lie otherwise inside the cells than those of a proxy.

    Attributes:
        offset: what the proxy's spread adds to an answer is taken so many times.
        sure: standard errors that are taken off what is a mean over places or builds.
        variance: of a count in another sample, less one in the proxy, as a multiple of the count:
            its root is taken off the least count, where a tolerance is a share of it.
    """

    offset: float
    sure: float = SURE
    variance: float = 0.0


SAMPLED = Caution(1.0, 2.0 * SURE, 2.0)
"""They are others of one population: two samples, each of its own standard error."""

SMOOTHED = Caution(1.3, 2.5, 3.0)
"""The proxy is of a release."""

SYNTHETIC = Caution(1.0)
"""Nothing is known of them."""


@dataclass(frozen=True)
class Candidate:
    """A method with its parameters.

    Attributes:
        name: of the method.
        parameters: in place of its defaults.
        fixed: its cells do not depend on the records, so that one build says all.
        areas: its cells are the areas that all wishes are of.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    fixed: bool = True
    areas: bool = False


SIZES = (64, 128, 32, 256, 16, 512, 96, 48, 192, 24, 8, 384, 12, 4, 6)
"""Cells per side of the grids that are tried."""

CANDIDATES = (
    *(Candidate(GRID, {"cells": cells}) for cells in SIZES),
    *(Candidate("quadtree", {"height": height, "prune": 0.0}) for height in (6, 8)),
    Candidate("privtree", fixed=False),
)
"""What is tried: grids and complete trees of several sizes, and the method that adapts."""

BY_AREA = Candidate("areas", areas=True)
"""Where all wishes are of one file of areas, or of rectangles that do not overlap: no other needs
less noise than one draw for each."""
