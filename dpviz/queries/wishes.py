"""Wishes: accuracy that a release's answers must have, in a small readable grammar.

``rect=W,S,E,N ±200``, ``areas=wards.gpkg ±5% or ±20 at 95%``, ``any 1 km² ±50``; on a keyboard
without ± and ², ``+-`` and ``km2``. A wish is public: it names places and numbers, no record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.crs import metres_per_unit
from dpviz.errors import DomainError, ParameterError
from dpviz.files.foreign import LAYER
from dpviz.lists import number
from dpviz.trees.lattice import Float

CONFIDENCE = 0.95
"""Default confidence of a wish."""

MAX_WISHES = 20
MAX_LETTERS = 500
"""Limits: wishes of one release, characters of one."""

MIN_NUMBER, MAX_NUMBER = 1e-6, 1e15
"""Smallest and largest number that a wish may state; others are refused as meaningless."""

EXAMPLES = '"rect=W,S,E,N ±200", "areas=wards.gpkg ±5% or ±20 at 95%" or "any 1 km² ±50"'

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_SIGN = r"(?:±|\+/?-)"
_WISH = re.compile(
    rf"(?P<target>.*?)\s*{_SIGN}\s*(?P<first>{_NUMBER}\s*%?)"
    rf"(?:\s+or\s+{_SIGN}\s*(?P<second>{_NUMBER}\s*%?))?"
    rf"(?:\s+at\s+(?P<confidence>{_NUMBER})\s*%)?",
    re.IGNORECASE,
)
_SQUARE = re.compile(
    rf"any\s+(?P<size>{_NUMBER})\s*km(?:²|2|\^2)(?:\s+of\s+about\s+(?P<about>{_NUMBER}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One wish: a place, a tolerance and a confidence.

    One of ``rect``, ``areas`` and ``square`` is set. Each answer is to lie within the larger of
    the two tolerances, with the confidence: each area's by itself; that of a square, which lies
    around a record drawn at random, over its places and the noise together.

    Attributes:
        rect: west, south, east, north.
        areas: a file of polygons.
        square: km².
        about: records in such a square around a record, by a public guess; 0: not stated.
        absolute: tolerance in records.
        relative: tolerance as a share of the exact count.
    """

    rect: tuple[float, ...] = ()
    areas: str = ""
    square: float = 0.0
    about: float = 0.0
    absolute: float = 0.0
    relative: float = 0.0
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        within = [f"±{_digits(100 * self.relative)}%"] if self.relative else []
        within += [f"±{_digits(self.absolute)}"] if self.absolute else []
        return f"{self.target} {' or '.join(within)} at {_digits(100 * self.confidence)}%"

    @property
    def target(self) -> str:
        """The place of the wish in words."""
        if self.rect:
            return f"rect={','.join(f'{side:.12g}' for side in self.rect)}"
        if self.areas:
            return f"areas={self.areas}"
        of = f" of about {_digits(self.about)}" if self.about else ""
        return f"any {_digits(self.square)} km²{of}"

    def tolerance(self, count: Float) -> Float:
        """Largest error that the wish allows for each count."""
        return np.maximum(self.relative * np.maximum(count, 0.0), self.absolute)

    def widened(self, factor: float) -> Wish:
        """The same wish with both tolerances this many times as wide."""
        return replace(self, absolute=factor * self.absolute, relative=factor * self.relative)

    def public(self) -> Wish:
        """The wish as stated in a release's header: file names without their folders."""
        file, bar, layer = self.areas.partition(LAYER)
        return replace(self, areas=Path(file).name + bar + layer) if file else self


def _digits(value: float) -> str:
    """Format a positive number without an exponent.

    >>> _digits(36_600.0), _digits(0.25), _digits(5e9)
    ('36600', '0.25', '5000000000')
    """
    return f"{value:.8f}".rstrip("0").rstrip(".")


