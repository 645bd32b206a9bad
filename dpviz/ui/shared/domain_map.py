"""The public area on the base map: draw it, and see it before a release exists."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.domain.crs import DEGREES
from dpviz.render import Camera, Scene, boxes
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.colors import ACCENT
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.shared.area_form import on_map, set_degrees, sides_of
from dpviz.ui.shared.panels import hint
from dpviz.ui.shared.sources import DataSource

WORLD = (-170.0, -58.0, 170.0, 78.0)


def choose_domain(prefix: str, height: int = 560) -> None:
    """Show a world map to draw an upload's area on, with the typed area if there is one."""
    waiting = st.session_state.get(f"{prefix}.file") is None
    hint(
        f"{prefix}.area",
        "Choose a file first, or a built-in city to see a private map at once."
        if waiting
        else "Draw the area: zoom in, press ▭, drag. Or search or type it.",
    )
    seen = st.session_state.get(f"{prefix}.bounds.seen")
    scene = Scene(
        marks=outlines(seen),
        camera=Camera(bounds=seen or WORLD),
        tools=() if waiting else ("rect",),
        description="World map to draw the area on",
    )
    name = f"{prefix}.world"
    map_view(scene, key=name, height=height, on_shape=partial(_drawn, prefix))
    sides = sides_of(prefix)
    rect = None if sides is None else on_map(sides, _crs(prefix))
    if rect is not None or f"{name}.shape" in st.session_state:  # one that was typed may be gone
        map_overlay(name, shape=rect and Shape(rect=rect))


def show_domain(prefix: str, source: DataSource, height: int = 560) -> None:
    """Show the public area of a source on a map, before a release exists."""
    bounds = domain_bounds(source.data.domain)
    scene = Scene(
        marks=[boxes("domain", [bounds], color=ACCENT, width=2.0), *outlines(bounds)],
        camera=Camera(bounds=bounds),
        domain=bounds,
        description="The area; no release has been built yet",
    )
    map_view(scene, key=f"{prefix}.domain", height=height)


def _drawn(prefix: str) -> None:
    shape = events(f"{prefix}.world").shape
    if shape and shape.rect:
        set_degrees(prefix, shape.rect, _crs(prefix))


def _crs(prefix: str) -> str:
    """CRS in the form beside the map; the sides are in it."""
    return str(st.session_state.get(f"{prefix}.crs", DEGREES))
