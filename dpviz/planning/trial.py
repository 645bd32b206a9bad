"""Probability that a method's release at a given ε fulfils wishes, estimated on a proxy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.build import build
from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.truth import exact_by_area
from dpviz.planning.candidates import SYNTHETIC, Candidate, Caution
from dpviz.planning.places import Answered, answered, placed
from dpviz.private.handle import DataHandle
from dpviz.queries.wishes import Wish
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.source import areas_of
from dpviz.releases.points.promises import within, worst
from dpviz.trees.lattice import Float

CEILING = 1_000.0
"""The largest ε that is tried, or may be spent."""

FAR_BELOW, FAR_ABOVE = 0.15, 10.0
"""One build that is so much less likely than wished, or fails so many times less, is enough."""


def noise_variance(epsilon: float) -> float:
    """Variance of one count with two-sided geometric noise: 2a/(1 − a)², a = e^−ε.

    >>> round(noise_variance(0.01), 1), round(noise_variance(1.0), 4)
    (19999.8, 1.8413)
    """
    return 0.5 / math.sinh(min(epsilon, 700.0) / 2.0) ** 2  # beyond, no double holds the square


class Trial:
    """Wishes put to simulated releases of a proxy: public records in place of the owner's.

    Args:
        proxies: groups of public records, one or several draws of each; a wish is as likely as on
            average over a group, and on the worst of the groups.
        wishes: what is asked.
        times: the owner's records for each of a proxy's. As many times more records, at a price
            and with errors that many times smaller and larger, is the same trial: what counts is ε
            times the records (scale-epsilon exchangeability: M. Hay et al., SIGMOD 2016).
        max_per_unit: records of one privacy unit: each is paid with its part of ε.
        repeats: builds of each group at a price, one after another of its draws. The same noise is
            drawn at every price.
        seed: of places and noise.
        caution: how far the records may lie otherwise than the proxy's.
        anywhere: the proxy's towns are not where the owner's are, so that a rectangle is also asked
            where records of the proxy lie at its edge.
        as_map: only methods whose cells fill the box, so that other places can be asked too.
    """

    def __init__(
        self,
        proxies: Sequence[Sequence[DataHandle]],
        wishes: Sequence[Wish],
        *,
        times: float = 1.0,
        max_per_unit: int = 1,
        repeats: int = 4,
        seed: int = 0,
        caution: Caution = SYNTHETIC,
        anywhere: bool = False,
        as_map: bool = False,
    ) -> None:
        self.caution = caution
        self.proxies = proxies
        self.wishes = wishes
        self.times = times
        self.max_per_unit = max_per_unit
        self.repeats = repeats
        self.seed = seed
        self.areas, self.no_areas = (None, "") if as_map else _partition(proxies[0][0], wishes)
        self.asked = [
            [
                [placed(draw, wish, seed, anywhere, self.areas is not None) for wish in wishes]
                for draw in group
            ]
            for group in proxies
        ]
        self._answers: dict[tuple[str, float, int, int], list[Answered]] = {}

    def price(self, epsilon: float) -> float:
        """The ε of a simulated release of a proxy, for one record."""
        return min(epsilon * self.times, CEILING) / self.max_per_unit

    def release(self, candidate: Candidate, epsilon: float, repeat: int = 0, proxy: int = 0) -> Any:
        """A simulated release of a proxy: of points, or of areas where the candidate is of them."""
        return build(
            self.proxies[proxy][repeat % len(self.proxies[proxy])],
            candidate.name,
            self.price(epsilon),
            areas=self.areas if candidate.areas else None,
            seed=self.seed + repeat,
            ledger=None,
            **candidate.parameters,
        )

    def probabilities(
        self,
        candidate: Candidate,
        epsilon: float,
        widened: Sequence[float] | None = None,
        builds: int | None = None,
    ) -> list[float]:
        """The probability that each wish holds, at the lower limit of what was tried.

        Args:
            candidate: the method.
            epsilon: the price for one privacy unit.
            widened: by how many times each tolerance is widened.
            builds: at most so many.
        """
        wider = [
            wish.widened(factor)
            for wish, factor in zip(self.wishes, widened or [1.0] * len(self.wishes), strict=True)
        ]
        if candidate.areas:
            return self._odds_by_area(epsilon, wider)
        rows = [
            self._odds(candidate, epsilon, at, wider, builds) for at in range(len(self.proxies))
        ]
        return [min(column) for column in zip(*rows, strict=True)]

    def holds(self, candidate: Candidate, epsilon: float) -> bool:
        """Return whether every wish holds with its confidence.

        One build speaks for all where it is far from the confidence.
        """
        sure = np.array([wish.confidence for wish in self.wishes])
        first = np.array(self.probabilities(candidate, epsilon, builds=1))
        if candidate.areas or (first >= 1.0 - (1.0 - sure) / FAR_ABOVE).all():
            return bool((first >= sure).all())
        if (first < sure - FAR_BELOW).any():
            return False
        return bool((np.array(self.probabilities(candidate, epsilon)) >= sure).all())

    def _odds_by_area(self, epsilon: float, wishes: Sequence[Wish]) -> list[float]:
        """Probability of every wish if the cells are the areas, so that noise is the only error."""
        sd = math.sqrt(noise_variance(epsilon / self.max_per_unit))
        odds = []
        for number, wish in enumerate(wishes):
            if wish.areas:
                odds.append(worst(wish, _noise_only(wish.tolerance(self._least_by_area), sd))[0])
                continue
            likely = (
                each[number].probability(
                    _noise_only(wish.tolerance(self.times * each[number].exact), sd)[None],
                    self.caution,
                )
                for group in self.asked
                for each in group
            )
            odds.append(min(likely))
        return odds

    @cached_property
    def _least_by_area(self) -> Float:
        """The fewest records of any proxy in each of the areas."""
        assert self.areas is not None
        counts = [exact_by_area(each, self.areas) for group in self.proxies for each in group]
        fewest = np.asarray(np.min(counts, axis=0), dtype=np.float64)
        return self.times * np.maximum(fewest - np.sqrt(self.caution.variance * fewest), 0.0)

    def _odds(
        self,
        candidate: Candidate,
        epsilon: float,
        proxy: int,
        wishes: Sequence[Wish],
        builds: int | None,
    ) -> list[float]:
        """The probability of every wish on one proxy."""
        group, odds = self.asked[proxy], []
        rows = range(builds or self.repeats)
        tried = [self._answered(candidate, epsilon, proxy, row) for row in rows]
        for number, wish in enumerate(wishes):
            columns = []
            for row, answers in enumerate(tried):
                exact = group[row % len(group)][number].exact
                columns.append(
                    answers[number].odds(wish.tolerance(self.times * exact) / self.times)
                )
            odds.append(group[0][number].probability(np.stack(columns), self.caution))
        return odds

    def _answered(
        self, candidate: Candidate, epsilon: float, proxy: int, repeat: int
    ) -> list[Answered]:
        """Errors of a candidate's answers to every wish at this ε, cached."""
        key = repr(candidate), epsilon, proxy, repeat
        if key not in self._answers:
            release = self.release(candidate, epsilon, repeat, proxy)
            draw = repeat % len(self.proxies[proxy])
            handle, wishes = self.proxies[proxy][draw], self.asked[proxy][draw]
            self._answers[key] = [answered(handle, release, each) for each in wishes]
        return self._answers[key]


def _noise_only(tolerance: Float, sd: float) -> Float:
    """The probability of answers that nothing but the noise of one cell moves."""
    nothing = np.zeros(len(tolerance))
    return within(tolerance, nothing + sd, nothing, nothing)


def area_source(wishes: Sequence[Wish]) -> str:
    """Argument of ``--areas`` if all wishes name one file, or are rectangles; else empty."""
    if all(wish.rect for wish in wishes):
        return ";".join(dict.fromkeys(wish.target for wish in wishes))
    names = {wish.areas for wish in wishes}
    return names.pop() if len(names) == 1 else ""


def _partition(proxy: DataHandle, wishes: Sequence[Wish]) -> tuple[Areas | None, str]:
    """Areas that all wishes name, or the reason why their one file cannot be counted as it is."""
    source = area_source(wishes)
    if not source:
        return None, ""
    try:
        return areas_of(source, proxy.domain, crs=proxy.domain.crs), ""
    except (DataError, ParameterError) as error:
        return None, str(error)
