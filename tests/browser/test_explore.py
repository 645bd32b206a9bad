"""Explore in Chromium, offline: the map shows the engine's answers."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.datasets.geography import BOUNDS
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render import with_noise
from dpviz.render.nearby import named_places
from dpviz.ui.shared.welcome import SENTENCE
from tests.browser.conftest import PATIENCE, downloaded, idle, until
from tests.browser.test_secrets import Traffic, encodings

pytestmark = pytest.mark.browser


def the_map(page):
    """The map, once everything asked for is on the screen."""
    map_view = page.locator("[data-testid=dpviz-map][data-rendered]").first
    map_view.wait_for()
    return map_view


def at(map_view, x, y):
    box = map_view.bounding_box()
    return box["x"] + box["width"] * x, box["y"] + box["height"] * y


def over(map_view, place):
    """Pixels of the page above a place, in degrees."""
    x, y = map_view.evaluate("(e, at) => e.__dpviz.deck.getViewports()[0].project(at)", list(place))
    box = map_view.bounding_box()
    return box["x"] + x, box["y"] + y


def domain_box(map_view):
    """North-western and south-eastern corner of the public area, in pixels of the page."""
    west, south, east, north = map_view.evaluate("e => e.__dpviz.domain")
    return over(map_view, (west, north)), over(map_view, (east, south))


def sweep(page, start, stop, steps=6):
    """Drag from one pixel of the page to another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*stop, steps=steps)
    page.mouse.up()


def drag(page, map_view, start, stop):
    """The same from one share of the map's sides to another."""
    sweep(page, at(map_view, *start), at(map_view, *stop))


def shape(map_view):
    return json.loads(map_view.get_attribute("data-shape") or "null")


def metric(page, label="Noisy count"):
    box = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return box.get_by_test_id("stMetricValue")


@pytest.fixture(scope="module")
def release():
    """The release that the app shows first; the public data and the seed make it repeatable."""
    return dpviz.build(dpviz.load("city-250k"), "ladder_tree", 1.0, seed=0)


def expected(release, rect):
    return expected_of(release.count(rect))


def expected_of(answer):
    half = (answer.high[0] - answer.low[0]) / 2
    assert half == pytest.approx(INTERVAL_SDS * answer.noise_sd[0], abs=1)
    return with_noise(answer.count[0], answer.total_error[0])


def what_is_shown_is_written(page, open_file, path, maps):
    """Save the app's file of this many maps at a path; the page's tab "Share" must be open.

    A busy server may be asked for a file before it has heard of the title: then it is asked again.
    """
    page.get_by_label("Title", exact=True).fill("A <b>title</b>")
    page.keyboard.press("Tab")
    text, end = "", time.monotonic() + PATIENCE / 1000
    while "A &lt;b&gt;title&lt;/b&gt;" not in text and time.monotonic() < end:
        idle(page)
        downloaded(page, page.get_by_role("button", name="Map (HTML)")).save_as(path)
        text = path.read_text(encoding="utf-8")
    assert "exact" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL).lower()
    file = open_file(text)
    the_map(file)
    expect(file.get_by_role("heading", level=1)).to_have_text("A <b>title</b>")
    boxes = file.get_by_test_id("dpviz-answer")
    expect(boxes).to_have_count(maps)
    answers = boxes.all_inner_texts()
    shown = page.locator("[data-testid=stMain]").inner_text().replace("\u00a0", " ")
    for answer in answers:
        assert answer.splitlines()[1] in shown  # below the name of the rectangle or the map


