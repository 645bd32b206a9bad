"""The public area of a file: chosen by name, typed, or taken from public data."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import cache
from urllib.parse import unquote

import streamlit as st

from dpviz.datasets.basemap import named_areas, town_area
from dpviz.domain import Domain
from dpviz.domain.crs import DEGREES, known_crs
from dpviz.errors import DomainError, DpvizError
from dpviz.planning.bounds import likely_mistake, require_area
from dpviz.render.cells import domain_bounds
from dpviz.render.projection import from_degrees, to_degrees
from dpviz.render.scene import Bounds
from dpviz.ui.shared.panels import refuse
from dpviz.ui.shared.text import plain, sentence

SIDES = ("west", "south", "east", "north")

NO_AREA = "Choose the area: type it, or draw it on the map."

areas = cache(named_areas)
"""Countries, states and towns of the base map, by name: west, south, east, north."""


def public_box(prefix: str, crs: str, extent: Callable[[], Bounds] | None) -> Bounds | None:
    """The public area in the CRS; None while it is missing.

    It is typed, or taken from public records, whose extent ``extent`` returns.
    """
    taken = f"{prefix}.bounds.of_records"
    if extent is None and taken in st.session_state:
        _forget_extent(prefix, st.session_state.pop(taken))
    bounds = bounds_form(prefix, crs)
    if extent is not None:
        st.caption("These records are already public, so the area may be taken from them.")
        if st.button("Use data extent", key=f"{prefix}.extent"):
            box = extent()
            st.session_state[taken] = box_of(_set_sides(prefix, box))
            _go_there(prefix, box, crs)
            st.rerun()
    else:
        st.caption(
            "The area is PUBLIC: choose it from what everybody knows (the city, the country), "
            "never from the records. Those outside are left out."
        )
    if bounds is None:
        st.info(NO_AREA, icon=":material/crop_free:")
    return bounds


def checked_area(domain: Domain) -> None:
    """Refuse an area outside its CRS, and warn of a likely slip.

    Raises:
        DomainError: it does not touch the area of use, or has a side nowhere on the Earth.
    """
    require_area(domain)
    domain_bounds(domain)
    line = likely_mistake(domain)
    if line:
        st.warning(plain(f"Is this the area? {line}"), icon=":material/wrong_location:")


def bounds_form(prefix: str, crs: str = DEGREES) -> Bounds | None:
    """Draw the form for the area's name or its four sides; None while incomplete or invalid."""
    geographic = known_crs(crs).is_geographic
    unit = "" if geographic else f"; {plain(crs)}, {known_crs(crs).axis_info[0].unit_name}"
    st.markdown(f"**Area** (public{unit})")
    st.selectbox(
        "Search a country, state or place",
        list(areas()),
        index=None,
        placeholder="Type a name",
        help="A town of fewer than 60,000 people is not in this list, which a browser must load: "
        "type its name in place of the four numbers.",
        key=f"{prefix}.area",
        filter_mode="contains",  # keeps the order: the most populous town first
        on_change=_named_area,
        args=(prefix, crs),
    )
    given = st.session_state.pop(f"{prefix}.bounds.next", None)
    if given is not None:
        st.session_state[f"{prefix}.bounds"] = given
    text = st.text_input(
        ", ".join(SIDES),
        key=f"{prefix}.bounds",
        placeholder=", ".join(SIDES),
        help="Type or paste four numbers in any notation, or the name of a small town.",
        on_change=_typed_area,
        args=(prefix, crs),
    )
    if problem := st.session_state.pop(f"{prefix}.bounds.wrong", None):
        st.error(sentence(problem), icon=":material/error:")
    if not text.strip():
        return None
    try:
        return box_of(text)
    except DomainError as error:
        refuse(str(error))
        return None


def _set_sides(prefix: str, sides: Sequence[float], digits: int = 6) -> str:
    """Set the form's sides for the next run, and return them as text."""
    text = ", ".join(str(round(float(side), digits)) for side in sides)
    st.session_state[f"{prefix}.bounds.next"] = text
    return text


def _forget_extent(prefix: str, taken: Bounds) -> None:
    """Empty the form if a side of it was taken from records that are now confidential."""
    typed = sides_of(prefix)
    if typed is not None and any(map(operator.eq, typed, taken)):
        st.session_state[f"{prefix}.bounds"] = ""
        st.session_state.pop(f"{prefix}.bounds.seen", None)
        st.warning(
            "The area had been taken from the records, which are confidential now: choose it from "
            "what everybody knows.",
            icon=":material/shield:",
        )


