"""Publish: one release of sensitive records, priced before it is paid for, with its receipt."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.build import Account, Ledger, build
from dpviz.errors import DpvizError
from dpviz.progress import Progress
from dpviz.releases.points.release import PointRelease
from dpviz.render import Scene
from dpviz.render.cells import domain_bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import answer_panel, rectangle_form
from dpviz.ui.points.domain_map import choose_domain, show_domain
from dpviz.ui.points.downloads import download_buttons, table_of_cells
from dpviz.ui.points.expectation import expectation_panel
from dpviz.ui.points.source_form import UPLOAD, Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import in_words, paid_build
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.prices import price_list
from dpviz.ui.shared.share import share_panel
from dpviz.ui.shared.text import badge, plain

TITLE, ICON, ORDER = "Publish", ":material/lock:", 3
KEY = "publish"
MAP = f"{KEY}.map"


@dataclass(frozen=True)
class Made:
    """A release that was paid for, and the picture of it; kept until its frame changes."""

    key: str
    release: PointRelease
    scene: Scene


def page() -> None:
    """The page."""
    with st.sidebar:
        source = source_form(KEY, 2, permalink.parameter("data") or UPLOAD, owner=True)
        choice = None
        if source is not None:
            st.divider()
            choice = method_form(KEY, 2, public=False, saved={})
            purpose = st.text_input(
                "What for (a note in the ledger)", key=f"{KEY}.purpose", max_chars=200
            )
    if source is None or choice is None:
        _steps()
        choose_domain(KEY)
        return
    try:
        made = _made(source, choice, purpose)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if made is None:
        _before(source, choice)
    else:
        _after(made, source)


def _steps() -> None:
    st.markdown(
        "1. Choose the records, their **public rectangle** and the **privacy unit**.\n"
        "2. Choose a method and ε. What to expect is shown **before** you pay.\n"
        "3. Set the data set's total once, and pay. You receive the release, a receipt, a picture."
    )
    st.caption(
        "Nothing is shown of the records but the release: no count, no preview, no bounds. What is "
        "written in the release and in the receipt may be seen by anyone."
    )


def _made(source: Source, choice: Choice, purpose: str) -> Made | None:
    """One release per press of the button; it stays until the records or their frame change."""

    def make(ledger: Ledger, progress: Progress) -> PointRelease:
        return build(
            source.handle,
            choice.name,
            choice.epsilon,
            ledger=ledger,
            purpose=purpose or "page Publish",
            progress=progress,
            **choice.parameters,
        )

    made = paid_build(KEY, source.handle.name, choice.epsilon, make, subject=source.key)
    if made is not None:
        scene = release_scene([made])
        st.session_state[f"{KEY}.made"] = Made(source.key, made, scene)
        st.session_state[f"{KEY}.rect"] = None
    kept: Made | None = st.session_state.get(f"{KEY}.made")
    return kept if kept is not None and kept.key == source.key else None


def _before(source: Source, choice: Choice) -> None:
    """Frame and account on the left, expectations on the right."""
    handle = source.handle
    left, right = st.columns([5, 5], gap="large")
    with left:
        st.markdown(f"**The account of “{plain(handle.name)}”**")
        _account(Ledger().account(handle.name))
        st.markdown("**The guarantee you are about to give**")
        st.markdown(
            f"Whoever sees the release can hardly tell whether {plain(handle.unit)} was in the "
            f"data: the odds of any conclusion change by a factor of at most e^ε = "
            f"{_factor(choice.epsilon)}."
        )
        show_domain(KEY, source, height=340)
        st.caption("The public rectangle. Records outside are left out, and not counted anywhere.")
    with right:
        expectation_panel(KEY, handle.domain, choice, handle.max_per_unit)


def _factor(epsilon: float) -> str:
    return f"{math.exp(epsilon):,.3g}"


def _account(account: Account) -> None:
    """What is left; or the form that sets the total, once and for ever."""
    if account.total is not None:
        share = min(1.0, account.spent / account.total) if account.total else 1.0
        st.progress(share, in_words(account))
    else:
        st.caption(in_words(account))
        with st.form(f"{KEY}.total", border=True):
            total = st.number_input(
                "Total ε for this data set, for ever",
                0.01,
                100.0,
                max(1.0, account.spent),
                key=f"{KEY}.total.value",
                help="Every release of these people's records adds up. Decide before the first.",
            )
            sure = st.checkbox("I know that the total cannot be changed", key=f"{KEY}.total.sure")
            if st.form_submit_button("Set the total", icon=":material/savings:"):
                if not sure:
                    st.warning("Tick the box: a total is set once.", icon=":material/warning:")
                else:
                    _set_total(account.dataset, float(total))
    _spends(account)


def _set_total(dataset: str, total: float) -> None:
    """Another tab may have set it, or spent, since this form was shown."""
    try:
        Ledger().set_total(dataset, total)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
    else:
        st.rerun()


def _spends(account: Account) -> None:
    if account.spends:
        with st.expander("What was spent", icon=":material/receipt_long:"):
            st.dataframe(
                [
                    {
                        "when": row.at,
                        "ε": row.epsilon,
                        "what": row.what,
                        "purpose": row.purpose,
                        "outcome": row.outcome,
                    }
                    for row in account.spends
                ],
                hide_index=True,
                width="stretch",
            )


def _after(made: Made, source: Source) -> None:
    """The release: map, answers, receipt, files."""
    release = made.release
    st.success(
        "Published. The ledger holds the price; the records stay here.",
        icon=":material/check_circle:",
    )
    st.markdown(badge(release.header))
    _map_and_answer(made, source)
    receipt = receipt_of(release)
    first, second = st.columns(2, gap="large")
    with first:
        st.markdown("**Take it with you**")
        download_buttons(KEY, release)
        st.download_button(
            "Receipt (JSON)",
            json.dumps(receipt, indent=2, ensure_ascii=False),
            "receipt.json",
            "application/json",
            key=f"{KEY}.receipt",
            on_click="ignore",
            icon=":material/receipt:",
        )
    with second:
        st.markdown("**Where ε went**")
        price_list(release.header)
    share_panel(KEY, MAP, [release])
    with st.expander("The map as a table", icon=":material/table:"):
        table_of_cells(release)
    if st.button("Plan another release", icon=":material/undo:", key=f"{KEY}.again"):
        del st.session_state[f"{KEY}.made"]
        st.rerun()


def receipt_of(release: PointRelease) -> dict[str, Any]:
    """What was paid, for what, by which theorem: public like the release itself."""
    header = release.header
    return {
        "release_id": header.extra.get("release_id"),
        "data_set": header.source,
        "guarantee": header.guarantee,
        "epsilon": header.epsilon,
        "delta": header.delta,
        "neighbouring": header.neighbouring,
        "unit": header.unit,
        "method": header.method,
        "parameters": header.parameters,
        "prices": list(header.budget),
        "bounds": list(release.domain.bounds),
        "crs": release.domain.crs,
    }


@st.fragment
def _map_and_answer(made: Made, source: Source) -> None:
    """The map and its answer: drawing reruns this part only."""
    rect = st.session_state.get(f"{KEY}.rect")
    left, right = st.columns([7, 3], gap="medium")
    with left:
        map_view(made.scene, key=MAP, height=480, on_shape=_drawn)
    with right:
        marks = answer_panel(KEY, made.release, source, rect)
        typed = rectangle_form(KEY, rect, domain_bounds(made.release.domain))
    map_overlay(MAP, marks=marks, shape=Shape(rect=rect) if rect else None)
    if typed is not None:
        st.session_state[f"{KEY}.rect"] = typed
        st.rerun(scope="fragment")


def _drawn() -> None:
    shape = events(MAP).shape
    st.session_state[f"{KEY}.rect"] = shape.rect if shape else None
