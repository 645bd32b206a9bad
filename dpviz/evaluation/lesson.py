"""Numbers of the lessons: exact neighbourhoods, mechanisms drawn repeatedly.

PUBLIC data only: every function that takes a handle refuses data that are not declared public; the
others work on plain numbers. All noise is simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.build import build
from dpviz.errors import PrivacyError
from dpviz.evaluation.truth import exact_counts
from dpviz.private.budget import Budget
from dpviz.private.handle import DataHandle
from dpviz.private.mechanisms.noise import SimulatedNoise, geometric
from dpviz.releases.counts import PointRelease
from dpviz.trees.lattice import Float, Int

METRES_PER_DEGREE = 111_320.0
"""Metres in one degree of latitude, to 0.6 % anywhere."""

SIDE_METRES, SHIFT_METRES = 200.0, 8
"""Side of the rectangle of a lesson, and how far it is moved, in metres; half-way its edge meets
the isolated record."""

TRIED_RECORDS = 500
"""Records that are tried at each distance from the middle."""

NOISELESS_EPSILON = 1e6
"""An ε at which the geometric mechanism's noise is 0, except with probability e^(−10^6)."""

Rect = tuple[float, float, float, float]


@dataclass(frozen=True)
class IsolatedRecord:
    """A rectangle whose eastward move over a few metres meets exactly one record.

    Attributes:
        rect: the rectangle before the move, in degrees.
        step: one metre in degrees of longitude.
        counts: exact counts after 0, 1, … metres.
        metres: the move, in metres, that first holds the record.
        person: longitude and latitude of the record.
    """

    rect: Rect
    step: float
    counts: tuple[int, ...]
    metres: int
    person: tuple[float, float]

    def moved(self, metres: float) -> Rect:
        """The rectangle after a move to the east."""
        west, south, east, north = self.rect
        return west + metres * self.step, south, east + metres * self.step, north


def records(handle: DataHandle, rect: Rect | None = None) -> Float:
    """Coordinates (n, 2) of the records in a rectangle, or of all."""
    handle.require_public()
    index = handle._index
    cells = np.repeat(index.cells + 0.5, index.weights, axis=0)  # middles of the cells
    places: Float = handle.domain.to_coordinates(cells)
    if rect is None:
        return places
    west, south, east, north = rect
    inside = (places[:, 0] >= west) & (places[:, 0] < east)
    return places[inside & (places[:, 1] >= south) & (places[:, 1] < north)]


def isolated_record(handle: DataHandle) -> IsolatedRecord:
    """A record that a moving rectangle singles out, as near to the busiest place as is found.

    ``handle``: public data in degrees.
    """
    places = records(handle)
    middle = np.median(places, axis=0)
    order = np.argsort(((places - middle) ** 2).sum(axis=1))
    step = 1.0 / (METRES_PER_DEGREE * math.cos(math.radians(float(middle[1]))))
    half = SIDE_METRES / 2 / METRES_PER_DEGREE
    late = SHIFT_METRES // 2
    moves = np.arange(SHIFT_METRES + 1)[:, None] * step * np.array([1, 0, 1, 0])
    eastward = places[np.argsort(places[:, 0])]
    for x, y in places[_thinned_rows(order)].tolist():
        east = x - (late - 0.5) * step  # the edge crosses the record between whole metres
        rects = np.array([east - SIDE_METRES * step, y - half, east, y + half]) + moves
        start, stop = np.searchsorted(eastward[:, 0], [rects[0, 0], rects[-1, 2]])
        counts = _counts(eastward[start:stop], rects)
        change = np.diff(counts)
        if counts[0] >= 5 and change[late - 1] == 1 and np.count_nonzero(change) == 1:
            west, south, right, north = rects[0].tolist()
            return IsolatedRecord(
                (west, south, right, north), step, tuple(counts.tolist()), late, (x, y)
            )
    raise PrivacyError("this data set has no isolated record: choose another one")


def _counts(places: Float, rects: Float) -> Int:
    """Exact counts of few places in few rectangles; the compiled kernels take longer to load."""
    inside = (places >= rects[:, None, :2]) & (places < rects[:, None, 2:])
    return np.asarray(inside.all(axis=2).sum(axis=1))


def _thinned_rows(order: Int) -> Int:
    """Rows to try, in order: the first few hundred, then every second, fourth and so on.

    In the middle of a crowd there may be no isolated record, and trying all would take long.
    """
    start, stride, chosen = 0, 1, []
    while start < len(order):
        stop = start + TRIED_RECORDS * stride
        chosen.append(order[start:stop:stride])
        start, stride = stop, 2 * stride
    return np.concatenate(chosen)


def noisy_counts(count: int, epsilon: float, n: int, seed: int) -> Int:
    """One exact count published in n independent worlds, with simulated noise: int64 (n,)."""
    share = Budget(epsilon).spend(epsilon, "lesson")
    return geometric(SimulatedNoise(seed), share, np.full(n, count))[0]