def parse(text: str) -> Wish:
    """Parse a wish from text.

    >>> print(parse("areas=wards.gpkg +-5% or +-20"))
    areas=wards.gpkg ±5% or ±20 at 95%
    >>> parse("any 1 km² of about 400 ±50 at 90%").confidence
    0.9
    """
    shown = _short(text)
    if len(text) > MAX_LETTERS:
        raise ParameterError(f"wish {shown} has more than {MAX_LETTERS} characters: write less")
    match = _WISH.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"wish {shown}: write it as {EXAMPLES}")
    relative, absolute = _tolerances(match, shown)
    wish = _target(match["target"].strip(), shown)
    percent = 100 * CONFIDENCE if match["confidence"] is None else float(match["confidence"])
    confidence = round(percent / 100, 9)
    if not 0.5 <= confidence <= 0.999:
        raise ParameterError(f"wish {shown}: give a confidence from 50% to 99.9%")
    return replace(wish, relative=relative, absolute=absolute, confidence=confidence)


def _short(text: str) -> str:
    """Quote a wish for an error message, cut to 80 characters."""
    return repr(text if len(text) <= 80 else f"{text[:80]}…")


def parse_all(texts: Iterable[str]) -> tuple[Wish, ...]:
    """Parse several wishes from text; refuse none and too many."""
    wishes = tuple(dict.fromkeys(map(parse, texts)))
    if not 0 < len(wishes) <= MAX_WISHES:
        raise ParameterError(f"{len(wishes)} wishes: give 1 to {MAX_WISHES}, such as {EXAMPLES}")
    return wishes


def _target(words: str, shown: str) -> Wish:
    if words.startswith("rect="):
        try:
            rect = tuple(number(word) for word in words.removeprefix("rect=").split(","))
        except ValueError:
            rect = ()
        if len(rect) != 4 or not all(map(math.isfinite, rect)):
            raise ParameterError(f"wish {shown}: a rect is four numbers, west,south,east,north")
        return Wish(rect=rect)
    if words.startswith("areas="):
        if not words.removeprefix("areas=").strip():
            raise ParameterError(f"wish {shown}: name the file of the areas")
        return Wish(areas=words.removeprefix("areas=").strip())
    square = _SQUARE.fullmatch(words)
    if square is None or not _in_range(size := float(square["size"])):
        raise ParameterError(
            f"wish {shown}: {_short(words)} is not a place: write it as {EXAMPLES}"
        )
    about = float(square["about"] or 0)
    if about and not _in_range(about):
        raise ParameterError(
            f"wish {shown}: {_short(square['about'])} is not a number of records: give "
            f"{MIN_NUMBER:g} to {MAX_NUMBER:g}"
        )
    return Wish(square=size, about=about)


def _in_range(value: float) -> bool:
    """Return whether a number is within the range allowed in a wish."""
    return MIN_NUMBER <= value <= MAX_NUMBER


def _tolerances(match: re.Match[str], shown: str) -> tuple[float, float]:
    """Relative and absolute tolerance; 0 for one that is not given."""
    tolerances: dict[str, float] = {}
    for words in filter(None, (match["first"], match["second"])):
        share = words.endswith("%")
        name = "relative" if share else "absolute"
        value = float(words.removesuffix("%"))
        if name in tolerances or not _in_range(value) or (share and float(_digits(value)) >= 100):
            raise ParameterError(
                f"wish {shown}: give a positive number of records, or a share below 100%, or one "
                "of each"
            )
        tolerances[name] = value / 100 if share else value
    return tolerances.get("relative", 0.0), tolerances.get("absolute", 0.0)


def squares(domain: Domain, centres: Float, size: float) -> Float:
    """Squares of ``size`` km² around places (q, 2), shifted into the domain: float64 (q, 4).

    Raises DomainError: a square that does not fit into the domain.
    """
    side = 1000.0 * math.sqrt(size)
    sides = np.stack([side / each for each in metres_per_unit(domain.crs, centres[:, 1])], axis=1)
    low, high = np.array(domain.lower), np.array(domain.upper)
    if (sides > high - low).any():
        raise DomainError(f"a square of {size:g} km² does not fit into the domain: ask for less")
    corner = np.clip(centres - sides / 2, low, high - sides)
    return np.concatenate([corner, np.minimum(corner + sides, high)], axis=1)
