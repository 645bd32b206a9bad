"""Explore in a real Chromium, offline: what is drawn on the canvas is what the engine answers."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.render import with_noise
from dpviz.ui.shared.tour import TITLE
from tests.browser.conftest import PATIENCE, downloaded, idle, pay, upload

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


def drag(page, map_view, start, stop):
    page.mouse.move(*at(map_view, *start))
    page.mouse.down()
    middle = [(a + b) / 2 for a, b in zip(start, stop, strict=True)]
    page.mouse.move(*at(map_view, *middle), steps=3)
    page.mouse.move(*at(map_view, *stop), steps=3)
    page.mouse.up()


def shape(map_view):
    return json.loads(map_view.get_attribute("data-shape") or "null")


def metric(page, label="Noisy count"):
    box = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return box.get_by_test_id("stMetricValue")


@pytest.fixture(scope="module")
def release():
    """The release that the app shows first; the public data and the seed make it repeatable."""
    return dpviz.build(dpviz.load("city-250k"), epsilon=1.0, seed=0)


def expected(release, rect):
    return expected_of(release.count(rect))


def expected_of(answer):
    half = (answer.high[0] - answer.low[0]) / 2
    assert half == pytest.approx(INTERVAL_SDS * answer.noise_sd[0], abs=1)
    return with_noise(answer.count[0], max(half, INTERVAL_SDS * answer.uniformity_sd[0]))


def what_is_shown_is_written(page, open_file, path, maps):
    """By the app, whose page has "Share" unfolded, to a file of so many maps at this path.

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
        assert answer.splitlines()[1 if "ε" in answer.splitlines()[0] else 0] in shown


def test_a_rectangle_is_answered_by_the_engine_and_kept_in_the_address(app, open_page, release):
    """Drawn with the mouse, restored, moved at a corner, drawn by keyboard, typed, cleared."""
    page = open_page(app)
    map_view = the_map(page)
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.2, 0.4), (0.5, 0.75))
    expect(metric(page)).to_be_visible()
    rect = shape(map_view)["rect"]
    assert release.domain.lower[0] < rect[0] < rect[2] < release.domain.upper[0]
    expect(metric(page)).to_have_text(expected(release, rect))
    exact = metric(page, "Exact count (public data)").inner_text()
    assert int(exact.replace(",", "")) == pytest.approx(release.count(rect).count[0], rel=0.1)
    page.wait_for_url(re.compile(r"rect="))
    before = metric(page).inner_text()
    page.reload()
    map_view = the_map(page)
    expect(metric(page)).to_have_text(before)

    corner = page.locator(".handle[data-corner='2']").bounding_box()
    x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 30, steps=4)
    page.mouse.up()
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

    idle(page)  # until then the fields of the last rectangle stand beside the new ones
    page.get_by_text("Enter coordinates").click()
    page.get_by_label("west", exact=True).fill("14.6")
    page.get_by_label("east", exact=True).fill("14.8")
    page.get_by_label("south", exact=True).fill("-24")
    page.get_by_label("north", exact=True).fill("-23.9")
    page.get_by_role("button", name="Query").press("Enter")  # a click may miss what still unfolds
    typed = [14.6, -24.0, 14.8, -23.9]
    expect(metric(page)).to_have_text(expected(release, typed))
    expect(map_view).to_have_attribute("data-shape", '{"kind":"rect","rect":[14.6,-24,14.8,-23.9]}')
    page.get_by_test_id("dpviz-clear").click()
    expect(metric(page)).to_have_count(0)
    expect(page.locator(".handle:visible")).to_have_count(0)


@pytest.mark.webgl
def test_view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks(app, open_page):
    page = open_page(app)
    map_view = the_map(page)
    camera = "e => JSON.stringify(e.__dpviz.camera)"
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url(re.compile("camera="))
    before, seen = map_view.evaluate(camera), int(map_view.get_attribute("data-rendered"))
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(map_view).to_have_attribute("data-rendered", str(seen + 1))
    assert map_view.evaluate(camera) == before
    page.wait_for_url(re.compile(r"epsilon=0\.8"))

    page.get_by_test_id("dpviz-view").locator("summary").click()
    page.get_by_test_id("dpviz-raw").check()
    page.get_by_test_id("dpviz-depth").fill("2")
    assert map_view.evaluate("e => e.__dpviz.view.depth") == 2
    page.mouse.move(*at(map_view, 0.5, 0.6))
    tooltip = page.get_by_test_id("dpviz-tooltip")
    expect(tooltip).to_contain_text("±")
    expect(tooltip).to_contain_text("cells inside")


