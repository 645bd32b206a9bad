"""Promises: probability that a release keeps the wishes in its header, from it alone.

The error of an answer has two parts: noise of known variance, and the uniformity error of leaves
that the edge of the query cuts, whose variance is an ESTIMATE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import DomainError, DpvizError
from dpviz.files.foreign import file_of
from dpviz.queries.wishes import MAX_WISHES, Wish, parse, squares
from dpviz.releases.answers import Answers, RangeAnswers
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.releases.points.region_count import Regions
from dpviz.releases.points.region_file import read_regions
from dpviz.trees.lattice import Float

KEY = "promises"
"""Name of the promises among the header's extra fields."""

TEST_SQUARES = 400
"""Number of squares that test a wish about any square."""


@dataclass(frozen=True)
class Promise:
    """One promise of a release, with the probability that it holds.

    Attributes:
        wish: in words.
        probability: probability that it holds; for areas, of the least likely one. None if unknown.
        note: name of the least likely area, or why the probability is unknown.
    """

    wish: str
    probability: float | None
    note: str = ""

    def __str__(self) -> str:
        odds = "not known" if self.probability is None else _percent(self.probability)
        return f"{self.wish}: {odds}" + (f" ({self.note})" if self.note else "")


def success_probability(
    tolerance: Float, noise_sd: Float, offset: Float, spread_sd: Float
) -> Float:
    """Probability that answers are off by at most their tolerance.

    The noise of one cell is close to Laplace, that of a sum close to normal: the less likely of the
    two distributions is taken.

    Args:
        tolerance: largest error allowed in each of q answers, float64 (q,).
        noise_sd: standard deviation of their noise.
        offset: error without noise, where it is known; else 0.
        spread_sd: standard deviation of the error without noise, where only that is known; else 0.
    """
    sd = np.maximum(np.hypot(noise_sd, spread_sd), 1e-12)
    low, high = (-tolerance - offset) / sd, (tolerance - offset) / sd
    erf = np.vectorize(math.erf, otypes=[np.float64])
    normal = 0.5 * (erf(high / math.sqrt(2)) - erf(low / math.sqrt(2)))
    return np.asarray(np.minimum(normal, _laplace(high) - _laplace(low)))


def _percent(probability: float) -> str:
    """A probability in words, never 0 or 100 %.

    >>> _percent(0.998), _percent(0.97), _percent(0.002)
    ('over 99 %', '97 %', 'under 1 %')
    """
    if not 0.01 <= probability <= 0.99:
        return "over 99 %" if probability > 0.5 else "under 1 %"
    return f"{math.floor(100 * probability)} %"


def _laplace(x: Float) -> Float:
    """Distribution function of the Laplace distribution of variance 1."""
    tail = 0.5 * np.exp(-math.sqrt(2) * np.abs(x))
    return np.where(x < 0, tail, 1.0 - tail)


def places_of(wish: Wish, domain: Domain, centres: Float) -> Any:
    """Queries of a wish: rectangles, float64 (q, 4), or regions.

    ``centres``: centres of squares, float64 (q, 2).
    """
    if domain.dims != 2:
        raise DomainError(
            f"wishes need a domain of 2 dimensions, not {domain.dims}: leave them out"
        )
    if wish.rect:
        domain.boxes(wish.rect)
        return np.array([wish.rect])
    if wish.square:
        return squares(domain, centres, wish.square)
    regions = read_regions(wish.areas, domain)
    inside = regions.inside > 0
    if not inside.any():
        raise DomainError(
            f"{file_of(wish.areas)[0].name}: all areas lie outside the domain: choose another file"
        )
    names = tuple(name for name, touches in zip(regions.names, inside, strict=True) if touches)
    return Regions(names, regions.shapes[inside], regions.inside[inside])


def answers_at(release: PointRelease, places: Any) -> RangeAnswers:
    """The release's answers to the queries of a wish."""
    if isinstance(places, np.ndarray):
        return release.count(places)
    return release.count_regions(places)


def worst(wish: Wish, probability: Float) -> tuple[float, int]:
    """Probability of a wish from those of its queries, and the query that decides it."""
    if wish.square:
        return float(probability.mean()), 0
    row = int(probability.argmin())
    return float(probability[row]), row


def promises(release: PointRelease | AreaRelease, folder: Path | None = None) -> list[Promise]:
    """Return the probability that each promise of the header holds.

    Args:
        release: with or without promises; one of areas promises its own areas.
        folder: folder in which files of areas may be opened, by their name alone: a header is
            untrusted and must not choose what is read. None: no file is opened.
    """
    stated = release.header.extra.get(KEY, [])
    return [_promise(release, text, folder) for text in stated[:MAX_WISHES]]


def _promise(release: PointRelease | AreaRelease, text: str, folder: Path | None) -> Promise:
    try:
        wish = parse(text).public()
        text = str(wish)
        answers, names = _answers(release, wish, folder)
    except DpvizError as error:
        return Promise(text, None, str(error))
    noise, none = answers.noise_sd, 0 * answers.count
    spread = answers.uniformity_sd if isinstance(answers, RangeAnswers) else none
    odds = success_probability(wish.tolerance(answers.count), noise, none, spread)
    probability, row = worst(wish, odds)
    if not names:
        return Promise(text, probability)
    good = int((odds >= wish.confidence).sum())
    note = f"least likely in {names[row]}; {good} of {len(odds)} areas reach it"
    return Promise(text, probability, note)


def _answers(
    release: PointRelease | AreaRelease, wish: Wish, folder: Path | None
) -> tuple[Answers, tuple[str, ...]]:
    """The answers that a wish concerns, and the names of any areas among them.

    A release of areas promises its own areas, which have no error but the noise.
    """
    if is_areas(release):
        if wish.square:
            raise DomainError("a release of areas promises no squares: name areas or rectangles")
        return (
            (release.count([wish.rect]), ())
            if wish.rect
            else (release.answers, release.frame.names)
        )
    if wish.areas:
        if folder is None or not file_of(folder / wish.areas)[0].is_file():
            raise DomainError(f"needs {file_of(wish.areas)[0]} beside the release")
        wish = replace(wish, areas=str(folder / wish.areas))
    centres = release.sample(TEST_SQUARES, seed=0) if wish.square else np.empty((0, 2))
    places = places_of(wish, release.domain, centres)
    return answers_at(release, places), getattr(places, "names", ())
