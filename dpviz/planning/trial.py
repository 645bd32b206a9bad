"""How likely wishes hold of a release that a method would make at a price: tried on a proxy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import ge
from typing import Any

import numpy as np

from dpviz.build import Areas, DataHandle, areas_of, build
from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.synthetic_proxy import MOST
from dpviz.evaluation.truth import exact_by_area, exact_total
from dpviz.planning.candidates import GRID, SYNTHETIC, Candidate, Caution
from dpviz.planning.grids import grid_answers, noise_variance
from dpviz.planning.places import Answered, answered, placed
from dpviz.queries.wishes import Wish
from dpviz.releases.points.promises import within, worst
from dpviz.trees.lattice import Float

FAR = 0.1
"""One build that is so much less likely than wished speaks for all."""

REFERENCE = 0.1
"""The ε at which a tree of fixed cells is built; at others its noise is scaled."""


class Trial:
    """Wishes put to simulated releases of a proxy: public records in place of the owner's.

    Args:
        proxies: public records; of several, a wish is as likely as on the worst.
        wishes: what is asked.
        max_per_unit: records of one privacy unit: each is paid with its part of ε.
        repeats: builds of a method whose cells depend on the records. The same noise is drawn at
            every price.
        seed: of places and noise.
        caution: how far the records may lie otherwise than the proxy's.
        anywhere: the proxy's towns are not where the owner's are, so that a rectangle is also asked
            where records of the proxy lie at its edge.
        as_map: only methods whose cells fill the box, so that other places can be asked too.
    """

    def __init__(
        self,
        proxies: Sequence[DataHandle],
        wishes: Sequence[Wish],
        *,
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
        self.max_per_unit = max_per_unit
        self.repeats = repeats
        self.seed = seed
        self.areas, self.no_areas = (None, "") if as_map else _partition(proxies[0], wishes)
        self.asked = [
            [placed(proxy, wish, seed, anywhere, self.areas is not None) for wish in wishes]
            for proxy in proxies
        ]
        self.fewer = [[each.fewer() for each in row] for row in self.asked]
        # Several records at one place are no crowd: cells that follow them would be too small.
        self.adapts = repeats > 0 and all(exact_total(proxy) <= MOST for proxy in proxies)
        self._answers: dict[tuple[str, int], list[Answered]] = {}

    def release(self, candidate: Candidate, epsilon: float, repeat: int = 0, proxy: int = 0) -> Any:
        """A simulated release of a proxy: of points, or of areas where the candidate is of them."""
        return build(
            self.proxies[proxy],
            candidate.name,
            epsilon / self.max_per_unit,
            areas=self.areas if candidate.areas else None,
            seed=self.seed + repeat,
            ledger=None,
            **candidate.parameters,
        )

    def probabilities(
        self, candidate: Candidate, epsilon: float, widened: Sequence[float] | float = 1.0
    ) -> list[float]:
        """The probability that each wish holds, at the lower limit of what was tried.

        Args:
            candidate: the method.
            epsilon: the price for one privacy unit.
            widened: by how many times the tolerances are widened.
        """
        if candidate.areas:
            return self._odds_by_area(epsilon, widened)
        rows = [self._odds(candidate, epsilon, at, widened) for at in range(len(self.proxies))]
        return [min(column) for column in zip(*rows, strict=True)]

    def holds(self, candidate: Candidate, epsilon: float) -> bool:
        """Whether every wish holds with its confidence."""
        if candidate.areas:
            return all(map(ge, self._odds_by_area(epsilon, 1.0), self._sure))
        if not candidate.fixed and not self.may_hold(candidate, epsilon, FAR):
            return False
        return self._reach(candidate, epsilon, self._sure)

    def may_hold(self, candidate: Candidate, epsilon: float, less: float = 0.0) -> bool:
        """What one build says of a candidate that adapts, against confidences less a margin."""
        return self._reach(candidate, epsilon, [sure - less for sure in self._sure], builds=1)

    @property
    def _sure(self) -> list[float]:
        return [wish.confidence for wish in self.wishes]

    def _reach(
        self, candidate: Candidate, epsilon: float, sure: list[float], builds: int | None = None
    ) -> bool:
        try:
            return all(
                all(map(ge, self._odds(candidate, epsilon, at, 1.0, builds), sure))
                for at in range(len(self.proxies))
            )
        except ParameterError:  # at this price it would have more cells than a release may have
            return False

    def _odds_by_area(self, epsilon: float, widened: Sequence[float] | float) -> list[float]:
        """Of every wish its probability where the cells are the areas: noise is all there is."""
        sd = math.sqrt(noise_variance(epsilon / self.max_per_unit))
        odds = []
        for number, (wish, factor) in enumerate(self._widened(widened)):
            wider = wish.widened(factor)
            if wish.areas:
                odds.append(worst(wish, _noise_only(wider.tolerance(self._least_by_area), sd))[0])
                continue
            rects = [asked[number] for asked in self.asked]
            likely = (
                each.probability(_noise_only(wider.tolerance(each.exact), sd)[None], self.caution)
                for each in rects
            )
            odds.append(min(likely))
        return odds

    @cached_property
    def _least_by_area(self) -> Float:
        """The fewest records of any proxy in each of the areas."""
        assert self.areas is not None
        counts = [exact_by_area(proxy, self.areas) for proxy in self.proxies]
        fewest = np.asarray(np.min(counts, axis=0), dtype=np.float64)
        return np.maximum(fewest - np.sqrt(self.caution.variance * fewest), 0.0)

    def _widened(self, widened: Sequence[float] | float) -> list[tuple[Wish, float]]:
        factors = np.broadcast_to(widened, len(self.wishes)).tolist()
        return list(zip(self.wishes, factors, strict=True))

    def _odds(
        self,
        candidate: Candidate,
        epsilon: float,
        proxy: int,
        widened: Sequence[float] | float,
        builds: int | None = None,
    ) -> list[float]:
        """The probability of every wish on one proxy."""
        builds = 1 if candidate.fixed else builds or self.repeats
        tried = [self._answered(candidate, epsilon, proxy, at) for at in range(builds)]
        odds = []
        for number, (wish, factor) in enumerate(self._widened(widened)):
            asked = (self.asked if candidate.fixed else self.fewer)[proxy][number]
            tolerance = wish.widened(factor).tolerance(asked.exact)
            columns = [each[number].odds(tolerance, self.caution) for each in tried]
            odds.append(asked.probability(np.stack(columns), self.caution))
        return odds

    def _answered(
        self, candidate: Candidate, epsilon: float, proxy: int, repeat: int
    ) -> list[Answered]:
        """What a candidate answers to every wish at a price; one that is fixed is built once."""
        if not candidate.fixed:
            release = self.release(candidate, epsilon, repeat, proxy)
            return [answered(self.proxies[proxy], release, each) for each in self.fewer[proxy]]
        key = repr(candidate), proxy
        if key not in self._answers:
            self._answers[key] = list(self._at_reference(candidate, proxy))
        price = epsilon / self.max_per_unit
        # A tree's levels have parts of ε, whose noise is at most that of the Laplace law.
        cells = candidate.name == GRID
        ratio = noise_variance(price) if cells else 2.0 / price**2
        return [each.scaled(math.sqrt(ratio)) for each in self._answers[key]]

    def _at_reference(self, candidate: Candidate, proxy: int) -> Iterator[Answered]:
        """Answers of a fixed candidate whose noise has variance 1 where one cell's has."""
        handle, release = self.proxies[proxy], None
        for each in self.asked[proxy]:
            if candidate.name == GRID and isinstance(each.places, np.ndarray):
                grid = grid_answers(handle, candidate.parameters["cells"], each.places)
                offset = grid.count - each.exact
                yield Answered(offset, np.sqrt(grid.gain))
                continue
            if release is None:
                release = self.release(candidate, REFERENCE * self.max_per_unit, 0, proxy)
            ratio = noise_variance(REFERENCE) if candidate.name == GRID else 2.0 / REFERENCE**2
            yield answered(handle, release, each).scaled(1.0 / math.sqrt(ratio))


def _noise_only(tolerance: Float, sd: float) -> Float:
    """The probability of answers that nothing but the noise of one cell moves."""
    nothing = np.zeros(len(tolerance))
    return within(tolerance, nothing + sd, nothing, nothing)


def area_source(wishes: Sequence[Wish]) -> str:
    """What ``--areas`` takes where all wishes are of one file, or of rectangles; else nothing."""
    if all(wish.rect for wish in wishes):
        return ";".join(dict.fromkeys(wish.target for wish in wishes))
    names = {wish.areas for wish in wishes}
    return names.pop() if len(names) == 1 else ""


def _partition(proxy: DataHandle, wishes: Sequence[Wish]) -> tuple[Areas | None, str]:
    """The areas that all wishes are of, or why one file of them cannot be counted as it is."""
    source = area_source(wishes)
    if not source:
        return None, ""
    try:
        return areas_of(source, proxy.domain, crs=proxy.domain.crs), ""
    except (DataError, ParameterError) as error:
        return None, str(error)
