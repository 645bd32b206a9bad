"""Releases beside each other as a picture file: the map's look, ground, names and legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpviz.lazy import mpl
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.render.areas import level_of
from dpviz.render.basemap import outlines
from dpviz.render.cells import (
    FAINT,
    adaptive,
    density_legend,
    density_scale,
    domain_bounds,
    hatch_density,
    node_bounds,
    on_map,
    tiles,
)
from dpviz.render.colors import ACCENT, CELL_ALPHA, HATCH, LAND, TEXT, Theme, Themed
from dpviz.render.detail import QUIET
from dpviz.render.districts import Choropleth, choropleth
from dpviz.render.fonts import render_figure
from dpviz.render.legend import Legend
from dpviz.render.nearby import names_by_density
from dpviz.render.projection import areas, rings_of, world, world_boxes
from dpviz.render.scale import Scale
from dpviz.render.scene import Bounds, Mark, credit
from dpviz.render.surround import VERBATIM, draw_ground, draw_scale_bar, draw_shores, opacity
from dpviz.trees.lattice import Float

SIZES = {"screen": (1920, 1080), "print": (3508, 2480)}
"""Pixels: a slide, and A4 across at 300 dots an inch."""

IN_REPORT, IN_REPORT_UNIT = (1600, 1080), 2.0
"""Pixels and unit of one map at half of a sheet's width: text is larger, to be legible."""

MADE_BY = {"Software": "dpviz"}

SMALL = 800
"""Pixels across of a map without words but its name, a third of a sheet wide."""

Size = Literal["screen", "print", "report", "small"]

THEME: Theme = "light"

PAPER = {"light": (1.0, 1.0, 1.0), "dark": (0.055, 0.067, 0.09)}


@dataclass(frozen=True)
class Words:
    """Public words of a picture.

    Attributes:
        noun: plural of the records, for the legend; "records" if empty.
        pins: longitude, latitude and name of places to mark.
        with_status: False leaves out the privacy status, if the page around the picture has it.
    """

    title: str = ""
    subtitle: str = ""
    noun: str = ""
    pins: Sequence[tuple[float, float, str]] = ()
    with_status: bool = True


PLAIN = Words()
"""Words of a picture without a title."""


def comparison_png(
    releases: Sequence[PointRelease | AreaRelease],
    titles: Sequence[str],
    rect: Bounds | None = None,
    *,
    words: Words = PLAIN,
    scaled_as: Sequence[PointRelease] = (),
    size: Size = "screen",
) -> bytes:
    """2-D releases beside each other as PNG.

    Args:
        rect: west, south, east, north in degrees, outlined in each.
        scaled_as: releases that set the colour scale, in place of those drawn.
        size: a key of :data:`SIZES`; that of one map of a report, or of a small one beside it,
            without legend and privacy status.
    """
    first = releases[0]
    if is_areas(first):
        simplified = first.frame.resolution is None
        shapes = choropleth(*level_of(first), first.domain, "area", simplified=simplified)
        classes: Scale | Choropleth = shapes
        legend, raw = shapes.legend, False
    else:
        points = [each for each in releases if not is_areas(each)]
        classes = density_scale(*(scaled_as or points))
        legend, raw = density_legend(classes, scaled_as or points), not tiles(first)

    def panel(release: PointRelease | AreaRelease, label: str) -> Panel:
        def content(axes: Any, zoom: float, unit: float) -> None:
            if isinstance(classes, Choropleth):
                _draw_areas(axes, classes, THEME, unit, zoom)
            elif not is_areas(release):
                _draw_cells(axes, release, classes, THEME, zoom)

        shown = None if rect is None else on_map(rect, release.domain)
        bounds = domain_bounds(release.domain)
        status = release.header.privacy_status[1]
        ground: Sequence[Mark] = outlines(bounds)
        if not is_areas(first):
            ground = names_by_density(ground, first)
        return Panel(label, status, bounds, content, ground, shown)

    return sheet(list(map(panel, releases, titles)), legend, words, size, raw=raw)


