"""dpviz.Map: rectangle and answer are traits, whoever sets them."""

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


def test_maps_are_linked_and_one_release_answers_alone(pair):
    first, second = (dpviz.Map(release, rectangle=RECT) for release in pair)
    traitlets.link((first, "rectangle"), (second, "rectangle"))
    first.rectangle = (14.5, -24.0, 14.6, -23.9)
    assert second.answer.count == pair[1].count(first.rectangle).count


def test_what_a_map_cannot_show_is_refused(pair):
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
