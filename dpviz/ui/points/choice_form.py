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
    Choice,
    epsilon_slider,
    method_choice,
    method_parameters,
    options,
)


def points_choice(prefix: str, source: PointSource, *, more: bool) -> Choice | None:
    """Ask for ε, the method or areas, and their parameters; None while the areas are missing.

    Args:
        prefix: prefix of the widgets' keys.
        source: source of the points.
        more: True to offer counts of areas instead of cells.
    """
    domain, saved = source.data.domain, permalink.pairs("set")
    fixed = more and domain.without_time.dims == 2
    epsilon = epsilon_slider(prefix)
    start = METHOD if fixed and permalink.parameter("areas") else permalink.parameter("method")
    name = method_choice(
        prefix, domain.dims, kind="points", public=source.public, start=start, areas=fixed
    )
    with options(prefix, "Areas" if name == METHOD else "Cells"):
        share = None
        if domain.values is not None:
            share = sum_share_form(prefix, domain.values.column)
        if name == METHOD:
            choice = areas_choice(prefix, domain, epsilon, saved if start == METHOD else {})
            return choice and replace(choice, sum_share=share)
        parameters = method_parameters(prefix, name, "points", start, saved)
        prior = source.prior
        if prior is not None and not of_kind("points")[names("points")[name][0]].takes_prior:
            st.caption("This method takes no prior: the ladder tree and the hot grid do.")
            prior = None
    return Choice(name, parameters, epsilon, sum_share=share, prior=prior)
