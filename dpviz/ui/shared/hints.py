"""What to do next on a page: on the screen only, since nobody draws on paper."""

from __future__ import annotations

import streamlit as st


def hint(prefix: str, words: str, title: str = "") -> None:
    """A line that says what to do next; ``style.css`` leaves it out of a printed page."""
    with st.container(key=f"{prefix}-hint"):
        if title:
            st.markdown(f"**{title}**")
        st.caption(words)
