"""Publish: one release of confidential records in four steps, paid for once, with its receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.build import Ledger, build
from dpviz.errors import DpvizError
from dpviz.releases.points.release import PointRelease
from dpviz.ui.points.domain_map import choose_domain, show_domain
from dpviz.ui.points.expectation import expectation_panel
from dpviz.ui.points.map_answer import map_and_answer
from dpviz.ui.points.publication import account_form, command, review, take_home
from dpviz.ui.points.source_form import UPLOAD, Source, source_form
from dpviz.ui.points.wishes import wish_panel
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import paid_build
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.releases import visitor, your_releases
from dpviz.ui.shared.shelf import keeping
from dpviz.ui.shared.skeleton import not_kept
from dpviz.ui.shared.steps import next_step, steps
from dpviz.ui.shared.text import badge, plain

TITLE, ICON, ORDER = "Publish", ":material/lock:", 2
KEY = "publish"
STEPS = ("Data", "Area", "Budget", "Publish")


@dataclass(frozen=True)
class Made:
    """A release that was paid for; kept until its records or their frame change."""

    key: str
    release: PointRelease
    command: str
    problem: str


def page() -> None:
    """The page."""
    at, head, (data, area, budget, last) = steps(KEY, STEPS)
    with data:
        left, right = st.columns([5, 4], gap="large")
        with left:
            form = area.columns([4, 6], gap="large")
            source = source_form(
                KEY, 2, permalink.parameter("data") or UPLOAD, owner=True, pane=form[0]
            )
            uploaded = st.session_state.get(f"{KEY}.data") != UPLOAD or bool(
                st.session_state.get(f"{KEY}.file")
            )
            next_step(KEY, 0, ready=uploaded)
        with right:
            your_releases(KEY)
    with area:
        with form[1]:
            if at == 1 and (source is None or source.name is None):
                choose_domain(KEY, height=460)
            elif at == 1 and source is not None:
                st.caption("The area of a built-in city is fixed.")
                show_domain(KEY, source, height=460)
        next_step(KEY, 1, ready=source is not None)
    with budget:
        choice = None if source is None else _budget(source)
        next_step(KEY, 2, ready=choice is not None)
    with last:
        if source is None or choice is None:
            st.info("Choose data and area first.", icon=":material/arrow_back:")
        else:
            _publish(source, choice, shown=at == 3)
    head(uploaded, source is not None, choice is not None and at == 3, _made(source) is not None)


def _budget(source: Source) -> Choice:
    left, right = st.columns([4, 5], gap="large")
    domain, account = source.handle.domain, Ledger().account(source.account)
    with left:
        planned = wish_panel(KEY, domain, source.handle.max_per_unit, account.left)
        choice = planned or method_form(KEY, 2, public=False, saved={})
        account_form(KEY, account)
    with right:
        expectation_panel(KEY, domain, choice, source.handle.max_per_unit)
    return choice


def _made(source: Source | None) -> Made | None:
    made: Made | None = st.session_state.get(f"{KEY}.made")
    return made if made is not None and source is not None and made.key == source.key else None


def _publish(source: Source, choice: Choice, *, shown: bool) -> None:
    """Review and pay; then the release."""
    made = _made(source)
    if made is not None:
        _after(made, source, shown=shown)
        return
    review(source, choice)
    purpose = st.text_input("Purpose (saved in the ledger)", key=f"{KEY}.purpose", max_chars=200)
    title = st.text_input("Title in your releases", key=f"{KEY}.title", max_chars=120)
    redo = command(source, choice)

    def make(ledger: Any, progress: Any) -> tuple[PointRelease, str, str]:
        def paying() -> PointRelease:
            release: PointRelease = build(
                source.handle,
                choice.name,
                choice.epsilon,
                ledger=ledger,
                purpose=purpose or "page Publish",
                wishes=choice.wishes,
                progress=progress,
                **choice.parameters,
            )
            return release

        return *keeping(paying, owner, title)(), redo

    def store(paid: tuple[PointRelease, str, str]) -> None:
        release, problem, redone = paid
        st.session_state[f"{KEY}.rect"] = st.session_state[f"{KEY}.ring"] = None
        st.session_state[f"{KEY}.made"] = Made(source.key, release, redone, problem)

    owner = visitor()
    try:
        paid = paid_build(
            KEY,
            source.account,
            choice.epsilon,
            make,
            subject=source.key,
            store=store,
            pane=st.container(),
        )
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if paid is not None:
        st.rerun()


def _after(made: Made, source: Source, *, shown: bool) -> None:
    """The release: map, answers, receipt, files."""
    not_kept(made.problem)
    st.success(
        "Published, and kept in your releases. Budget recorded; your records never left this "
        "server."
        if not made.problem
        else "Published. Budget recorded; your records never left this server.",
        icon=":material/check_circle:",
    )
    st.markdown(badge(made.release.header))
    if shown:
        map_and_answer(KEY, made.release, source)
    take_home(KEY, made.release, made.command)
    if st.button("Publish again", icon=":material/undo:", key=f"{KEY}.again"):
        del st.session_state[f"{KEY}.made"]
        st.session_state[f"{KEY}.step"] = 2
        st.rerun()
