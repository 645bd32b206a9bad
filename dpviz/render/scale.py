"""Classes of a colour scale: few, with bounds that a person can read, from releases only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.render.colors import Themed, classed
from dpviz.trees.lattice import Float

SERIES = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
"""Bounds within a decade, the finest first."""

MAX_CLASSES, MIN_CLASSES = 8, 5
"""Largest and smallest number of classes of a scale."""

UNDER_SHARE, LAST_SHARE = 0.025, 0.05
"""Largest shares of the shown records below the first bound, and in the last class."""

LOW_SHARE = 0.1
"""Share of the lines that may be under the first bound of their classes."""

LINE_WIDTHS = (1.0, 1.6, 2.4, 3.4, 4.8)
"""Pixels of the five classes of lines."""


@dataclass(frozen=True)
class Scale:
    """Lower bounds of the classes, ascending; the last class is open. What is under is blank."""

    bounds: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.bounds)

    def classes(self, values: Float) -> NDArray[np.int64]:
        """The class of each value; −1 under the first bound."""
        return np.searchsorted(self.bounds, values, side="right") - 1

    def paint(self, values: Float, colors: Themed, alpha: int = 255) -> Themed:
        """RGBA of each value, (n, 4), for both themes; what is under takes the first class."""
        at = np.maximum(self.classes(values), 0)
        painted = []
        for theme in (colors.light, colors.dark):
            table = np.array(theme, dtype=np.uint8).reshape(-1, 3)
            painted.append(np.column_stack([table[at], np.full(len(at), alpha, dtype=np.uint8)]))
        return Themed(*painted)

    def colors(self, palette: str = "tide") -> Themed:
        """One colour per class, for both themes."""
        return classed(palette, len(self))


def scale_of(values: Float, weights: Float, most: int = MAX_CLASSES) -> Scale:
    """A scale for positive values of some weight, by its quantiles.

    Args:
        values: for instance densities of what is drawn, (n,).
        weights: for instance their counts, (n,); what is not positive has no say.
    """
    good = (values > 0) & (weights > 0)
    if not good.any():
        return between(1.0, 100.0, most)
    order = np.argsort(values[good])
    share = np.cumsum(weights[good][order])
    share /= share[-1]
    low, high = (
        float(values[good][order][np.searchsorted(share, at)])
        for at in (UNDER_SHARE, 1 - LAST_SHARE)
    )
    return between(low, high, most)


def between(low: float, high: float, most: int = MAX_CLASSES) -> Scale:
    """The finest series of readable bounds from ``low`` to ``high`` in at most ``most`` classes.

    >>> between(36, 24_000).bounds
    (30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
    >>> between(1.2, 110).bounds
    (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
    """
    bounds: list[float] = []
    for digits in SERIES:
        bounds = _bounds(low, high, digits)
        if len(bounds) <= most:
            break
    bounds = bounds[-most:]
    while len(bounds) < min(MIN_CLASSES, most):
        bounds = [_bounds(bounds[0] / 2, bounds[0] * 0.99, SERIES[0])[-1], *bounds]
    return Scale(tuple(bounds))


def lines_scale(values: Float) -> Scale:
    """Five classes of lines by the values that stand out; what is under is in the first too.

    >>> lines_scale(np.geomspace(50, 1_200, 30)).bounds
    (50.0, 100.0, 200.0, 500.0, 1000.0)
    """
    drawn = values[values > 0]
    low, high = np.quantile(drawn, (LOW_SHARE, 1.0)).tolist() if len(drawn) else (1.0, 10.0)
    return between(low, high, len(LINE_WIDTHS))


def line_colors() -> Themed:
    """Line colours of the five classes: the stronger half of the ramp, visible in a thin line."""
    return classed("tide", len(LINE_WIDTHS), first=0.5)


def _bounds(low: float, high: float, digits: Sequence[float]) -> list[float]:
    """The last bound up to ``low``, and all after it up to ``high``."""
    start, stop = math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 1
    every = [float(f"{digit:g}e{power}") for power in range(start, stop + 1) for digit in digits]
    first = max(k for k, bound in enumerate(every) if bound <= low * (1 + 1e-9))
    return [bound for k, bound in enumerate(every) if k >= first and bound <= high * (1 + 1e-9)]
