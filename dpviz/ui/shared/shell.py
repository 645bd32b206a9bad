"""The app around its pages: set-up, and code that runs before each page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

from dpviz.ui.shared import log
from dpviz.ui.shared.access import access, may_see_page
from dpviz.ui.shared.navigation import is_reading, sections
from dpviz.ui.shared.permalink import messages_here
from dpviz.ui.shared.releases import open_command_line_file

WORDMARK = Path(__file__).parents[1] / "wordmark.svg"
"""The name of the app in the navigation; it leads to the first page."""


def run() -> None:
    """Show the app."""
    log.redact()
    # Before the navigation, which would load a page icon from another server.
    st.set_page_config(page_icon="🗺️", layout="wide")
    st.logo(WORDMARK)
    where: Literal["top", "hidden"] = "hidden" if is_reading() else "top"
    page = st.navigation(sections(owners=access().owner), position=where)
    st.set_page_config(page_title=f"{page.title} · dpviz")
    st.title(page.title, anchor=False)
    if not may_see_page():
        return
    messages_here()
    open_command_line_file()
    page.run()
