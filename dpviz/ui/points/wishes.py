"""Accuracy targets as sentences to fill in, and the least ε for them. No record is read."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.planning.proxy import DEFAULT_RECORDS
from dpviz.planning.search import MAX_EPSILON, MIN_EPSILON, Plan, plan
from dpviz.queries.wishes import Wish
from dpviz.render.numbers import percent
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.text import plain

TITLE = "Find the ε for your accuracy"


def wish_panel(prefix: str, domain: Domain, max_per_unit: int, left: float | None) -> Choice | None:
    """Choice from an accepted plan; None if the visitor chooses method and ε directly.

    There are plans for counts of places only, without times, categories and sums.

    Args:
        prefix: prefix of the page's keys.
        domain: public.
        max_per_unit: most records of one privacy unit.
        left: unspent lifetime budget; None if none is set.
    """
    if domain.dims != 2 or domain != domain.counts_only:
        return None
    if left is not None and left < MIN_EPSILON:
        return None
    chosen: Choice | None = st.session_state.get(f"{prefix}.planned")
    frame = (domain, max_per_unit)
    if chosen is not None and st.session_state.get(f"{prefix}.planned.frame") == frame:
        st.header("What was promised", anchor=False)
        for wish in chosen.wishes:
            st.markdown(f"- {plain(wish)}")
        given = ", ".join(f"{name} = {value:g}" for name, value in chosen.parameters.items())
        st.markdown(
            f"**ε = {chosen.epsilon:g}** by {plain(title_of(chosen.name))}"
            + (f", {plain(given)}" if given else "")
        )
        st.button(
            "Choose by hand",
            key=f"{prefix}.planned.drop",
            icon=":material/undo:",
            on_click=lambda: st.session_state.pop(f"{prefix}.planned", None),
        )
        return chosen
    with st.expander(TITLE, icon=":material/target:"):
        _sentences(
            prefix, domain, max_per_unit, MAX_EPSILON if left is None else min(MAX_EPSILON, left)
        )
    return None


@fragment
def _sentences(prefix: str, domain: Domain, max_per_unit: int, at_most: float) -> None:
    """Show the sentences, and below them the ε that they need, updated on every change."""
    wishes, records = _wish_inputs(prefix, domain)
    if not wishes:
        st.caption("Tick a sentence, and fill in its numbers.")
        return

    def make() -> Plan | str:
        """Return the plan, or a one-line reason why it is impossible.

        It must yield a map: counting only the whole area would cost less, but show no map.
        """
        how: dict[str, Any] = {"records": records, "max_per_unit": max_per_unit}
        with st.spinner("Trying methods on synthetic records …"):
            try:  # one search only, so that ε follows the input quickly
                return plan(domain, wishes, at_most=at_most, as_map=True, **how)
            except DpvizError as error:
                return str(error)

    asked = (domain, wishes, records, max_per_unit, at_most)
    planned = cached(f"{prefix}.plan", asked, make)
    if isinstance(planned, str):
        st.error(plain(planned), icon=":material/error:")
    else:
        _show_plan(prefix, (domain, max_per_unit), planned)


def _wish_inputs(prefix: str, domain: Domain) -> tuple[tuple[str, ...], int]:
    """Ask for optional accuracy targets, and a guess of the number of records."""
    square = st.checkbox("Any square …", key=f"{prefix}.wish.square")
    first, second, third = st.columns(3)
    size = first.number_input(
        "… of km²", 0.01, 1e6, 1.0, key=f"{prefix}.wish.size", disabled=not square
    )
    about = second.number_input(
        "… of about",
        0,
        10**9,
        0,
        key=f"{prefix}.wish.about",
        disabled=not square,
        help="Public guess of the records in such a square; 0: unknown.",
    )
    near = third.number_input(
        "… is within ±", 1, 10**9, 200, key=f"{prefix}.wish.near", disabled=not square
    )
    whole = st.checkbox("The whole area …", key=f"{prefix}.wish.whole")
    total = st.number_input(
        "… is within ±", 1, 10**9, 1_000, key=f"{prefix}.wish.total", disabled=not whole
    )
    confidence = st.number_input(
        "Minimum probability of each, in %", 50.0, 99.9, 95.0, key=f"{prefix}.wish.sure"
    )
    records = st.number_input(
        "Your guess: how many records?",
        100,
        100_000_000,
        DEFAULT_RECORDS,
        step=10_000,
        key=f"{prefix}.wish.records",
        help="A round number from public knowledge, NOT read from the file: the plan is tried on "
        "a made-up city of so many records.",
    )
    sure = confidence / 100
    wishes = [str(Wish(square=size, about=about, absolute=near, confidence=sure))] if square else []
    if whole:
        wishes.append(str(Wish(rect=domain.bounds, absolute=total, confidence=sure)))
    return tuple(wishes), int(records)


def _show_plan(prefix: str, frame: Any, planned: Plan) -> None:
    st.markdown(f"**ε = {planned.epsilon:g}** by {plain(title_of(planned.method))}")
    for each in planned.wishes:
        st.markdown(f"- {plain(each.wish)}: holds with {percent(each.probability)}")
    st.caption(plain(" ".join(planned.assumed)))
    if st.button("Use this", key=f"{prefix}.plan.take", icon=":material/check:"):
        wishes = tuple(each.wish for each in planned.wishes)
        choice = Choice(planned.method, dict(planned.parameters), planned.epsilon, wishes)
        st.session_state[f"{prefix}.planned"] = choice
        st.session_state[f"{prefix}.planned.frame"] = frame
        st.rerun()
