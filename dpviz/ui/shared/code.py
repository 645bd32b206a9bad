"""Code and notebook of a release, and the statement of what it hides."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.exports.data_use import data_use, sentences
from dpviz.planning.calls import code_of
from dpviz.planning.code import Code
from dpviz.releases.release import Release
from dpviz.ui.shared.panels import as_json, file_button
from dpviz.ui.shared.presentation import words_of
from dpviz.ui.shared.text import plain


def code_panel(prefix: str, release: Release, script: Code | None = None) -> None:
    """Show how a release was made, and offer its notebook and its data-use statement.

    Args:
        prefix: prefix of the page's keys.
        release: the release, whose header is shown.
        script: as the records' owner has it, with their file and their account; by default what
            the header knows.
    """
    for sentence in sentences(release):
        st.markdown(plain(sentence))
    try:
        script = script or code_of(release)
        codes = script.command(), script.python()
    except DpvizError as error:
        st.caption(plain(error))
    else:
        for code in codes:
            st.code(code, language=None, wrap_lines=True)  # Streamlit's colours are too pale
        again = "" if release.header.extra.get("records") else ", and spends ε again"
        st.caption(
            f"Running it builds another release with these choices{again}. A release holds no "
            f"seed and no file name: fill them in. {script.note}"
        )
        words = words_of(prefix, release)
        notebook = partial(script.notebook, words.title or "A private map", sentences(release))
        name = words.file_name(".ipynb", "release.ipynb")
        file_button("Notebook", notebook, name, f"{prefix}.notebook")
    label, statement = "Data-use statement (JSON)", partial(as_json, data_use(release))
    file_button(label, statement, "data-use.json", f"{prefix}.statement", "policy")
