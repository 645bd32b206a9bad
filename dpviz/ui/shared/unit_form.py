"""Form for the privacy unit of an upload: what the guarantee hides."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from dpviz.private.load.names import person_columns
from dpviz.ui.shared import permalink
from dpviz.ui.shared.text import plain, quoted

MAX_BOUND, DEFAULT_BOUND = 10_000, 10

UNIT_FIELDS = (
    permalink.column_field("unit", "unit.column"),
    permalink.Field(
        "bound",
        lambda name: int(permalink.number(name, permalink.parameter(name), DEFAULT_BOUND, 1,
                                          MAX_BOUND, whole=True)),
        lambda bound: None if bound == DEFAULT_BOUND else str(bound),
    ),
)  # fmt: skip
"""The privacy unit in the address of a page."""


def unit_form(
    prefix: str,
    columns: Sequence[str],
    *,
    record: str = "record",
    start: int = DEFAULT_BOUND,
    without: Collection[str | None] = (),
) -> tuple[str | None, int]:
    """Ask for the unit's column (None: each record) and the max contributions per unit.

    Args:
        prefix: prefix of the widgets' keys.
        columns: columns of the file; a person's is the one to choose.
        record: word for a record.
        start: start of the bound.
        without: chosen columns of places and times, which are not offered.
    """
    one = f"one {record}"
    columns = [name for name in columns if name not in (one, *without)]
    units = [one, *columns]
    if st.session_state.get(f"{prefix}.unit") not in units:
        st.session_state.pop(f"{prefix}.unit", None)
    permalink.set_column(f"{prefix}.unit", f"{prefix}.unit.column", units)
    unit = st.selectbox(
        "What is one person in your file?",
        units,
        format_func=lambda name: f"Each {record} is another person" if name == one else name,
        key=f"{prefix}.unit",
        help=f"If a person can have several {record}s, choose the column with the person's name "
        f"or number: only then is the person hidden, and not just each {record}. A {record} "
        "without an entry in that column is left out.",
    )
    st.session_state[f"{prefix}.unit.column"] = None if unit == one else unit
    if unit == one:
        st.caption(f"Hides each single {record}. A person with several is hidden less well.")
        if people := person_columns(columns):
            st.info(
                f"{quoted(people[:3])} may name a person: choose it if a person can have several "
                f"{record}s.",
                icon=":material/person:",
            )
        return None, 1
    st.session_state.setdefault(f"{prefix}.bound", start)
    bound = st.number_input(
        f"At most this many {record}s of each person",
        1,
        MAX_BOUND,
        key=f"{prefix}.bound",
        help=f"Of a person with more {record}s, so many are counted, chosen at random. A larger "
        "number leaves out fewer and needs more noise.",
    )
    protection_note(str(unit), int(bound), record)
    return str(unit), int(bound)


def protection_note(unit: str, bound: int, record: str) -> None:
    """Sentence on what a unit column and its bound hide."""
    many = f"up to {bound:,} {record}s of each are" if bound > 1 else f"one {record} of each is"
    st.caption(f"Hides each person named in “{plain(unit)}”: {many} counted.")
