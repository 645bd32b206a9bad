"""Panels beside or below a map: hints, promises, tables of pictures, files."""

from __future__ import annotations

import json
import mimetypes
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.releases.points.promises import promises
from dpviz.ui.shared import permalink
from dpviz.ui.shared.text import level_title, plain, sentence


class Refusal(NamedTuple):
    """Why a form is incomplete: an error, or a question that is open still."""

    words: str
    icon: str = "error"

    @property
    def asks(self) -> bool:
        """True for an open question."""
        return self.icon != "error"


_refused: ContextVar[list[Refusal] | None] = ContextVar("refused", default=None)


@contextmanager
def refusals() -> Iterator[list[Refusal]]:
    """Collect the refusals and open questions inside, to repeat them visibly."""
    heard: list[Refusal] = []
    token = _refused.set(heard)
    try:
        yield heard
    finally:
        _refused.reset(token)


LEVEL = permalink.Field("level", permalink.parameter)


def level_control(prefix: str, levels: Sequence[str]) -> str:
    """Ask for the level of areas that the map shows, if there are several; first the finest."""
    key, remembered = f"{prefix}.level.{'|'.join(levels)}", LEVEL.place(prefix)
    permalink.set_column(key, remembered, levels)
    st.session_state.setdefault(key, levels[-1])
    if len(levels) > 1:
        st.segmented_control(
            "Level",
            levels,
            format_func=level_title,  # untrusted text from a file
            key=key,
            required=True,
            label_visibility="collapsed",
        )
    st.session_state[remembered] = st.session_state[key]
    return str(st.session_state[key])


class ErrorsShown:
    """Block whose errors become one line on the page; the code after it still runs.

    Args:
        name: ours of an upload, which its visitor knows by another.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __enter__(self) -> None:
        """Enter the block; no preparation is needed."""

    def __exit__(self, _kind: object, error: object, _trace: object) -> bool:
        if not isinstance(error, DpvizError):
            return False
        refuse(str(error).replace(self._name, "the file") if self._name else str(error))
        return True


def refuse(words: str, icon: str = "error") -> None:
    """Show a refusal here, or an open question by its icon, and report it to :func:`refusals`."""
    refusal, refused = Refusal(words, icon), _refused.get()
    if refused is not None:
        refused.append(refusal)
    show_refusals(refusal)


def show_refusals(*refused: Refusal) -> None:
    """Show one line for each refusal: red, unless it is an open question."""
    for each in refused:
        box = st.info if each.asks else st.error
        words = each.words if each.asks else sentence(each.words)
        box(words, icon=f":material/{each.icon}:")


def missing_words(refused: Sequence[Refusal], otherwise: str) -> str:
    """Words beside a button that is off: the last refusal, in one line."""
    return sentence(refused[-1].words) if refused else otherwise


def file_button(
    label: str,
    make: Callable[[], str | bytes],
    name: str,
    key: str,
    icon: str = "download",
    **look: Any,
) -> None:
    """Download button of one file, which is made on click.

    A file made beforehand would be fetched by the browser at every run, and be missing if the next
    run came first.
    """
    st.download_button(
        label,
        make,
        name,
        mimetypes.guess_type(name)[0] or "application/octet-stream",
        key=key,
        on_click="ignore",
        icon=f":material/{icon}:",
        **look,
    )


def table_panel(title: str, rows: Any, **look: Any) -> None:
    """Show the content of a map or chart as a table, for those who cannot see it."""
    with st.expander(title, icon=":material/table:"):
        st.dataframe(rows, hide_index=True, **look)


def worded_numbers(*columns: str) -> dict[str, Any]:
    """Column configuration for numbers in words, such as 10 ± 2: right-aligned."""
    return {name: st.column_config.TextColumn(alignment="right") for name in columns}


def sortable(*columns: str, form: str = "%,f") -> dict[str, Any]:
    """Column configuration for rounded numbers, so that a reader may sort by them.

    As text they would sort by their first characters, 99 above 1,000.
    """
    return {name: st.column_config.NumberColumn(format=form) for name in columns}


def rows_in_words(shown: int, whole: int, what: str, order: str) -> str:
    """Sentence on how many of a release's rows a table shows.

    >>> rows_in_words(500, 1234, "cells", "densest")
    '500 of 1,234 cells, densest first; the download has them all.'
    >>> rows_in_words(4, 4, "cells", "densest")
    'All cells (4), densest first.'
    """
    if shown == whole:
        return f"All {what} ({whole:,}), {order} first."
    return f"{shown:,} of {whole:,} {what}, {order} first; the download has them all."


def as_json(values: Mapping[str, Any]) -> str:
    """JSON file with indentation for human readers."""
    return json.dumps(values, indent=2, ensure_ascii=False)


def file_bytes(write: Callable[[Any, Path], object], release: Any, name: str) -> bytes:
    """Content of a file that ``write`` makes from a release."""
    with tempfile.TemporaryDirectory(prefix="dpviz-") as folder:
        path = Path(folder) / name
        write(release, path)
        return path.read_bytes()


def csv_of(table: Any) -> str:
    """Text of a pandas table as CSV, in memory."""
    return str(table.to_csv(index=False))


def hint(prefix: str, words: str, title: str = "") -> None:
    """Show a line below the title on what to do next; ``style.css`` hides it in print."""
    with st.container(key=f"{prefix}-hint"):
        if title:
            st.markdown(f"**{title}**")
        st.caption(words)


def draw_hint(prefix: str, then: str, title: str = "Draw a rectangle") -> None:
    """Hint on drawing a rectangle on a map; ``then`` says what follows."""
    hint(prefix, f"Press ▭ on the map *(or hold Shift)* and drag{then}", title)


def show_promises(release: PointRelease | AreaRelease) -> None:
    """Show the promises in the header, each with its probability; nothing without promises."""
    if likely := promises(release):
        st.markdown("**What it promises, and how likely that holds, from the release alone**")
        st.markdown("\n".join(f"- {plain(str(each))}" for each in likely))


def optional_panel(title: str, key: str, icon: str, column: str | None, more: str) -> Any:
    """Closed panel whose bar names what was chosen; Streamlit resets one whose bar changes."""
    chosen = plain(", ".join(filter(None, (column, more))))
    bar = f"{title}: {chosen}" if column else f"{title} (optional)"
    if st.session_state.setdefault(f"{key}.bar", bar) != bar:
        st.session_state[f"{key}.bar"] = ""  # who changes it has it open
    return st.expander(bar, not st.session_state[f"{key}.bar"], icon=icon)
