"""Results kept by a page, and recomputed only if the question changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


def cached(place: str, asked: Any, make: Callable[[], T]) -> T:
    """Return the session's cached result for this question; compute it if the question is new.

    Args:
        place: in the session's state; it holds one question and what was made for it.
        asked: compared by value.
        make: called when the question is another one; where it fails, nothing changes.
    """
    held: tuple[Any, T] | None = st.session_state.get(place)
    if held is None or held[0] != asked:
        held = st.session_state[place] = (asked, make())
    return held[1]


def public_release(place: str, source: Any, choice: Any, seed: int, build: Callable[..., T]) -> T:
    """Release of public records with simulated noise, cached until a choice changes.

    Args:
        place: in the session's state; those of built-in data are shared by all visitors.
        source: has ``key``, which changes with the choice of data, and ``backdrop``.
        choice: its ``repr`` says all of it; one with ``areas`` or a ``prior`` of an upload is not
            shared.
        seed: seed of the noise.
        build: (source, choice, seed=…) gives the release.
    """
    asked = (source.key, repr(choice), seed)
    make = partial(build, source, choice, seed=seed)
    areas = getattr(choice, "areas", None)
    uploaded = (areas is not None and areas.uploaded) or getattr(choice, "prior", None) is not None
    alone = not source.backdrop or uploaded
    return cached(place, asked, make) if alone else _shared(asked, make)


@st.cache_resource(show_spinner="Building the release …", max_entries=96)
def _shared(asked: tuple[Any, ...], _make: Callable[[], Any]) -> Any:
    return _make()