def sides_of(prefix: str) -> Bounds | None:
    """Sides in the form; None while they are missing or invalid."""
    try:
        return box_of(st.session_state.get(f"{prefix}.bounds", ""))
    except DomainError:
        return None


def _named_area(prefix: str, crs: str) -> None:
    chosen = st.session_state[f"{prefix}.area"]
    if chosen is not None:
        set_degrees(prefix, areas()[chosen], crs)
        st.session_state[f"{prefix}.bounds.seen"] = areas()[chosen]


def _typed_area(prefix: str, crs: str) -> None:
    """Go to the typed sides; a text without digits is the name of a town."""
    typed, text = sides_of(prefix), st.session_state[f"{prefix}.bounds"].strip()
    if typed is not None:
        _go_there(prefix, typed, crs)
    elif text and not re.search(r"\d", text):
        st.session_state[f"{prefix}.bounds"] = ""
        if (town := town_area(text)) is None:
            wrong = f"no place named {text}: search a larger one near it, or draw the area"
            st.session_state[f"{prefix}.bounds.wrong"] = wrong
        else:
            set_degrees(prefix, town, crs)
            st.session_state[f"{prefix}.bounds.seen"] = town


def box_of(text: str) -> Bounds:
    """Parse four numbers in any notation as west, south, east, north.

    >>> box_of("[-10.83657, 49.38, 2.1, 60.9]")
    (-10.83657, 49.38, 2.1, 60.9)

    >>> box_of("bbox=.5%2C49.38%2C2.1%2C60.9")
    (0.5, 49.38, 2.1, 60.9)

    Raises:
        DomainError: not four numbers, or in another order, or with letters in place of signs.
    """
    text = unquote(text)
    if re.search(r"\d\s*°|\d[NSEW]\b", text):  # 10.8° W means -10.8, and latitude often comes first
        raise DomainError(
            "give degrees as plain numbers: west, south, east, north; west is negative"
        )
    words = re.findall(r"[-−]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?", text)
    numbers = [float(word.replace("−", "-")) for word in words]
    if len(numbers) != 4:
        raise DomainError(f"not four numbers but {len(numbers)}: give west, south, east, north")
    west, south, east, north = numbers
    if west >= east or south >= north:
        low, high = (west, east) if west >= east else (south, north)
        raise DomainError(
            f"no area from {low:g} to {high:g}: give west, south, east, north in this order"
        )
    return west, south, east, north


def sides_in_words(domain: Domain) -> list[str]:
    """West, south, east and north of an area, one line each.

    >>> sides_in_words(Domain.from_bounds((14.4, -24.1, 15.0, -23.6), ("lon", "lat")))
    ['west 14.4', 'south −24.1', 'east 15', 'north −23.6']
    """
    sides = zip(SIDES, domain.without_time.bounds, strict=False)
    return [f"{name} {side:.6g}".replace("-", "−") for name, side in sides]


def set_degrees(prefix: str, bounds: Bounds, crs: str) -> None:
    """Set the form for the next run to a box in degrees, drawn or found by name."""
    try:
        sides = from_degrees(bounds, crs, around=True)
        require_area(Domain(sides[:2], sides[2:], crs=crs))
    except DpvizError as error:
        st.session_state[f"{prefix}.bounds.wrong"] = str(error)
    else:
        _set_sides(prefix, sides, 6 if known_crs(crs).is_geographic else 0)


def on_map(bounds: Bounds, crs: str) -> Bounds | None:
    """Convert a box of the CRS to degrees; None if no map can show it.

    >>> on_map((530_000, 180_000, 529_000, 181_000), "EPSG:27700") is None  # west of its west
    True
    """
    try:
        known_crs(crs)
        west, south, east, north = to_degrees(bounds, crs)[0].tolist()
    except DomainError:
        return None
    ordered = -180 <= west < east <= 540 and -90 <= south < north <= 90
    return (west, south, east, north) if ordered else None


def _go_there(prefix: str, bounds: Bounds, crs: str) -> None:
    seen = on_map(bounds, crs)
    if seen is not None:
        st.session_state[f"{prefix}.bounds.seen"] = seen
