"""Every day: a series as it grows, with timelines, windows and running totals."""

from __future__ import annotations

import streamlit as st

from dpviz.ui.series.view import show_series
from dpviz.ui.shared import permalink
from dpviz.ui.shared.releases import PARAMETER, opened

TITLE, ORDER = "Every day", 2
HIDDEN = True
KEY = "series"


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    series = opened(KEY, ())
    if series is None:
        st.info("No series here: open one of your releases, or set one up on page Publish.")
        return
    show_series(KEY, series.key)
    permalink.write_address(KEY, (), {PARAMETER: series.key})
