"""The page Compare in a real Chromium: one rectangle, two answers."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.evaluation.truth import exact_counts
from dpviz.ui.points.source_form import built_in
from tests.browser.conftest import idle, open_tab, segment, until, upload
from tests.browser.test_explore import at, metric, sweep, the_map, what_is_shown_is_written
from tests.browser.test_map import PHONE
from tests.browser.test_pages import lower, settled, upper

pytestmark = pytest.mark.browser


def draw(page, left, size):
    """A square of this size in pixels, from this share of the map's width on."""
    page.get_by_role("button", name="Draw").first.click()
    x, y = at(page.get_by_test_id("dpviz-map"), left, 0.45)
    sweep(page, (x, y), (x + size, y + size))


def test_both_views_share_legend_and_rectangle(app, open_page, open_file, tmp_path):
    page = open_page(
        f"{app}/compare?data=city-50k&a.method=privtree&b.method=ugrid&mode=swipe&rect=14.6,-23.9,14.75,-23.75"
    )
    page.get_by_text("Exact count (public data)").wait_for()
    shown = the_map(page)
    expect(page.get_by_test_id("dpviz-swipe")).to_be_visible()
    expect(page.get_by_test_id("dpviz-legend")).to_have_count(1)
    for width in (640, 1280):  # 200 % zoom makes buttons higher
        page.set_viewport_size({"width": width, "height": 900})
        assert lower(page.locator(".head").first) <= upper(shown)  # covers nothing of the map
    page.emulate_media(media="print")  # columns split over two pages would overlap
    answers = page.get_by_test_id("stHorizontalBlock").filter(has_text="Built from").last
    assert answers.evaluate("e => getComputedStyle(e).breakInside") == "avoid"
    page.emulate_media(media="screen")
    segment(page, "Side by side").click()
    page.get_by_test_id("dpviz-swipe").wait_for(state="hidden")
    expect(page.get_by_test_id("dpviz-map")).to_have_count(1)  # one map, one camera, two halves
    expect(page.get_by_test_id("dpviz-legend")).to_have_count(1)
    assert "rect=14.6" in page.url
    settled(page)
    draw(page, 0.1, 60)  # further west
    page.wait_for_url(lambda address: "rect=" in address and "rect=14.6" not in address)
    rect = [float(word) for word in page.url.split("rect=")[1].split("&")[0].split("%2C")]
    exact = int(exact_counts(built_in("city-50k"), rect)[0])
    expect(metric(page, "Exact count (public data)")).to_have_text(f"{exact:,}")
    idle(page)
    assert page.locator("[data-testid=stMain]").inner_text().count("noisy count") == 2
    open_tab(page, "Share")
    what_is_shown_is_written(page, open_file, tmp_path / "map.html", maps=2)


def a_phone_shows_one_map_at_a_time(page, shown):
    """A switch above the map is in sight with it, and the camera stays when it is used."""
    buttons = page.get_by_test_id("dpviz-heads").get_by_role("button")
    expect(buttons).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    word = page.get_by_role("button", name="Change").locator("p")
    assert lower(word) <= lower(word.locator(".."))  # no letter is cut off
    assert shown.bounding_box()["y"] <= 500
    assert min(upper(each) for each in buttons.all()) > 0
    seen = "e => [e.__dpviz.camera, e.__dpviz.sight.viewports.map(each => each.id)]"
    camera, ids = shown.evaluate(seen)
    assert ids == ["0"]
    buttons.last.press("Enter")
    expect(buttons.last).to_have_attribute("aria-pressed", "true")
    assert shown.evaluate(seen) == [camera, ["3"]]


def test_a_comparison_begins_with_three_epsilons_and_truth_stands_beside_three_releases(
    app, open_page
):
    page = open_page(f"{app}/compare?data=city-50k")
    shown = the_map(page)
    labels = page.locator(".head")
    sides = [
        re.compile(rf"{side}: Ladder tree, ε = {each}\n± [\d.]+ records in a small area")
        for side, each in zip("ABC", (0.1, 1, 10), strict=True)
    ]
    expect(labels).to_have_text(sides)
    expect(segment(page, "Three ε")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("Error in each square, records")
    segment(page, "Side by side").click()
    expect(labels).to_have_text(["Truth: exact, public data", *sides])
    expect(page.get_by_test_id("dpviz-map")).to_have_count(1)
    expect(page.get_by_test_id("dpviz-legend")).to_have_count(1)
    assert len(shown.evaluate("e => e.__dpviz.sight.viewports.map(v => v.id)")) == 4
    idle(page)
    # Four maps need their own camera: with that of three wider maps the area is cut off.
    ends = """e => {
      const app = e.__dpviz, [west, , east, north] = app.domain;
      const ends = v => [v.project([west, north])[0], v.width - v.project([east, north])[0]];
      return app.sight.viewports.map(ends);
    }"""
    assert min(map(min, shown.evaluate(ends))) > 0
    methods = page.locator("[class*=st-key-dpviz-] [class*=-method] input")
    expect(methods).to_have_count(3)
    for method in methods.all():
        assert method.evaluate("e => e.scrollWidth <= e.clientWidth")  # no name is shortened
    page.set_viewport_size({"width": 390, "height": 844})
    a_phone_shows_one_map_at_a_time(page, shown)
    for preset in page.locator(".st-key-dpviz-presets button").all():
        box = preset.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    page.set_viewport_size({"width": 1280, "height": 720})
    for words in page.get_by_test_id("dpviz-legend").locator("span, small").all():
        assert lower(words) <= 720  # nothing is cut off by the window's edge
    segment(page, "Errors").click()
    expect(labels).to_have_count(3)
    idle(page)
    page.reload()
    expect(labels).to_have_count(3)


def test_a_touch_screen_shows_no_keys_and_all_epsilons_within_its_margin(app, browser):
    with browser.new_context(**PHONE, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{app}/compare?data=city-50k&a.method=privtree&b.method=ugrid")
        the_map(page)
        last = page.locator(".st-key-compare-film button").last.bounding_box()
        assert last["x"] + last["width"] <= 390 - 16
        hint = page.locator("[class*='-hint']").get_by_text("Press ▭ on the map")
        expect(hint).to_contain_text("and drag")
        expect(hint.locator("em")).to_be_hidden()


def test_a_camera_does_not_follow_into_releases_of_another_area(app, open_page, tmp_path):
    """It was kept in the address, and both maps were empty."""
    domain = dpviz.Domain((15.3, 46.9), (15.6, 47.2))
    graz = dpviz.from_points(np.full((900, 2), (15.4, 47.1)), domain, public=True, name="graz")
    file = tmp_path / "graz.parquet"
    dpviz.build(graz, "ugrid", 1.0, seed=1).save(file)
    page = open_page(f"{app}/compare?data=city-50k&a.method=ugrid&b.method=ugrid&mode=side")
    the_map(page)
    idle(page)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url(re.compile("camera="))
    segment(page, "My releases").click()
    for number, side in enumerate("ab"):
        idle(page)
        page.get_by_role("button", name="File").nth(number).click()
        upload(page, file)
        page.wait_for_url(re.compile(rf"{side}\.release=file"))
        page.keyboard.press("Escape")
    shown = the_map(page)
    idle(page)
    place = shown.evaluate("e => [e.__dpviz.camera.longitude, e.__dpviz.camera.latitude]")
    assert place == pytest.approx([15.45, 47.05], abs=0.1)
    until(lambda: "camera=" not in page.url)
