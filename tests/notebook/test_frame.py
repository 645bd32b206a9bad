"""A release at the end of a notebook cell: a self-contained map of bounded size."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import dpviz
from dpviz.exports import map_page
from dpviz.notebook.frame import MAX_CELLS, frame
from tests.exports.test_html import EVIL, element
from tests.notebook.releases import commutes, moves, streets

SYMBOLS = pa.table({"walk": [["home", "work"], ["home"]]})


@pytest.fixture(scope="module")
def city():
    return dpviz.load("city-50k")


@pytest.fixture(scope="module")
def release(city):
    return dpviz.build(city, epsilon=1.0, seed=1)


def page_in(shown):
    """The page of a frame, as a browser reads it."""
    return html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])


def test_the_frame_holds_the_map_that_share_writes_and_has_no_origin(release):
    shown = release._repr_html_()
    assert page_in(shown) == map_page([release])
    assert shown.isascii()  # correct in any encoding of the page around it
    assert re.search(r'sandbox="([^"]*)"', shown)[1] == "allow-scripts allow-downloads"
    assert "http" not in shown[: shown.index("srcdoc")]


def test_a_large_release_is_shown_in_fewer_cells_and_says_so(city):
    large = dpviz.build(city, "quadtree", 1.0, seed=1, height=8, prune=0.0)
    assert len(large.nodes) > MAX_CELLS
    shown = frame(large)
    shown_nodes, all_nodes = re.search(
        r"Shown down to level \d+ of \d+: ([\d,]+) of ([\d,]+)", shown
    ).groups()
    assert int(all_nodes.replace(",", "")) == len(large.nodes)
    assert MAX_CELLS / 5 < int(shown_nodes.replace(",", "")) <= MAX_CELLS
    assert len(element(page_in(shown), "columns")) < 40 * MAX_CELLS


def test_a_large_release_of_wavelets_is_said_in_words(city):
    shown = frame(dpviz.build(city, "privelet", 1.0, seed=1, log_cells=8))
    assert "87,381 nodes are too many" in shown
    assert "<iframe" not in shown
    assert len(shown) < 2_000


@pytest.mark.slow
@pytest.mark.parametrize("values", [False, True])
def test_a_large_release_of_kinds_is_shown_in_fewer_cells_of_each(values, monkeypatch):
    monkeypatch.setattr("dpviz.notebook.frame.MAX_CELLS", 300)
    more = {"value": "fare", "clip": (0, 9), "grid": 1} if values else {}
    domain = dpviz.Domain.from_bounds(
        [0, 0, 8, 8], ("x", "y"), kind="mode", kinds=("a", "b"), **more
    )
    table = pa.table({"x": [1.0], "y": [1.0], "mode": ["a"], "fare": [2]})
    records = dpviz.load(table, domain, public=True, name="rides")
    large = dpviz.build(records, "quadtree", 1.0, seed=1, height=4, prune=0.0)
    shown = frame(large)
    assert "Shown down to level 3 of 4: 255 of 1,023 nodes" in shown  # three maps: all, a and b
    scene = json.loads(element(page_in(shown), "scene"))
    assert scene["categories"] == ["All categories", "a", "b"]
    assert [layer["id"] for layer in scene["layers"][:3]] == ["cells-0", "cells-1", "cells-2"]
    monkeypatch.setattr("dpviz.notebook.frame.MAX_CELLS", 12)
    assert "1,023 nodes are too many" in frame(large)


def test_every_kind_of_release_shows_itself_and_markup_in_names_stays_text(release):
    symbols = dpviz.load(SYMBOLS, dpviz.Alphabet(("home", "work")), public=True, name="walks")
    walks = dpviz.build(symbols, epsilon=1.0, seed=1)
    shown = walks._repr_html_()
    assert "Release of sequences" in shown  # symbols that are not places
    assert walks.header.guarantee in html.unescape(shown)
    assert shown.isascii()
    named = replace(release, header=replace(release.header, source=EVIL))
    for text in (frame(named), frame(dpviz.build(_sensitive_line(), epsilon=1.0))):
        assert "<img" not in text


def test_flows_between_outlines_of_too_many_corners_are_words(monkeypatch):
    monkeypatch.setattr("dpviz.notebook.frame.MAX_CORNERS", 20)
    shown = frame(commutes())
    assert "Release of flows" in shown
    assert "<iframe" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["areas", "flows", "roads", "places"])
def test_areas_flows_streets_and_moves_are_maps_that_need_no_network(kind, city):
    """Nothing is loaded: the policy forbids it, and the page has no address; size is bounded."""
    if kind == "areas":
        release = dpviz.build(city, areas="h3:6", seed=1)
    else:
        release = {"flows": commutes, "roads": streets, "places": moves}[kind]()
    shown = release._repr_html_()
    page = page_in(shown)
    assert "default-src 'none'" in page
    assert not re.search(r"""(?:src|href|action)=["']?(?:https?:)?//""", page)
    assert release.header.guarantee in html.unescape(page)
    assert len(shown) < 3_500_000
    spec = json.loads(element(page, "scene"))
    assert spec["layers"]
    drawn = {"areas": "areas", "flows": "moves", "roads": "streets", "places": "visits"}
    assert drawn[kind] in "".join((*spec["columns"], *spec["bind"]))


def _sensitive_line():
    """One dimension has no map."""
    line = dpviz.Domain((0,), (1,), columns=(EVIL,))
    return dpviz.from_points(np.full((9, 1), 0.5), line, name="line")


@pytest.mark.slow
def test_a_release_with_time_is_a_series_of_its_parts():
    period = ("2024-01-01", "2024-03-01")
    domain = dpviz.Domain.from_bounds([10.0, 50.0, 11.0, 51.0], time="at", period=period)
    table = pa.table({"lon": [10.5], "lat": [50.5], "at": ["2024-01-15"]})
    visits = dpviz.load(table, domain, public=True, name="visits")
    spec = json.loads(element(page_in(frame(dpviz.build(visits, epsilon=1.0, seed=1))), "scene"))
    assert len(spec["names"]) > 2
    assert len(spec["periods"]) == len(spec["names"])
