"""Sources of randomness.

A release uses :class:`SecureNoise`: exact distributions, from the entropy of the operating system.
:class:`SimulatedNoise` is repeatable, and therefore not private: it is accepted for
public data only, and says so in the release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import ParameterError
from dpviz.private.mechanisms import samplers
from dpviz.private.mechanisms.comparison import Float, Source, Words
from dpviz.private.mechanisms.samplers import Int, checked_rates
from dpviz.progress import Progress

BLOCK = 1 << 16
"""Draws between two reports of progress, where work can be cancelled: a hundredth of a second, and
a tenth of one on a busy machine. The distribution does not depend on the grouping."""

MIN_REPORTED = 4096
"""Fewer draws than this are not reported."""


class Noise(Protocol):
    """A source of randomness: the only primitives that mechanisms draw from."""

    private: bool

    def words(self, n: int) -> Words:
        """Draw n independent uniform 64-bit integers."""
        ...

    def two_sided(self, n: int, rates: ArrayLike) -> Int:
        """Draw n independent integers with P(k) ∝ e^(−rate·|k|), rates one for all or (n,)."""
        ...

    def one_sided(self, n: int, rates: ArrayLike) -> Int:
        """Draw n independent integers k ≥ 0 with P(k) ∝ e^(−rate·k), rates one for all or (n,)."""
        ...


class SecureNoise:
    """Noise fit for release: exact distributions (:mod:`~dpviz.private.mechanisms.samplers`).

    Every bit comes from the operating system when it is needed, and none is kept: neither a forked
    process nor another thread can meet the same bits twice. ``progress(fraction, what)`` is called
    between blocks and may raise to cancel (what was spent stays spent).
    """

    private = True

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress

    def words(self, n: int) -> Words:
        """See :class:`Noise`."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)

    def two_sided(self, n: int, rates: ArrayLike) -> Int:
        """See :class:`Noise`."""
        return self._blocks(samplers.two_sided, n, checked_rates(rates))

    def one_sided(self, n: int, rates: ArrayLike) -> Int:
        """See :class:`Noise`."""
        return self._blocks(samplers.one_sided, n, checked_rates(rates))

    def _blocks(self, sampler: Callable[[Source, int, Float], Int], n: int, rates: Float) -> Int:
        """Draw block by block, and report after each."""
        draws = np.empty(n, dtype=np.int64)
        for start in range(0, n, BLOCK):
            part = slice(start, min(start + BLOCK, n))
            size = part.stop - start
            draws[part] = sampler(self.words, size, rates[part] if rates.ndim else rates)
            if self._progress is not None and n >= MIN_REPORTED:
                self._progress(part.stop / n, "drawing noise")
        return draws


class SimulatedNoise:
    """Repeatable noise of the same distributions, by NumPy, for public data: NOT PRIVATE.

    The draws follow one fixed stream, so the same seed at another epsilon sees the same bits.
    """

    private = False

    def __init__(self, seed: int | None = None) -> None:
        try:
            self._random = np.random.default_rng(seed)
        except (TypeError, ValueError):
            raise ParameterError(f"seed={seed!r}: give a whole number from 0") from None

    def words(self, n: int) -> Words:
        """See :class:`Noise`."""
        return self._random.integers(0, 2**64, size=n, dtype=np.uint64)

    def two_sided(self, n: int, rates: ArrayLike) -> Int:
        """See :class:`Noise`: the difference of two one-sided draws."""
        draws = self._geometric(n, rates)
        draws -= self._geometric(n, rates)
        return draws.astype(np.int64)

    def one_sided(self, n: int, rates: ArrayLike) -> Int:
        """See :class:`Noise`."""
        return self._geometric(n, rates).astype(np.int64)

    def _geometric(self, n: int, rates: ArrayLike) -> Float:
        """One-sided draws: the whole part of E/rate, E exponential, is k or more with e^(−rate·k).

        Three times as fast as NumPy's geometric draws, which take a logarithm each.
        """
        draws = self._random.standard_exponential(n)
        draws /= checked_rates(rates)
        return np.floor(draws, out=draws)