@dataclass(frozen=True)
class Panel:
    """One map of a picture.

    Attributes:
        label, status: text above the map: its name, and its privacy status in words.
        bounds: west, south, east, north in degrees.
        content: draws between the ground and the shores, from axes in Web Mercator world units,
            the zoom and the unit of lengths.
        ground: marks of the base map; none for a plane of its own, which has no kilometres.
        rect: outlined, in degrees on the map.
    """

    label: str
    status: str
    bounds: Bounds
    content: Callable[[Any, float, float], None]
    ground: Sequence[Mark]
    rect: Bounds | None = None


def sheet(
    panels: Sequence[Panel], legend: Legend, words: Words, size: Size, *, raw: bool = False
) -> bytes:
    """Maps beside each other under a title and above a legend, as PNG."""
    small = size == "small"
    wide, high = IN_REPORT if size == "report" else SIZES.get(size, (SMALL, SMALL))
    if small:  # as high as the area, below its name
        (west, south), (east, north) = (world(panels[0].bounds[at : at + 2]) for at in (0, 2))
        high = round(SMALL * min(max((north - south) / (east - west), 0.5), 1.2)) + 80
    # All lengths below are pixels of a slide, times this factor.
    unit = high / 1080 if size in SIZES else IN_REPORT_UNIT
    figure = mpl.Figure(figsize=(wide / 100, high / 100), dpi=100, facecolor=PAPER[THEME])
    legend = legend.counting(words.noun)
    place = _Place(wide / unit, high / unit)
    head = 40 if small else 84 + 44 * bool(words.title) + 36 * bool(words.subtitle)
    edge, foot = (2, 2) if small else (48, 132)
    across = (place.wide - 2 * edge - 32 * (len(panels) - 1)) / len(panels)
    point = unit * 0.72
    look: dict[str, Any] = {"color": TEXT.rgb(THEME), "va": "center", **VERBATIM}
    if words.title:
        figure.text(*place.at(48, 50), words.title, fontsize=27 * point, weight="bold", **look)
    if words.subtitle:
        below = place.at(48, 48 + 44 * bool(words.title))
        figure.text(*below, words.subtitle, fontsize=18 * point, **look)
    for k, each in enumerate(panels):
        left = edge + k * (across + 32)
        axes = figure.add_axes(place.box(left, head, across, place.high - head - foot))
        zoom = _draw(axes, each, THEME, unit)
        _draw_pins(axes, words.pins, THEME, unit)
        above = place.at(left, head - (20 if small else 34))
        figure.text(*above, each.label, fontsize=20 * point, weight="bold", **look)
        if words.with_status and (
            k == 0 or each.status != panels[0].status
        ):  # once, if it is the same for all
            below = place.at(left, head - 12)
            figure.text(*below, each.status, fontsize=15 * point, **look)
    if small:
        return render_figure(figure, "png", metadata=MADE_BY)
    _draw_legend(figure, place, legend, THEME, raw, unit, zoom)
    source = " · ".join(filter(None, ("dpviz", credit(panels[0].ground))))
    corner = place.at(place.wide - 48, place.high - 14)
    figure.text(*corner, source, fontsize=14 * point, ha="right", **look)
    return render_figure(figure, "png", metadata=MADE_BY)


class _Place:
    """Pixels of a slide from its upper left corner, as shares of the figure."""

    def __init__(self, wide: float, high: float) -> None:
        self.wide, self.high = wide, high

    def at(self, x: float, y: float) -> tuple[float, float]:
        return x / self.wide, 1 - y / self.high

    def box(
        self, x: float, y: float, wide: float, high: float
    ) -> tuple[float, float, float, float]:
        return x / self.wide, 1 - (y + high) / self.high, wide / self.wide, high / self.high


