"""Surroundings of the cells in a picture file: ground, shores, names, scale bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.render.colors import HALO, TEXT, Theme
from dpviz.render.projection import WORLD, world
from dpviz.render.scene import Mark
from dpviz.trees.lattice import Float

EQUATOR_METRES = 40_075_017.0
"""Around the equator."""

VERBATIM: dict[str, Any] = {"parse_math": False}
"""Options for untrusted text: two dollar signs in it do not make a formula."""

SAME_SCALE = 1.2
"""Largest ratio of the scales in view of which one bar says enough."""

LETTER = 8.0
"""Pixels of a letter of the scale bar's words, about."""

MAX_NAMES = 12
"""Names in a picture at most, unless more places stand out."""

MAX_BOLD = 3
"""Most large places with bold names; of more in view, none is bold."""

SPOT = 5.0
"""Pixels around a place that stands out, which no name covers."""


def draw_ground(panel: Any, marks: Sequence[Mark], zoom: float, theme: Theme) -> None:
    """Land, water and base roads."""
    from matplotlib.collections import LineCollection, PolyCollection

    for mark in marks:
        if not getattr(mark.layer, "ground", False) or not (alpha := _opacity(mark, zoom)):
            continue
        column = "polygon" if "polygon" in mark.table.column_names else "path"
        color = _color(mark, theme, alpha)
        lines = _lines(mark, column)
        if column == "polygon":
            panel.add_collection(PolyCollection(lines, facecolors=[color], edgecolors="none"))
        else:
            panel.add_collection(LineCollection(lines, colors=[color], linewidths=1.2, zorder=1.5))


def draw_shores(panel: Any, marks: Sequence[Mark], zoom: float, theme: Theme, unit: float) -> None:
    """Lines above the cells, and names above all, the larger first and none over another."""
    from matplotlib.collections import LineCollection

    for mark in marks:
        ground = getattr(mark.layer, "ground", False) or mark.layer.type == "PlaceLayer"
        if not ground and (alpha := _opacity(mark, zoom)):
            lines = _lines(mark, "path")
            color = _color(mark, theme, alpha)
            width = 0.75 * unit * mark.layer.get_width
            panel.add_collection(LineCollection(lines, colors=[color], linewidths=width, zorder=3))
    if named := [mark for mark in marks if mark.layer.type == "PlaceLayer"]:
        _draw_names(panel, named, zoom, theme, unit)


def _draw_names(panel: Any, marks: Sequence[Mark], zoom: float, theme: Theme, unit: float) -> None:
    """Draw names over their countries, and just above or below their towns, as on the map."""
    names, positions, rank, start = (
        np.array([each for mark in marks for each in mark.table[column].to_pylist()])
        for column in ("name", "position", "rank", "from")
    )
    at = world(positions.reshape(-1, 2))
    fixed = np.repeat([mark.layer.fixed for mark in marks], [len(mark.table) for mark in marks])
    (west, east), (south, north) = panel.get_xlim(), panel.get_ylim()
    inside = (at > (west, south)).all(axis=1) & (at < (east, north)).all(axis=1) & (start <= zoom)
    figure = panel.figure
    pixel = (east - west) / (panel.get_position().width * figure.get_figwidth() * figure.dpi)
    corner, spot = 190 * unit * pixel, SPOT * unit * pixel
    spots = at[inside & np.isneginf(start)]
    taken = [(east - corner, south, east, south + 0.25 * corner)]  # place of the scale bar
    taken += [(x - spot, y - spot, x + spot, y + spot) for x, y in spots.tolist()]
    left = max(MAX_NAMES, len(spots))
    large = 1.0 if (rank[inside] <= 1).sum() <= MAX_BOLD else -np.inf
    words = _words(theme, 2.4 * unit)
    for row in np.flatnonzero(inside)[np.argsort(rank[inside], kind="stable")].tolist():
        size = (20 if rank[row] <= large else 16) * unit
        half = np.array([0.3 * size * len(names[row]) + 4 * unit, 0.7 * size]) * pixel
        aside = spot + half[1] + pixel
        for up in (0.0,) if fixed[row] else (aside, -aside):
            x, y = at[row] + (0.0, up)
            box = (x - half[0], y - half[1], x + half[0], y + half[1])
            edge = box[0] < west or box[1] < south or box[2] > east or box[3] > north
            if left and not edge and not any(_touch(box, other) for other in taken):
                taken.append(box)
                left -= 1
                weight = "bold" if rank[row] <= large else "normal"
                look = {"fontsize": size * 0.72, "weight": weight, **words, **VERBATIM}
                panel.text(x, y, names[row], **look)
                break


