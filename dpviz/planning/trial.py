"""How likely wishes hold of a release that a method would make at a price: tried on a proxy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.build import areas_of, build
from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.truth import (
    exact_by_area,
    exact_counts,
    exact_in_regions,
    places_of_records,
    without_noise,
)
from dpviz.releases.points.promises import SQUARES, asked, places_of, within, worst
from dpviz.trees.lattice import Float
from dpviz.wishes import Wish

if TYPE_CHECKING:
    from dpviz.build import Areas, DataHandle
    from dpviz.releases.areas.release import AreaRelease
    from dpviz.releases.header import Header
    from dpviz.releases.points.range_count import RangeAnswers
    from dpviz.releases.points.release import PointRelease

SURE = 1.645
"""Standard errors of a mean over builds that are taken off: its one-sided 95 % limit."""


MOVES = 40
"""Places that a rectangle is moved to."""

ELSEWHERE = 0.1
"""A wish of a moved rectangle holds in all but this share of the places."""


@dataclass(frozen=True)
class Caution:
    """How far records may lie otherwise inside the cells than those of a proxy.

    Attributes:
        offset: what the proxy's spread adds to an answer is taken so many times.
        spread: so is the standard deviation of the model of any spread.
    """

    offset: float
    spread: float


KNOWN = Caution(1.0, 0.0)
"""The records are the proxy's: what an oracle knows."""

SAMPLED = Caution(1.25, 0.0)
"""They are others of one population."""

SMOOTHED = Caution(1.0, 1.0)
"""The proxy is of a release, and even inside its cells."""

SYNTHETIC = Caution(1.0, 2.0)
"""Nothing is known of them; real places are more clumped than the synthetic city."""


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


CANDIDATES = (
    *(Candidate("ugrid", {"cells": cells}) for cells in (64, 128, 256, 512, 32, 16, 8, 4)),
    *(Candidate("quadtree", {"height": height, "prune": 0.0}) for height in (7, 9, 8, 6, 5)),
    Candidate("privtree", fixed=False),
)
"""What is tried: grids and complete trees of several sizes, and the method that adapts."""


BY_AREA = Candidate("areas", areas=True)
"""Where all wishes are of one file of areas: no other needs less noise than one draw for each."""


def between(candidate: Candidate) -> list[Candidate]:
    """Grids of sizes between a grid and its neighbours in :data:`CANDIDATES`."""
    cells = candidate.parameters.get("cells")
    if cells is None:
        return []
    return [Candidate(candidate.name, {"cells": round(cells * part)}) for part in (0.75, 1.5)]


