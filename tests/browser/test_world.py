"""A page of the whole world: its scale, and its buttons on a phone."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.exports import release_page
from tests.browser.test_explore import the_map

pytestmark = pytest.mark.browser
WORDS = """map => {
  const {prototype} = CanvasRenderingContext2D, {fillText} = prototype, words = [];
  prototype.fillText = function (...args) { words.push(args[0]); fillText.apply(this, args); };
  map.__dpviz.surround.draw();
  prototype.fillText = fillText;
  return words;
}"""


def scale(map_view):
    return next(each for each in map_view.evaluate(WORDS) if re.search(r"\d k?m\b", each))


@pytest.fixture
def world():
    spots = np.random.default_rng(0).normal([(2.35, 48.86)] * 5_000, 5.0)
    rows = pd.DataFrame(spots, columns=["lon", "lat"])
    domain = dpviz.Domain.from_bounds([-180, -60, 180, 80])
    return dpviz.build(dpviz.load(rows, domain, public=True), "privtree", 1.0, seed=0)


def test_the_scale_of_a_world_map_states_its_latitude_and_that_of_a_country_does_not(
    open_file, world
):
    map_view = the_map(open_file(release_page(world)))
    latitude = map_view.evaluate("map => map.__dpviz.camera.latitude")
    assert scale(map_view).endswith(f"000 km at {latitude:.0f}° N")
    map_view.evaluate("map => map.__dpviz.sight.moved({longitude: 2, latitude: 48.9, zoom: 6})")
    assert scale(map_view).endswith("0 km")


def test_a_phone_has_the_buttons_of_a_readers_map_in_one_row(open_file, world):
    page = open_file(release_page(world), {"width": 360, "height": 740}, has_touch=True)
    map_view = the_map(page)
    buttons = map_view.locator(".bar :is(button, summary):visible")
    expect(buttons).to_have_count(5)
    tops = [each.bounding_box()["y"] for each in buttons.all()]
    assert max(tops) - min(tops) < 2
    page.get_by_test_id("dpviz-view").click()
    home = page.get_by_test_id("dpviz-home").bounding_box()
    assert home["x"] + home["width"] <= 360  # beside the open panel
    page.get_by_role("button", name="Map alone").click()  # on a phone this has no button of its own
    expect(page.locator(".frame.presenting")).to_be_visible()
    page.get_by_test_id("dpviz-present").click()
    expect(page.locator(".frame.presenting")).to_have_count(0)


def test_a_map_names_the_places_whose_cells_are_coloured_before_larger_ones(open_file):
    """Saint Petersburg and Kyiv had names, where nothing was coloured; Stockholm had none."""
    spots = np.random.default_rng(0).normal([(18.07, 59.33)] * 9_000, 0.05)
    domain = dpviz.Domain.from_bounds([-12, 35, 35, 66])
    data = dpviz.load(pd.DataFrame(spots, columns=["lon", "lat"]), domain, public=True)
    page = open_file(release_page(dpviz.build(data, "privtree", 1.0, seed=0)))
    names = the_map(page).evaluate(WORDS)
    assert "Stockholm" in names
    assert "Madrid" in names  # elsewhere the largest have theirs


PLACED = """map => {
  const {surround, bound, sight: {viewports: [view]}} = map.__dpviz;
  const pen = document.createElement("canvas").getContext("2d");
  const drawn = {}, dots = [];
  pen.arc = (x, y) => dots.push([x, y]);
  surround.words = (_, name, x, y) => { drawn[name] = [x, y, pen.measureText(name).width]; };
  surround.names(pen, view, bound.places(), []);
  delete surround.words;
  const places = [...bound.places()].reverse(); // of several places of a name, the largest
  const at = Object.fromEntries(places.map(p => [p.name, view.project([p.lon, p.lat])]));
  return [drawn, dots, at];
}"""
"""Middle, baseline and width of each name that is drawn; dots; and where the places are."""

CITIES = {
    "New York City": (-74.0, 40.7),
    "Chicago": (-87.65, 41.85),
    "Mexico City": (-99.1, 19.4),
    "São Paulo": (-46.6, -23.5),
    "London": (-0.1, 51.5),
    "Paris": (2.35, 48.86),
    "Istanbul": (28.95, 41.0),
    "Moscow": (37.6, 55.75),
    "Cairo": (31.25, 30.06),
    "Lagos": (3.4, 6.45),
    "Karachi": (67.0, 24.86),
    "Delhi": (77.2, 28.65),
    "Mumbai": (72.88, 19.07),
    "Beijing": (116.4, 39.9),
    "Tokyo": (139.7, 35.7),
    "Jakarta": (106.85, -6.2),
}


def test_dense_cells_have_names_beside_them_and_none_of_a_country_over_them(open_file):
    """The name of the United States lay over New York; dark cells at Delhi and Paris had none."""
    spots = np.random.default_rng(0).normal(np.repeat([*CITIES.values()], 2_000, axis=0), 0.05)
    domain = dpviz.Domain.from_bounds([-180, -60, 180, 80])
    data = dpviz.load(pd.DataFrame(spots, columns=["lon", "lat"]), domain, public=True)
    page = open_file(release_page(dpviz.build(data, "privtree", 1.0, seed=0)))
    drawn, dots, at = the_map(page).evaluate(PLACED)
    assert {*CITIES} <= {*drawn}
    assert "UNITED STATES OF AMERICA" not in drawn
    for name, (x, baseline, width) in drawn.items():
        for city in CITIES:
            right, down = at[city][0] - x, at[city][1] - baseline
            assert abs(right) > width / 2 or not -10 <= down <= 2  # not over its cell
        if name in CITIES and at[name] not in dots:  # where a dot marks the place, beside it
            assert (x, baseline - 5) == pytest.approx(at[name], abs=15)
