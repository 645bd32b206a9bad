"""Restore a page's choices from its address: data set, method, epsilon, rectangle, camera.

Uploaded files are not in it: they have to be chosen again. Public choices about them are: names of
columns, the format of times, the period, the list of categories. A value that is not on offer is
left out, and said once, in one sentence; a parameter that no page knows is ignored.

Streamlit can bind a widget to a parameter by itself, but then the parameter is named after the
widget's key, may not be written by the page, and a value that is not on offer is dropped silently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.files import limits
from dpviz.ui.shared.parts import is_fragment_run
from dpviz.ui.shared.text import plain

MAX_SHOWN = 60
"""Most characters of an address that a message repeats."""

MESSAGES = "address.messages"
"""Session key of the container for messages about the address."""

WAITING = "address.waiting"
"""Session key: places whose values from the address nobody has asked for yet."""


def parameter(name: str) -> str | None:
    """Value of one parameter in the address."""
    value = st.query_params.get(name)
    return str(value) if value is not None else None


def numbers(text: str | None, length: int) -> tuple[float, ...] | None:
    """Parse numbers between commas; None unless they are ``length`` finite numbers."""
    try:
        values = tuple(float(word) for word in (text or "").split(","))
    except ValueError:
        return None
    return values if len(values) == length and all(map(math.isfinite, values)) else None


def number_list(name: str, length: int) -> tuple[float, ...] | None:
    """Numbers from the address, parsed by :func:`numbers`."""
    return numbers(parameter(name), length)


def joined(values: tuple[float, ...] | None, digits: int = 6) -> str | None:
    """Format numbers as a parameter of the address."""
    return None if values is None else ",".join(f"{value:.{digits}f}" for value in values)


def rectangle(name: str) -> tuple[float, ...] | None:
    """Read a rectangle from the address; None if it is missing or invalid."""
    sides = number_list(name, 4)
    return sides if sides and sides[0] < sides[2] and sides[1] < sides[3] else None


def ring(name: str) -> tuple[tuple[float, float], ...] | None:
    """Corners of a polygon from x, y, x, y … between commas; None if invalid."""
    words = (parameter(name) or "").count(",") + 1
    fits = 6 <= words <= 2 * limits.CORNERS.most and words % 2 == 0
    values = number_list(name, words) if fits else None
    return None if values is None else tuple(zip(values[::2], values[1::2], strict=True))


def seed(name: str = "seed") -> int:
    """Seed from the address; 0 if it is missing or not a whole number of up to nine digits."""
    return int(number(name, parameter(name), 0, 0, 999_999_999, whole=True))


def pairs(name: str) -> dict[str, str]:
    """Parse ``key:value`` pairs between semicolons."""
    words = (parameter(name) or "").split(";")
    return {key: value for key, _, value in (word.partition(":") for word in words) if key}


def paired(values: Mapping[str, Any]) -> str:
    """Format pairs for :func:`pairs`."""
    return ";".join(f"{key}:{value}" for key, value in values.items())


def messages_here() -> None:
    """Show this run's messages about the address at this place of the page."""
    st.session_state[MESSAGES] = st.container()


def refused(what: str, asked: str | None) -> None:
    """Warn that the address asks for an option that does not exist.

    The warning appears where :func:`messages_here` was called, since the form may be closed.
    Fragment runs show nothing: the run of the whole page has shown it.
    """
    if asked and not is_fragment_run():
        short = asked if len(asked) <= MAX_SHOWN else f"{asked[:MAX_SHOWN]}…"
        st.session_state.get(MESSAGES, st).warning(
            plain(
                f"The address of this page asks for {what} {short!r}, which is not available "
                "here. It is left out, and all else is as the address says."
            ),
            icon=":material/link_off:",
        )


def one_of(what: str, asked: str | None, offered: Collection[str], start: str) -> str:
    """Return the requested option; ``start``, with a warning, if it does not exist."""
    if asked in offered:
        return str(asked)
    refused(what, asked)
    return start


