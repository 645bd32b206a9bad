"""A polygon in a real Chromium: drawn on the canvas, answered by the engine."""

import numpy as np
import pytest
import shapely
from playwright.sync_api import expect

import dpviz
from dpviz.exports import release_page
from tests.browser.test_explore import at, expected_of, metric, shape, the_map

pytestmark = pytest.mark.browser


def test_a_drawn_polygon_is_answered_and_kept_in_the_address(app, open_page):
    """Answered by the engine; this page's other features are checked before and after."""
    page = open_page(f"{app}/?data=city-50k", scheme="dark", forced_colors="active")
    what_is_chosen_is_shown_where_the_system_s_contrast_takes_all_colours(page)
    page.emulate_media(color_scheme="light", forced_colors="none")
    map_view = the_map(page)
    page.get_by_role("button", name="Polygon").click()
    page.mouse.click(*at(map_view, 0.4, 0.4))
    page.mouse.dblclick(*at(map_view, 0.9, 0.9))
    expect(page.get_by_text("A polygon needs at least three corners")).to_be_visible()
    for left in (1, None):
        page.keyboard.press("Backspace")  # removes the last corner
        assert map_view.evaluate("e => e.__dpviz.pointer.ring?.length") == left
    for corner in ((0.4, 0.4), (0.6, 0.4), (0.55, 0.6)):
        page.mouse.click(*at(map_view, *corner))
    page.mouse.dblclick(*at(map_view, 0.4, 0.6))
    expect(metric(page)).to_be_visible()
    ring = shape(map_view)["ring"]
    assert len(ring) >= 4
    release = dpviz.build(dpviz.load("city-50k"), "ladder_tree", seed=0)
    answer = release.count_regions([shapely.Polygon(ring)])
    expect(metric(page)).to_have_text(expected_of(answer))
    page.wait_for_url("**ring=**")
    # Large text must not cut off the ±.
    page.add_style_tag(content="html {font-size: 200% !important}")
    cut = "e => [...e.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth)"
    assert metric(page).evaluate(f"e => ({cut})(e).length") == 0


def what_is_chosen_is_shown_where_the_system_s_contrast_takes_all_colours(page):
    colour = "e => getComputedStyle(e).backgroundColor"
    page.get_by_role("button", name="Change").click()
    chosen, other = (
        page.get_by_role("radio", name=name, exact=True)
        for name in ("already public", "confidential")
    )
    expect(chosen).to_be_checked()
    highlight = page.evaluate(
        "() => { const probe = document.body.appendChild(document.createElement('i'));"
        " probe.style.background = 'Highlight'; return getComputedStyle(probe).backgroundColor; }"
    )
    assert chosen.evaluate(colour) == highlight != other.evaluate(colour)
    page.keyboard.press("Escape")
    below = "e => getComputedStyle(e).borderBottomWidth"
    assert [tab.evaluate(below) for tab in page.get_by_role("tab").all()[:2]] == ["3px", "0px"]
    page.keyboard.press("Tab")  # from here on the focused element is marked
    here = page.get_by_test_id("stTopNavLink").first
    here.focus()
    for contrast in ("active", "none"):  # forced colours remove shadows, and a tint is too faint
        page.emulate_media(color_scheme="dark", forced_colors=contrast)
        assert here.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.emulate_media(color_scheme="dark", forced_colors="active")
    thumb = page.get_by_test_id("stSlider").get_by_role("slider").first
    track = "e => getComputedStyle(e.closest('[data-testid=stSlider]')).forcedColorAdjust"
    assert thumb.evaluate(track) == "none"


DRAWN_NAMES = """changes => {
  const {surround, sight, bound} = dpviz.app;
  const [seen] = sight.viewports;
  const pen = document.createElement("canvas").getContext("2d");
  return changes.map(change => {
    const viewport = new seen.constructor({...seen, zoom: seen.zoom + change});
    const drawn = [];
    surround.words = (_, text, x, y) => {
      const half = pen.measureText(text).width / 2;
      const corners = [[x - half, y], [x + half, y - 9]];
      drawn.push([text, ...corners.flatMap(corner => viewport.unproject(corner))]);
    };
    surround.names(pen, viewport, bound.places(), []);
    return drawn;
  });
}"""
"""Text, west, south, east and north of each line of a name, at several zooms."""


def test_names_of_areas_stay_in_them_and_towns_yield_to_them(open_file):
    """A count beside the name of a town was pushed over the next district."""
    houston = dpviz.Domain.from_bounds([-95.9, 29.4, -94.9, 30.2], ("lon", "lat"))
    west, south = np.meshgrid(np.linspace(-95.9, -95.15, 4), np.linspace(29.4, 29.933, 3))
    shapes = shapely.box(west, south, west + 0.25, south + 0.2667).ravel()
    names = tuple(f"District {letter}" for letter in "ABCDEFGHIJKL")
    areas = dpviz.Areas(houston, ("district",), names, np.full(12, -1), shapes)
    places = np.random.default_rng(0).uniform([-95.9, 29.4], [-94.9, 30.2], (40_000, 2))
    data = dpviz.from_points(places, houston, public=True)
    release = dpviz.build(data, "areas", 1.0, areas=areas, seed=1)
    page = open_file(release_page(release), size={"width": 1366, "height": 768})
    the_map(page)
    near, home, far = page.evaluate(DRAWN_NAMES, [1, 0, -0.7])
    for drawn in (near, home, far):
        spots = {text: shapely.box(*box) for text, *box in drawn}
        for area, name in zip(shapes, names, strict=True):
            assert name not in spots or area.contains(spots[name])
        counts = [spot for text, spot in spots.items() if "±" in text]
        assert all(any(area.contains(spot) for area in shapes) for spot in counts)
    assert {text for text, *_ in home} >= {*names, "Houston"}
    assert sum("±" in text for text, *_ in home) == 12
    assert {*names} <= {text for text, *_ in far}
    assert not any("±" in text for text, *_ in far)
