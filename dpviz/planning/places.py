"""Where a wish is asked on a proxy, and how likely the answers of a release are good there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.evaluation.truth import (
    exact_counts,
    exact_in_regions,
    places_of_records,
    without_noise,
)
from dpviz.planning.candidates import Caution
from dpviz.private.handle import DataHandle
from dpviz.queries.wishes import Wish
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.promises import asked, places_of, within, worst
from dpviz.trees.lattice import Float

PLACES = 1_000
"""Squares at which a wish of any square is asked."""

MOVES = 80
"""Places that a rectangle is moved to."""

ELSEWHERE = 0.1
"""A wish of a moved rectangle holds in all but this share of the places."""


@dataclass(frozen=True, eq=False)
class PlacedWish:
    """A wish with its places on a proxy.

    Attributes:
        wish: what is asked.
        places: rectangles or regions.
        exact: counts of the proxy there, float64 (q,).
        moved: all places but the first are the rectangle elsewhere.
    """

    wish: Wish
    places: Any
    exact: Float
    moved: bool = False

    def probability(self, odds: Float, caution: Caution) -> float:
        """Probability that the wish holds, from those of its answers in builds, (builds, q)."""
        if self.wish.square:  # a sample of places, and of builds
            return float(lower_limit(odds.mean(axis=0), caution.sure))
        if not self.moved:
            return worst(self.wish, lower_limit(odds, caution.sure))[0]
        return float(min(odds[:, 0].mean(), np.quantile(odds[:, 1:], ELSEWHERE)))


@dataclass(frozen=True, eq=False)
class Answered:
    """Errors of one build's answers to one wish, as columns over its places.

    Attributes:
        offset: of squares, the error itself; of others, the error without noise.
        noise_sd: standard deviation of the noise; 0 for squares.
    """

    offset: Float
    noise_sd: Float

    def odds(self, tolerance: Float) -> Float:
        """The probability of each answer, over the noise."""
        return within(tolerance, self.noise_sd, self.offset, np.zeros(len(tolerance)))


def answered(proxy: DataHandle, release: PointRelease, wish: PlacedWish) -> Answered:
    """Errors of a release's answers at the places of a wish.

    There are many squares, so that their errors are a sample; of a single rectangle the few builds
    say less than the variance that the release states.
    """
    if wish.wish.square:
        error = asked(release, wish.places).count - wish.exact
        return Answered(error, np.zeros(len(error)))
    ideal = asked(without_noise(proxy, release), wish.places)
    return Answered(ideal.count - wish.exact, ideal.noise_sd)


def _elsewhere(proxy: DataHandle, rect: Sequence[float], seed: int) -> Float:
    """A rectangle, and it again where a record lies at its edge, as far as the domain allows."""
    domain, size = proxy.domain, np.subtract(rect[2:], rect[:2])
    places = places_of_records(proxy, MOVES, seed)
    random = np.random.default_rng(seed)
    part = random.random(places.shape)
    axis = random.integers(2, size=MOVES)
    part[np.arange(MOVES), axis] = np.round(part[np.arange(MOVES), axis])
    size = np.minimum(size, np.subtract(domain.upper, domain.lower))
    corner = np.clip(places - part * size, domain.lower, np.subtract(domain.upper, size))
    moved = np.concatenate([corner, np.minimum(corner + size, domain.upper)], axis=1)
    return np.concatenate([[rect], moved])


def placed(
    proxy: DataHandle, wish: Wish, seed: int, anywhere: bool, counted: bool = False
) -> PlacedWish:
    """Place a wish on a proxy, by the seed; counted areas need no places.

    Raises:
        DomainError: a place outside the domain.
        DataError: a file of areas that cannot be read.
    """
    if wish.rect and anywhere:
        places_of(wish, proxy.domain, np.empty((0, 2)))  # refuses one outside the domain
        rects = _elsewhere(proxy, wish.rect, seed)
        return PlacedWish(wish, rects, exact_counts(proxy, rects).astype(np.float64), moved=True)
    if wish.areas and counted:
        return PlacedWish(wish, (), np.empty(0))
    centres = np.empty((0, 2))
    if wish.square:
        centres = places_of_records(proxy, PLACES, seed)
    places = places_of(wish, proxy.domain, centres)
    count = exact_counts if isinstance(places, np.ndarray) else exact_in_regions
    return PlacedWish(wish, places, count(proxy, places).astype(np.float64))


def lower_limit(odds: Float, sure: float) -> Float:
    """The lower limit of means over a sample along the first axis.

    Args:
        odds: shape (n, …).
        sure: standard errors that are taken off.
    """
    mean = odds.mean(axis=0)
    if len(odds) == 1:
        return np.asarray(mean)
    return np.asarray(mean - sure * odds.std(axis=0, ddof=1) / math.sqrt(len(odds)))
