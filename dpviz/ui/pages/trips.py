"""Trips: pickup and drop-off on two linked maps; noisy counts from one area to another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.releases.counts import PointRelease
from dpviz.releases.flows.release import FlowRelease, is_flows
from dpviz.ui.flows.map_answer import FLOW_FIELDS, show_flows
from dpviz.ui.flows.source import flow_source, show_frame
from dpviz.ui.points.slots import point_slots
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.points.trip_maps import FIELDS, ends_table, maps_and_answer
from dpviz.ui.shared import permalink
from dpviz.ui.shared.domain_map import show_domain
from dpviz.ui.shared.downloads import release_panels
from dpviz.ui.shared.frame import tabs
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.timeline import PERIOD

TITLE, ORDER = "Trips", 5
MENU = "Movement"
KEY = "trips"
PLACES, AREAS = "places", "areas"
COUNTED = {PLACES: "Trips", AREAS: "Flows"}
COUNT = permalink.choice("count", COUNTED, PLACES)


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    counted = st.session_state.get(COUNT.place(KEY)) or COUNT.read(COUNT.name)
    run(_flow_slots() if counted == AREAS else _place_slots())


def _place_slots() -> Slots:
    """Trips between any two places, in cells of four dimensions."""
    slots = point_slots(
        KEY,
        4,
        "trips",
        fields=(*FIELDS, *FLOW_FIELDS, COUNT, PERIOD),
        before=partial(show_domain, KEY),
        show=_show,
    )
    return replace(slots, mode=_counted, title=TITLE)


def _flow_slots() -> Slots:
    """Flows between public areas."""
    return replace(
        _place_slots(),
        source=partial(flow_source, KEY),
        choose=lambda source: method_form(KEY, kind="flows", public=source.public),
        before=partial(show_frame, KEY),
        link=lambda _: {"count": AREAS},
    )


def _counted() -> None:
    """Ask for what is counted."""
    place = COUNT.place(KEY)
    st.session_state.setdefault(place, PLACES)
    others = ("method", "set", "count", *(field.name for field in FLOW_FIELDS))
    st.segmented_control(
        "Count trips",
        list(COUNTED),
        format_func=COUNTED.__getitem__,
        required=True,
        key=place,
        on_change=partial(permalink.write, dict.fromkeys(others)),
        label_visibility="collapsed",
    )


def _show(release: PointRelease | FlowRelease, source: PointSource, choice: Choice | None) -> None:
    if is_flows(release):
        show_flows(KEY, release, release_panels(KEY, release))
        return
    maps_and_answer(KEY, release, source)
    tabs(KEY, {"Table": partial(ends_table, release), **release_panels(KEY, release)})
