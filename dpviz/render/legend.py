"""Legends as plain values; the map draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpviz.render.colors import PALETTES
from dpviz.render.numbers import short


@dataclass(frozen=True)
class Swatch:
    """A small square of one colour (0–255, alpha optional) and what it means.

    ``noise`` and ``negative`` name the map's own colours, which follow the page's theme.
    """

    label: str
    color: tuple[int, ...] | Literal["noise", "negative"]
    hatch: bool = False


@dataclass(frozen=True, kw_only=True)
class Legend:
    """A title with its unit, a ramp with ticks (position 0–1, label), and swatches."""

    title: str
    stops: Sequence[tuple[int, int, int]] | None = None
    ticks: Sequence[tuple[float, str]] = ()
    swatches: Sequence[Swatch] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map."""
        return {
            "title": self.title,
            "stops": self.stops and [list(stop) for stop in self.stops],
            "ticks": [{"at": at, "label": label} for at, label in self.ticks],
            "swatches": [
                {"label": s.label, "color": s.color, "hatch": s.hatch} for s in self.swatches
            ],
        }


def density_legend(
    ends: tuple[float, float],
    *,
    title: str = "Records per km² (log scale)",
    palette: str = "viridis",
) -> Legend:
    """The legend of density cells between ``ends`` (per km², log scale)."""
    return Legend(
        title=title,
        stops=PALETTES[palette],
        ticks=log_ticks(*ends),
        swatches=(
            Swatch("within the noise (under 2 sd)", "noise"),
            Swatch("negative noisy count", "negative", hatch=True),
        ),
    )


def log_ticks(low: float, high: float, at_most: int = 4) -> list[tuple[float, str]]:
    """Powers of ten within [low, high] at their places on a log scale; the ends where none fits.

    >>> [(round(at, 3), label) for at, label in log_ticks(1, 1000)]
    [(0.0, '1'), (0.333, '10'), (0.667, '100'), (1.0, '1k')]
    """
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / at_most))
    powers = [10.0**exponent for exponent in range(first, last + 1, step)]
    values = powers if len(powers) > 1 else [low, high]
    span = math.log(high / low)
    return [(math.log(value / low) / span, compact(value)) for value in values]


def compact(value: float) -> str:
    """A number that fits under a tick.

    >>> [compact(value) for value in (0.05, 12, 999, 1_000, 45_000, 2_000_000)]
    ['0.05', '12', '1k', '1k', '45k', '2M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if float(short(value).replace(",", "")) >= size:
            return f"{short(value / size)}{letter}"
    return short(value)
