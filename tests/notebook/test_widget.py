"""dpviz.Map: rectangle and answer are traits, set from Python or the browser."""

import re
import sys

import numpy as np
import pytest
import traitlets

import dpviz
from dpviz.errors import DomainError, ReleaseError

RECT = (14.5, -24.0, 14.7, -23.8)


def test_rectangle_and_answers_are_traits(pair):
    shown, heard = dpviz.Map(*pair), []
    assert shown.answer is None
    shown.observe(lambda change: heard.append(change["new"]), "answer")
    shown.rectangle = RECT
    counts = [answer.count[0] for answer in shown.answer]
    assert counts == [release.count(RECT).count[0] for release in pair]
    with pytest.raises(DomainError, match="outside the domain"):
        shown.rectangle = (0, 0, 1, 1)
    with pytest.raises(traitlets.TraitError):
        shown.rectangle = (0, 0, 1)
    with pytest.raises(DomainError):
        shown.rectangle = (14.5, np.nan, 14.7, -23.8)
    assert shown.rectangle == RECT
    shown.set_state({"rectangle": [14.5, -24.0, 14.6, -23.9]})  # as a browser sends it
    assert shown.rectangle == (14.5, -24.0, 14.6, -23.9)
    shown.rectangle = None
    assert shown.answer is None
    assert len(heard) == 3


def test_maps_of_different_domains_are_linked_where_both_know_the_place(pair):
    """A rectangle beyond the other domain raises an error, and does not change the other map."""
    wide = dpviz.Domain.from_bounds([14.0, -25.0, 16.0, -23.0])
    points = dpviz.from_points([[14.6, -23.9]], wide, public=True)
    first = dpviz.Map(pair[0])
    second = dpviz.Map(dpviz.build(points, "ugrid", 1.0, cells=4, seed=1))
    traitlets.link((first, "rectangle"), (second, "rectangle"))
    first.rectangle = RECT
    assert second.answer.count == second.releases[0].count(RECT).count
    with pytest.raises(DomainError, match="outside the domain"):
        second.rectangle = (14.05, -24.9, 14.1, -24.8)  # inside the wider domain only
    assert first.rectangle == RECT
    assert first.answer.count == pair[0].count(RECT).count


def test_a_map_of_areas_answers_a_rectangle():
    areas = dpviz.build(dpviz.load("city-50k"), areas="h3:6", seed=1)
    shown = dpviz.Map(areas, rectangle=RECT)
    assert shown.answer.count == areas.count(RECT).count
    assert any("areas" in each for each in shown._spec["columns"])
    with pytest.raises(ReleaseError, match="areas"):
        dpviz.Map(areas, areas)


@pytest.mark.slow
def test_releases_that_a_map_cannot_show_are_refused(pair):
    trips = dpviz.build(dpviz.load("city", kind="sequences"), epsilon=1.0, seed=1)
    with pytest.raises(ReleaseError, match="sequences"):
        dpviz.Map(trips)
    with pytest.raises(ReleaseError):
        dpviz.Map()


def test_the_widget_holds_the_release_and_nothing_else_of_the_data(sensitive):
    shown = dpviz.Map(sensitive)
    state = repr({name: value for name, value in shown.get_state().items() if name != "_deck"})
    for secret in ("very-secret", "clinic-visits"):
        assert secret not in state


def test_without_anywidget_the_remedy_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "dpviz.notebook.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'dpviz\[notebook\]'"):
        _ = dpviz.Map


def test_the_program_of_the_widget_asks_no_server_but_its_traits():
    """So it runs in Jupyter, VS Code, Colab and marimo alike: no kernel message, no address."""
    asks = r"\bmodel\.send\b|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon"
    assert re.findall(asks, dpviz.Map._esm) == []
