"""Colours: ramps in which low lies near the ground and high is strong, in both themes.

Each ramp has a twin for dark pages that runs from dark to light: a ramp on a ground is read as
opacity, and "more opaque" as "more" (Schloss et al., Mapping color to meaning in colormap data
visualizations, IEEE TVCG 25(1), 2019). The stops are equal steps in OKLab; lightness is strictly
monotone, in grey and under protanopia, deuteranopia and tritanopia, which a test checks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.trees.lattice import Float

Color = tuple[int, int, int]
Stops = tuple[Color, ...]
Theme = Literal["light", "dark"]


@dataclass(frozen=True, eq=False)
class Themed:
    """One value for light pages and one for dark ones: colours, or arrays of them."""

    light: Any
    dark: Any

    def of(self, theme: Theme) -> Any:
        """The value for a theme."""
        return self.light if theme == "light" else self.dark

    def map(self, change: Callable[[Any], Any]) -> Themed:
        """Apply a change to the light and the dark value."""
        return Themed(change(self.light), change(self.dark))

    def faint(self, alpha: int) -> Themed:
        """A colour seen through: red, green, blue and an opacity, 0–255."""
        return self.map(lambda color: (*color, alpha))

    def rgb(self, theme: Theme, *alpha: float) -> tuple[float, ...]:
        """A colour as Matplotlib has it, or seen through, with an opacity, 0–1."""
        return (*(part / 255 for part in self.of(theme)[:3]), *alpha)

    def to_dict(self) -> dict[str, Any]:
        """JSON for the map."""
        return {"light": self.light, "dark": self.dark}


def stops(text: str) -> Stops:
    """Colours from hexadecimal words."""
    return tuple(
        (int(part[:2], 16), int(part[2:4], 16), int(part[4:], 16)) for part in text.split()
    )


TIDE = Themed(
    stops("f1efcd c4dea3 84cda1 4ab6a9 2399a8 127aa0 195b92 1d3c79 18205e"),
    stops("1e2c4e 194474 046286 008090 259e95 56b892 8dcf88 c7e289 faf5a5"),
)
EMBER = Themed(
    stops("f8ecd3 fbc997 f4a276 e57b67 cd5861 ab3d63 842a60 5c1d55 36143f"),
    stops("381f43 61245a 8d2a62 b53a5d d35a55 e97d4e f4a554 f9cd79 fcf2b4"),
)
GREY = Themed(
    stops("ececec d3d3d3 b9b9b9 a0a0a0 878787 6e6e6e 565656 3e3e3e 282828"),
    stops("2c2c2c 404040 565656 6c6c6c 848484 9c9c9c b6b6b6 d0d0d0 ebebeb"),
)

PALETTES: dict[str, Themed] = {"tide": TIDE, "ember": EMBER, "grey": GREY}
"""Colour ramps by name, from low to high."""

MORE_A = Themed(stops("f2b97b d9823e ac521c 733216"), stops("6a3c20 ad602a e59445 ffd687"))
MORE_B = Themed(stops("c7b6e9 9d84d5 7155b7 422f87"), stops("483a7d 7d61c5 b29ae5 e3d7fb"))
"""The two sides of a difference, weak to strong."""

ACCENT = Themed(*stops("c2410c ff7a2f"))
COOL_ACCENT = Themed(*stops("0073b0 38c6f4"))
ACCENTS = {"tide": ACCENT, "ember": COOL_ACCENT, "grey": ACCENT}
"""Colours of the visitor's own shapes only, by palette.

They are far from every colour of the palette, also for colour-blind eyes."""

PAIR = ("#127aa0", "#d2521a")
"""Colours of A and B in charts: one of the ramp and one like the accent.

Their contrast is at least 3 : 1 on a light and on a dark page."""

LAND = Themed(*stops("f6f4ef 20252b"))
WATER = Themed(*stops("dbe4ea 090e15"))
SHORE = Themed(*stops("9fb1be 46525e"))
ROAD = Themed(*stops("dcd8ce 333a42"))
QUIET = Themed(*stops("878a8c 6b747e"))
FRAME = Themed(*stops("8b9199 6c747d"))
TEXT = Themed(*stops("2c3138 d5dae0"))
HALO = Themed(*stops("ffffff 101317"))
HATCH = Themed(*stops("7d61c5 b29ae5"))
"""Ground, lines, words, and the hatch over raw cells whose noisy count is negative."""

MAP_COLORS = {
    "land": LAND,
    "water": WATER,
    "shore": SHORE,
    "frame": FRAME,
    "text": TEXT,
    "halo": HALO,
    "hatch": HATCH,
}


def theme_json() -> dict[str, Any]:
    """The map's own colours by theme, with the accent of each palette, for its client."""

    def of(theme: Theme) -> dict[str, Any]:
        plain = {name: list(color.of(theme)) for name, color in MAP_COLORS.items()}
        return plain | {"accents": {name: list(a.of(theme)) for name, a in ACCENTS.items()}}

    return {"light": of("light"), "dark": of("dark")}


CELL_ALPHA = 0.94
"""Opacity of a cell on the bundled base map."""

FIRST = 0.09
"""Position of the lowest class on the ramp: a step away from the ground."""


def oklab(rgb: ArrayLike) -> Float:
    """OKLab (Ottosson 2020) of colours 0–255, shape (..., 3)."""
    linear = _linear(np.asarray(rgb, dtype=np.float64) / 255)
    return np.asarray(np.cbrt(linear @ _TO_CONE.T) @ _TO_LAB.T)


def from_oklab(lab: ArrayLike) -> Float:
    """Colours 0–255 of OKLab, shape (..., 3), clipped to what a screen shows."""
    cone = (np.asarray(lab) @ np.linalg.inv(_TO_LAB).T) ** 3
    linear = np.clip(cone @ np.linalg.inv(_TO_CONE).T, 0, 1)
    gamma = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(255 * gamma)


def along(ramp: Stops, shares: ArrayLike) -> NDArray[np.uint8]:
    """Colours at shares of a ramp's length, uint8 of shape (n, 3), mixed in OKLab."""
    path, places = oklab(ramp), np.linspace(0, 1, len(ramp))
    shares = np.asarray(shares, dtype=np.float64)
    mixed = [np.interp(shares, places, path[:, axis]) for axis in range(3)]
    return np.round(from_oklab(np.column_stack(mixed))).astype(np.uint8)


def classed(palette: str, k: int, first: float = FIRST) -> Themed:
    """The colours of k classes for both themes, as tuples of (red, green, blue)."""
    ramp, shares = PALETTES[palette], np.linspace(first, 1.0, k) if k > 1 else [0.7]
    return ramp.map(lambda stops: _tuples(along(stops, shares)))


def every_palette(k: int) -> dict[str, dict[str, Any]]:
    """The colours of k classes by palette and theme, as JSON."""
    return {name: classed(name, k).to_dict() for name in PALETTES}


def _tuples(colors: NDArray[np.uint8]) -> Stops:
    return tuple((red, green, blue) for red, green, blue in colors.tolist())


def _linear(value: Float) -> Float:
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


_TO_CONE = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
