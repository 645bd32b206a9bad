"""Exponential mechanism: exact choice of a candidate with P ∝ length · e^(−rate·distance).

*The distribution is exact.* Let w_i be the weights, C_j = w_1 + … + w_j and W their sum. A uniform
U chooses the j with C_{j−1} ≤ U·W < C_j, which has probability w_j/W. First with weights rounded to
integers of 2^−38 of the best one's and sixty-four bits of U: the integers' sums are exact, each
weight is wrong by at most 2 of them, so that every C_j and U·W are known to within a margin that
grows with the number of candidates. A place that is further than the margin from both ends of its
candidate is decided; the others (one in a million, for a thousand candidates) are decided by
integer bounds of the weights and more bits of the same U, as in
:mod:`~dpviz.private.mechanisms.comparison`. No candidate has weight 0 because it is small.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.budget import Share
from dpviz.private.mechanisms.bounds import exponential_bounds
from dpviz.private.mechanisms.comparison import Float, Source
from dpviz.private.mechanisms.samplers import Int
from dpviz.private.mechanisms.sources import Noise

UNITS = 2.0**38
"""Largest integer weight of the best candidate in the first round."""

MARGIN = 4
"""Units of doubt per candidate: rounding of its weight (1), error of the exponential (less than 1),
both again in the sum, doubled."""

Candidates = tuple[list[int], list[Fraction]]
"""Lengths and distances of all candidates of one group."""


def chosen_rows(
    words: Source,
    starts: Int,
    weights: Float,
    candidates: Callable[[int], tuple[Candidates, Fraction]],
) -> tuple[Int, dict[int, int]]:
    """One row of each group, with probability in proportion to its weight.

    Returns the row of each group, int64 (k,); and the groups that were decided exactly, with the
    place of their choice among all of their candidates, whose row counts for nothing.

    Args:
        starts: first row of each group, and the number of rows at the end, int64 (k + 1,).
        weights: relative to the best of the group (whose is 1) and to within 2^−39; a row may be
            left out only if the weights left out of a group add up to less than 2^−38.
        candidates: all candidates of a group, and their rate; called where the doubles do not
            decide.
    """
    # Fewer units for many rows, so that no sum overflows.
    most = min(UNITS, 2.0 ** (62 - len(weights).bit_length()))
    units = np.floor(weights * most).astype(np.int64)
    total = np.concatenate([[0], np.cumsum(units)])
    base, sums = total[starts[:-1]], np.diff(total[starts])
    drawn = words(len(sums))
    place = np.floor(drawn.astype(np.float64) * 2.0**-64 * sums).astype(np.int64)
    place = base + np.minimum(place, sums - 1)
    rows = np.searchsorted(total, place, side="right") - 1
    margin = MARGIN * (np.diff(starts) + 1) + (sums * 2.0**-48).astype(np.int64) + 1
    doubtful = (total[rows + 1] - place <= margin) | (
        (place - total[rows] <= margin) & (total[rows] > base)
    )
    exactly = {
        group: exact_choice(words, int(drawn[group]), *candidates(group))
        for group in np.flatnonzero(doubtful).tolist()
    }
    rows[list(exactly)] = starts[:-1][list(exactly)]
    return rows, exactly


def exact_choice(words: Source, drawn: int, candidates: Candidates, rate: Fraction) -> int:
    """The candidate of the uniform number whose first 64 bits were ``drawn``."""
    lengths, distances = candidates
    best = min(each for each, length in zip(distances, lengths, strict=True) if length)
    exponents = [rate * (each - best) for each in distances]
    width = 64
    while True:
        bounds = [exponential_bounds(max(x, Fraction(0)), width) for x in exponents]
        low = list(accumulate(n * w for n, (w, _) in zip(lengths, bounds, strict=True)))
        high = list(accumulate(n * w for n, (_, w) in zip(lengths, bounds, strict=True)))
        # U·W lies from drawn·low[-1] to (drawn + 1)·high[-1], over 2^width.
        for row, reached in enumerate(low):
            if reached << width >= (drawn + 1) * high[-1]:
                if row == 0 or high[row - 1] << width <= drawn * low[-1]:
                    return row
                break
        drawn = drawn << 64 | int(words(1)[0])
        width += 64


def exponential(
    noise: Noise, share: Share, scores: ArrayLike, sensitivity: float | Fraction = 1.0
) -> int:
    """Exponential mechanism: index of a candidate, with P ∝ exp(ε·score / (2·sensitivity)).

    ε-DP when one record moves every score by at most ``sensitivity`` (F. McSherry and K. Talwar,
    FOCS 2007); exact, see the module. Scores that are sums of rounded doubles may move by a little
    more than they should: give integers.

    Args:
        share: pays for this one choice.
        scores: one finite number per public candidate, (k,).
        sensitivity: the most that one record moves a score.
    """
    scores = np.asarray(scores)
    rate = Fraction(share.use()) / (2 * Fraction(sensitivity))
    distance = (scores.max() - scores).astype(np.float64)

    def candidates(_group: int) -> tuple[Candidates, Fraction]:
        exact = [Fraction(each) for each in scores.tolist()]
        most = max(exact)
        return ([1] * len(exact), [most - each for each in exact]), rate

    starts = np.array([0, len(scores)], dtype=np.int64)
    rows, exactly = chosen_rows(noise.words, starts, np.exp(-float(rate) * distance), candidates)
    return exactly.get(0, int(rows[0]))
