"""Estimate, on public scenes, the probability that a release fulfils wishes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.build import build
from dpviz.errors import DataError, ParameterError
from dpviz.evaluation.truth import (
    exact_by_area,
    exact_counts,
    exact_in_regions,
    places_of_records,
    without_noise,
)
from dpviz.private.handle import DataHandle
from dpviz.queries.wishes import Wish
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.source import areas_of
from dpviz.releases.points.promises import answers_at, places_of, success_probability
from dpviz.trees.consistency import geometric_variance
from dpviz.trees.lattice import Float
from dpviz.trees.prior import Prior

EPSILON_LIMIT = 1_000.0
"""Largest ε that may be tried or spent."""

BUILDS = 12
"""Number of simulated releases per method and ε."""

PLACES = 1_000
"""Number of squares on which a wish for any square is tested."""

MOVED_PLACES = 80
"""Number of places that a rectangle is moved to."""

FAILING_SHARE = 0.1
"""Share of places at which a wish for a moved rectangle may fail."""

ONE_SIDED_95 = 1.645
"""Standard errors subtracted from a mean: a one-sided 95 % limit."""

SAMPLING_VARIANCE = 3.0
"""Variance of the difference between a count in the owner's records and in similar records, as a
multiple of the count: two samples, and the noise of a release."""

BUILD_MARGIN = 0.15
"""Margin: a wish fails if one build's probability is this much below the confidence."""


