"""Form for the attributes of a record besides its place: a kind, and a value to sum.

Both are declared: the list of kinds and the clip are public, and nothing is read from the records.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import streamlit as st

from dpviz import lists
from dpviz.domain.attributes import MAX_KINDS, OTHER
from dpviz.errors import DpvizError
from dpviz.private.load.tally import Fact
from dpviz.ui.shared import permalink
from dpviz.ui.shared.panels import optional_panel, refuse
from dpviz.ui.shared.text import plain, quoted

DROPPED, COUNTED = "Left out", f"Counted as “{OTHER}”"
MIN_SHARE, MAX_SHARE, USUAL_SHARE = 0.1, 0.9, 0.5
"""Share of epsilon for sums: slider limits and default."""


KIND_FIELDS = (
    permalink.column_field("category_column", "kinds.column"),
    permalink.text_field("categories", "kinds.names"),
    permalink.Field(
        "other",
        lambda name: COUNTED if permalink.parameter(name) else DROPPED,
        lambda chosen: "1" if chosen == COUNTED else None,
        "kinds.others",
    ),
)
"""Choices about categories in the address of a page."""


def attributes_form(
    prefix: str, names: list[str], file_id: str, losses: dict[Fact, Any] | None = None
) -> dict[str, Any] | None:
    """Ask for kinds and values, as arguments of :meth:`dpviz.Domain.from_bounds`.

    Args:
        prefix: prefix of the widgets' keys.
        names: names of the file's columns.
        file_id: file id of the upload; another file resets the form.
        losses: takes the container below the categories, for their check.

    Returns:
        Empty for places alone; None while a list or a clip is missing.
    """
    with st.container():  # keeps the panel below it open when the list is missing
        kinds = kinds_form(prefix, names, file_id, losses)
    with st.expander("Values (optional)", icon=":material/functions:"):
        values = _values(prefix, names, file_id)
    if values is None:
        refuse("Give both limits of the values: from, and to.", "rule")
    return None if kinds is None or values is None else kinds | values


def kinds_form(
    prefix: str, names: list[str], file_id: str, losses: dict[Fact, Any] | None = None
) -> dict[str, Any] | None:
    """Ask for kinds alone; arguments and result as of :func:`attributes_form`."""
    key, number, state = f"{prefix}.kinds.column.{file_id}", 0, st.session_state
    with suppress(DpvizError):
        number = len(listed_kinds(state.get(f"{prefix}.kinds.names") or ""))
    known = state.get(key, state.get(f"{prefix}.kinds.column"))
    known = known if known in names else None
    with optional_panel("Categories", key, ":material/category:", known, str(number or "")):
        kinds = _kinds(prefix, names, key)
    if kinds and losses is not None:
        losses[Fact.NO_KIND] = st.container()
    if kinds is None:
        refuse("Give the public list of categories.", "rule")
    return kinds


def _column(label: str, names: list[str], placeholder: str, key: str, words: str) -> str | None:
    """A column of the file, or none."""
    return st.selectbox(label, names, index=None, placeholder=placeholder, key=key, help=words)


def _kinds(prefix: str, names: list[str], key: str) -> dict[str, Any] | None:
    words = (
        "Publish one map per category in one release. Each map gets the whole ε, since a record "
        "has only one category."
    )
    permalink.set_column(key, f"{prefix}.kinds.column", names)
    column = _column("Column of the category", names, "None: one category", key, words)
    st.session_state[f"{prefix}.kinds.column"] = column
    if column is None:
        return {}
    st.caption(
        "The list is PUBLIC: name the categories that everybody knows may occur, spelled as in the "
        "file; never copy it from the records."
    )
    st.session_state.setdefault(f"{prefix}.kinds.names", "")
    text = st.text_area(
        f"Categories, one per line; a single line is split at commas (up to {MAX_KINDS})",
        key=f"{prefix}.kinds.names",
        placeholder="bike\nwalk\nbus",
        height=110,
    )
    kinds = listed_kinds(text)
    if kinds:
        number = "1 category" if len(kinds) == 1 else f"{len(kinds)} categories"
        st.caption(f"{number}: {quoted(kinds)}")
    st.session_state.setdefault(f"{prefix}.kinds.others", DROPPED)
    others = st.segmented_control(
        "Records of other categories",
        (DROPPED, COUNTED),
        required=True,
        key=f"{prefix}.kinds.others",
        help="Drop them, or count them as one more category. A record without one is dropped.",
    )
    if not kinds:
        return None
    rest = [OTHER] if others == COUNTED and OTHER not in kinds else []
    return {"kind": str(column), "kinds": [*kinds, *rest]}


def listed_kinds(text: str) -> list[str]:
    r"""Kinds in a text: one per line, commas allowed; a single line is read as by ``--kinds``.

    >>> listed_kinds("bike\nbus, tram"), listed_kinds('bike, "bus, tram"')
    (['bike', 'bus, tram'], ['bike', 'bus, tram'])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines if len(lines) > 1 else [word for word in lists.split_list(text, "kinds") if word]


def _values(prefix: str, names: list[str], file_id: str) -> dict[str, Any] | None:
    words = "Noisy sums and means beside the counts; ε is split between them."
    key = f"{prefix}.values.column.{file_id}"
    column = _column("Column of a value to add up", names, "None: counts only", key, words)
    if column is None:
        return {}
    st.caption(
        "Both limits are PUBLIC: choose them from general knowledge of such values. A value beyond "
        "a limit counts as that limit; a record without a value is left out. Noise grows with the "
        "larger limit."
    )
    low, high = (
        place.number_input(label, value=None, format="%g", key=f"{prefix}.values.{end}")
        for place, label, end in zip(
            st.columns(2), ("Clip from", "Clip to"), ("low", "high"), strict=True
        )
    )
    if low is None or high is None:
        return None
    return {"value": str(column), "clip": (float(low), float(high))}


def sum_share_form(prefix: str, column: str) -> float:
    """Ask for the share of epsilon that is spent on sums of values."""
    asked = permalink.parameter("sums")
    start = permalink.number("sums", asked, USUAL_SHARE, MIN_SHARE, MAX_SHARE)
    share = st.slider(
        "Share of ε for sums",
        MIN_SHARE,
        MAX_SHARE,
        start,
        0.05,
        key=f"{prefix}.sum_share",
        help=f"Part of ε for sums of {plain(column)}. The rest is for counts, which also shape the "
        "cells.",
    )
    return float(share)


def sums_link(share: float | None) -> dict[str, str | None]:
    """Address parameter of the share for sums; None for the default share."""
    return {"sums": None if share in (None, USUAL_SHARE) else f"{share:g}"}