@dataclass(frozen=True, eq=False)
class Asked:
    """A wish with its places on the proxy.

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

    def probability(self, odds: Float) -> float:
        """That of the wish, from those of its answers."""
        if not self.moved:
            return worst(self.wish, odds)[0]
        return float(min(odds[0], np.quantile(odds[1:], ELSEWHERE)))


class Trial:
    """Wishes put to simulated releases of a proxy: public records in place of the owner's.

    Args:
        proxy: public records.
        wishes: what is asked.
        max_per_unit: records of one privacy unit: each is paid with its part of ε.
        repeats: builds of a method whose cells depend on the records. The same noise is drawn at
            every price.
        seed: of places and noise.
        caution: how far the records may lie otherwise than the proxy's.
        anywhere: the proxy's towns are not where the owner's are, so that a rectangle is also asked
            where records of the proxy lie at its edge.
    """

    def __init__(
        self,
        proxy: DataHandle,
        wishes: Sequence[Wish],
        *,
        max_per_unit: int = 1,
        repeats: int = 8,
        seed: int = 0,
        caution: Caution = SYNTHETIC,
        anywhere: bool = False,
    ) -> None:
        self.caution = caution
        self.proxy = proxy
        self.max_per_unit = max_per_unit
        self.repeats = repeats
        self.seed = seed
        self.asked = [_placed(proxy, wish, seed, anywhere) for wish in wishes]
        self.areas, self.no_areas = _partition(proxy, wishes)
        self._ideals: dict[str, list[RangeAnswers]] = {}

    def release(self, candidate: Candidate, epsilon: float, repeat: int = 0) -> PointRelease:
        """A simulated release of the proxy."""
        release: PointRelease = build(
            self.proxy,
            candidate.name,
            epsilon / self.max_per_unit,
            seed=self.seed + repeat,
            ledger=None,
            **candidate.parameters,
        )
        return release

    def by_area(self, epsilon: float) -> AreaRelease:
        """A simulated release of the proxy by area.

        Raises:
            ParameterError: the wishes are not all of one file of areas that are disjoint.
        """
        if self.areas is None:
            raise ParameterError("the wishes are not of the areas of one partition")
        price = epsilon / self.max_per_unit
        return build(self.proxy, "areas", price, areas=self.areas, seed=self.seed, ledger=None)

    def header(self, candidate: Candidate, epsilon: float) -> Header:
        """What a release would say of itself."""
        if candidate.areas:
            return self.by_area(epsilon).header
        return self.release(candidate, epsilon).header

    def probabilities(
        self, candidate: Candidate, epsilon: float, widened: Sequence[float] | float = 1.0
    ) -> list[float]:
        """The probability that each wish holds, at its lower limit where it is a mean over builds.

        Args:
            candidate: the method.
            epsilon: the price for one privacy unit.
            widened: by how many times the tolerances are widened.
        """
        if candidate.areas:
            return self._odds_by_area(epsilon, widened)
        builds = 1 if candidate.fixed else self.repeats
        odds = []
        for repeat in range(builds):
            release = self.release(candidate, epsilon, repeat)
            odds.append(self._odds(release, self._ideal(candidate, release), widened))
        return [
            each.probability(_lower_limit(np.stack(column)))
            for each, column in zip(self.asked, zip(*odds, strict=True), strict=True)
        ]

    def holds(
        self, candidate: Candidate, epsilon: float, widened: Sequence[float] | float = 1.0
    ) -> bool:
        """Whether every wish holds with its confidence."""
        odds = self.probabilities(candidate, epsilon, widened)
        return all(
            each >= asked.wish.confidence for each, asked in zip(odds, self.asked, strict=True)
        )

    def _odds_by_area(self, epsilon: float, widened: Sequence[float] | float) -> list[float]:
        """Of every wish its probability where the cells are the areas: noise is all there is."""
        release = self.by_area(epsilon)
        exact = exact_by_area(self.proxy, release.areas).astype(np.float64)
        nothing = np.zeros(len(exact))
        odds = []
        for each, factor in zip(self.asked, np.broadcast_to(widened, len(self.asked)), strict=True):
            tolerance = each.wish.widened(float(factor)).tolerance(exact)
            lies = within(tolerance, release.answers.noise_sd, nothing, nothing)
            odds.append(worst(each.wish, lies)[0])
        return odds

    def _ideal(self, candidate: Candidate, release: PointRelease) -> list[RangeAnswers]:
        """What the cells of a release answer to every wish without noise."""
        key = repr(candidate)
        if candidate.fixed and key in self._ideals:
            return self._ideals[key]
        exact = without_noise(self.proxy, release)
        ideals = [asked(exact, each.places) for each in self.asked]
        if candidate.fixed:  # whatever the price
            self._ideals[key] = ideals
        return ideals

    def _odds(
        self,
        release: PointRelease,
        ideals: Sequence[RangeAnswers],
        widened: Sequence[float] | float,
    ) -> list[Float]:
        """Of every wish the probability of each of its answers, over the noise."""
        factors = np.broadcast_to(widened, len(self.asked))
        odds = []
        for each, ideal, factor in zip(self.asked, ideals, factors, strict=True):
            noise = asked(release, each.places).noise_sd
            tolerance = each.wish.widened(float(factor)).tolerance(each.exact)
            nothing = np.zeros(len(tolerance))
            # As the proxy's records lie, and as records may lie: whichever is less likely to hold.
            offset = self.caution.offset * (ideal.count - each.exact)
            spread = self.caution.spread * ideal.uniformity_sd
            odds.append(
                np.minimum(
                    within(tolerance, noise, offset, nothing),
                    within(tolerance, noise, nothing, spread),
                )
            )
        return odds


def _partition(proxy: DataHandle, wishes: Sequence[Wish]) -> tuple[Areas | None, str]:
    """The areas that all wishes are of, or why one file of them cannot be counted as it is."""
    names = {wish.areas for wish in wishes}
    if len(names) != 1 or "" in names:
        return None, ""
    try:
        return areas_of(names.pop(), proxy.domain, crs=proxy.domain.crs), ""
    except DataError as error:
        return None, str(error)


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


def _placed(proxy: DataHandle, wish: Wish, seed: int, anywhere: bool) -> Asked:
    if wish.rect and anywhere:
        places_of(wish, proxy.domain, np.empty((0, 2)))  # refuses one outside the domain
        rects = _elsewhere(proxy, wish.rect, seed)
        return Asked(wish, rects, exact_counts(proxy, rects).astype(np.float64), moved=True)
    centres = np.empty((0, 2))
    if wish.square:
        centres = places_of_records(proxy, SQUARES, seed)
    places = places_of(wish, proxy.domain, centres)
    count = exact_counts if isinstance(places, np.ndarray) else exact_in_regions
    return Asked(wish, places, count(proxy, places).astype(np.float64))


def _lower_limit(odds: Float) -> Float:
    """The one-sided 95 % limit of means over builds, shape (builds, q)."""
    if len(odds) == 1:
        return np.asarray(odds[0])
    error = odds.std(axis=0, ddof=1) / math.sqrt(len(odds))
    return np.asarray(odds.mean(axis=0) - SURE * error)
