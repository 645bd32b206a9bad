"""Release: one published map to read, as its owner shares it, without editing controls."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.exports import release_page
from dpviz.ui.shared import permalink
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.text import sentence

TITLE, ORDER = "Release", 90
HIDDEN = True


def page() -> None:
    """The page."""
    try:
        html = _html(permalink.parameter("id") or "", Shelf())
    except DpvizError as error:
        st.error(sentence(error), icon=":material/link_off:")
        return
    with st.container(key="dpviz-release"):
        st.iframe(html, height=600)  # as high as the window, by the style sheet


def _html(identity: str, shelf: Shelf) -> str:
    """Page of a stored release or series, which is the file that its owner may download.

    Raises:
        DpvizError: no release with this id, or one without a page.
    """
    return _made(identity, str(shelf.folder), shelf.version(shelf.find(identity)))


@st.cache_resource(max_entries=32, show_spinner="Drawing the map …")
def _made(identity: str, folder: str, version: str) -> str:
    """Page of a release, or of a series with the days that it has in this version."""
    del version  # part of the key
    stored, release = Shelf(folder).open(identity)
    return release_page(release, replace(stored.presentation, published=stored.at[:10]))
