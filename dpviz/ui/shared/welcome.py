"""First visit: what the app does, in one sentence above the demo's map, and three doors."""

from __future__ import annotations

import streamlit as st

from dpviz.ui.shared.navigation import page_named

SENTENCE = "Private locations in, a map anyone may see out."
NOISE = "Noise hides each person; a smaller ε hides better."
"""Second sentence, where it fits into the line of the first."""

DOORS = {"Ask this map": "", "Publish my data": "publish", "Learn how it works": "learn"}
"""Pages behind the doors; the first asks the map below an example."""


def welcome(prefix: str) -> None:
    """Greet a newcomer, who has no address and no release, until they choose a door."""
    key = f"{prefix}.welcome"
    if f"opened.{prefix}" in st.session_state:
        st.session_state[key] = False
    if not st.session_state.setdefault(key, not st.query_params.to_dict()):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-welcome"):
        st.markdown(f"**{SENTENCE}** *{NOISE}*", width="content")
        for label, page in DOORS.items():
            if st.button(label, key=f"{key}.{page}"):
                st.session_state[key] = False
                st.session_state[f"{prefix}.example"] = not page
                if page:
                    st.switch_page(page_named(page))
                st.rerun()
