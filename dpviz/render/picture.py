"""A comparison as a picture file: the leaves of releases beside each other, one legend."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpviz.render.cells import densities, domain_bounds, node_bounds
from dpviz.render.colors import ACCENT, PALETTES
from dpviz.render.scene import Bounds

if TYPE_CHECKING:
    from dpviz.releases.points.release import PointRelease

NOISE = "#c9ced3"
"""Towards this a leaf fades whose count is under twice its noise."""

NEGATIVE = "#e3b0a8"
"""A leaf whose noisy count is negative."""


def comparison_png(
    releases: Sequence[PointRelease],
    titles: Sequence[str],
    ends: tuple[float, float],
    rect: Bounds | None = None,
    palette: str = "viridis",
) -> bytes:
    """2-D releases beside each other as PNG.

    Args:
        releases: of the same domain.
        titles: one each.
        ends: of the log colour scale, per km².
        rect: west, south, east, north in degrees, outlined in each.
        palette: a name in :data:`~dpviz.render.colors.PALETTES`.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    stops = np.array(PALETTES[palette]) / 255
    scale = ScalarMappable(LogNorm(*ends), LinearSegmentedColormap.from_list(palette, stops))
    figure = Figure(figsize=(5.2 * len(releases) + 1, 5), layout="constrained")
    panels = figure.subplots(1, len(releases), squeeze=False)[0]
    for panel, release, title in zip(panels, releases, titles, strict=True):
        _draw(panel, release, scale)
        west, south, east, north = domain_bounds(release.domain)
        panel.set(xlim=(west, east), ylim=(south, north))
        panel.set_xlabel("Longitude (°)", fontsize=8)
        panel.set_ylabel("Latitude (°)", fontsize=8)
        panel.set_aspect(1 / np.cos(np.radians((south + north) / 2)))
        panel.set_title(f"{title}\n{release.header.guarantee}", fontsize=9)
        panel.tick_params(labelsize=7)
        if rect is not None:
            size = rect[2] - rect[0], rect[3] - rect[1]
            colour = np.array(ACCENT) / 255
            panel.add_patch(Rectangle(rect[:2], *size, fill=False, edgecolor=colour, linewidth=2))
    figure.colorbar(scale, ax=list(panels), label="Records per km² (log scale)", shrink=0.8)
    meanings = {NOISE: "within the noise (under 2 sd)", NEGATIVE: "negative noisy count"}
    figure.legend(
        handles=[Patch(color=colour, label=text) for colour, text in meanings.items()],
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=8,
    )
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=150)
    return file.getvalue()


def _draw(panel, release: PointRelease, scale) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    nodes, leaf = release.nodes, np.asarray(release.nodes.leaf)
    bounds = node_bounds(release)[leaf]
    corners = bounds[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
    count, sd = nodes.count[leaf], np.sqrt(nodes.variance[leaf])
    colours = scale.to_rgba(np.maximum(densities(release)[leaf], scale.norm.vmin))
    clear = np.divide(count, 2 * sd, out=np.ones_like(count), where=sd > 0).clip(0, 1)[:, None]
    colours = (
        np.array(to_rgba(NOISE)) * (1 - clear) + colours * clear
    )  # what is noise looks like noise
    colours[count < 0] = to_rgba(NEGATIVE)
    panel.add_collection(PolyCollection(list(corners), facecolors=colours, edgecolors="none"))