def test_a_rectangle_is_answered_by_the_engine_and_kept_in_the_address(app, open_page, release):
    """Drawn with the mouse, restored, moved at a corner, drawn by keyboard, typed, cleared.

    And the control of what looks for secrets: of public records the exact count does arrive.
    """
    page = open_page("about:blank")
    traffic = Traffic(page)
    page.goto(app)
    map_view = the_map(page)
    idle(page)
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.4, 0.4), (0.5, 0.75))
    expect(metric(page)).to_be_visible()
    rect = shape(map_view)["rect"]
    assert release.domain.lower[0] < rect[0] < rect[2] < release.domain.upper[0]
    expect(metric(page)).to_have_text(expected(release, rect))
    exact = metric(page, "Exact count (public data)").inner_text()
    exact = int(exact.replace(",", ""))
    assert exact == pytest.approx(release.count(rect).count[0], rel=0.1)
    assert any(form in traffic.all for form in encodings(exact))
    page.wait_for_url(re.compile(r"rect="))
    before = metric(page).inner_text()
    page.reload()
    map_view = the_map(page)
    expect(metric(page)).to_have_text(before)

    corner = page.locator(".handle[data-corner='2']").bounding_box()
    x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
    sweep(page, (x, y), (x + 40, y - 30))
    west, south, east, north = shape(map_view)["rect"]
    assert (west, south) == pytest.approx(rect[:2], abs=1e-6)
    assert east > rect[2]
    assert north > rect[3]
    expect(page.locator(".handle:visible")).to_have_count(4)
    idle(page)

    map_view.focus()
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawn = shape(map_view)["rect"]
    assert drawn != [west, south, east, north]
    expect(metric(page)).to_have_text(expected(release, drawn))
    page.wait_for_url(re.compile(rf"rect={drawn[0]:.6f}"))

    idle(page)  # before that, the fields show the last rectangle
    page.get_by_text("Enter coordinates").click()
    before = map_view.get_attribute("data-shape")
    page.get_by_label("east", exact=True).fill("13")
    page.get_by_role("button", name="Query").press("Enter")
    expect(page.get_by_text("East must be greater than west (")).to_be_in_viewport(ratio=1)
    assert map_view.get_attribute("data-shape") == before  # nothing inside out is drawn
    for side, value in (("west", "14.6"), ("east", "14.8"), ("south", "-24"), ("north", "-23.9")):
        page.get_by_label(side, exact=True).fill(value)
    # A click may miss while the panel opens.
    page.get_by_role("button", name="Query").press("Enter")
    typed = [14.6, -24.0, 14.8, -23.9]
    expect(metric(page)).to_have_text(expected(release, typed))
    expect(map_view).to_have_attribute("data-shape", '{"kind":"rect","rect":[14.6,-24,14.8,-23.9]}')
    page.get_by_test_id("dpviz-clear").click()
    expect(metric(page)).to_have_count(0)
    expect(page.locator(".handle:visible")).to_have_count(0)
    a_name_leads_to_its_place_by_keyboard(page, map_view)


def a_name_leads_to_its_place_by_keyboard(page, map_view):
    map_view.focus()
    page.keyboard.press("/")
    field = page.get_by_test_id("dpviz-find")
    expect(field).to_be_focused()
    page.keyboard.type("nowhere\n")
    expect(page.get_by_text("“nowhere” is not in the list")).to_be_visible()
    field.fill("orch")
    page.keyboard.press("Enter")
    expect(field).to_be_hidden()
    expect(map_view).to_be_focused()
    names, middles = named_places(BOUNDS)
    middle = middles[names.index("Orchard Hill")].tolist()
    assert over(map_view, middle) == pytest.approx(
        at(map_view, 0.5, 0.5), abs=60
    )  # the name is above the town


def view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks(page):
    map_view = the_map(page)
    camera = "e => JSON.stringify(e.__dpviz.camera)"
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url(re.compile("camera="))
    idle(page)
    before, seen = map_view.evaluate(camera), int(map_view.get_attribute("data-rendered"))
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(map_view).to_have_attribute("data-rendered", str(seen + 1))
    assert map_view.evaluate(camera) == before
    page.wait_for_url(re.compile(r"epsilon=0\.8"))
    idle(page)  # elements that still arrive may move the map away from the pointer

    page.get_by_test_id("dpviz-view").locator("summary").click()
    page.get_by_test_id("dpviz-raw").check()
    page.get_by_test_id("dpviz-depth").fill("2")
    assert map_view.evaluate("e => e.__dpviz.view.depth") == 2
    page.mouse.move(*at(map_view, 0.5, 0.6))
    tooltip = page.get_by_test_id("dpviz-tooltip")
    expect(tooltip).to_contain_text("±")
    expect(tooltip).to_contain_text("cells inside")
    for _ in range(12):
        page.mouse.wheel(0, 400)
    expect(tooltip).to_be_hidden()
    least = "({__dpviz: {sight, domain}}) => sight.camera.zoom - sight.fitted(domain).zoom"
    until(lambda: abs(map_view.evaluate(least) + 1) < 0.01)
    the_scale_stays_at_another_epsilon_until_it_is_unlocked(page, map_view)
    without_a_network_the_ground_stays(page)


