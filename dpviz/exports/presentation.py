"""Presentation of a release: its owner's public title, subtitle, noun and notes on the map."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpviz.errors import ParameterError
from dpviz.render.colors import ACCENT
from dpviz.render.marks import points
from dpviz.render.names import places
from dpviz.render.scene import Mark

MAX_NOTES = 5
"""Most notes of a release."""

MAX_LENGTHS = {"title": 120, "subtitle": 240, "noun": 40, "text": 400}
"""Most characters of each text."""


@dataclass(frozen=True)
class Note:
    """Note pinned to a place: longitude and latitude in degrees, title, text.

    Raises:
        ParameterError: a place outside the Earth, or a text that is too long.
    """

    lon: float
    lat: float
    title: str
    text: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lon) and abs(self.lon) <= 540 and abs(self.lat) <= 90):
            raise ParameterError(f"note at {self.lon}, {self.lat}: give longitude and latitude")
        _check_lengths(self, "title", "text")


@dataclass(frozen=True)
class Presentation:
    """Public words about a release that travel with its page and its files.

    Attributes:
        title: title of the page; a default by the kind of map if empty.
        subtitle: one line below it.
        noun: plural of what is counted, such as "crimes".
        notes: at most :data:`MAX_NOTES`.
        published: day on which a server stored it, ISO 8601; empty elsewhere.

    Raises:
        ParameterError: too many notes, or a text that is too long.
    """

    title: str = ""
    subtitle: str = ""
    noun: str = ""
    notes: tuple[Note, ...] = ()
    published: str = ""

    def __post_init__(self) -> None:
        _check_lengths(self, "title", "subtitle", "noun")
        if len(self.notes) > MAX_NOTES:
            raise ParameterError(f"{len(self.notes)} notes: give at most {MAX_NOTES}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"notes": list(map(asdict, self.notes))}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Presentation:
        """The inverse of :meth:`to_dict`.

        Raises:
            TypeError, ValueError: values of another form.
        """
        notes = tuple(Note(**each) for each in values.get("notes", ()))
        return cls(**{**values, "notes": notes})

    def file_name(self, ending: str, default: str) -> str:
        """Name of a file after the title, such as ``crimes-2024.html``.

        Args:
            ending: text after the title, such as ``.html`` or ``-report.html``.
            default: whole name of a file without a title.

        >>> Presentation("Crimes, 2024").file_name(".html", "map.html")
        'crimes-2024.html'
        """
        stem = re.sub(r"[\W_]+", "-", self.title.lower())[:80].strip("-")
        return f"{stem}{ending}" if stem else default

    @property
    def pins(self) -> list[tuple[float, float, str]]:
        """Longitude, latitude and title of each note."""
        return [(note.lon, note.lat, note.title) for note in self.notes]

    def marks(self) -> list[Mark]:
        """Pins of the notes and their titles on the map."""
        if not self.notes:
            return []
        where = np.array([(lon, lat) for lon, lat, _ in self.pins])
        first = 1e6  # ranks before the names of all cities
        rows = [(title, lon, lat, first, 0.0) for lon, lat, title in self.pins]
        return [points("notes", where, color=ACCENT, radius=6.0), places("note-titles", rows)]


def _check_lengths(words: Note | Presentation, *names: str) -> None:
    for name in names:
        text, most = getattr(words, name), MAX_LENGTHS[name]
        if len(text) > most:
            raise ParameterError(f"{name} of {len(text)} characters: give at most {most}")


PLAIN = Presentation()
"""Presentation of a release whose owner has chosen no words."""
