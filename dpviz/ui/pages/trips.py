"""Trips: pickup and drop-off on two linked maps; noisy counts from one area to another."""

from __future__ import annotations

from functools import partial

from dpviz.releases.counts import PointRelease
from dpviz.releases.flows.release import FlowRelease, is_flows
from dpviz.ui.flows.map_answer import show_flows
from dpviz.ui.points.slots import point_slots
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.points.trip_maps import FIELDS, ends_table, maps_and_answer
from dpviz.ui.shared.domain_map import show_domain
from dpviz.ui.shared.downloads import release_panels
from dpviz.ui.shared.frame import tabs
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.skeleton import run

TITLE, ORDER = "Trips", 5
MENU = "Movement"
KEY = "trips"


def page() -> None:
    """The page."""
    run(
        point_slots(
            KEY,
            4,
            "trips",
            fields=FIELDS,
            before=partial(show_domain, KEY),
            show=_show,
        )
    )


def _show(release: PointRelease | FlowRelease, source: PointSource, choice: Choice | None) -> None:
    if is_flows(release):
        show_flows(KEY, release, release_panels(KEY, release))
        return
    maps_and_answer(KEY, release, source)
    tabs(KEY, {"Table": partial(ends_table, release), **release_panels(KEY, release)})