def the_scale_stays_at_another_epsilon_until_it_is_unlocked(page, map_view):
    page.get_by_test_id("dpviz-raw").uncheck()
    legend, lock = page.get_by_test_id("dpviz-legend"), page.get_by_test_id("dpviz-lock")
    labels = legend.locator(".class").all_inner_texts()
    expect(lock).to_be_checked()
    page.get_by_role("slider").first.press("Home")
    page.wait_for_url(re.compile(r"epsilon=0\.01"))
    idle(page)
    assert legend.locator(".class").all_inner_texts() == labels
    lock.uncheck()
    expect(lock).not_to_be_checked()
    until(lambda: legend.locator(".class").all_inner_texts() != labels)
    idle(page)
    labels = legend.locator(".class").all_inner_texts()
    lock.check()
    page.wait_for_url(re.compile("scale="))
    page.reload()
    expect(lock).to_be_checked()
    idle(page)  # a click before the first run has ended may be lost
    assert legend.locator(".class").all_inner_texts() == labels


def without_a_network_the_ground_stays(page):
    page.get_by_test_id("dpviz-tiles").click()
    agree = page.get_by_test_id("dpviz-tiles-yes")
    expect(agree.locator("..")).to_contain_text("tile.openstreetmap.org")
    with page.expect_request(re.compile(r"tile\.openstreetmap\.org/\d")):
        agree.click()
    expect(page.get_by_test_id("dpviz-hint")).to_contain_text("No street map", timeout=5_000)
    credit = page.locator(".attribution")
    expect(credit).not_to_contain_text("OpenStreetMap")
    came = "e => { const {tiles} = e.__dpviz; tiles.asked = true; tiles.came(); }"
    the_map(page).evaluate(came)
    expect(credit).to_contain_text("OpenStreetMap")
    page.emulate_media(media="print")  # without tiles: the bundled ground
    expect(credit).not_to_contain_text("OpenStreetMap")
    page.emulate_media(media="screen")
    page.get_by_test_id("dpviz-tiles").click()


def a_newcomer_s_phone_has_room_for_the_map(page):
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    box = the_map(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["width"] > 320
    assert box["y"] <= 300  # below two sentences, buttons, the data and ε
    page.locator("[data-tool=rect]").click()
    words, camera = (page.locator(place).bounding_box() for place in (".status", ".camera"))
    assert words["y"] >= camera["y"] + camera["height"]  # hints must not cover the buttons
    page.get_by_role("button", name="Learn how it works").click()
    expect(page.get_by_role("heading", name="1. What leaks")).to_be_visible()


def test_a_year_is_played_by_the_browser_alone(app, open_page):
    page = open_page(f"{app}/?data=year&view=film&method=quadtree&set=height:5")
    map_view = the_map(page)
    name = page.get_by_test_id("dpviz-film-name")
    expect(name).to_have_text("January 2030")
    page.get_by_test_id("dpviz-film-play").click()
    expect(name).not_to_have_text("January 2030")
    page.get_by_test_id("dpviz-film-play").click()
    page.get_by_test_id("dpviz-film").fill("5")
    expect(name).to_have_text("June 2030")
    map_view.press(",")
    expect(name).to_have_text("May 2030")
    expect(page.locator("[data-frame='4']")).to_be_visible()
