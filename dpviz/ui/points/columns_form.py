"""Form for the columns of a file that hold the place and time of a record."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

import streamlit as st

from dpviz.domain import Domain
from dpviz.domain.calendar import fixed_step, moment, step_words
from dpviz.domain.crs import known_crs
from dpviz.domain.cycles import CYCLES
from dpviz.domain.zones import offsets
from dpviz.errors import DataError, DomainError
from dpviz.private.load.names import coordinate_candidates
from dpviz.private.load.notation import DATES, Notation
from dpviz.private.load.survey import time_forms
from dpviz.private.load.tables.formats import may_hold_places
from dpviz.private.load.tally import Fact
from dpviz.ui.shared import permalink
from dpviz.ui.shared.panels import optional_panel, refuse
from dpviz.ui.shared.preflight import show_times
from dpviz.ui.shared.text import quoted
from dpviz.ui.shared.upload_form import Upload
from dpviz.ui.shared.uploads import upload_columns

AXES_LABELS = {
    2: ("Longitude / x", "Latitude / y"),
    4: ("Pickup longitude", "Pickup latitude", "Drop-off longitude", "Drop-off latitude"),
}


def columns_form(upload: Upload, dims: int) -> tuple[dict[str, Any], list[str]] | None:
    """Ask which columns of a file or table hold the coordinates, and in which notation.

    Returns:
        Arguments of a reader: the table, the CRS of plain columns, the chosen columns (None:
        the geometry of the file) and their notation; and the names of all columns. None while
        the visitor must still choose a column that its name does not identify.

    Raises:
        DataError: fewer columns than coordinates, or the same decimal and thousands mark.
    """
    prefix, file_id = upload.prefix, upload.key
    columns = upload_columns(upload.path, upload.table)
    names = [column.name for column in columns]
    crs = st.text_input(
        "CRS of the coordinates",
        "EPSG:4326",
        key=f"{prefix}.crs",
        help="CRS of plain coordinate columns. A file with geometry states its own.",
    )
    known_crs(crs)
    pairs = coordinate_candidates(columns, Domain((0,) * dims, (1,) * dims, crs=crs))
    guess = pairs[0] if len(pairs) == 1 else None
    if len(pairs) > 1:
        guess = st.selectbox(
            "Coordinates",
            pairs,
            index=None,
            format_func=", ".join,
            placeholder="Several may be meant: choose",
            key=f"{prefix}.pair.{file_id}",
        )
        file_id += "".join(guess or ())
    geometry = "(geometry of the file)"
    placed = dims == 2 and may_hold_places(upload.path)
    options = [geometry, *names] if placed else names
    if len(options) < dims and not placed:
        number = f"{len(options) or 'no'} column{'' if len(options) == 1 else 's'}"
        raise DataError(
            f"the file has {number}: give a header row that names {dims} coordinates, then one "
            "record per row"
        )
    place = {name: row for row, name in enumerate(options)}
    # If no column name suggests a coordinate, preselect none: a default could be an age.
    start: list[int] | list[None] = [0] * dims if placed else [None] * dims
    if guess:
        start = [place[name] for name in guess]
    sides = st.columns(2)
    picked = [
        sides[axis % 2].selectbox(
            label,
            options,
            index=start[axis],
            placeholder="Choose a column",
            key=f"{prefix}.{axis}.{file_id}",
        )
        for axis, label in enumerate(AXES_LABELS[dims])
    ]
    if geometry in picked:
        return {"table": upload.table, "crs": crs, "columns": None}, names
    chosen = tuple(name for name in picked if name is not None)
    if len(chosen) < dims:
        if pairs or dims != 2:
            refuse("Choose the columns of the coordinates.", "rule")
        else:
            st.warning(
                f"No column of this file ({quoted(names[:6])}) is named like a coordinate. Choose "
                "the columns of the coordinates, which hold numbers, or a file with places.",
                icon=":material/wrong_location:",
            )
        return None
    forms = _number_marks(prefix)
    if dims == 2 and len({*chosen}) == 1:
        order = st.segmented_control(
            "Order of the coordinates in this column", ("lat,lon", "lon,lat"), key=f"{prefix}.order"
        )
        if order is None:
            refuse("Choose the order of the coordinates.", "rule")
            return None
        chosen, forms["order"] = chosen[:1], order
    Notation(**forms)
    return {"table": upload.table, "crs": crs, "columns": chosen, **forms}, names


def _number_marks(prefix: str) -> dict[str, Any]:
    """Ask for the decimal and thousands marks of numbers in text, if not the defaults."""
    with st.expander("How numbers are written (optional)", icon=":material/pin:"):
        st.caption("For numbers written as text: one with another mark is left out.")
        marks = {
            "decimal": st.segmented_control(
                "Decimal mark",
                (".", ","),
                key=f"{prefix}.decimal",
                help="Default: a point; in files separated by semicolons, a point or a comma.",
            ),
            "thousands": st.segmented_control(
                "Thousands separator",
                (",", ".", " ", "'"),
                format_func=lambda mark: "space" if mark == " " else mark,
                key=f"{prefix}.thousands",
            ),
        }
    return {name: mark for name, mark in marks.items() if mark is not None}


TIME_FORMATS = {
    "iso": "year first (ISO 8601): 2024-03-31 22:00",
    "us": "month first: 03/31/2024 10:00 PM, or 22:00",
    "eu": "day first: 31/03/2024 22:00, or 10:00 PM",
    "seconds": "Unix time: seconds since 1970",
    "milliseconds": "Unix time: milliseconds since 1970",
    "excel": "Excel: days since 1899-12-30",
}

TIME_FIELDS = (
    permalink.column_field("time_column", "time.column"),
    permalink.column_field("time_format", "time.format"),
    permalink.text_field("start", "from"),
    permalink.text_field("end", "to"),
    permalink.Field("time_step", permalink.parameter, key="every"),
    permalink.text_field("zone"),
    permalink.Field("cycle", permalink.parameter),
)
"""Choices about the time in the address of a page."""

WRITTEN = "write the year first, such as 2024-01-31"
"""Remedy for a date that cannot be read."""


def time_format_form(upload: Upload, column: str) -> dict[str, str] | None:
    """Ask for the format of times, if it is not ISO 8601; None if no time can be read by it."""
    prefix, field = upload.prefix, f"{upload.prefix}.written.{upload.key}"
    remembered = f"{prefix}.time.format"
    if remembered in st.session_state:
        st.session_state.setdefault(field, st.session_state[remembered])
    form = st.selectbox(
        "Times are written as",
        list(TIME_FORMATS),
        index=None,
        format_func=lambda form: TIME_FORMATS.get(form, form),
        placeholder="ISO 8601, or as the column declares",
        accept_new_options=True,
        key=field,
        help="Choose a format, or type a strptime pattern such as %d.%m.%Y %H:%M.",
    )
    st.session_state[remembered] = form
    given = {} if form is None else {"time_format": str(form)}
    asked = (upload.key, column, form)
    read = partial(time_forms, upload.path, column, table=upload.table, **given)
    shown = show_times(prefix, field, TIME_FORMATS, asked, read)
    return given if shown else None


def time_choice(upload: Upload, names: list[str]) -> dict[str, Any]:
    """Column and format of the time in the form below this place; empty while none is chosen."""
    state, prefix, file_id = st.session_state, upload.prefix, upload.key
    column = state.get(f"{prefix}.time.{file_id}", state.get(f"{prefix}.time.column"))
    form = state.get(f"{prefix}.written.{file_id}", state.get(f"{prefix}.time.format"))
    if column not in names:
        return {}
    return {"time": str(column)} | ({} if form is None else {"time_format": str(form)})


POINT_STEPS = ["1h", "15min", "1d"]
"""Time steps to which times may be moved, the one that suits most tables first."""

TRIP_STEPS = ["1h", "6h", "1d", "1w"]
"""Time steps offered for trips; a trip is counted in the step of its start."""


def period_form(
    upload: Upload,
    names: list[str],
    losses: dict[Fact, Any] | None = None,
    *,
    trips: bool = False,
) -> dict[str, Any] | None:
    """The column of the time and its public period; none, or None while it is missing.

    ``trips`` are counted in steps, points in cells. ``losses`` takes the container below the
    period, for its check.
    """
    prefix, field = upload.prefix, f"{upload.prefix}.time.{upload.key}"
    ends = filter(None, (st.session_state.get(f"{prefix}.{end}") for end in ("from", "to")))
    known = time_choice(upload, names).get("time")
    with optional_panel("Time", field, ":material/schedule:", known, " to ".join(ends)):
        remembered = f"{prefix}.time.column"
        permalink.set_column(field, remembered, names)
        column = st.selectbox(
            "Column of the time",
            names,
            index=None,
            placeholder="None: all the time" if trips else "None: places only",
            key=field,
            help="Times that state no time zone are read in the zone below.",
        )
        st.session_state[remembered] = column
        if column is None:
            return {}
        form = time_format_form(upload, str(column))
        st.caption(
            "The period is PUBLIC: choose it from what everybody knows (the year, the quarter), "
            "never from the records. Records outside it, or at its very end, are dropped."
        )
        first, last = st.columns(2)
        dates = {"read": partial(year_first, (form or {}).get("time_format"))}
        with first:
            start = _checked_field("From", f"{prefix}.from", "2024-01-01", moment, WRITTEN, **dates)
        with last:
            end = _checked_field("To", f"{prefix}.to", "2025-01-01", moment, WRITTEN, **dates)
        if start and end and moment(end) <= moment(start):
            refuse(f"The period from {start} to {end} is empty: To must be after From.")
            end = None
        steps = TRIP_STEPS if trips else sorted(POINT_STEPS, key=fixed_step)
        _set_offered(f"{prefix}.every", steps, "1d" if trips else None)
        every = st.segmented_control(
            "Count in steps of" if trips else "Round times to",
            steps,
            format_func=step_words,
            required=trips,
            key=f"{prefix}.every",
        )
        zone = _checked_field(
            "Time zone of times that state none", f"{prefix}.zone", "UTC", offsets,
            "give a zone such as America/Chicago, or UTC",
            help="Hours that the clock change doubles or skips are read as standard time.",
        )  # fmt: skip
        _set_offered(f"{prefix}.cycle", CYCLES, None)
        cycle = st.segmented_control(
            "Instead of dates, count by hour of the", list(CYCLES), key=f"{prefix}.cycle"
        )
    if start == "" or end == "":
        refuse("Give the period: fill in From and To.", "schedule")
    if not start or not end or form is None or zone is None:
        return None
    if losses is not None:
        losses[Fact.OUTSIDE_PERIOD] = st.container()
    further = {"every": every, "zone": zone or None, "cycle": cycle}
    given = {name: str(value) for name, value in further.items() if value is not None}
    return {"time": str(column), "period": (start, end), **given, **form}


def year_first(time_format: str | None, text: str) -> str:
    """A date in ISO 8601, if the format of the file's times says how it is written.

    >>> year_first("us", "1/31/2024 08:00"), year_first("eu", "31/1/2024")
    ('2024-01-31 08:00', '2024-01-31')
    """
    day, *clock = text.split(" ", 1)
    with suppress(KeyError, ValueError):
        day = datetime.strptime(day, DATES[time_format or ""]).date().isoformat()
    return " ".join([day, *clock])


def _checked_field(
    label: str,
    key: str,
    example: str,
    check: Callable[[str], object],
    remedy: str,
    read: Callable[[str], str] = str,
    **look: Any,
) -> str | None:
    """Ask for a text, as ``read`` writes it; None, with the reason, if the check refuses it."""
    st.session_state.setdefault(key, "")
    text = read(str(st.text_input(label, key=key, placeholder=example, **look)).strip())
    try:
        _ = text and check(text)
    except DomainError:
        refuse(f"“{text}” cannot be read: {remedy}.")
        return None
    return text


def _set_offered(place: str, offered: Collection[str], start: str | None) -> None:
    """Set a selector's value before it is drawn; one that is not on offer becomes ``start``."""
    st.session_state.setdefault(place, start)
    if st.session_state[place] not in offered:
        st.session_state[place] = start
