"""What reading drops of an upload, exactly: behind a press, for the owner of the records."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.build import CHECK_HEADING
from dpviz.ui.shared.text import plain


def owners_facts(prefix: str, check: Callable[[], tuple[dict[str, int], str]]) -> None:
    """A press that shows the owner what reading drops, of an upload of their own only.

    Args:
        prefix: of the widgets' keys.
        check: one of the checks of :mod:`dpviz.build`, with how the upload is read.
    """
    shown = st.button(
        "Exact facts for the owner",
        key=f"{prefix}.check",
        icon=":material/fact_check:",
        help="How many records of your file are dropped, and why: exact numbers, for the eyes of "
        "the records' owner only. They are no part of any release and must not be passed on.",
    )
    if shown:  # gone with the next touch of the page
        facts, taken = check()
        st.warning(CHECK_HEADING, icon=":material/visibility_lock:")
        st.caption(f"Read as {plain(taken)}.")
        st.table({"records": {what: f"{count:,}" for what, count in facts.items()}})
