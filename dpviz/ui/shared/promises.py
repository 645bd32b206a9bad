"""What a release promises, and how likely that holds. From the release alone."""

from __future__ import annotations

import streamlit as st

from dpviz.releases.areas.release import AreaRelease
from dpviz.releases.points.promises import promises
from dpviz.releases.points.release import PointRelease
from dpviz.ui.shared.text import plain


def show_promises(release: PointRelease | AreaRelease) -> None:
    """The promises of the header, each with its probability; nothing where there are none."""
    if likely := promises(release):
        st.markdown("**What it promises, and how likely that holds, from the release alone**")
        st.markdown("\n".join(f"- {plain(str(each))}" for each in likely))
