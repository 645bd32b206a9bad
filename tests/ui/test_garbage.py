"""What is alive is set aside for Streamlit's own collections, and looked at again by a sweep."""

import gc
import runpy
import weakref

import pytest

from dpviz.ui import server
from dpviz.ui.shared import garbage, shell


class Circle:
    """Holds itself, as an ended session does."""

    def __init__(self):
        self.itself = self


def test_a_circle_that_was_set_aside_is_freed_by_the_next_sweep():
    circle = Circle()
    gone = weakref.ref(circle)
    garbage.sweep()
    del circle
    gc.collect()
    assert gone() is not None  # what Streamlit's collection passes over
    garbage.sweep()
    assert gone() is None
    assert gc.get_freeze_count() > 10_000


def test_a_sweep_is_due_after_a_minute_and_modules_are_set_aside_at_once(monkeypatch):
    swept, frozen = [], []
    monkeypatch.setattr(garbage, "sweep", lambda: swept.append(1))
    monkeypatch.setattr(garbage.gc, "freeze", lambda: frozen.append(1))
    monkeypatch.setattr(garbage, "_modules", len(garbage.sys.modules))
    monkeypatch.setattr(garbage, "_last", garbage.time.monotonic())
    garbage.sweep_if_due()
    assert (swept, frozen) == ([], [])
    monkeypatch.setattr(garbage, "_modules", len(garbage.sys.modules) - 1)
    for _ in range(2):
        garbage.sweep_if_due()
        assert (swept, frozen) == ([], [1])
    monkeypatch.setattr(garbage, "_last", garbage.time.monotonic() - garbage.DUE)
    garbage.sweep_if_due()
    assert (swept, frozen) == ([1], [1])


def test_a_page_that_fails_ends_with_a_sweep_as_well(monkeypatch):
    def fails():
        raise RuntimeError("a page that fails")

    swept = []
    monkeypatch.setattr(shell, "run", fails)
    monkeypatch.setattr(garbage, "sweep_if_due", lambda: swept.append(1))
    with pytest.raises(RuntimeError, match="a page that fails"):
        runpy.run_path(str(server.SCRIPT), run_name="__main__")
    assert swept == [1]
