"""Every day: a series as it grows, with timelines, windows and running totals."""

from __future__ import annotations

import streamlit as st

from dpviz.ui.series.view import series_accounts, show_series
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import shown_name

TITLE, ORDER = "Every day", 2
HIDDEN = True
KEY, PARAMETER = "every_day", "series"


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    asked = permalink.parameter(PARAMETER)
    offered = series_accounts(asked)
    if asked not in offered:
        permalink.refused("the series", asked)
    if not offered:
        st.info("No series yet: set one up on page Publish, in its last step.")
        return
    key = f"{KEY}.account"
    account = st.selectbox("Series", offered, format_func=shown_name, key=key, width=320)
    show_series(KEY, account)
    permalink.write_address(KEY, (), {PARAMETER: account})
