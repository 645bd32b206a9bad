"""A page of scenes that no page of the app has all at once: two sides, swipe, clicks, a clock."""

import numpy as np
import streamlit as st

import dpviz
from dpviz.render import (
    Animation,
    Camera,
    Row,
    Scene,
    arcs,
    cells,
    density_scale,
    paths,
    points,
    trips,
)
from dpviz.render.marks import polygons
from dpviz.ui.map import map_view

BOUNDS = (14.4, -24.1, 15.0, -23.6)
LINE = np.array([[14.45, -24.05], [14.7, -23.85], [14.95, -23.65]])
SQUARE = [[14.5, -23.75], [14.55, -23.75], [14.55, -23.7], [14.5, -23.7], [14.5, -23.75]]


@st.cache_resource
def releases():
    data = dpviz.load("city-50k")
    return [dpviz.build(data, epsilon=epsilon, seed=0) for epsilon in (0.1, 1.0)]


def show(kind):
    """A page of this scene."""
    st.set_page_config(layout="wide")
    if kind in ("side", "swipe"):
        pair = releases()
        scale = density_scale(*pair)
        scene = Scene(
            marks=[
                cells(release, scale=scale, id=side, side=side, title=f"<i>{side}</i>")
                for release, side in zip(pair, ("left", "right"), strict=True)
            ],
            camera=Camera(BOUNDS),
            mode=kind,
            labels=("<b>ε = 0.1</b>", "ε = 1"),
            tools=("rect", "polygon"),
        )
    else:
        scene = Scene(
            marks=[
                polygons("square", [SQUARE], rows=[Row("Square", "name")], extra={"name": ["one"]}),
                paths(
                    "paths",
                    [LINE, LINE[::-1] + 0.05],
                    color=[[255, 0, 0], [0, 0, 255]],
                    width=3,
                    rows=[Row("Path", "name")],
                    extra={"name": ["below", "above"]},
                ),
                arcs(
                    "arcs",
                    LINE[:2],
                    LINE[1:],
                    width=3,
                    rows=[Row("Arc", "name")],
                    extra={"name": ["first", "second"]},
                ),
                trips("trips", [LINE], [[0, 5, 10]], trail=3),
                points(
                    "places",
                    [[14.7, -23.85]],
                    radius=30,
                    title="<u>a place</u>",
                    rows=[
                        Row("Name", "name"),
                        Row("Visits", "count", "a day", noise_sd="sd"),
                        Row("Ever", "large", noise_sd="sd"),
                    ],
                    extra={
                        "name": ["<b>Here</b>"],
                        "count": [1237.4],
                        "large": [123_456_827],
                        "sd": [27.7],
                    },
                ),
            ],
            camera=Camera(BOUNDS),
            clock=Animation(0, 10, 5),
            picks=True,
        )
    seen = map_view(scene, key="scene")
    st.text(f"shape {seen.shape}")
    st.text(f"pick {seen.pick and (seen.pick['layer'], seen.pick['index'])}")