def _words(theme: Theme, halo: float) -> dict[str, Any]:
    """The look of words around their place, on a halo of some width."""
    from matplotlib.patheffects import withStroke

    around = withStroke(linewidth=halo, foreground=HALO.rgb(theme, 0.85))
    look = {"color": TEXT.rgb(theme), "path_effects": [around], "zorder": 5}
    return {"ha": "center", "va": "center", **look}


def _touch(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def draw_scale_bar(panel: Any, middle: Float, zoom: float, theme: Theme, unit: float) -> None:
    """A bar of 1, 2 or 5 times a power of ten metres, lower right."""
    (west, east), (south, north) = panel.get_xlim(), panel.get_ylim()
    low_latitude, latitude, high_latitude = np.arctan(
        np.sinh(2 * np.pi * np.array([south, middle[1], north]) / WORLD - np.pi)
    )
    metres_per_unit = float(np.cos(latitude)) * EQUATOR_METRES / WORLD
    pixel = 2.0**-zoom
    metres, words = scale_bar(metres_per_unit * min(pixel * 180, 0.45 * (east - west)))
    long, right, low = metres / metres_per_unit, east - 18 * pixel, south + 18 * pixel
    look = _words(theme, 3.6 * unit)
    line = {name: look[name] for name in ("color", "path_effects", "zorder")}
    x = [right - long, right - long, right, right]
    y = [low + 8 * pixel, low, low, low + 8 * pixel]
    panel.plot(x, y, linewidth=1.5 * unit, **line)
    words += _latitude_words(*np.degrees([low_latitude, latitude, high_latitude]).tolist())
    half = max(long, LETTER * len(words) * pixel) / 2  # the words end with the bar at the latest
    panel.text(right - half, low + 14 * pixel, words, fontsize=15 * unit * 0.72, **look)


def _latitude_words(south: float, middle: float, north: float) -> str:
    """The latitude at which a scale holds, where others in view differ by more than a fifth.

    >>> _latitude_words(-60, 18.4, 80), _latitude_words(-60, 0.2, 60), _latitude_words(40, 45, 48)
    (' at 18° N', ' at the equator', '')
    """
    least, most = sorted(np.cos(np.radians([south, north])).tolist())
    if (1.0 if south < 0 < north else most) <= SAME_SCALE * least:
        return ""
    if abs(middle) < 0.5:
        return " at the equator"
    return f" at {abs(middle):.0f}° {'N' if middle > 0 else 'S'}"


def scale_bar(most: float) -> tuple[float, str]:
    """The longest readable length up to ``most`` metres, and its words.

    >>> scale_bar(13_000), scale_bar(260)
    ((10000.0, '10 km'), (200.0, '200 m'))
    """
    power = 10.0 ** np.floor(np.log10(most))
    metres = float(max(k * power for k in (1, 2, 5) if k * power <= most))
    return metres, f"{metres / 1000:,.0f} km" if metres >= 1000 else f"{metres:,.0f} m"


def opacity(fade: Sequence[float] | None, zoom: float) -> float:
    """Opacity at a zoom of a mark that fades out between two zooms, as on the map."""
    return float(np.clip((fade[1] - zoom) / (fade[1] - fade[0]), 0, 1)) if fade else 1.0


def _opacity(mark: Mark, zoom: float) -> float:
    return opacity(getattr(mark.layer, "fade", None), zoom)


def _color(mark: Mark, theme: Theme, alpha: float) -> tuple[float, ...]:
    name = "get_fill_color" if "polygon" in mark.table.column_names else "get_color"
    color = getattr(mark.layer, name if theme == "light" else f"{name}_dark")
    red, green, blue, own = (part / 255 for part in color)
    return red, green, blue, own * alpha


def _lines(mark: Mark, column: str) -> list[Float]:
    return [world(np.array(line)) for line in mark.table[column].to_pylist()]
