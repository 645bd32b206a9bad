"""What a page has made and holds: made anew only when what was asked for changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


def remembered(place: str, asked: Any, make: Callable[[], T]) -> T:
    """What stands at this place of the session's state for this question.

    Args:
        place: in the session's state; it holds one question and what was made for it.
        asked: compared by value.
        make: called when the question is another one; where it fails, nothing changes.
    """
    held: tuple[Any, T] | None = st.session_state.get(place)
    if held is None or held[0] != asked:
        held = st.session_state[place] = (asked, make())
    return held[1]
