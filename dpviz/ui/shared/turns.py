"""At most so many visitors, and so many at work at a time: others wait, and read why.

A page that computes takes a turn; a build in a thread takes one of its own, while its page rests.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.state import SessionState

from dpviz.files import limits
from dpviz.ui.shared import garbage

_KEY = "visit"
_POLL = 0.25
_AGAIN = 5.0
"""Seconds after which a visitor who waits for a place is let in by themselves."""


class _Visit:
    """One visitor's, in their session: it ends with it."""


_visits: weakref.WeakSet[_Visit] = weakref.WeakSet()
_at_work = threading.BoundedSemaphore(limits.AT_WORK.most)
_door = threading.Lock()
_swept = -_AGAIN
"""When those who left were last looked for."""
_here = threading.local()
"""Whether this thread has a turn: a fragment that runs by itself has none."""


def admitted() -> bool:
    """Whether there is a place for this visitor, who keeps it until they leave."""
    with _door:
        if _KEY in st.session_state:
            return True
        if _full():
            return False
        st.session_state[_KEY] = visit = _Visit()
        _visits.add(visit)
        return True


def holds_place(state: SessionState) -> bool:
    """Whether the visitor of this session's state was let in."""
    return _KEY in state


def _full() -> bool:
    """Whether all places are taken by visitors who are still here.

    A session that has ended may hold itself by a circle of references; it is looked for at most
    every few seconds, however many wait.
    """
    global _swept
    most = limits.visitors().most
    if len(_visits) >= most and time.monotonic() - _swept >= _AGAIN:
        garbage.sweep()
        _swept = time.monotonic()
    return len(_visits) >= most


@st.fragment(run_every=_AGAIN)
def wait_for_place() -> None:
    """Say that all places are taken, and look again every few seconds."""
    most = limits.visitors().most
    st.info(
        f"All places of this server are taken ({most}). This page opens by itself when somebody "
        "leaves.",
        icon=":material/hourglass_empty:",
    )
    if not _full():
        st.rerun()


@contextmanager
def turn() -> Iterator[None]:
    """The right to compute; until it is there, a notice."""
    notice = None
    if not _at_work.acquire(blocking=False):
        notice = st.empty()
        while not _at_work.acquire(timeout=_POLL):
            notice.info(
                "Others are at work on this server: yours comes in its turn.",
                icon=":material/hourglass_empty:",
            )
    _here.has_turn = True
    try:
        if notice is not None:
            notice.empty()  # ends this run where the page has been asked anew, or left
        yield
    finally:
        _here.has_turn = False
        _at_work.release()


@contextmanager
def in_turn(heed: Callable[[], None]) -> Iterator[None]:
    """The right to compute for a thread that shows nothing.

    Until it is there, ``heed`` is called four times a second; what it raises ends the wait.
    """
    heed()
    while not _at_work.acquire(timeout=_POLL):
        heed()
    try:
        heed()
        yield
    finally:
        _at_work.release()


@contextmanager
def resting() -> Iterator[None]:
    """Gives one's turn to others while one waits."""
    if not getattr(_here, "has_turn", False):
        yield
        return
    _at_work.release()
    try:
        yield
    finally:
        _at_work.acquire()
