"""What must hold, in sentences to fill in, and the least ε for it. No record is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.planning.search import LEAST, MOST, Plan, plan
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.text import plain
from dpviz.wishes import Wish

GUESS = 100_000


@dataclass(frozen=True)
class Asked:
    """What a plan is for: it serves as long as none of it changes."""

    domain: Domain
    wishes: tuple[str, ...]
    records: int
    max_per_unit: int


def wish_panel(prefix: str, domain: Domain, max_per_unit: int, left: float | None) -> Choice | None:
    """The choice of a plan that the visitor took; None where they choose by themselves.

    Args:
        prefix: of the page.
        domain: public.
        max_per_unit: most records of one privacy unit.
        left: of the lifetime budget; None where none is set.
    """
    if domain.dims != 2 or (left is not None and left < LEAST):
        return None
    chosen: Choice | None = st.session_state.get(f"{prefix}.planned")
    frame = (domain, max_per_unit)
    if chosen is not None and st.session_state.get(f"{prefix}.planned.frame") == frame:
        st.markdown("### What was promised")
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
    with st.expander("Say what must hold, get the ε", icon=":material/target:"):
        asked = _form(prefix, domain, max_per_unit)
        if asked is not None:
            _search(prefix, asked, MOST if left is None else min(MOST, left))
        planned = st.session_state.get(f"{prefix}.plan")
        if planned is not None:
            _offer(prefix, frame, planned)
    return None


def _form(prefix: str, domain: Domain, max_per_unit: int) -> Asked | None:
    """The sentences; None until they are sent."""
    with st.form(f"{prefix}.wishes", border=False):
        square = st.checkbox("Any square …", value=True, key=f"{prefix}.wish.square")
        first, second = st.columns(2)
        size = first.number_input("… of km²", 0.01, 1e6, 1.0, key=f"{prefix}.wish.size")
        near = second.number_input("… is within ±", 1, 10**9, 200, key=f"{prefix}.wish.near")
        whole = st.checkbox("The whole area …", key=f"{prefix}.wish.whole")
        total = st.number_input("… is within ±", 1, 10**9, 1_000, key=f"{prefix}.wish.total")
        confidence = st.number_input(
            "Each with a probability of at least, in %", 50.0, 99.9, 95.0, key=f"{prefix}.wish.sure"
        )
        records = st.number_input(
            "Roughly how many records? (your guess)",
            100,
            100_000_000,
            GUESS,
            step=10_000,
            key=f"{prefix}.wish.records",
            help="Type what everybody may know, a round number. It is NOT read from the file.",
        )
        sent = st.form_submit_button("Find the least ε", icon=":material/search:")
    sure = confidence / 100
    wishes = [str(Wish(square=size, absolute=near, confidence=sure))] if square else []
    if whole:
        wishes.append(str(Wish(rect=domain.bounds, absolute=total, confidence=sure)))
    if not sent:
        return None
    if not wishes:
        st.warning("Tick at least one sentence.", icon=":material/warning:")
        return None
    return Asked(domain, tuple(wishes), int(records), max_per_unit)


def _search(prefix: str, asked: Asked, at_most: float) -> None:
    """Plan, and remember the plan; what is impossible is one line with what would be possible."""
    st.session_state.pop(f"{prefix}.plan", None)
    bar = st.progress(0.0, "Trying methods on a synthetic proxy …")

    def report(fraction: float, _what: str) -> None:
        bar.progress(fraction, "Trying methods on a synthetic proxy …")  # a stop ends it here

    try:
        planned = plan(
            asked.domain,
            asked.wishes,
            records=asked.records,
            max_per_unit=asked.max_per_unit,
            at_most=at_most,
            progress=report,
        )
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
    else:
        st.session_state[f"{prefix}.plan"] = planned
    bar.empty()


def _offer(prefix: str, frame: Any, planned: Plan) -> None:
    st.markdown(f"**ε = {planned.epsilon:g}** by {plain(title_of(planned.method))}")
    for each in planned.wishes:
        st.markdown(f"- {plain(each.wish)}: holds with {each.probability:.0%}")
    st.caption(plain(" ".join(planned.assumed)))

    def take() -> None:
        wishes = tuple(each.wish for each in planned.wishes)
        choice = Choice(planned.method, dict(planned.parameters), planned.epsilon, wishes)
        st.session_state[f"{prefix}.planned"] = choice
        st.session_state[f"{prefix}.planned.frame"] = frame
        st.session_state.pop(f"{prefix}.plan", None)

    st.button("Take it", key=f"{prefix}.plan.take", icon=":material/check:", on_click=take)
