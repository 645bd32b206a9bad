"""Parts of a page that a touch reruns alone (fragments): whether one runs, and another run."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def in_part() -> bool:
    """Return whether a fragment of the page is running, not the whole page."""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


def rerun_part() -> None:
    """Run this part again; all of the page where that runs.

    A press in a part comes with a run of the whole page if another touch asked for one meanwhile.
    """
    st.rerun(scope="fragment" if in_part() else "app")
