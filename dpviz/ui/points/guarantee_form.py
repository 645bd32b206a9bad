"""Choice of the guarantee for persons of many records: pure ε, or ε and δ."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.methods import method
from dpviz.methods.request import by_area
from dpviz.private.slots import PersonNoise, slot_noise
from dpviz.releases.header import counted_persons
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice

PURE = "Pure ε"
DELTAS = {
    "": PURE,
    "1e-06": "ε and δ = one in a million",
    "1e-09": "ε and δ = one in a billion",
    "1e-12": "ε and δ = one in a trillion",
}
"""Titles of the deltas on offer, by their text."""

RECORDS, PERSONS = f"{PURE}, records are counted", f"{PURE}, persons are counted"
"""Titles where counting persons costs no delta."""

DELTA = permalink.choice("delta", DELTAS, "")


def guarantee_form(
    prefix: str, source: PointSource, choice: Choice
) -> tuple[Choice, PersonNoise | None]:
    """Ask for the guarantee of a release that hides persons of several records.

    Args:
        prefix: prefix of the widgets' keys.
        source: source of the points.
        choice: choice of the method and its ε.

    Returns:
        The choice with its guarantee, and the noise at (ε, δ) if that is on offer.
    """
    bound, place = source.data.max_per_unit, DELTA.place(prefix)
    if bound == 1:
        return choice, None
    st.session_state.setdefault(place, "")
    text: str = st.session_state[place] or next(filter(None, DELTAS))
    titles, delta, offered = DELTAS, float(text), None
    try:
        asked = (source.key, repr(choice), delta)
        noise = cached(f"{prefix}.slots", asked, lambda: _noise(source, choice, delta))
    except DpvizError:
        words = (
            f"Only {PURE} here: a δ is for counts, not sums, of hexagons or districts, of a "
            "uniform grid with its cells, of a quadtree with its top level, or by category."
        )
    else:
        words = f"{PURE} has the least noise with {bound:,} records of each person."
        if noise.gain > 1.0:
            offered, what, free = noise, "ε and δ", ""
            if not noise.spent_delta:
                titles, what = {"": RECORDS, text: PERSONS}, "count persons"
                free = " With these choices pure ε suffices: no δ is spent."
            words = (
                f"Recommended with {bound:,} records of each person: {what}, for {noise.gain:.2g} "
                f"times less noise.{free} {counted_persons(noise.facts)}"
            )
    if offered is None:
        st.session_state[place] = ""
        st.caption(words)
        return choice, None
    chosen = st.selectbox(
        "Guarantee",
        list(titles),
        format_func=titles.__getitem__,
        key=place,
        help="δ: the probability that the guarantee of ε fails. It must be far smaller than one "
        "over the number of persons, and has a lifetime budget of its own.",
    )
    st.caption(words)
    if not chosen:
        take, key = st.session_state.__setitem__, f"{place}.take"
        st.button("Use it", key, icon=":material/check:", on_click=take, args=(place, f"{delta:g}"))
    return dataclasses.replace(choice, slots=offered if chosen else None), offered


def _noise(source: PointSource, choice: Choice, delta: float) -> PersonNoise:
    """Noise of the chosen method at (ε, δ); from public facts alone."""
    data, areas = source.data, choice.areas
    if areas is not None:
        data = by_area(data, areas.areas, areas.every)
    chosen = method(choice.name, **choice.parameters)
    return slot_noise(data, chosen, choice.epsilon, delta, data.max_per_unit, weighted=False)
