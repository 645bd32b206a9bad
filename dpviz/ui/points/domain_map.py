"""The public rectangle on the base map: to draw it, and to see it before there is a release."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.render import Camera, Scene, boxes
from dpviz.render.basemap import outlines
from dpviz.render.cells import domain_bounds
from dpviz.render.colors import ACCENT
from dpviz.ui.map import map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.source_form import Source

WORLD = (-170.0, -58.0, 170.0, 78.0)


def choose_domain(prefix: str) -> None:
    """An empty world to draw the public rectangle of an upload on."""
    waiting = st.session_state.get(f"{prefix}.file") is None
    st.caption(
        "Choose a file in the sidebar, or a built-in city to see a private map at once."
        if waiting
        else "Draw the public rectangle: zoom in, press ▭ (or D), drag. Or type it in the sidebar."
    )
    scene = Scene(
        marks=outlines(),
        camera=Camera(bounds=WORLD, key="world"),
        tools=() if waiting else ("rect",),
        description="World map to draw the public rectangle on",
    )
    map_view(scene, key=f"{prefix}.world", on_shape=partial(_drawn, prefix))


def show_domain(prefix: str, source: Source, height: int = 560) -> None:
    """The public rectangle of a source: all there is to see before a release."""
    bounds = domain_bounds(source.handle.domain)
    scene = Scene(
        marks=[boxes("domain", [bounds], color=ACCENT, width=2.0), *outlines(bounds)],
        camera=Camera(bounds=bounds, key=source.key),
        domain=bounds,
        description="The public rectangle; no release has been built yet",
    )
    map_view(scene, key=f"{prefix}.domain", height=height)


def _drawn(prefix: str) -> None:
    shape = events(f"{prefix}.world").shape
    if shape and shape.rect:
        st.session_state[f"{prefix}.bounds.next"] = shape.rect
