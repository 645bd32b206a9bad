"""Guided first visit: one sentence about the app, and three things to try."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

TITLE = "A map for everyone, made of locations that stay private."
STEPS = (
    (":material/crop_free:", "**Draw a rectangle** on the map."),
    (":material/tune:", "**Lower ε** in the sidebar: noisier, more private."),
)
LEARN = "**Open Learn**: short chapters."


def tour(prefix: str, steps: Sequence[tuple[str, str]] = STEPS) -> None:
    """Welcome new visitors until they close it; a help button shows it again.

    A newcomer's address has no parameters; a visitor with a shared link came for its content.
    """
    key = f"{prefix}.tour"
    if not st.session_state.setdefault(key, not st.query_params.to_dict()):
        st.button(
            "What is this?",
            icon=":material/help:",
            type="tertiary",
            key=f"{key}.again",
            on_click=_show,
            args=(key, True),
        )
        return
    from dpviz.ui.pages import learn
    from dpviz.ui.shared.navigation import page_of

    with st.container(border=True, key=f"{key}.box"):
        st.markdown(f"**{TITLE}**")
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"{key}.steps"
        ):
            for icon, what in steps:
                st.markdown(f"{icon} {what}", width="content")
            if st.button(LEARN, icon=learn.ICON, type="tertiary", key=f"{key}.learn"):
                st.switch_page(page_of(learn))
            st.button(
                "Close",
                icon=":material/close:",
                type="tertiary",
                key=f"{key}.close",
                on_click=_show,
                args=(key, False),
            )


def _show(key: str, shown: bool) -> None:
    st.session_state[key] = shown
