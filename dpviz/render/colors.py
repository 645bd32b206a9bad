"""Colour ramps, perceptually even and safe for colour-blind eyes, as few interpolated stops.

The stops are samples of the public-domain (CC0) viridis, cividis and magma ramps.
"""

from __future__ import annotations

Color = tuple[int, int, int]


def _stops(text: str) -> tuple[Color, ...]:
    return tuple(
        (int(part[:2], 16), int(part[2:4], 16), int(part[4:], 16)) for part in text.split()
    )


PALETTES: dict[str, tuple[Color, ...]] = {
    "viridis": _stops("440154 482878 3e4a89 31688e 26828e 1f9e89 35b779 6dcd59 b4de2c fde725"),
    "cividis": _stops("00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838"),
    "magma": _stops("000004 180f3e 451077 721f81 9f2f7f cd4071 f1605d fd9567 feca8d fcfdbf"),
}
"""Colour ramps by name: stops (red, green, blue), 0–255, from low to high."""

ACCENT: Color = (255, 61, 87)
"""The drawn shape, and what belongs to it."""