def geometric_probability(distance: ArrayLike, epsilon: float) -> Float:
    """P(noise = k) of the geometric mechanism: (1 − a)/(1 + a)·a^|k| with a = e^(−ε).

    >>> float(geometric_probability(0, 1.0).round(4))
    0.4621
    """
    a = math.exp(-epsilon)
    k = np.abs(np.asarray(distance, dtype=np.float64))
    return np.asarray(-math.expm1(-epsilon) / (1 + a) * np.exp(-epsilon * k))


def posterior(prior: float, epsilon: float) -> float:
    """Largest belief that a release at ε leaves of one that was ``prior``; the least at −ε.

    The odds change by a factor of e^ε at most.

    >>> round(posterior(0.1, 1.0), 3), round(posterior(0.1, -1.0), 3)
    (0.232, 0.039)
    """
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


@dataclass(frozen=True)
class Worlds:
    """Histograms of one published count with and without a record.

    Attributes:
        value: the lowest value of each bin.
        width: values in a bin.
        without, with_one: draws in each bin.
        likely: exact probability of each bin, without and with, shape (2, bins).
    """

    value: Int
    width: int
    without: Int
    with_one: Int
    likely: Float


def two_worlds(count: int, epsilon: float, n: int, seed: int) -> Worlds:
    """Noisy counts of ``count`` records and of one more, n each, in bins a fifth of 1/ε wide."""
    width = max(1, round(0.2 / epsilon))
    reach = math.ceil(5 / epsilon / width) * width
    value = np.arange(count - reach, count + reach + width, width)
    edges = np.append(value, value[-1] + width) - 0.5  # numpy closes the last bin
    draws = [noisy_counts(count + more, epsilon, n, 2 * seed + more) for more in (0, 1)]
    without, with_one = (np.histogram(each, edges)[0] for each in draws)
    inside = value[:, None] + np.arange(width)
    likely = [geometric_probability(inside - count - more, epsilon).sum(axis=1) for more in (0, 1)]
    return Worlds(value, width, without, with_one, np.array(likely))


def suspicion(count: int, epsilon: float, releases: int, n: int, seed: int, record: bool) -> Int:
    """Number of attackers who saw j = 0 … k of k releases above ``count``, int64 (k + 1,).

    ``count`` is exact and without the record in question; ``n`` attackers see k releases each. An
    answer above speaks for one record more by ε, one that is not speaks against it by ε: the log
    odds are (2j − k)·ε, and k releases cost kε.
    """
    answers = noisy_counts(count + record, epsilon, n * releases, 2 * seed + record)
    above = (answers.reshape(n, releases) > count).sum(axis=1)
    return np.bincount(above, minlength=releases + 1)


@dataclass(frozen=True)
class ErrorParts:
    """Root mean square errors over a workload, in records.

    Attributes:
        noise: predicted from the variance of the noise alone.
        uniformity: error of the same cells without noise, against exact answers.
        measured: error of the release, against exact answers.
        noise_measured: error of the release, against the same cells without noise.
    """

    noise: float
    uniformity: float
    measured: float
    noise_measured: float

    @property
    def predicted(self) -> float:
        """Both together: noise has mean 0 and does not depend on the records, so squares add."""
        return math.hypot(self.noise, self.uniformity)


def error_parts(
    handle: DataHandle,
    rects: ArrayLike,
    method: str,
    epsilon: float,
    seed: int,
    *,
    resamples: int = 1,
    **parameters: Any,
) -> ErrorParts:
    """Split the error of a method with a fixed structure into its parts.

    Args:
        rects: the workload, shape (q, 4).
        method: a method whose cells do not depend on the records.
        resamples: releases that the measured error is taken over.
    """
    handle.require_public()
    exact = exact_counts(handle, rects)
    aligned = build(handle, method, NOISELESS_EPSILON, seed=0, ledger=None, **parameters)
    noiseless = aligned.count(rects).count
    answers = [
        build(
            handle, method, epsilon, seed=seed * resamples + resample, ledger=None, **parameters
        ).count(rects)
        for resample in range(resamples)
    ]
    return ErrorParts(
        noise=rms(answers[0].noise_sd),
        uniformity=rms(noiseless - exact),
        measured=rms([each.count - exact for each in answers]),
        noise_measured=rms([each.count - noiseless for each in answers]),
    )


def rms(errors: ArrayLike) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(errors))))


def align(release: PointRelease, rect: Rect, across: int) -> Rect:
    """A rectangle moved to the nearest lines of a grid of ``across``² cells, at least one cell."""
    low = np.array(release.domain.lower)
    cell = (np.array(release.domain.upper) - low) / across
    start = np.clip(np.rint((np.array(rect[:2]) - low) / cell), 0, across - 1)
    stop = np.clip(np.rint((np.array(rect[2:]) - low) / cell), start + 1, across)
    west, south = (low + start * cell).tolist()
    east, north = (low + stop * cell).tolist()
    return west, south, east, north
