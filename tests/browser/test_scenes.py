"""What the map can do beyond Explore: two sides, swipe, polygons, clicks, a clock."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import frames
from tests.browser.test_explore import at, drag, over, shape, the_map

pytestmark = pytest.mark.browser


@pytest.mark.webgl
def test_two_sides_share_one_camera_one_rectangle_and_one_picture(scenes, open_page):
    """Street tiles are asked for after a press."""
    page = open_page("about:blank")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{scenes}/?scene=side")
    map_view = the_map(page)
    expect(page.locator(".label.side0")).to_have_text("<b>ε = 0.1</b>")
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.6, 0.4), (0.8, 0.6))
    expect(page.locator(".handle:visible")).to_have_count(8)
    left, right = map_view.evaluate(
        "e => e.__dpviz.deck.getViewports().map(v => [v.longitude, v.latitude, v.zoom, v.width])"
    )
    assert left == right
    shown = map_view.evaluate(
        "e => e.__dpviz.deck.layerManager.getLayers().map(l => [l.id, l.props.side ?? 'both'])"
    )
    assert ["left", "left"] in shown
    assert ["right", "right"] in shown
    expect(page.get_by_text(re.compile(r"^shape Shape\(rect"))).to_be_visible()
    view = page.get_by_test_id("dpviz-view")
    if view.get_attribute("open") is None:
        view.locator("summary").click()
    with page.expect_download() as saved:
        page.get_by_test_id("dpviz-save").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")

    page.get_by_role("button", name="Zoom in").click()
    frames(page, 10)
    assert [url for url in asked if "tile" in url] == []
    row = page.get_by_text("Street map (online)")
    assert "tile.openstreetmap.org" in row.locator("..").get_attribute("title")
    with page.expect_request(re.compile(r"tile\.openstreetmap\.org/\d")):
        page.get_by_test_id("dpviz-tiles").check()
    assert map_view.evaluate("e => e.__dpviz.tiles.shown")


def test_the_divider_moves_and_a_polygon_is_drawn(scenes, open_page):
    page = open_page(f"{scenes}/?scene=swipe")
    map_view = the_map(page)
    divider = page.get_by_test_id("dpviz-swipe")
    divider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "40")
    clips = map_view.evaluate(
        "e => e.__dpviz.layers().filter(l => l.props.side).map(l => l.props.clipX)"
    )
    assert (
        clips[0][1] == clips[1][0] == pytest.approx(0.4 * map_view.bounding_box()["width"], abs=1)
    )
    page.get_by_test_id("dpviz-polygon").click()
    for corner in [(0.3, 0.3), (0.6, 0.3), (0.6, 0.6)]:
        page.mouse.click(*at(map_view, *corner))
    for _ in range(2):  # which a browser tells as a double click, or does not
        page.mouse.click(*at(map_view, 0.3, 0.6))
    assert len(shape(map_view)["ring"]) == 4
    expect(page.get_by_text(re.compile(r"ring=\(\("))).to_be_visible()


ABOVE, BESIDE = (14.625, -23.9), (14.45, -23.9)
MARKS = {
    ABOVE: ["paths", 1],
    (14.575, -23.95): ["arcs", 0],  # over a path that lies below
    (14.825, -23.75): ["arcs", 1],
    (14.7, -23.85): ["places", 0],
    (14.52, -23.72): ["square", 0],
}
"""What lies at places of the scene ``marks``."""

HIT = """(e, [place, [dx, dy], reach]) => {
  const [x, y] = e.__dpviz.deck.getViewports()[0].project(place);
  const mark = e.__dpviz.hit([x + dx, y + dy], reach);
  return mark && [mark.layer.id, mark.index];
}"""


@pytest.mark.webgl
def test_a_click_is_told_a_tooltip_is_text_and_the_clock_runs(scenes, open_page):
    # The clock starts by itself.
    page = open_page(f"{scenes}/?scene=marks", reduced_motion="no-preference")
    map_view = the_map(page)
    first = map_view.evaluate("e => e.__dpviz.clock.time")
    page.wait_for_function(
        "([e, t]) => e.__dpviz.clock.time !== t", arg=[map_view.element_handle(), first]
    )
    page.get_by_test_id("dpviz-play").click()  # first of all: what moves is drawn all the time
    stopped = map_view.evaluate("e => e.__dpviz.clock.time")
    frames(page, 10)
    assert map_view.evaluate("e => e.__dpviz.clock.time") == stopped
    page.mouse.move(*over(map_view, (14.7, -23.85)))
    tooltip = page.get_by_test_id("dpviz-tooltip")
    expect(tooltip).to_contain_text("<b>Here</b>")
    expect(tooltip).to_contain_text("1,240 ± 60 a day")
    expect(tooltip).to_contain_text("123,456,830 ± 60")  # as a float32 it is 123,456,824
    expect(tooltip).to_contain_text("<u>a place</u>")
    for place, mark in MARKS.items():
        assert map_view.evaluate(HIT, [place, [0, 0], 0]) == mark
    assert map_view.evaluate(HIT, [BESIDE, [0, 0], 0]) is None
    assert map_view.evaluate(HIT, [ABOVE, [0, 4], 0]) is None
    assert map_view.evaluate(HIT, [ABOVE, [0, 4], 5]) == MARKS[ABOVE]
    page.mouse.click(*over(map_view, (14.7, -23.85)))
    expect(page.get_by_text("pick ('places', 0)")).to_be_visible()
