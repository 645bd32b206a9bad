"""Lazily exact comparison: is a uniform number in [0, 1) below a real probability q?

*The distribution is exact.* Let U be uniform in [0, 1) and u its first w bits as an integer, so
that u/2^w ≤ U < (u + 1)/2^w. If low ≤ 2^w·q ≤ high for integers low and high, then

- u < low gives U < (u + 1)/2^w ≤ low/2^w ≤ q: yes;
- u ≥ high gives U ≥ u/2^w ≥ high/2^w ≥ q: no;
- else nothing is decided yet: more bits of the same U are drawn, and q is bounded more closely.

Whatever is decided is what the whole of U would have decided, so P(yes) = q, not nearly q. The
first sixteen bits decide with bounds from a floating-point number with an error up to MAX_ERROR
(eight times the error of an exponential in single precision); what is left, one comparison in
some thirty thousand, is decided by integers (:mod:`dpviz.private.mechanisms.bounds`). A wider band
sends more comparisons the second way and changes nothing else; a test has a quarter of them there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.private.mechanisms.bounds import Bounds

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]
Float = NDArray[np.float64]
Source = Callable[[int], Words]
"""Draws n independent uniform 64-bit integers."""

MAX_ERROR = 2.0**-18
"""Greatest distance of a probability from its approximation in double precision."""

FIRST_BITS = 16
"""Bits of the uniform number that are drawn first."""


def is_below(words: Source, n: int, approximate: ArrayLike, exact: Callable[[int], Bounds]) -> Bits:
    """One exact Bernoulli bit per row: true with its probability q.

    Args:
        approximate: q to within MAX_ERROR: one number, or of shape (n,).
        exact: from a row to the bounds of its q.
    """
    drawn = words(-(-n // 4)).view(np.uint16)[:n]
    low: Any = (np.maximum(approximate, MAX_ERROR) - MAX_ERROR) * 2.0**FIRST_BITS
    low = low.astype(np.uint16)
    # Values in low … low + span are uncertain. Wrapping around only adds values to be checked.
    span = np.uint16(2.0 * MAX_ERROR * 2.0**FIRST_BITS + 1.0)
    yes: Bits = drawn < low
    doubtful = drawn - low <= span
    for row in np.flatnonzero(doubtful).tolist():
        yes[row] = decide_exactly(words, int(drawn[row]), FIRST_BITS, exact(row))
    return yes


def decide_exactly(words: Source, drawn: int, width: int, bounds: Bounds) -> bool:
    """True if the uniform number whose first ``width`` bits are ``drawn`` is below q.

    More bits are drawn until the bounds of q decide.
    """
    while True:
        low, high = bounds(width)
        if drawn < low:
            return True
        if drawn >= high:
            return False
        drawn = drawn << 64 | int(words(1)[0])
        width += 64


def fair_bits(words: Source, n: int) -> Bits:
    """One fair bit per row."""
    drawn = words(-(-n // 64)).view(np.uint8)
    return np.unpackbits(drawn, count=n).view(np.bool_)


def uniform(words: Source, n: int, places: NDArray[np.int32]) -> NDArray[np.signedinteger[Any]]:
    """Uniform integers from 0 to below 2^places, (n,); places up to 63, one for all or (n,)."""
    if places.max(initial=0) < 32:
        drawn = words(-(-n // 2)).view(np.uint32)[:n]
        return (drawn >> (32 - places).astype(np.uint32)).view(np.int32)
    return (words(n) >> (64 - places).astype(np.uint64)).view(np.int64)
