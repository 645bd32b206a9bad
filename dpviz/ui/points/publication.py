"""Payment for a release, which stays until the records or their public domain change."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.ui.areas.map_answer import show_areas
from dpviz.ui.points.review import code_for, review
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.points.time_answer import points_map
from dpviz.ui.shared.account import Paid, paid_release
from dpviz.ui.shared.downloads import release_panels
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import ErrorsShown, as_json, file_button, show_promises
from dpviz.ui.shared.presentation import words_of
from dpviz.ui.shared.releases import link_of
from dpviz.ui.shared.shelf import receipt_of
from dpviz.ui.shared.skeleton import build_choice, warn_unsaved
from dpviz.ui.shared.steps import step_bar
from dpviz.ui.shared.text import badge, guarantee_help, plain


def publication(prefix: str, source: PointSource | None) -> Paid | None:
    """Paid release of this source in this session; its note is the code that repeats it."""
    made: Paid | None = st.session_state.get(f"{prefix}.made")
    return made if made is not None and source is not None and made.key == source.key else None


def payment(prefix: str, source: PointSource, choice: Choice) -> None:
    """Review and pay."""
    review(source, choice)
    purpose = st.text_input("Purpose (saved in the ledger)", key=f"{prefix}.purpose", max_chars=200)

    def store(paid: Paid) -> None:
        st.session_state[f"{prefix}.rect"] = st.session_state[f"{prefix}.ring"] = None
        st.session_state[f"{prefix}.made"] = paid
        st.session_state[f"{prefix}.own"] = paid.release.header.extra["release_id"]

    with ErrorsShown():
        paid = paid_release(
            prefix,
            source,
            choice,
            build_choice,
            store,
            note=code_for(source, choice),
            purpose=purpose,
            bar=partial(step_bar, prefix, 3),
        )
        if paid is not None:
            st.rerun()


def published(prefix: str, made: Paid, source: PointSource, *, shown: bool) -> None:
    """The release: map (while its step is shown), answers, receipt, files."""
    warn_unsaved(made.problem)
    st.success(
        "Published, and kept in your releases. Budget recorded; your records never left this "
        "server."
        if not made.problem
        else "Published. Budget recorded; your records never left this server.",
        icon=":material/check_circle:",
    )
    release: PointRelease | AreaRelease = made.release
    named = words_of(prefix, release)
    words = [f"**{plain(named.title or source.title)}**", badge(release.header)]
    identity = release.header.extra.get("release_id")
    if identity and not made.problem:
        words.append(f"[Open its page to share]({link_of(identity)})")
    st.markdown(" · ".join(words), help=guarantee_help(named.noun, release))
    panels: Panels = {
        "Receipt": partial(_show_receipt, prefix, release),
        **release_panels(prefix, release, script=made.note),
    }
    if is_areas(release):
        show_areas(prefix, release, source, panels, shown=shown)
    elif shown:
        points_map(prefix, release, source, lambda *_: panels)
    st.button(
        "Publish again",
        icon=":material/undo:",
        key=f"{prefix}.again",
        on_click=_new_release,
        args=(prefix,),
    )


def _new_release(prefix: str) -> None:
    """Go back to the budget step and drop the published release; a second click is harmless."""
    st.session_state[f"{prefix}.step"] = 2
    st.session_state.pop(f"{prefix}.made", None)


def _show_receipt(prefix: str, release: PointRelease | AreaRelease) -> None:
    """Show the promises of a release, and offer its receipt."""
    show_promises(release)
    receipt = partial(as_json, receipt_of(release))
    name = words_of(prefix, release).file_name("-receipt.json", "receipt.json")
    file_button("Receipt (JSON)", receipt, name, f"{prefix}.receipt", "receipt")