def _draw(axes: Any, panel: Panel, theme: Theme, unit: float) -> float:
    """Draw one map in Web Mercator world units, as on the screen, and return its zoom."""
    bounds = panel.bounds
    (west, south), (east, north) = world(bounds[:2]), world(bounds[2:])
    shape = axes.get_position()
    figure = axes.figure
    pixels = np.array([shape.width * figure.get_figwidth(), shape.height * figure.get_figheight()])
    pixels *= figure.dpi
    size = max((east - west) / pixels[0], (north - south) / pixels[1]) * pixels * 1.06
    middle = np.array([west + east, south + north]) / 2
    low, high = middle - size / 2, middle + size / 2
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    axes.set_facecolor(LAND.rgb(theme))
    zoom = float(np.log2(pixels[0] / size[0] / unit))
    thin = 0.75 * unit
    if panel.ground:
        draw_ground(axes, panel.ground, zoom, theme)
    panel.content(axes, zoom, unit)
    if panel.ground:
        draw_shores(axes, panel.ground, zoom, theme, unit)
        dashes = {"edgecolor": TEXT.rgb(theme, 0.6), "linestyle": (0, (4, 3))}
        axes.add_patch(_outline(bounds, linewidth=thin, **dashes))
        draw_scale_bar(axes, middle, zoom, theme, unit)
    if panel.rect is not None:
        for color, width in ((PAPER[theme], 4.5), (ACCENT.rgb(theme), 2.2)):
            line = {"edgecolor": color, "linewidth": width * unit * 0.72}
            axes.add_patch(_outline(panel.rect, zorder=4, **line))
    for spine in axes.spines.values():
        spine.set(color=TEXT.rgb(theme, 0.3), linewidth=thin)
    return zoom


def _draw_pins(
    panel: Any, pins: Sequence[tuple[float, float, str]], theme: Theme, unit: float
) -> None:
    """Dots at places, and their names beside them."""
    from matplotlib.patheffects import withStroke

    around = [withStroke(linewidth=3 * unit, foreground=PAPER[theme])]
    ink = {"color": TEXT.rgb(theme), "path_effects": around, "weight": "bold", **VERBATIM}
    for lon, lat, name in pins:
        x, y = world([lon, lat]).tolist()
        dot = {"markerfacecolor": ACCENT.rgb(theme), "markeredgecolor": PAPER[theme]}
        panel.plot([x], [y], "o", markersize=11 * unit, zorder=5, **dot)
        beside = {"xytext": (9 * unit, 0), "textcoords": "offset points", "va": "center"}
        size = 15 * unit * 0.72
        panel.annotate(name, (x, y), **beside, fontsize=size, zorder=6, clip_on=True, **ink)