def number(
    what: str,
    asked: str | None,
    start: Any,
    low: float | None,
    high: float | None,
    *,
    whole: bool = False,
) -> Any:
    """Return the requested number; ``start``, with a warning, if it is out of bounds."""
    values = numbers(asked, 1)
    if values is not None:
        (value,) = values
        inside = (low is None or low <= value) and (high is None or value <= high)
        if inside and not (whole and value % 1):
            return value
    refused(what, asked)
    return start


def write(parameters: Mapping[str, str | None]) -> None:
    """Write parameters that have a value into the address, and remove the others.

    In one message: the browser writes each into the page it shows, which Back may have changed.
    """
    now = st.query_params.to_dict()
    wanted = {name: value for name, value in {**now, **parameters}.items() if value}
    if wanted != now:
        st.query_params.from_dict(wanted)


@dataclass(frozen=True)
class Field:
    """A value that a page keeps in the session and in its address.

    Attributes:
        name: name of the parameter.
        read: the value of the parameter of this name; it may be missing, or nonsense.
        text: text of a value, as :attr:`read` takes it; None for one that needs no parameter.
        key: in the session's state, after the page's; the name if empty.
    """

    name: str
    read: Callable[[str], Any]
    text: Callable[[Any], str | None] = str
    key: str = ""

    def place(self, page: str) -> str:
        """Key of a page's value in the session state."""
        return f"{page}.{self.key or self.name}"


def restore(page: str, fields: Sequence[Field]) -> None:
    """Copy the fields from the address into the session when a page is entered."""
    for field in fields:
        value = st.session_state[field.place(page)] = field.read(field.name)
        st.session_state.setdefault(WAITING, set()).add(field.place(page))
        if value is None:
            refused(field.name, parameter(field.name))


def clear_fields(page: str, fields: Sequence[Field]) -> None:
    """Drop the fields' values from the session, as if the address had not set them."""
    for field in fields:
        st.session_state.pop(field.place(page), None)


def came_from_address(place: str) -> bool:
    """Return whether the value kept here came from the address; True only the first time."""
    waiting: set[str] = st.session_state.setdefault(WAITING, set())
    new = place in waiting
    waiting.discard(place)
    return new


def write_address(
    page: str, fields: Sequence[Field], others: Mapping[str, str | None] | None = None
) -> None:
    """Write the session's fields and other parameters into the address.

    The address is kept for when the visitor comes back to the page in this visit.
    """
    texts: dict[str, str | None] = {}
    for field in fields:
        value = st.session_state.get(field.place(page))
        texts[field.name] = None if value is None else field.text(value)
    write({**texts, **(others or {})})
    st.session_state[f"{page}.link"] = st.query_params.to_dict()


def restore_address(page: str) -> None:
    """Restore a page's remembered address, which the navigation drops."""
    if not st.query_params.to_dict() and f"{page}.link" in st.session_state:
        st.query_params.from_dict(st.session_state[f"{page}.link"])


def text_field(name: str, key: str = "", most: int = 2_000) -> Field:
    """Field for a text; a longer one than ``most`` is not in the address."""
    return Field(
        name,
        lambda name: parameter(name) or "",
        lambda text: text if len(text) <= most else None,
        key,
    )


def column_field(name: str, key: str) -> Field:
    """Field for a column of an upload, whose selector begins by :func:`set_column`."""
    return Field(name, parameter, str, key)


def set_column(place: str, remembered: str, names: Collection[str]) -> None:
    """Let the selector of a new file begin with the remembered column, where the file has it."""
    column = st.session_state.get(remembered)
    if place not in st.session_state and column in names:
        st.session_state[place] = column


def choice(name: str, titles: Mapping[str, str], start: str, key: str = "") -> Field:
    """Field for one of several words with titles; the default needs no parameter."""

    def read(name: str) -> str:
        return one_of(name, parameter(name), titles, start)

    return Field(name, read, lambda chosen: None if chosen == start else str(chosen), key)


RECT = Field("rect", rectangle, joined)
RING = Field("ring", ring, lambda corners: joined(sum(corners, ())))
SEED = Field("seed", seed, lambda value: str(value) if value else None)
