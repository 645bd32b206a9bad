"""First visit: what the app does, in two short sentences above the demo's map, and two doors."""

from __future__ import annotations

from importlib import import_module

import streamlit as st

from dpviz.ui.shared.navigation import page_of

SENTENCE = "Private locations go in. A map anyone may see comes out."
DOORS = {"Publish my data": "publish", "Learn how it works": "learn"}
"""Pages behind the doors."""


def welcome(prefix: str) -> None:
    """Greet a newcomer, who has no address and no release, until they choose a door."""
    key = f"{prefix}.welcome"
    if f"opened.{prefix}" in st.session_state:
        st.session_state[key] = False
    if not st.session_state.setdefault(key, not st.query_params.to_dict()):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-welcome"):
        st.markdown(f"**{SENTENCE}**", width="content")
        for label, page in DOORS.items():
            if st.button(label, key=f"{key}.{page}"):
                st.session_state[key] = False
                st.switch_page(page_of(import_module(f"dpviz.ui.pages.{page}")))
        st.button(
            "Hide",
            icon=":material/close:",
            type="tertiary",
            key=f"{key}.hide",
            on_click=lambda: st.session_state.update({key: False}),
        )
