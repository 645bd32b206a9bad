"""Form for a build: a method on the points of a source, or counts of public areas."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.methods import names, of_kind
from dpviz.ui.areas.areas_form import METHOD, areas_choice
from dpviz.ui.points.attributes_form import sum_share_form
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import (
    REASONS,
    Choice,
    epsilon_slider,
    method_choice,
    method_parameters,
    options,
)

ANYWHERE, BY_AREA = "Any place on the map", "Counts by district or hexagon"
"""Uses of a release: for the second one, areas are counted in place of cells."""


def points_choice(
    prefix: str, source: PointSource, *, more: bool, asks: bool = False, daily: bool = False
) -> Choice | None:
    """Ask for ε, the method or areas, and their parameters; None while the areas are missing.

    Args:
        prefix: prefix of the widgets' keys.
        source: source of the points.
        more: True to offer counts of areas instead of cells.
        asks: True to ask first what readers will look up, which chooses between the two.
        daily: True for a series, which counts areas by the day.
    """
    domain, saved = source.data.domain, permalink.pairs("set")
    fixed = more and domain.without_time.dims == 2
    use = st.container() if asks and fixed and not daily else None
    epsilon = epsilon_slider(prefix)
    start = METHOD if fixed and permalink.parameter("areas") else permalink.parameter("method")
    name = METHOD
    if not daily:
        name = method_choice(
            prefix, domain.dims, kind="points", public=source.public, start=start, areas=fixed
        )
    if use is not None:
        with use:
            _use(prefix, name)
    open_form = asks and name == METHOD
    form = st.expander("Areas", expanded=True) if open_form else None
    with form or options(prefix, "Areas" if name == METHOD else "Cells"):
        share = None
        if domain.values is not None:
            share = sum_share_form(prefix, domain.values.column)
        if name == METHOD:
            given, every = saved if start == METHOD else {}, "1d" if daily else None
            choice = areas_choice(prefix, domain, epsilon, given, every)
            return choice and replace(choice, sum_share=share)
        parameters = method_parameters(prefix, name, "points", start, saved)
        prior = source.prior
        if prior is not None and not of_kind("points")[names("points")[name][0]].takes_prior:
            st.caption("This method takes no prior: the ladder tree and the hot grid do.")
            prior = None
    return Choice(name, parameters, epsilon, sum_share=share, prior=prior)


def _use(prefix: str, method: str) -> None:
    """Ask what readers will look up; the answer chooses the method, and follows it."""
    place = f"{prefix}.use"

    def choose() -> None:
        by_area = st.session_state[place] == BY_AREA
        st.session_state[f"{prefix}.method"] = METHOD if by_area else next(iter(REASONS["points"]))

    st.session_state[place] = BY_AREA if method == METHOD else ANYWHERE
    st.segmented_control(
        "What will readers look up?",
        (ANYWHERE, BY_AREA),
        required=True,
        key=place,
        on_change=choose,
    )
    if method != METHOD:
        st.caption(f"For tables by district, choose “{BY_AREA}”: their errors are far smaller.")
