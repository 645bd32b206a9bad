"""The map as a Streamlit component (version 2: no iframe).

deck.gl itself is served from the installed pydeck wheel, so there is no npm, no bundler and no
network. Never put ``st.pydeck_chart`` on a page with this map: it brings another deck.gl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pydeck
import streamlit as st

from dpviz.files import limits
from dpviz.render.client.assemble import script, style
from dpviz.render.legend import Legend
from dpviz.render.scene import Bounds, Mark, Scene, layers_json, tables
from dpviz.ui.shared.navigation import base_path

DECK = Path(pydeck.__file__).parent / "nbextension" / "static"
"""The folder of deck.gl, which the server hands out at ``deck``."""

TILES = {
    "url": "https://tile.openstreetmap.org/{z}/{x}/{y}.png",
    "attribution": "© OpenStreetMap contributors",
}
"""Online street tiles: no request to their server before the visitor asks for them."""

Ring = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Shape:
    """A drawn shape in degrees: a rectangle (west, south, east, north) or a polygon's corners."""

    rect: Bounds | None = None
    ring: Ring | None = None

    @classmethod
    def from_json(cls, value: Any) -> Shape | None:
        """Read a shape sent by the browser; None if missing or invalid."""
        try:
            if value["kind"] == "rect":
                west, south, east, north = map(float, value["rect"])
                return cls(rect=(west, south, east, north))
            ring = tuple((float(x), float(y)) for x, y in value["ring"])
            return cls(ring=ring) if 3 <= len(ring) <= limits.CORNERS.most else None
        except (KeyError, TypeError, ValueError):
            return None

    def to_json(self) -> dict[str, Any]:
        """Convert to the JSON that the browser reads."""
        if self.rect is not None:
            return {"kind": "rect", "rect": list(self.rect)}
        return {"kind": "polygon", "ring": [list(corner) for corner in self.ring or ()]}


@dataclass(frozen=True)
class MapEvents:
    """The visitor's last actions on a map: shape drawn, camera, mark clicked, scale locked.

    ``camera`` has ``longitude``, ``latitude``, ``zoom``, and is None until the visitor has moved
    the map over the area that it shows; ``pick`` has ``layer`` (the mark's id),
    ``index`` (row of its table), ``lon``, ``lat`` and lasts for one run; ``scale`` has the lower
    bounds of classes.
    """

    shape: Shape | None
    camera: dict[str, float] | None
    pick: dict[str, Any] | None
    scale: list[float] | None = None


@cache
def _map() -> Callable[..., Any]:
    return st.components.v2.component(
        "dpviz_map", js=script("hosts/streamlit.js"), css=style(), html=""
    )


@cache
def _part(name: str) -> Callable[..., Any]:
    """Component drawn beside a map; loads without the map's program, to keep messages small."""
    return st.components.v2.component(f"dpviz_{name}", js=script(f"hosts/{name}.js"), html="")


def bundle_url() -> str:
    """The address of deck.gl on this server, below its base URL path; see :data:`DECK`."""
    return f"{base_path()}deck/index.js?{pydeck.__version__}"


def map_view(
    scene: Scene,
    *,
    key: str,
    height: int = 560,
    tiles: bool = True,
    on_shape: Callable[[], None] | None = None,
    on_pick: Callable[[], None] | None = None,
    on_scale: Callable[[], None] | None = None,
) -> MapEvents:
    """Show a scene.

    The callbacks run before the script, as those of all Streamlit widgets; inside one,
    :func:`events` reads the map. Anything that changes often belongs into :func:`map_overlay`.
    """
    spec = scene.to_dict() | {
        "key": key,
        "bundle": bundle_url(),
        "height": height,
        "tiles": TILES if tiles and not scene.plane else None,
        "search": tiles and not scene.plane,
    }
    nothing = lambda: None  # noqa: E731
    raw = (st.session_state.get(key) or {}).get("raw")
    begin_area(key, scene.camera.key)
    _map()(
        data={"spec": spec, **(tables(scene.marks, raw=True) if raw else scene.tables)},
        key=key,
        on_raw_change=nothing,
        on_shape_change=on_shape or nothing,
        on_camera_change=nothing,
        on_pick_change=on_pick or nothing,
        on_scale_change=on_scale or nothing,
    )
    return events(key)


def begin_area(key: str, area: str) -> None:
    """Forget the camera of a map if it shows another area from now on."""
    shown = st.session_state.setdefault(f"{key}.shown", {})
    if shown.get("area") != area:
        camera = (st.session_state.get(key) or {}).get("camera")
        shown |= {"area": area, "before": camera}


def events(key: str) -> MapEvents:
    """Return the visitor's last actions on the map of this key."""
    state = st.session_state.get(key) or {}
    camera, shown = state.get("camera"), st.session_state.get(f"{key}.shown", {})
    return MapEvents(
        shape=Shape.from_json(state.get("shape")),
        camera=None if camera == shown.get("before") else camera,  # of the area before
        pick=state.get("pick"),
        scale=state.get("scale") or None,  # null at first; false after unlocking
    )


def map_overlay(
    key: str,
    *,
    marks: Sequence[Mark] = (),
    shape: Shape | None = None,
    legend: Legend | None = None,
) -> None:
    """Marks above a map's scene, and the shape as the page knows it.

    Small, and apart from the scene: it may change at every answer. The shape is sent to the map
    only where it did not come from there (a permalink, numbers typed in).

    Args:
        key: key of the map.
        marks: drawn above all others, for instance the cells that an answer used.
        shape: the shape in force.
        legend: in place of the scene's, where the marks hide what that one explains or need more
            words.
    """
    drawn = events(key).shape
    first = {"seq": 0, "seen": None, "drawn": None, "shown": None}
    memory = st.session_state.setdefault(f"{key}.shape", first)
    if drawn != memory["drawn"]:  # since the last shape that was sent
        memory |= {"drawn": drawn, "shown": drawn}
    if shape not in (memory["shown"], memory["seen"]):
        memory |= {"seq": memory["seq"] + 1, "shown": shape}  # a map keeps its shape at a known seq
    memory["seen"] = shape
    spec = layers_json(marks) | {
        "target": key,
        "shape": {"seq": memory["seq"], "value": shape and shape.to_json()},
        "legend": legend and legend.to_dict(),
    }
    _part("overlay")(data={"spec": spec, **tables(marks)}, key=f"{key}.overlay")
