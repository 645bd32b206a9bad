"""Legends as plain values; the map draws them as a strip below itself."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpviz.render.colors import ACCENT, Color, Themed
from dpviz.render.numbers import short
from dpviz.render.scale import Scale

MAX_CIRCLE = 32
"""Widest circle of a legend, in pixels."""
LEAST_LABEL = 0.1
"""Lowest bound of classes that is easy to say; of smaller ones the unit of surface is larger."""


@dataclass(frozen=True)
class Surface:
    """Unit of surface of densities, as ``str`` writes it; ``km2`` is its size.

    >>> str(Surface()), str(Surface(1e6))
    ('km²', 'million km²')
    """

    km2: float = 1.0

    def __str__(self) -> str:
        return {1.0: "km²", 1e6: "million km²"}.get(self.km2, f"{self.km2:,.0f} km²")


@dataclass(frozen=True)
class Swatch:
    """A small square of a colour (0–255, alpha optional) and what it means.

    ``hatch`` hatches it; ``raw`` shows it beside raw cells only; ``width`` makes it a line of so
    many pixels.
    """

    label: str
    color: Themed | tuple[int, ...]
    hatch: bool = False
    raw: bool = False
    width: float = 0


@dataclass(frozen=True)
class Circles:
    """Circles on a map whose surface is a count.

    Attributes:
        label: what is counted.
        color: of all of them.
        radius: that of a count of one, in world units of Web Mercator.
        most: the largest count.
    """

    label: str
    color: Themed
    radius: float
    most: float

    def sizes(self, zoom: float) -> list[tuple[float, float]]:
        """Round counts, the largest first, and the diameters in pixels of their circles at a zoom.

        >>> Circles("trips", ACCENT, 0.1, 700).sizes(2)
        [(500, 17.9), (100, 8.0), (20, 3.6)]
        """
        powers = range(int(math.log10(max(self.most, 1))), -1, -1)
        counts = [k * 10**power for power in powers for k in (5, 2, 1)]
        wide = {count: round(2 * self.radius * count**0.5 * 2**zoom, 1) for count in counts}
        small = [each for each in counts if each <= self.most and wide[each] <= MAX_CIRCLE]
        return [(each, wide[each]) for each in small[:5:2]]


@dataclass(frozen=True, kw_only=True)
class Legend:
    """A strip: title with its unit, what blank means, classes with the bounds between them.

    Attributes:
        title: with its unit.
        colors: colors of the classes, for both themes; none where there are only swatches.
        palettes: the same classes in every palette, where the visitor may choose one.
        labels: the lower bound of each class, in words; "" has none.
        widths: pixels of the classes that are lines.
        blank: meaning of a blank place; "" where nothing is blank.
        swatches: beside the classes.
        circles: circles of several sizes, beside them too.
        empty: no class is on the map, unless its cells are shown raw.
        noun: plural of what is counted, as in the title.
        surface: unit of the densities of cells, for their tooltips too.
    """

    title: str
    colors: Themed | None = None
    palettes: dict[str, Any] | None = None
    labels: Sequence[str] = ()
    widths: Sequence[float] = ()
    blank: str = ""
    swatches: Sequence[Swatch] = ()
    circles: Circles | None = None
    empty: bool = False
    noun: str = "records"
    surface: Surface = Surface()

    def counting(self, noun: str) -> Legend:
        """This legend with another noun for what is counted; unchanged if that is empty."""
        title, blank = (with_noun(text, noun, self.noun) for text in (self.title, self.blank))
        return replace(self, title=title, blank=blank, noun=noun or self.noun)

    def of(self, words: str) -> Legend:
        """This legend with words on what its map shows, such as a period, after the title."""
        return replace(self, title=f"{self.title}, {words}")

    def choosing(self, label: str) -> Legend:
        """This legend with the meaning of the colour in which a choice is drawn."""
        return replace(self, swatches=(Swatch(label, ACCENT, width=4), *self.swatches))

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map."""
        colors = self.colors or Themed((), ())
        widths = self.widths or [0] * len(self.labels)
        return {
            "title": self.title,
            "noun": self.noun,
            "surface": {"km2": self.surface.km2, "words": str(self.surface)},
            "classes": [
                {"light": list(light), "dark": list(dark), "label": label, "width": width}
                for light, dark, label, width in zip(
                    colors.light, colors.dark, self.labels, widths, strict=True
                )
            ],
            "palettes": self.palettes,
            "blank": self.blank,
            "empty": self.empty,
            "circles": self.circles
            and {
                "label": self.circles.label,
                "radius": self.circles.radius,
                "most": self.circles.most,
                **_both(self.circles.color),
            },
            "swatches": [
                {"label": s.label, **_both(s.color)}
                | {"hatch": s.hatch, "raw": s.raw, "width": s.width}
                for s in self.swatches
            ],
        }


def with_noun(text: str, noun: str, before: str = "records") -> str:
    """Replace one noun by the owner's, which has a capital where that has one.

    >>> with_noun("Records per km²", "crimes")
    'Crimes per km²'
    """
    if not noun:
        return text
    old, new = (each[:1].upper() + each[1:] for each in (before, noun))
    named = f"{re.escape(before)}|{re.escape(old)}"
    return re.sub(named, lambda match: noun if match[0] == before else new, text)


def _both(color: Themed | Color | tuple[int, ...]) -> dict[str, list[int]]:
    both = color if isinstance(color, Themed) else Themed(color, color)
    return both.map(list).to_dict()


def surface_of(scale: Scale) -> Surface:
    """The smallest unit of surface in which all bounds of a scale of densities are readable.

    >>> str(surface_of(Scale((0.2, 0.5)))), str(surface_of(Scale((0.000005, 0.00001))))
    ('km²', 'million km²')
    """
    units = [Surface(), Surface(1e3), Surface(1e6)]
    return next((each for each in units if each.km2 * scale.bounds[0] >= LEAST_LABEL), units[-1])


def scale_labels(scale: Scale, km2: float = 1.0) -> list[str]:
    """The bounds of a scale in words, of densities per so many km².

    >>> scale_labels(Scale((0.5, 30, 10_000)))
    ['0.5', '30', '10k']
    """
    return [compact(km2 * bound) for bound in scale.bounds]


def blank_words(scale: Scale) -> str:
    """Legend text that explains blank cells on a scale of densities."""
    least, *_ = scale_labels(scale, surface_of(scale).km2)
    return f"blank: under {least}, or within the noise"


def line_labels(scale: Scale) -> list[str]:
    """Labels of line classes: all lines under the second bound are in the first class.

    >>> line_labels(Scale((10, 20, 50)))
    ['< 20', '20', '50']
    """
    _, *labels = scale_labels(scale)
    return [f"< {labels[0]}", *labels]


def compact(value: float) -> str:
    """A number that fits under a tick.

    >>> [compact(value) for value in (0.05, 12, 999, 1_000, 45_000, -2_000_000)]
    ['0.05', '12', '1k', '1k', '45k', '−2M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if float(short(abs(value)).replace(",", "")) >= size:
            return f"{short(value / size)}{letter}"
    return short(value)
