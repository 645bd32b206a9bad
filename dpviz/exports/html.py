"""A map in one HTML file: the app's own map with a release inside, for a USB stick.

The file holds deck.gl from the installed pydeck, the map's program, the scene's columns and the
release's tree, so that a rectangle drawn in it is answered by the release as the engine would. Its
own content policy forbids the browser every connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.exports.facts import facts, label_of, replies, together
from dpviz.exports.pack import Packer, squeezed
from dpviz.releases.points.range_count import INTERVAL_SDS
from dpviz.render.client.assemble import script, style
from dpviz.render.numbers import short
from dpviz.render.projection import is_degrees
from dpviz.render.scene import Bounds, Camera
from dpviz.render.view import check, release_scene

if TYPE_CHECKING:
    from jinja2 import Environment

    from dpviz.releases.points.release import PointRelease

HEIGHT = 640
"""Pixels of the map, where the screen is high enough."""


def map_page(
    releases: Sequence[PointRelease],
    *,
    labels: Sequence[str] = (),
    rects: Sequence[Bounds] = (),
    title: str = "",
    camera: Camera | None = None,
) -> str:
    """A self-contained HTML page with the map of one release, or two to swipe between.

    Args:
        releases: one, or two of the same domain; 2-D.
        labels: one each; by default method and ε.
        rects: rectangles (west, south, east, north in degrees) whose answers the page shows.
        title: of the page.
        camera: where to look first; the whole domain by default.

    Raises:
        ReleaseError: not one or two releases, not 2-D, or not of one domain.
        DomainError: a rectangle outside the domain.
    """
    check(releases)
    names = list(labels) or labels_of(releases)
    scene = release_scene(releases, names, camera=camera)
    packer = Packer()
    packer.add_tables(scene.tables)
    live = is_degrees(releases[0].domain.crs)
    spec = scene.to_dict() | {
        "height": HEIGHT,
        "tools": list(scene.tools) if live else [],
        "columns": packer.index,
        # Without degrees there is nothing to compute with: saved answers only.
        "trees": [_tree(packer, f"tree{at}", each) for at, each in enumerate(releases) if live],
        "labels": names if len(names) == 2 else [],
        "names": names,
        "domainBox": {"lower": releases[0].domain.lower, "upper": releases[0].domain.upper},
        "side": releases[0].domain.side,
        "interval": INTERVAL_SDS,
        "rects": [list(rect) for rect in rects],
    }
    return (
        environment()
        .get_template("map.html")
        .render(
            title=title or default_title(releases),
            facts=[facts(each, name) for each, name in zip(releases, names, strict=True)],
            together=together(releases),
            answers=[(rect, replies(releases, names, rect)) for rect in rects],
            live=live,
            spec=spec,
            style=style(),
            deck=_deck(),
            columns=squeezed(packer.block()),
            program=script("file.js"),
        )
    )


def labels_of(releases: Sequence[PointRelease]) -> list[str]:
    """Names that tell the releases apart."""
    names = [label_of(each) for each in releases]
    if len(set(names)) < len(names):
        return [f"{side}: {name}" for side, name in zip("AB", names, strict=False)]
    return names


def default_title(releases: Sequence[PointRelease]) -> str:
    """Says what the file is and, above all, what it is not."""
    noun = "map" if len(releases) == 1 else "maps"
    first = "A" if len(releases) == 1 else "Two"
    if all(each.header.private for each in releases):
        return f"{first} private {noun}"
    return f"{first} {noun}, NOT PRIVATE"


@cache
def environment() -> Environment:
    """The templates, with every name and number escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("dpviz.exports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"degrees": _degrees, "short": short}
    return found


def _degrees(rect: Bounds) -> str:
    west, south, east, north = (f"{value:.4f}".replace("-", "−") for value in rect)
    return f"{west} to {east} east, {south} to {north} north"


@cache
def _deck() -> str:
    """deck.gl from the installed pydeck, 4 MB, in 1.5."""
    import pydeck

    path = Path(pydeck.__file__).parent / "nbextension" / "static" / "index.js"
    return squeezed(path.read_bytes())


def _tree(packer: Packer, name: str, release: PointRelease) -> dict[str, Any]:
    """The columns that answer a rectangle; lattice lines of two dimensions fit 32 bits."""
    nodes = release.nodes
    for column in ("lo", "hi"):
        packer.add(f"{name}.{column}", getattr(nodes, column).astype(np.uint32))
    for column in ("first_child", "n_children"):
        packer.add(f"{name}.{column}", getattr(nodes, column).astype(np.int32))
    for column in ("count", "variance"):
        packer.add(f"{name}.{column}", getattr(nodes, column).astype(np.float64))
    noise = release.noise and release.noise.to_dict()
    return {"name": name, "roots": int(nodes.levels[0].stop), "noise": noise}
