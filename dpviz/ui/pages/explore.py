"""Explore: a data set, a method, ε; the private map; drawn rectangles and their answers."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.build import build
from dpviz.releases.points.release import PointRelease
from dpviz.ui.points.domain_map import choose_domain, show_domain
from dpviz.ui.points.facts import empty_area, release_facts
from dpviz.ui.points.map_answer import map_and_answer, restore
from dpviz.ui.points.source_form import Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.tour import tour

TITLE, ICON, ORDER = "Explore", ":material/map:", 0
KEY = "explore"


def page() -> None:
    """The page."""
    tour(KEY)
    run(
        Slots(
            key=KEY,
            records="records",
            restore=partial(restore, KEY),
            source=lambda: source_form(
                KEY,
                2,
                permalink.parameter("data"),
                sensitive=permalink.parameter("sensitive") == "1",
            ),
            choose=lambda source: method_form(
                KEY,
                source.handle.domain.dims,
                public=source.public,
                start=permalink.parameter("method") or "privtree",
                saved=permalink.pairs("set"),
            ),
            build=lambda source, choice, **how: build(
                source.handle, choice.name, choice.epsilon, **choice.parameters, **how
            ),
            adopt=lambda opened: Source(None, opened.title, opened.key),
            empty=lambda: choose_domain(KEY),
            before=lambda source: show_domain(KEY, source),
            show=_show,
            link=lambda source, choice: {
                "data": source.name,
                "method": choice.name,
                "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            },
        )
    )


def _show(release: PointRelease, source: Source, choice: Choice | None) -> None:
    if release.domain.dims != 2:
        st.info(
            f"This release has {release.domain.dims} dimensions, and a map needs 2. Its cells are "
            "below; `dpviz query` answers boxes.",
            icon=":material/view_in_ar:",
        )
    else:
        empty_area(source)
        map_and_answer(KEY, release, source)
    release_facts(KEY, release, source)
