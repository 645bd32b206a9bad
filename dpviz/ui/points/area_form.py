"""The public area of a file: by name, pasted, typed, or taken from data that are public."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpviz.build import public_extent
from dpviz.crs import doubt, require_area
from dpviz.domain import Domain
from dpviz.errors import DpvizError
from dpviz.ui.points.areas import areas, box_of
from dpviz.ui.shared.text import plain

SIDES = ("west", "south", "east", "north")


def public_box(
    prefix: str, path: Path, columns: tuple[str, ...] | None, crs: str, public: bool
) -> tuple[float, float, float, float] | None:
    """The public area, typed, or taken from public data; None while it is missing."""
    bounds = bounds_form(prefix)
    if public:
        st.caption("These records are already public, so the area may be taken from them.")
        if st.button("Use data extent", key=f"{prefix}.extent"):
            extent = public_extent(path, columns=columns, crs=crs)
            st.session_state[f"{prefix}.bounds.next"] = extent
            st.rerun()
    else:
        st.caption(
            "The area is PUBLIC: choose it from what everybody knows (the city, the country), "
            "never from the records. Those outside are left out."
        )
    if bounds is None:
        st.info(
            "Choose the area: type it, paste it, or draw it on the map.",
            icon=":material/crop_free:",
        )
        return None
    return bounds


def checked_area(domain: Domain) -> None:
    """Refuse an area outside its CRS's own, and warn of one that looks like a slip.

    Raises:
        DomainError: it does not touch the area of use.
    """
    require_area(domain)
    line = doubt(domain)
    if line:
        st.warning(plain(f"Is this the area? {line}"), icon=":material/wrong_location:")


def bounds_form(prefix: str) -> tuple[float, float, float, float] | None:
    """The area by name, as pasted text, or by its four sides; None while one is missing."""
    st.markdown("**Area** (public)")
    st.selectbox(
        "Search a country, state or city",
        list(areas()),
        index=None,
        placeholder="Type a name",
        key=f"{prefix}.area",
        on_change=_named_area,
        args=(prefix,),
    )
    st.text_input(
        "Or paste a bounding box",
        key=f"{prefix}.pasted",
        placeholder="west, south, east, north",
        on_change=_pasted_area,
        args=(prefix,),
    )
    wrong = st.session_state.pop(f"{prefix}.pasted.wrong", None)
    if wrong:
        st.error(plain(wrong), icon=":material/error:")
    drawn = st.session_state.pop(f"{prefix}.bounds.next", None)
    if drawn is not None:
        for side, value in zip(SIDES, drawn, strict=True):
            st.session_state[f"{prefix}.bounds.{side}"] = round(float(value), 6)
    values = [
        st.number_input(side, value=None, format="%.6f", key=f"{prefix}.bounds.{side}")
        for side in SIDES
    ]
    if any(value is None for value in values):
        return None
    west, south, east, north = (float(value or 0.0) for value in values)
    return west, south, east, north


def _named_area(prefix: str) -> None:
    chosen = st.session_state[f"{prefix}.area"]
    if chosen is not None:
        set_area(prefix, areas()[chosen])


def _pasted_area(prefix: str) -> None:
    text = st.session_state[f"{prefix}.pasted"]
    if text.strip():
        try:
            set_area(prefix, box_of(text))
        except DpvizError as error:
            st.session_state[f"{prefix}.pasted.wrong"] = str(error)


def sides_in_words(domain: Domain) -> list[str]:
    """West, south, east and north of an area, a line each.

    >>> sides_in_words(Domain.from_bounds((14.4, -24.1, 15.0, -23.6), ("lon", "lat")))
    ['west 14.4', 'south −24.1', 'east 15', 'north −23.6']
    """
    sides = zip(SIDES, domain.bounds, strict=False)
    return [f"{name} {side:.6g}".replace("-", "−") for name, side in sides]


def set_area(prefix: str, bounds: tuple[float, float, float, float]) -> None:
    """Fill the form in the next run, and let the map of the area go there."""
    st.session_state[f"{prefix}.bounds.next"] = bounds
    st.session_state[f"{prefix}.bounds.seen"] = bounds