@dataclass(frozen=True)
class Candidate:
    """A method with its parameters.

    Attributes:
        parameters: in place of its defaults.
        areas: True if its cells are the areas of all wishes.
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    areas: bool = False


@dataclass(frozen=True, eq=False)
class PlacedWish:
    """A wish with its places on a scene.

    Attributes:
        places: rectangles or regions.
        exact: counts of the scene there, float64 (q,).
        moved: True if all places but the first are copies of the rectangle elsewhere.
    """

    wish: Wish
    places: Any
    exact: Float
    moved: bool = False


class Trial:
    """Test wishes on simulated releases of public scenes that represent the owner's records.

    For a wish on any square the probability is that of the worst build, since a release is one
    build, of records clumped as in one scene. For other wishes it is the mean over the builds.

    Args:
        scenes: public records; :data:`BUILDS` releases are built in turn, at least one of each.
        times: real records per record of a scene. With k times the records, ε/k and errors
            k times as large the trial is the same: the result depends only on ε times the records
            (scale-epsilon exchangeability: M. Hay et al., SIGMOD 2016).
        max_per_unit: records of one privacy unit: each is paid with its part of ε.
        seed: seed of places and noise. The same noise is drawn at every price.
        sampled: the scenes are another sample of the owner's population, so that counts in them,
            and the share of squares within tolerance, have the errors of two samples.
        anywhere: the scenes' towns are at other places than the owner's, so that a rectangle is
            also tested where records of the scene lie at its edge.
        as_map: only methods whose cells cover the box, so that other places can be queried too.
        prior: public data that builds of cells follow.
    """

    def __init__(
        self,
        scenes: Sequence[DataHandle],
        wishes: Sequence[Wish],
        *,
        times: float = 1.0,
        max_per_unit: int = 1,
        seed: int = 0,
        sampled: bool = False,
        anywhere: bool = False,
        as_map: bool = False,
        prior: Prior | None = None,
    ) -> None:
        self.scenes, self.wishes, self.prior = scenes, wishes, prior
        self.times, self.max_per_unit = times, max_per_unit
        self.seed, self.sampled = seed, sampled
        self.builds = max(BUILDS, len(scenes))
        self.confidence = np.array([wish.confidence for wish in wishes])
        self.areas, self.no_areas = (None, "") if as_map else _partition(scenes[0], wishes)
        self.placed = [
            [_placed(scene, wish, seed, anywhere, self.areas) for wish in wishes]
            for scene in scenes
        ]
        self._errors: dict[tuple[str, float, int], list[tuple[Float, Float]]] = {}

    def price(self, epsilon: float) -> float:
        """The ε of a simulated release of a scene, for one record."""
        return min(epsilon * self.times, EPSILON_LIMIT) / self.max_per_unit

    def release(self, candidate: Candidate, epsilon: float, row: int = 0) -> Any:
        """Simulated release of a scene: of areas if the candidate counts areas, else of points."""
        return build(
            self.scenes[row % len(self.scenes)],
            candidate.name,
            self.price(epsilon),
            areas=self.areas if candidate.areas else None,
            prior=None if candidate.areas else self.prior,
            seed=self.seed + row,
            ledger=None,
            **candidate.parameters,
        )

    def odds(
        self, candidate: Candidate, epsilon: float, row: int, factor: float = 1.0
    ) -> list[Float]:
        """The probability of each answer to every wish in one build, over the noise.

        Args:
            row: number of the build.
            factor: by which all tolerances are widened.
        """
        key, placed = (repr(candidate), epsilon, row), self.placed[row % len(self.placed)]
        if key not in self._errors:
            release = self.release(candidate, epsilon, row)
            scene = self.scenes[row % len(self.scenes)]
            self._errors[key] = [_errors(scene, release, each) for each in placed]
        odds = []
        for each, (offset, noise_sd) in zip(placed, self._errors[key], strict=True):
            tolerance = each.wish.widened(factor).tolerance(self.times * each.exact) / self.times
            odds.append(success_probability(tolerance, noise_sd, offset, np.zeros(len(offset))))
        return odds

    def probabilities(self, candidate: Candidate, epsilon: float, factor: float = 1.0) -> Float:
        """Cautious (low) estimate of the probability that each wish holds.

        ``factor``: by which all tolerances are widened.
        """
        if candidate.areas:
            return self._by_area(epsilon, factor)
        return self._joint_probability(
            [self.odds(candidate, epsilon, row, factor) for row in range(self.builds)]
        )

    def holds(self, candidate: Candidate, epsilon: float) -> bool:
        """Return whether every wish holds with its confidence, without a build more than needed.

        One build can fail a wish on squares, and another wish if it is far too unlikely there.
        """
        if not candidate.areas:
            slack = np.array([0.0 if wish.square else BUILD_MARGIN for wish in self.wishes])
            tried: list[list[Float]] = []
            for row in range(self.builds):
                tried.append(self.odds(candidate, epsilon, row))
                if (self._joint_probability(tried) < self.confidence - slack).any():
                    return False
        return bool((self.probabilities(candidate, epsilon) >= self.confidence).all())

    def _joint_probability(self, tried: list[list[Float]]) -> Float:
        """The probability of each wish from the odds of its answers, build by build."""
        wishes = zip(self.placed[0], zip(*tried, strict=True), strict=True)
        return np.array([_probability(each, np.stack(odds), self.sampled) for each, odds in wishes])

    def _by_area(self, epsilon: float, factor: float) -> Float:
        """Probability of every wish if the cells are the areas, so that noise is the only error."""
        sd = math.sqrt(geometric_variance(self.max_per_unit / epsilon))
        odds = []
        for placed in zip(*self.placed, strict=True):
            fewest = np.min([_fewest_records(each) for each in placed], axis=0)
            lost = np.sqrt(SAMPLING_VARIANCE * fewest) if self.sampled else 0.0
            fewest = self.times * np.maximum(fewest - lost, 0.0)
            tolerance, nothing = placed[0].wish.widened(factor).tolerance(fewest), 0.0 * fewest
            odds.append(success_probability(tolerance, nothing + sd, nothing, nothing).min())
        return np.array(odds)


def area_source(wishes: Sequence[Wish]) -> str:
    """Argument of ``--areas`` if all wishes name one file, or are rectangles; else empty."""
    if all(wish.rect for wish in wishes):
        return ";".join(dict.fromkeys(wish.target for wish in wishes))
    names = {wish.areas for wish in wishes}
    return names.pop() if len(names) == 1 else ""


def _partition(scene: DataHandle, wishes: Sequence[Wish]) -> tuple[Areas | None, str]:
    """Areas that all wishes name, or the reason why their one file cannot be counted as it is."""
    source = area_source(wishes)
    if not source:
        return None, ""
    try:
        return areas_of(source, scene.domain, crs=scene.domain.crs), ""
    except (DataError, ParameterError) as error:
        return None, str(error)


def _placed(
    scene: DataHandle, wish: Wish, seed: int, anywhere: bool, areas: Areas | None
) -> PlacedWish:
    """Place a wish on a scene, by the seed."""
    if wish.areas and areas is not None:
        return PlacedWish(wish, (), exact_by_area(scene, areas).astype(np.float64))
    centres = places_of_records(scene, PLACES, seed) if wish.square else np.empty((0, 2))
    places = places_of(wish, scene.domain, centres)
    moved = bool(wish.rect) and anywhere
    if moved:
        places = np.concatenate([places, _moved_rectangle(scene, wish.rect, seed)])
    count = exact_counts if isinstance(places, np.ndarray) else exact_in_regions
    return PlacedWish(wish, places, count(scene, places).astype(np.float64), moved)


def _moved_rectangle(scene: DataHandle, rect: Sequence[float], seed: int) -> Float:
    """A rectangle where a record lies at its edge, as far as the domain allows."""
    domain, size = scene.domain, np.subtract(rect[2:], rect[:2])
    places = places_of_records(scene, MOVED_PLACES, seed)
    random = np.random.default_rng(seed)
    part = random.random(places.shape)
    axis = random.integers(2, size=MOVED_PLACES)
    part[np.arange(MOVED_PLACES), axis] = np.round(part[np.arange(MOVED_PLACES), axis])
    size = np.minimum(size, np.subtract(domain.upper, domain.lower))
    corner = np.clip(places - part * size, domain.lower, np.subtract(domain.upper, size))
    return np.concatenate([corner, np.minimum(corner + size, domain.upper)], axis=1)


def _errors(scene: DataHandle, release: Any, wish: PlacedWish) -> tuple[Float, Float]:
    """Errors of a release's answers at the places of a wish, and the sd of further noise.

    Squares are many, so that their errors are a sample; for a single rectangle the release's stated
    variance is more precise than the errors of a few builds.
    """
    if wish.wish.square:
        error = answers_at(release, wish.places).count - wish.exact
        return error, np.zeros(len(error))
    ideal = answers_at(without_noise(scene, release), wish.places)
    return ideal.count - wish.exact, ideal.noise_sd


def _probability(wish: PlacedWish, odds: Float, sampled: bool) -> float:
    """Probability that a wish holds, from the odds of its answers, float64 (builds, q)."""
    if wish.wish.square:
        likely = float(odds.mean(axis=1).min())
        error = math.sqrt(2.0 * likely * (1.0 - likely) / odds.shape[1])
        return likely - ONE_SIDED_95 * error if sampled else likely
    if wish.moved:
        return float(min(odds[:, 0].mean(), np.quantile(odds[:, 1:], FAILING_SHARE)))
    spread = odds.std(axis=0, ddof=1) if len(odds) > 1 else np.zeros(odds.shape[1])
    return float((odds.mean(axis=0) - ONE_SIDED_95 * spread / math.sqrt(len(odds))).min())


def _fewest_records(wish: PlacedWish) -> Float:
    """Fewest records of a scene at each place of a wish; an upper bound if it was moved."""
    if not wish.moved:
        return wish.exact
    return np.minimum(wish.exact[:1], np.quantile(wish.exact[1:], FAILING_SHARE))
