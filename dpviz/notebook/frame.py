"""Display of a release in a notebook: a one-file map in its own frame.

It needs no network and no kernel, so that it stays in the notebook's file, and what it adds to that
is bounded. Imported at start-up: modules that draw are imported where they are used.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpviz.errors import DpvizError
from dpviz.lazy import shapely
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import PointRelease, is_areas, is_points
from dpviz.releases.flows.release import is_flows
from dpviz.releases.header import price_words
from dpviz.releases.points.sums import Sums
from dpviz.releases.points.window import windows
from dpviz.releases.release import Release
from dpviz.releases.split import count_release

if TYPE_CHECKING:
    from dpviz.exports.facts import Mapped

MAX_CELLS = 50_000
"""Most nodes that a notebook's file keeps for one map: some 1.2 MB beside 1.7 of the program."""

MAX_CORNERS = 100_000
"""Most corners of the outlines of areas: some 1 MB."""

HEIGHT = 620
"""Pixels of the frame."""

FRAME = (
    '<iframe title="{title}" sandbox="allow-scripts allow-downloads" loading="lazy" '
    'allow="fullscreen" style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>'
)
"""A sandboxed frame without an origin: its content cannot read the notebook."""


def frame(release: Release) -> str:
    """HTML for a notebook: a map if there is one, and the release's metadata.

    Points, areas and periods are the one-file map, which answers rectangles; flows, trips along
    roads and moves between places are a map to look at. A tree of more than :data:`MAX_CELLS` nodes
    is shown down to a level with fewer nodes; a release without such levels is described in words.
    Asking the release itself is never coarser. Plain ASCII: not every page that holds it says how
    its bytes are to be read.
    """
    return _shown(release).encode("ascii", "xmlcharrefreplace").decode()


def _shown(release: Release) -> str:
    try:
        if release.kind in ("flows", "roads", "sequences"):
            return _scene(release) or summary(release)
        note, maps, labels = _maps(release)
        if maps:
            return note + _framed(maps, labels)
    except DpvizError:  # for instance an unknown CRS
        note = ""
    return note + summary(release)


def _scene(release: Any) -> str:
    """Page with the map of flows, trips or sequences; empty for other releases."""
    from dpviz.exports.scenes import scene_page

    ends = [release.frame.origins, release.frame.destinations] if is_flows(release) else []
    if sum(map(_corners, ends)) > MAX_CORNERS:
        return ""
    page = scene_page(release, table=False)
    return page and _in_frame(page, f"A map of {release.kind}")


def _maps(release: Release) -> tuple[str, Sequence[Mapped], Sequence[str]]:
    """A note, and the labelled maps of a release; empty if it cannot be mapped."""
    if is_areas(release):
        if _corners(release.frame) <= MAX_CORNERS:
            return "", [release], ()
        return _note("These outlines have too many corners for a notebook's file."), (), ()
    if not is_points(release):
        return "", (), ()
    if release.domain.time is not None:
        steps, labels = windows(release)
        return "", steps if _size(steps) <= MAX_CELLS else (), labels
    if release.domain.dims != 2:
        return "", (), ()
    if _size([release]) <= MAX_CELLS:
        return "", [release], ()
    return _coarse(release)


def _corners(areas: Areas) -> int:
    """Number of corners of the outlines of areas."""
    return int(shapely.get_num_coordinates(areas.shapes).sum())


def _size(releases: Sequence[PointRelease]) -> int:
    """Number of nodes on the page of releases, including each kind and all kinds together."""
    from dpviz.exports.views import maps_of

    return sum(len(each.nodes) for each in maps_of(releases, ())[0])


def _coarse(release: PointRelease) -> tuple[str, Sequence[Mapped], Sequence[str]]:
    """Upper levels of a large release, as many as fit; no maps for wavelets or a single level."""
    depth, whole = release.joined_nodes.depth, _size([release])
    for level in range(depth - 1, 0, -1):
        if release.noise is None and (shown := _down_to(release, level)) is not None:
            note = _note(
                f"Shown down to level {level} of {depth}: {_size([shown]):,} of {whole:,} nodes. "
                "release.count answers from all."
            )
            return note, [shown], ()
    return _note(f"{whole:,} nodes are too many for a notebook's file."), (), ()


def _down_to(release: PointRelease, level: int) -> PointRelease | None:
    """A release without the nodes below a level; None if it is still too large."""
    if release.joined_nodes.levels[level].stop > MAX_CELLS:
        return None
    trees = []
    for part in release.parts:
        top, sums = part.nodes.level <= level, part.sums
        upper = None if sums is None else Sums(sums.sum[top], sums.variance[top])
        trees.append((part.frame, part.nodes.select(top), upper))
    shown = count_release(release.by, trees, release.header)
    return shown if _size([shown]) <= MAX_CELLS else None


def _framed(maps: Sequence[Mapped], labels: Sequence[str]) -> str:
    from dpviz.exports import map_page
    from dpviz.exports.words import default_title

    return _in_frame(map_page(maps, labels=labels), default_title(maps))


def _in_frame(page: str, title: str) -> str:
    return FRAME.format(title=html.escape(title), height=HEIGHT, page=html.escape(page))


def _note(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def summary(release: Release) -> str:
    """Metadata of a release as a small table without scripts."""
    header = release.header
    parameters = ", ".join(f"{name} = {value}" for name, value in header.parameters.items())
    price = price_words(header.epsilon, header.delta)
    rows = {
        "Guarantee": header.guarantee,
        "Price": f"{price} for {header.unit}; {header.neighbouring}",
        "Data set": header.source,
        "Method": f"{header.method} ({parameters})" if parameters else header.method,
    }
    cells = "".join(
        f'<tr><th style="text-align:left">{name}</th>'
        f'<td style="text-align:left">{html.escape(text)}</td></tr>'
        for name, text in rows.items()
        if text
    )
    return f"<table><caption>Release of {release.kind}</caption>{cells}</table>"
