"""Pre-flight: exact facts about an upload before anything is paid, for the data owner only.

They are drawn for the visitor who uploaded the file, and enter no release, log, file or address.
A file without any usable record stops here: its owner alone learns this, and nothing is released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

import streamlit as st

from dpviz.domain.crs import known_crs
from dpviz.errors import DataError
from dpviz.private.load.forms import masks_of
from dpviz.private.load.survey import Survey, TimeForms
from dpviz.private.load.tally import REMEDIES, Fact, Tally
from dpviz.render.numbers import percent
from dpviz.ui.shared.area_form import on_map
from dpviz.ui.shared.extent_figure import extent_figure
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.text import plain, quoted

OWNER_ONLY = "For your eyes only"
"""First words of every element that holds an exact number of confidential records."""

OVER = "left out because their person has more than are counted"
"""Words for records over the bound of their person."""

OF_FEATURES = {
    **REMEDIES,
    Fact.NO_PLACE: "give points; polygons are areas to count by: method “Hexagons or districts”",
}
"""Remedies for features: their geometry may be of another type."""

NOT_IN_PERIOD = {*Fact} - {Fact.NO_UNIT, Fact.NO_KIND, Fact.NO_VALUE}
"""Reasons for dropping records that are looked for before a record is found in the period."""

MAX_DEGREES = 180
"""Numbers of a projected CRS that are no larger are hardly metres or feet."""


def preflight_switch(prefix: str) -> None:
    """Ask whether an upload is checked before payment; it is by default."""
    st.toggle(
        "Check the file before I pay",
        True,
        key=f"{prefix}.preflight",
        help="Shows you exact facts of your own file: dropped records and the reasons, the form of "
        "times, the extent. They are in no release. Switch it off before others see your screen.",
    )


def switched_on(prefix: str) -> bool:
    """True unless the visitor switched the pre-flight off."""
    return bool(st.session_state.get(f"{prefix}.preflight", True))


def show_facts(tally: Tally, remedies: Mapping[Fact, str] = REMEDIES) -> None:
    """Counts of records by outcome, with the remedy of each loss.

    Args:
        tally: tally of all records.
        remedies: remedy of each loss.

    Raises:
        DataError: there is no record, or none can be used; the message holds no number.
    """
    if not tally[Fact.READ]:
        st.error(f"{OWNER_ONLY}: the file has a header at most, and no records.")
        raise DataError("the file has no records, so nothing can be published: choose another file")
    dropped = tally.dropped
    facts = [
        f"{count:,} {OVER if what == Fact.OVER else what}"
        for what, count in tally.facts.items()
        if what not in {*dropped, Fact.AT_ZERO, Fact.OUTSIDE_AT_ZERO}
    ]
    lines = [f"{OWNER_ONLY}: {', '.join(facts)}"]
    if dropped:
        share = sum(dropped.values()) / tally[Fact.READ]
        lines[0] += f" ({percent(share, 1)} left out for the reasons below)"
    lines += [f"- {_loss(tally, what, remedies)}" for what in dropped]
    if tally[Fact.AT_ZERO]:
        lines.append(f"- {tally[Fact.AT_ZERO]:,} records {Fact.AT_ZERO}.")
    unusable = not tally[Fact.LOADED]
    box = st.error if unusable else st.warning if tally.lossy else st.info
    box("\n".join([f"{lines[0]}.\n", *lines[1:]]), icon=":material/fact_check:")
    if unusable and {*dropped} <= NOT_IN_PERIOD and tally[Fact.OUTSIDE_PERIOD]:
        raise DataError("no record lies in the period: check From and To under “Time”")
    if unusable:
        raise DataError(
            "no record can be used, so nothing can be published: follow the remedies of the "
            "check, or choose another file"
        )


def _loss(tally: Tally, what: Fact, remedies: Mapping[Fact, str] = REMEDIES) -> str:
    """Number of records dropped for a reason, with its remedy."""
    words = tally.words(what).replace(": dropped", "")
    return f"{tally[what]:,} {words}: {plain(tally.remedy(what, remedies))}."


def show_survey(
    prefix: str,
    asked: tuple[str, str],
    look: Callable[[], Survey],
    beside: Any = None,
    losses: Mapping[Fact, Any] | None = None,
) -> None:
    """Facts about the records of a file, and their extent, before its area is chosen.

    Args:
        prefix: prefix of the page's keys.
        asked: all that the reading depends on; last the CRS of the extent.
        look: reads the file.
        beside: container of the facts; None: here.
        losses: containers in the form where single losses are repeated, beside their remedy.

    Raises:
        DataError: no record can be used.
    """
    if not switched_on(prefix):
        return
    surveyed = cached(f"{prefix}.survey", asked, look)
    tally, remedies = surveyed.tally, OF_FEATURES if surveyed.geometry else REMEDIES
    for what, place in (losses or {}).items():
        if tally[what]:
            (place.warning if tally.lossy else place.caption)(f"{OWNER_ONLY}: {_loss(tally, what)}")
    with beside or nullcontext():
        if surveyed.near:
            words = f"a value differs from {quoted(surveyed.near)} only in capitals or spaces"
            st.warning(f"{OWNER_ONLY}: {words}: list it as in the file.", icon=":material/rule:")
        show_facts(tally, remedies)
    if surveyed.extent is None:
        return
    (west, south, east, north), crs = surveyed.extent, asked[-1]
    seen = on_map((west - 1e-3, south - 1e-3, east + 1e-3, north + 1e-3), crs)
    degrees = known_crs(crs).is_projected and max(map(abs, surveyed.extent)) <= MAX_DEGREES
    if seen is None or degrees:
        words = "These places look like degrees, not like places in {}: check the CRS."
        if seen is None:
            words = "Some places cannot be on the Earth in {}: check the columns and the CRS."
        st.warning(words.format(plain(crs)), icon=":material/wrong_location:")
    else:
        words = f"{OWNER_ONLY}: where your records lie."
        figure = cached(f"{prefix}.extent.figure", seen, partial(extent_figure, seen))
        (beside or st).image(figure, words, alt=words)


def show_times(
    prefix: str, field: str, titles: Mapping[str, str], asked: object, read: Callable[[], TimeForms]
) -> bool:
    """The form in which times are written; False if none of them can be read.

    Args:
        prefix: prefix of the page's keys.
        field: key of the selector of the format, which a proposal sets.
        titles: titles of the formats.
        asked: says all that the reading depends on.
        read: the column.
    """
    if not switched_on(prefix):
        return True
    forms = cached(f"{prefix}.times", asked, read)
    if forms.readable == forms.rows:
        form = f"`{forms.read}`{masks_of(forms.read)}"
        st.caption(f"{OWNER_ONLY}: all times can be read; the first has the form {form}.")
        return True
    lost = f"{forms.rows - forms.readable:,} of {forms.rows:,} times cannot be read"
    first = f"The first has the form `{forms.unread}`"
    if forms.readable:
        first += f", the first that can `{forms.read}`"
    first += masks_of(forms.unread + forms.read)
    box = st.warning if forms.readable else st.error
    box(f"{OWNER_ONLY}: {lost}. {first}. Choose how they are written.", icon=":material/schedule:")
    for form in forms.better:
        st.button(
            f"Read as {titles.get(form, form)}",
            key=f"{field}.{form}",
            icon=":material/auto_fix:",
            on_click=st.session_state.__setitem__,
            args=(field, form),
        )
    return forms.readable > 0
