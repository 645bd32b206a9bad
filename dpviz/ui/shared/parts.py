"""Fragments: parts of a page that rerun alone on a click."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_fragment_run() -> bool:
    """Return whether a fragment is running, not the whole page."""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


def rerun_fragment() -> None:
    """Rerun this fragment, or the whole page if the whole page is running.

    A press in a fragment runs the whole page if another interaction has asked for that meanwhile.
    """
    st.rerun(scope="fragment" if is_fragment_run() else "app")
