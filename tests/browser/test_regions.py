"""A polygon in a real Chromium: drawn on the canvas, answered by the engine."""

import pytest
import shapely
from playwright.sync_api import expect

import dpviz
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
