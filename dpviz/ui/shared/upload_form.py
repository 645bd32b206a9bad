"""Form for a file upload, public or confidential; exact facts are for its owner only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dpviz.private.load.tally import Tally
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import charge_visitor
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown
from dpviz.ui.shared.preflight import preflight_switch, show_facts, switched_on
from dpviz.ui.shared.releases import offer_release
from dpviz.ui.shared.uploads import upload_path

UPLOAD = "Your own file"
"""Title of the choice of an upload, and its word in the address."""
AGAIN = (
    "Choose your file again: an upload is kept in memory while its page is open, and is lost when "
    "the page is reloaded (F5). {} Releases that were paid for are in your releases."
)
KEPT = "Choices that the address names are kept; make the others again."
KEPT_TO_PUBLISH = (
    "Kept in the address: the area, the person's column, time, categories, method, ε and title. "
    "Choose again, where you had: the CRS, columns of coordinates, marks of numbers, values, and "
    "the name of the data set in the ledger."
)

H = TypeVar("H")
S = TypeVar("S")


def data_choice(prefix: str, label: str, titles: Mapping[str, str], start: str | None) -> str:
    """Ask for a data set by its title; begin with the first if ``start`` is not on offer."""
    options = list(titles)
    start = permalink.one_of("data", start, options, options[0])
    return str(
        st.selectbox(
            label,
            options,
            index=options.index(start),
            format_func=lambda name: titles.get(name, name),
            key=f"{prefix}.data",
        )
    )


def public_switch(prefix: str, kind: str, public: bool) -> bool:
    """Ask whether the records are public; the default is sensitive."""
    words = {"sensitive": "confidential", "public": "already public"}
    answer = st.segmented_control(
        "These records are",
        list(words),
        default=list(words)[public],
        format_func=words.__getitem__,
        required=True,
        key=f"{prefix}.public.{kind}",
        help="Confidential: secure noise, every release costs ε, no exact number is shown. "
        "Already public: exact answers and errors, any ε; nothing shown is protected.",
    )
    return bool(answer == "public")


def files_ready(prefix: str, ready: bool, words: str, kept: str = KEPT) -> bool:
    """Return ``ready``; if it is False, ask for files in these words.

    Where a page was opened at the address of an upload, as by F5, a line above the page says why
    the file is missing, and what is ``kept``: the form may be closed.
    """
    lost = f"{prefix}.files.lost"
    asked = permalink.parameter("data") == st.session_state[f"{prefix}.data"]
    if ready:
        st.session_state[lost] = False
    else:
        if st.session_state.setdefault(lost, asked):
            messages = st.session_state.get(permalink.MESSAGES, st)
            messages.info(AGAIN.format(kept), icon=":material/upload_file:")
        st.info(words, icon=":material/upload_file:")
    return ready


def upload_form(
    prefix: str,
    describe: Callable[[Path, Any, bool], S | None],
    *,
    label: str,
    help: str,  # noqa: A002 - the field's own word for it
    place: str = "file",
    owner: bool = False,
) -> S | None:
    """Draw the uploader and the form for the file; None while it is incomplete.

    Args:
        prefix: prefix of the widgets' keys.
        describe: the source, from the path, the upload, and whether its records are public.
        label: label of the uploader.
        help: help of the uploader.
        place: place of the uploader, after the prefix.
        owner: all records are confidential.
    """
    file = st.file_uploader(label, key=f"{prefix}.{place}", help=help)
    public = False if owner else public_switch(prefix, "upload", False)
    if not public:
        preflight_switch(prefix)
    kept = KEPT_TO_PUBLISH if owner else KEPT
    if not files_ready(prefix, file is not None, "Choose a file to begin.", kept):
        return None
    path = upload_path(f"{prefix}.{place}", file)
    with ErrorsShown(path.name):
        return None if offer_release(prefix, path, file) else describe(path, file, public)
    return None


def read_cached(
    prefix: str, key: str, read: Callable[[], H], check: Callable[[H], Tally] | None = None
) -> H:
    """Handle of a file, read again only if the file or an option changes.

    Args:
        prefix: prefix of the widgets' keys.
        key: says all that the reading depends on.
        read: gives the handle.
        check: exact counts of what a handle of confidential records keeps and drops, shown to
            their owner.

    Raises:
        DataError: no confidential record is kept.
    """

    def make() -> H:
        with st.spinner("Reading the file …"):
            handle: H = charge_visitor(read())
            return handle

    handle = cached(f"{prefix}.upload", key, make)
    if check is not None and not getattr(handle, "public", False) and switched_on(prefix):
        show_facts(cached(f"{prefix}.facts", key, partial(check, handle)))
    return handle