def _outline(bounds: Bounds, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    (west, south), (east, north) = world(bounds[:2]).tolist(), world(bounds[2:]).tolist()
    return Rectangle((west, south), east - west, north - south, fill=False, **look)


def _draw_areas(panel: Any, drawn: Choropleth, theme: Theme, unit: float, zoom: float) -> None:
    from matplotlib.collections import LineCollection

    table = np.array(drawn.scale.colors().of(theme)) / 255
    at = np.maximum(drawn.scale.classes(drawn.density), 0)
    rings, owner = drawn.triangles()
    shown = ~drawn.blank[owner]
    corners = world(rings[shown].reshape(-1, 2)).reshape(-1, 4, 2)
    colors = np.column_stack([table[at[owner[shown]]], np.full(shown.sum(), CELL_ALPHA)])
    _fill(panel, corners, colors)
    lines = [world(line) for line in drawn.borders()]
    ink = TEXT.rgb(theme, 0.65 * opacity(drawn.fade, zoom))
    width = unit * 0.72
    panel.add_collection(LineCollection(lines, colors=[ink], linewidths=width, zorder=3))


def _fill(panel: Any, rings: Float, colors: Float) -> None:
    """Shapes beside each other, without a seam between them."""
    from matplotlib.collections import PolyCollection

    shapes = PolyCollection(list(rings), facecolors=colors, edgecolors="none", zorder=2)
    shapes.set_antialiased(False)
    panel.add_collection(shapes)


def _draw_cells(panel: Any, release: PointRelease, scale: Scale, theme: Theme, zoom: float) -> None:
    nodes, raw = release.nodes, not tiles(release)
    detail = adaptive(release)
    drawn = nodes.leaf if raw else detail.at(zoom) & ((detail.kind != QUIET) | detail.enclosed)
    rows = np.flatnonzero(drawn)
    corners = world_boxes(node_bounds(release)[rows])
    if raw:
        density = nodes.count[rows] / areas(node_bounds(release))[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            clear = np.clip(np.abs(nodes.count) / (2 * np.sqrt(nodes.variance)), 0, 1)
        clear = np.where(nodes.variance > 0, clear, 1.0)[rows]
    else:
        holes = detail.enclosed[rows]
        density = detail.total[rows] / detail.km2[rows]
        density[holes] = hatch_density(release, rows[holes], scale.bounds[0])
        clear = np.where(holes, FAINT, 1.0)
    at = scale.classes(density)
    table = np.array(scale.colors().of(theme)) / 255
    shown = np.flatnonzero(at >= 0)
    colors = np.column_stack([table[at[shown]], CELL_ALPHA * clear[shown]])
    rings = rings_of(corners)[:, :4]
    _fill(panel, rings[shown], colors)
    from matplotlib.collections import PolyCollection

    side = (corners[:, 2:] - corners[:, :2]).min(axis=1) * 2**zoom
    hatched = np.flatnonzero((nodes.count[rows] < 0 if raw else holes) & (side >= 8))
    hatch = PolyCollection(list(rings[hatched]), facecolors="none", hatch="////", zorder=2)
    hatch.set(edgecolor=HATCH.rgb(theme, 0.75), linewidth=0)
    panel.add_collection(hatch)


def _draw_legend(
    figure: Any,
    place: _Place,
    legend: Legend,
    theme: Theme,
    raw: bool,
    unit: float,
    zoom: float,
) -> None:
    from matplotlib.patches import Ellipse, Rectangle

    ink = TEXT.rgb(theme)
    words: dict[str, Any] = {"color": ink, "va": "center", **VERBATIM}
    left = 48.0
    top, x = place.high - 104.0, left

    def write(x: float, y: float, text: str, size: float = 15, **more: Any) -> None:
        figure.text(*place.at(x, y), text, fontsize=size * unit * 0.72, **words, **more)

    def patch(x: float, wide: float, y: float = top, high: float = 24, **look: Any) -> None:
        edge, bottom, width, height = place.box(x, y, wide, high)
        figure.add_artist(Rectangle((edge, bottom), width, height, **look))

    write(x, top + 12, legend.title, 18, weight="bold")
    x += 30 + 10 * len(legend.title)
    empty = legend.empty and not raw
    if legend.blank and not raw and not empty:
        patch(x, 52, facecolor=LAND.rgb(theme), edgecolor=TEXT.rgb(theme, 0.4))
        write(x, top + 40, "blank")
        x += 62
    colors = np.array(legend.colors.of(theme)) / 255 if legend.colors else ()
    classes = [] if empty else list(zip(colors, legend.labels, strict=True))
    hatched = [swatch for swatch in legend.swatches if swatch.hatch and swatch.raw is raw]
    aside = 230 if hatched else 0
    step = min(76.0, (place.wide - 48 - aside - x) / max(len(classes), 1))
    for color, label in classes:
        patch(x, step, facecolor=color, edgecolor="none")
        write(x, top + 40, label)
        x += step
    x += 28
    for swatch in hatched:
        color = HATCH.rgb(theme, 0.75)
        patch(x, 36, facecolor="none", edgecolor=color, hatch="////", linewidth=0)
        write(x + 46, top + 12, swatch.label)
    x, y = left, top + 64
    if circles := legend.circles:
        color = tuple(np.array(circles.color.of(theme)) / 255)
        for count, across in circles.sizes(zoom):
            size = place.box(0, 0, across, across)[2:]
            disc = Ellipse(place.at(x + across / 2, y), *size, facecolor=color, linewidth=0)
            figure.add_artist(disc)
            write(x + across + 6, y, f"{count:,}", 14)
            x += across + 24 + 8 * len(f"{count:,}")
        write(x, y, circles.label, 14)
        x += 30 + 7.5 * len(circles.label)
    for swatch in () if legend.blank else legend.swatches:  # legends of lines have no blank class
        wide = 46 + 7.5 * len(swatch.label)
        if x + wide > place.wide - left:
            x, y = left, y + 22
        light = swatch.color.of(theme) if isinstance(swatch.color, Themed) else swatch.color
        high = 4.0 if swatch.width else 16.0
        patch(x, 24, y - high / 2, high, facecolor=tuple(np.array(light) / 255), edgecolor="none")
        write(x + 30, y, swatch.label, 14)
        x += wide
    if legend.blank and not raw:
        write(left, top + 72, legend.blank, 14)