def test_an_upload_shows_nothing_before_it_is_paid_for_nothing_exact_after_and_no_markup(
    app, open_page, tmp_path
):
    evil = "<img src=x onerror=window.pwned=1>"
    file = tmp_path / "points.csv"
    rows = "\n".join(f"{14.6 + i / 1000},{-23.9 + i / 1000}" for i in range(100))
    other = "[a](javascript:window.pwned=1)"
    file.write_text(f'"{evil}","{other}"\n{rows}\n')
    page = open_page(f"{app}/?data=Your own file&rect=14.5,-24.0,14.7,-23.8")
    upload(page, file)
    for label, name in (("Longitude / x", evil), ("Latitude / y", other)):
        page.get_by_role("combobox", name=label).click()
        page.get_by_role("option", name=name).click()
        idle(page)
    for side, value in zip(("west", "south", "east", "north"), (14, -24, 15, -23), strict=True):
        page.get_by_label(side, exact=True).fill(str(value))
        page.keyboard.press("Tab")
        idle(page)
    page.get_by_role("button", name="Publish: spend").wait_for()
    assert page.locator("[data-testid=dpviz-legend]").count() == 0
    pay(page)
    the_map(page)
    expect(metric(page)).to_be_visible()
    idle(page)
    text = page.locator("[data-testid=stMain]").inner_text().lower()
    assert "not private" not in text
    assert "exact count" not in text
    assert "exact total" not in text
    expect(page.get_by_text("has spent ε = 1").first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0


def test_a_phone_shows_the_map_without_sideways_scrolling(app, open_page):
    page = open_page(app, width=390, height=844)  # a newcomer's
    expect(page.get_by_text(TITLE)).to_be_visible()
    box = the_map(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["width"] > 320
    assert box["y"] + box["height"] < 844  # below the guided first run
    overflow = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert page.evaluate(overflow) <= 390
    dark = re.compile(r"\bdark\b")
    expect(the_map(page)).not_to_have_class(dark)
    page.emulate_media(color_scheme="dark")
    expect(the_map(page)).to_have_class(dark)
    assert page.evaluate(overflow) <= 390
    page.locator("[data-tool=rect]").click()
    words, camera = (page.locator(place).bounding_box() for place in (".status", ".camera"))
    assert words["y"] >= camera["y"] + camera["height"]  # they lay on the buttons
    page.get_by_role("button", name="Open Learn").click()
    expect(page.get_by_role("heading", name="1. What leaks")).to_be_visible()


def test_a_window_in_time_moves_the_map_the_answer_and_the_address(app, open_page):
    page = open_page(f"{app}/?data=year&rect=14.5,-24.0,14.7,-23.8&period=2030-06-01,2030-07-01")
    the_map(page)
    release = dpviz.build(dpviz.load("year"), epsilon=1.0, seed=0)
    for period in (("2030-06-01", "2030-07-01"), ("2030-07-01", "2030-07-31")):
        answer = release.count([14.5, -24.0, 14.7, -23.8], period)
        expect(metric(page)).to_have_text(expected_of(answer))
        expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
        expect(page).to_have_url(re.compile("period=" + "(%2C|,)".join(period)))
        page.get_by_role("button", name="Later").click()
    page.get_by_role("radio", name="Playback").or_(
        page.get_by_role("button", name="Playback")
    ).click()
    name = page.get_by_test_id("dpviz-film-name")
    expect(name).to_have_text("2030-01-01")
    idle(page)
    page.get_by_test_id("dpviz-film-play").click()
    expect(name).not_to_have_text("2030-01-01")
    page.get_by_test_id("dpviz-film-play").click()
    page.get_by_test_id("dpviz-film").fill("5")
    expect(name).to_have_text("2030-06-01")
    the_map(page).press(",")
    expect(name).to_have_text("2030-05-01")
    expect(page.locator("[data-frame='4']")).to_be_visible()  # drawn, by the browser alone


RECT = [14.5, -24.0, 14.7, -23.8]


def test_kinds_and_hexagons_come_from_an_address_with_map_and_answer(app, open_page):
    asked = f"rect={','.join(map(str, RECT))}"
    page = open_page(f"{app}/?data=rides&method=ugrid&kinds=leading&{asked}")
    expect(the_map(page)).to_have_attribute("aria-label", re.compile("the kind that leads"))
    rides = dpviz.build(dpviz.load("rides"), "ugrid", epsilon=1.0, seed=0)
    expect(metric(page)).to_have_text(expected_of(rides.count(RECT)))
    page.get_by_role("radio", name="Share", exact=True).or_(
        page.get_by_role("button", name="Share", exact=True)
    ).first.click()
    share = rides.share(RECT, rides.names[0])
    label = f"Share of {rides.names[0]} against all others"
    expect(metric(page, label)).to_contain_text(f"{100 * share.value[0]:.0f} %")
    expect(the_map(page)).not_to_have_attribute("aria-label", re.compile("the kind that leads"))
    page.goto(f"{app}/?data=city-50k&areas=h3:6&{asked}")
    the_map(page)
    hexagons = dpviz.build(dpviz.load("city-50k"), "areas", epsilon=1.0, seed=0, areas="h3:6")
    expect(metric(page)).to_have_text(expected_of(hexagons.count(RECT)))
    page.add_style_tag(content="html {font-size: 200% !important}")  # then its ± was cut off
    cut = "e => [...e.querySelectorAll('*')].filter(each => each.scrollWidth > each.clientWidth)"
    assert metric(page).evaluate(f"e => ({cut})(e).length") == 0


def test_what_is_chosen_is_told_where_the_system_s_contrast_takes_all_colours(app, open_page):
    page = open_page(f"{app}/?data=city-50k", scheme="dark", forced_colors="active")
    colour = "e => getComputedStyle(e).backgroundColor"
    chosen, other = (
        page.get_by_role("radio", name=name, exact=True) for name in ("Cells", "Areas")
    )
    expect(chosen).to_be_checked()
    highlight = page.evaluate(
        "() => { const probe = document.body.appendChild(document.createElement('i'));"
        " probe.style.background = 'Highlight'; return getComputedStyle(probe).backgroundColor; }"
    )
    assert chosen.evaluate(colour) == highlight != other.evaluate(colour)
    page.keyboard.press("Tab")  # from here on what has the focus shows it
    here = page.get_by_test_id("stSidebarNavLink").first
    here.focus()
    for contrast in ("active", "none"):  # a shadow is not drawn, and a tint is faint
        page.emulate_media(color_scheme="dark", forced_colors=contrast)
        assert here.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.emulate_media(color_scheme="dark", forced_colors="active")
    thumb = page.get_by_test_id("stSlider").get_by_role("slider").first
    track = "e => getComputedStyle(e.closest('[data-testid=stSlider]')).forcedColorAdjust"
    assert thumb.evaluate(track) == "none"
