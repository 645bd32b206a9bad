"""The map itself: a series offline, presenting, the legend, tiles, fingers, the picture."""

import io
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import dpviz
from dpviz.exports import Presentation, map_page, release_page
from dpviz.exports.tree import FINE, FINE_VARIANCE
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.window import window_cuts, windows
from dpviz.render import half_width_words, with_noise
from dpviz.render.cells import ENCLOSED, adaptive, density_scale, map_corners, node_bounds
from dpviz.render.detail import NEVER, QUIET
from dpviz.render.numbers import count_words
from tests.browser.conftest import frames, until
from tests.browser.test_explore import at, domain_box, drag, over, shape, the_map
from tests.browser.test_pages import both_schemes_are_open_to_everyone

pytestmark = pytest.mark.browser
RECT = (14.5, -24.0, 14.7, -23.8)
EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def series():
    city = dpviz.load("city-50k")
    return [dpviz.build(city, "privtree", e, seed=k) for k, e in enumerate(EPSILONS)]


def layers(map_view):
    return map_view.evaluate(
        "e => e.__dpviz.scene.filter(l => l.props.visible).map(l => l.id)"
        ".filter(id => id.startsWith('cells'))"
    )


def test_a_file_of_a_year_keeps_slider_playback_and_timeline_offline(open_file):
    """Answers are for the whole area until a rectangle is drawn; all equal the release's."""
    year = dpviz.Domain.from_bounds([14, -24, 15, -23], period=("2030-01-01", "2031-01-01"))
    random = np.random.default_rng(0)
    records = random.uniform([14, -24, year.lower[2]], [15, -23, year.upper[2]], (5_000, 3))
    data = dpviz.from_points(records, year, public=True)
    release = dpviz.build(data, "quadtree", 1.0, seed=0, height=4)
    maps, labels = windows(release)
    page = open_file(release_page(release))
    map_view = the_map(page)
    box = year.without_time.bounds
    expect(page.locator("#total")).to_have_text(
        f"{count_words(release.count(box))} records, all 2030"
    )
    expect(page.get_by_test_id("dpviz-series-name")).to_have_text("all 2030")
    assert layers(map_view) == ["cells-0"]
    rows = page.get_by_test_id("dpviz-all").locator("tr")
    current = page.get_by_test_id("dpviz-all").locator("[aria-current=true]")
    expect(current).to_have_count(0)  # the map shows all 2030
    cuts = window_cuts(year)
    periods = [year.period, *pairwise(cuts)]
    of_time = [release.count(box, each) for each in periods]
    assert [count_words(each.count(box)) for each in maps] == list(map(count_words, of_time))
    for rect in (box, (14.2, -23.8, 14.7, -23.3)):
        expect(rows).to_have_count(12)
        for row, each in zip(rows.all_inner_texts(), periods[1:], strict=True):
            answer = release.count(rect, each)
            assert with_noise(answer.count[0], answer.total_error[0]) in row
        page.evaluate("dpviz.push([14.2, -23.8, 14.7, -23.3])")
    answer = release.count((14.2, -23.8, 14.7, -23.3))
    assert 0 < answer.half_width[0] < answer.total_error[0]
    cut = f"± {half_width_words(INTERVAL_SDS * answer.uniformity_sd[0])} (estimate)"
    expect(page.get_by_test_id("dpviz-answer").locator("dd").nth(1)).to_have_text(cut)
    edge = "e => e.getBoundingClientRect()"
    card = page.locator("#answer").evaluate(edge)
    assert card["bottom"] <= page.locator(".attribution").evaluate(edge)["top"]
    one, two = (rows.nth(at).locator(".bar i").evaluate(edge) for at in (0, 1))
    rect = (14.2, -23.8, 14.7, -23.3)
    months = [release.count(rect, each) for each in periods[1:3]]
    ends = [each.count[0] + sign * each.total_error[0] for each in months for sign in (-1, 1)]
    drawn = [bar[side] for bar in (one, two) for side in ("left", "right")]
    unit = (drawn[1] - drawn[0]) / (ends[1] - ends[0])
    assert np.subtract(drawn, drawn[0]) == pytest.approx(np.subtract(ends, ends[0]) * unit, abs=2)
    page.get_by_test_id("dpviz-series-play").click()
    expect(page.get_by_test_id("dpviz-series-name")).not_to_have_text(labels[0])
    page.get_by_test_id("dpviz-series").fill("12")
    expect(page.get_by_test_id("dpviz-series-name")).to_have_text("December 2030")
    assert layers(map_view) == ["cells-12"]
    expect(current).to_have_text(re.compile("^December"))
    marks = [
        row.evaluate("e => getComputedStyle(e, '::before').content")
        for row in rows.locator("th").all()
    ]
    assert [mark for mark in marks if mark != "none"] == marks[-1:]


def test_a_series_is_open_to_everyone_steps_compares_and_answers_at_every_epsilon(
    open_file, series
):
    page = open_file(
        map_page(series, rects=[RECT], presentation=Presentation("Five ε")), bypass_csp=True
    )
    map_view = the_map(page)
    both_schemes_are_open_to_everyone(page, frames)
    assert layers(map_view) == ["cells-2"]
    rows = page.get_by_test_id("dpviz-all").locator("tr")
    expect(rows).to_have_count(5)
    for row, release in zip(rows.all_inner_texts(), series, strict=True):
        answer = release.count(RECT)
        assert with_noise(answer.count[0], answer.total_error[0]) in row
        assert f"ε = {release.header.epsilon:g}" in row
    page.get_by_test_id("dpviz-series").focus()
    page.keyboard.press("ArrowRight")
    map_view.press(".")  # key press on the map itself
    assert layers(map_view) == ["cells-4"]
    expect(page.get_by_test_id("dpviz-series-name")).to_have_text("PrivTree · ε = 3")
    # Playing continues after the last step with the first.
    page.get_by_test_id("dpviz-series-play").click()
    expect(page.get_by_test_id("dpviz-series-name")).to_have_text(re.compile("ε = 0.05"))
    # A step by hand stops playing. In one call: on a busy machine it would play on in between.
    before, after = page.evaluate(
        "() => { const before = dpviz.player.at; dpviz.player.back.click(); "
        "return [before, dpviz.player.at]; }"
    )
    assert after == (before - 1) % len(series)
    page.get_by_test_id("dpviz-series").fill("4")
    expect(page.get_by_test_id("dpviz-series-name")).to_have_text("PrivTree · ε = 3")
    assert page.get_by_test_id("dpviz-series-play").get_attribute("aria-label") == "Play (K)"
    page.get_by_test_id("dpviz-compare").select_option("0")
    assert layers(map_view) == ["cells-0", "cells-4"]
    assert map_view.evaluate("e => e.__dpviz.mode") == "swipe"
    clips = map_view.evaluate(
        "e => Object.fromEntries(e.__dpviz.layers().filter(l => l.props.side != null)"
        ".map(l => [l.id, l.props.side]))"
    )
    assert clips == {"cells-4": 0, "cells-0": 1}
    expect(page.get_by_test_id("dpviz-answer")).to_have_count(2)
    page.get_by_role("button", name="PrivTree · ε = 0.1").click()
    assert layers(map_view) == ["cells-0", "cells-1"]


def test_cells_made_in_the_browser_are_those_of_the_engine(open_file, series):
    """On the first map of a series, and on a later one; each number as exact as it is packed.

    Counts are rounded to half of ``sd / FINE``, variances to half of ``variance / FINE_VARIANCE``.
    """
    from dpviz.render import cells

    page = open_file(map_page(series[1:4]))
    map_view = the_map(page)
    assert layers(map_view) == ["cells-1"]
    page.evaluate("dpviz.set({a: 2})")
    assert layers(map_view) == ["cells-2"]
    for number in (1, 2):
        table = cells(series[1 + number], id="cells").raw_table()
        kind = np.array(table["kind"].to_pylist())
        noise = np.array(table["noise_sd"].to_pylist())
        for name in ("bounds", "count", "noise_sd", "km2", "group", "group_sd", "inside", "first"):
            column = f"cells-{number}.{name}"
            mine = page.evaluate("name => Array.from(dpviz.columns[name].value)", column)
            theirs = np.array(table[name].to_pylist())
            drawn = kind != NEVER
            if name == "group_sd":
                drawn &= kind != ENCLOSED  # such a cell has no group
            apart = np.abs(np.reshape(mine, theirs.shape) - theirs)[drawn]
            rounding = {
                "count": noise / (2 * FINE),
                "noise_sd": theirs / (4 * FINE_VARIANCE),  # a root has half the relative error
                "group_sd": theirs / (4 * FINE_VARIANCE),
            }.get(name, np.zeros_like(theirs))
            assert (apart <= (1e-7 + 2e-5 * np.abs(theirs) + rounding)[drawn]).all(), column


def test_one_map_has_room_fills_the_window_and_shows_what_it_is_asked(open_file, series):
    page = open_file(map_page(series[3:4], presentation=Presentation("One map"), rects=[RECT]))
    map_view = the_map(page)
    the_legend_covers_no_data(page)
    the_map_alone_fills_the_window(page, map_view)
    where_the_pointer_is_stands_below(page, map_view)
    who_gives_up_a_drawing_has_the_shape_before_it(page, map_view)
    a_blank_cell_has_words_and_raw_cells_are_a_switch(page, map_view, series[3])
    colours_stay_where_the_system_s_contrast_takes_all_others(page, map_view)


def the_map_alone_fills_the_window(page, map_view):
    """Presenting lasts until the same key is pressed again."""
    before = map_view.bounding_box()
    page.locator("h1").click()
    page.keyboard.press("f")  # letter keys work only while the map has the focus
    expect(page.locator(".frame.presenting")).to_have_count(0)
    map_view.press("f")
    expect(page.locator(".frame.presenting")).to_be_visible()
    page.wait_for_function("e => e.clientHeight > 700", arg=map_view.element_handle())
    legend = page.get_by_test_id("dpviz-legend").bounding_box()
    shown = map_view.bounding_box()
    assert shown["width"] >= 1280
    # The page's scroll bar, which takes up room in windows, is not part of the map.
    assert page.evaluate("getComputedStyle(document.documentElement).overflowY") == "hidden"
    assert legend["y"] >= shown["y"] + shown["height"]
    assert legend["y"] + legend["height"] <= 900 + 1
    page.keyboard.press("f")
    expect(page.locator(".frame.presenting")).to_have_count(0)
    page.wait_for_function(
        "([e, height]) => Math.abs(e.clientHeight - height) < 2",
        arg=[map_view.element_handle(), before["height"]],
    )


def who_gives_up_a_drawing_has_the_shape_before_it(page, map_view):
    """Regression: a rectangle cancelled by keyboard stayed, beside the previous answer."""
    drawn = "e => e.__dpviz.shape"
    before = map_view.evaluate(drawn)
    assert before == shape(map_view)
    for given_up in ("Escape", "d", "Backspace"):
        map_view.focus()
        for key in ("d", "Enter", "Shift+ArrowRight", "Shift+ArrowDown"):
            page.keyboard.press(key)
        assert map_view.evaluate(drawn) != before
        page.keyboard.press(given_up)
        assert map_view.evaluate(drawn) == before == shape(map_view)


def styles(page, selector, name):
    """A property of all elements of a kind: one that the page has just replaced has none."""
    for _ in range(100):
        values = page.locator(selector).evaluate_all(
            f"all => all.map(e => getComputedStyle(e).{name})"
        )
        if "" not in values:
            return values
        frames(page, 1)
    raise AssertionError(f"{selector} without {name}")


def colours_stay_where_the_system_s_contrast_takes_all_others(page, map_view):
    """Which fills, and by them the legend, a page's colours and what is pressed, would be lost."""
    page.emulate_media(color_scheme="dark", forced_colors="active")
    page.wait_for_function("e => e.__dpviz.dark", arg=map_view.element_handle())
    shown = []
    for contrast in ("active", "none"):
        page.emulate_media(color_scheme="dark", forced_colors=contrast)
        shown.append(styles(page, ".class i, .map", "backgroundColor"))
    assert len(set(shown[0])) > 4
    assert shown[0] == shown[1]
    page.emulate_media(color_scheme="dark", forced_colors="active")
    page.evaluate("""() => {
      const system = document.body.appendChild(document.createElement('hr')).style;
      Object.assign(system, {color: 'CanvasText', borderColor: 'ButtonBorder'});
    }""")
    (border,) = set(styles(page, "hr", "borderTopColor"))
    controls = ":is(.tools, .camera) button:enabled, details.panel"
    assert set(styles(page, controls, "borderTopColor")) == {border}
    assert set(styles(page, ".blank i", "borderTopColor")) == set(styles(page, "hr", "color"))
    page.emulate_media(color_scheme="dark", forced_colors="none")


@pytest.mark.webgl
def test_a_phone_shows_the_world_and_its_cells_and_turns_back_to_it(open_file):
    """The map did not go below zoom 0, where 512 pixels are as wide as the Earth."""
    world = dpviz.Domain.from_bounds([-180, -60, 180, 80])
    points = np.random.default_rng(0).normal((2, 48), (4, 3), (4_000, 2))
    release = dpviz.build(dpviz.from_points(points, world, public=True), "ugrid", 1.0, seed=0)
    page = open_file(release_page(release), PHONE["viewport"])
    map_view = the_map(page)
    zoom = "e => e.__dpviz.deck.getViewports()[0].zoom"
    least = map_view.evaluate(zoom)
    (west, _), (east, _) = domain_box(map_view)
    assert 0 <= west < east <= 390
    page.mouse.move(*at(map_view, 0.5, 0.6))
    for turn in (-400, 2_000):
        page.mouse.wheel(0, turn)
        until(lambda out=turn > 0: (map_view.evaluate(zoom) < least + 0.01) is out)
    assert domain_box(map_view)[0][0] == pytest.approx(west, abs=1)
    centre = "(e, at) => e.__dpviz.hit(e.__dpviz.sight.viewports[0].project(at))"
    assert map_view.evaluate(f"{centre}.layer.id", [2, 48]) == "cells-0"


def the_legend_covers_no_data(page):
    for size in ({"width": 390, "height": 844}, {"width": 1280, "height": 900}):
        page.set_viewport_size(size)
        frames(page)
        map_view = the_map(page).bounding_box()
        legend = page.get_by_test_id("dpviz-legend").bounding_box()
        assert map_view["width"] > 0.6 * min(size["width"], 800)
        assert legend["y"] >= map_view["y"] + map_view["height"]
        assert legend["x"] + legend["width"] <= size["width"]
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("or within the noise")


def where_the_pointer_is_stands_below(page, map_view):
    page.mouse.move(*at(map_view, 0.5, 0.5))
    expect(page.get_by_test_id("dpviz-where")).to_contain_text(
        re.compile(r"23\.\d+° S +14\.\d+° E")
    )
    before = shape(map_view)
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.3, 0.3), (0.6, 0.6))
    assert shape(map_view)["kind"] == "rect"
    assert shape(map_view) != before


def a_blank_cell_has_words_and_raw_cells_are_a_switch(page, map_view, release):
    """And the picture is a slide."""
    page.set_viewport_size({"width": 1280, "height": 900})
    frames(page)
    quiet = adaptive(release)
    zoom = map_view.evaluate("e => e.__dpviz.camera.zoom")
    drawn = np.flatnonzero(quiet.at(zoom) & (quiet.kind == QUIET))
    west, south, east, north = node_bounds(release)[drawn[quiet.km2[drawn].argmax()]]
    middle = [float(west + east) / 2, float(south + north) / 2]
    x, y = over(map_view, middle)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=3)
    tooltip = page.get_by_test_id("dpviz-tooltip")
    expect(tooltip).to_contain_text("Within the noise")
    page.get_by_test_id("dpviz-view").locator("summary").click()
    the_picture_is_a_slide(page, map_view)
    depth = page.get_by_test_id("dpviz-depth")
    expect(depth).to_be_hidden()
    page.get_by_test_id("dpviz-raw").check()
    expect(depth).to_be_visible()
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("noise below zero")
    page.mouse.move(x + 2, y, steps=3)
    expect(tooltip).to_contain_text("±")
    page.get_by_test_id("dpviz-palette").select_option("ember")
    accent = map_view.evaluate("e => e.__dpviz.accent")
    assert accent == [0, 115, 176]


def the_picture_is_a_slide(page, map_view):
    """The picture has title, legend and the map, which does not change."""
    camera = "e => JSON.stringify(e.__dpviz.camera)"
    before = map_view.evaluate(camera)
    with page.expect_download() as saved:
        page.get_by_test_id("dpviz-save").click()
    image = Image.open(io.BytesIO(Path(saved.value.path()).read_bytes())).convert("RGB")
    assert image.size == (1920, 1080)
    colours = {colour for _, colour in image.getcolors(1 << 24)}
    for needed in ((246, 244, 239), (219, 228, 234)):  # land, water
        assert needed in colours
    strip = image.crop((0, 940, 1920, 1080)).getcolors(1 << 20)
    assert len([1 for many, _ in strip if many > 500]) >= 6  # classes
    assert map_view.evaluate(camera) == before


CLASSES_ALONG = """(e, [from, to, lat]) => {
  const app = e.__dpviz;
  const layer = app.layers().find(each => each.id === 'cells-0');
  const canvas = e.querySelector('canvas.flat');
  const [x0, x1] = [from, to].map(lon => app.deck.getViewports()[0].project([lon, lat])[0]);
  const y = app.deck.getViewports()[0].project([from, lat])[1];
  const {data} = canvas.getContext('2d').getImageData(0, Math.round(y), canvas.width, 1);
  const color = k => [...data.subarray(4 * k, 4 * k + 3)];
  const apart = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));
  const looks = [app.theme.land, ...layer.props.colors].map(each => each.slice(0, 3));
  const places = Array.from({length: 301}, (_, k) => Math.round(x0 + k / 300 * (x1 - x0)));
  return places.map(color).map(seen =>
    looks.reduce((best, look, i) => apart(look, seen) < apart(looks[best], seen) ? i : best, 0));
}"""
"""Classes of the map's pixels from one place to another, 0 for its ground."""


def test_smooth_is_between_the_classes_of_two_cells_and_the_legend_says_so(open_file):
    place = dpviz.Domain.from_bounds([14.0, -24.0, 15.0, -23.0])
    columns = 14.125 + np.arange(4) / 4
    points = [(x, y) for y in -23.125 - np.arange(4) / 4 for x in columns]
    many = np.tile([1_000, 3_000, 30_000, 300_000], 4)
    data = dpviz.from_points(np.repeat(points, many, axis=0), place, public=True)
    release = dpviz.build(data, "quadtree", 10.0, seed=0, height=2)
    lo, hi = (side[release.nodes.leaf] for side in (release.nodes.lo, release.nodes.hi))
    density = release.nodes.count[release.nodes.leaf] / map_corners(place, lo, hi)[0]
    cells = set(density_scale(release).classes(density) + 1)
    page = open_file(map_page([release], presentation=Presentation(noun="visits")))
    map_view = the_map(page)
    page.get_by_test_id("dpviz-view").locator("summary").click()
    page.get_by_test_id("dpviz-smooth").check()
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("smoothed for display")
    frames(page)
    line = [float(columns[0]), float(columns[-1]), -23.625]
    smooth = map_view.evaluate(CLASSES_ALONG, line)
    assert smooth == sorted(smooth)
    assert {smooth[0], smooth[-1]} == {min(cells), max(cells)}
    assert set(smooth) > cells  # other shades between them
    page.mouse.move(*over(map_view, [float(columns[2]), -23.625]))
    expect(page.get_by_test_id("dpviz-tooltip")).to_contain_text(
        re.compile(r"30,000\.\S* .* visits")
    )
    page.get_by_test_id("dpviz-raw").check()
    expect(page.get_by_test_id("dpviz-smooth")).not_to_be_checked()
    expect(page.get_by_test_id("dpviz-legend")).not_to_contain_text("smoothed")


@pytest.mark.webgl
def test_a_map_over_the_meridian_of_180_shows_itself_and_is_moved_past_it(open_file):
    """deck.gl reports −179.9 for 180.1, a turn of the Earth away: the map was blank."""
    place = dpviz.Domain.from_bounds([176.0, -20.0, 185.0, -14.0])
    lonlat = np.random.default_rng(1).uniform([176, -20], [185, -14], (2_000, 2))
    data = dpviz.from_points(lonlat, place, public=True)
    page = open_file(map_page([dpviz.build(data, "ugrid", epsilon=1.0, seed=0)]))
    map_view = the_map(page)
    redrawn = (
        "e => {const {canvas} = e.__dpviz.surround; const before = canvas.toDataURL();"
        " e.__dpviz.surround.draw(); return canvas.toDataURL() === before}"
    )
    assert map_view.evaluate(redrawn)  # frame and scale bar fit the first picture
    longitude = "e => e.__dpviz.deck.getViewports()[0].longitude"
    start = map_view.evaluate(longitude)
    assert 180 < start < 185
    page.get_by_role("button", name="Zoom in").click()
    map_view.focus()
    for key, further in (("ArrowLeft", -1), ("ArrowRight", 1), ("ArrowRight", 1)):
        before = map_view.evaluate(longitude)
        map_view.press(key)
        frames(page)
        assert 0 < further * (map_view.evaluate(longitude) - before) < 2
    page.mouse.move(*at(map_view, 0.8, 0.5))
    expect(page.locator(".where")).to_contain_text(re.compile(r" 17\d\.\d+° W"))
    drag(page, map_view, (0.8, 0.5), (0.5, 0.5))
    frames(page, 10)
    assert start < map_view.evaluate(longitude) < 187
    assert map_view.evaluate("e => e.__dpviz.camera.longitude") > 180


@pytest.mark.webgl
def test_no_line_divides_cells_of_one_class(open_file):
    """Light hairlines between large cells were read as borders. No land or name is near."""
    sea = dpviz.Domain.from_bounds([-25.0, -41.0, -24.0, -40.0])
    steps = (np.arange(40) + 0.5) / 40
    lonlat = np.stack(np.meshgrid(steps - 25, steps - 41), axis=-1).reshape(-1, 2)
    data = dpviz.from_points(lonlat, sea, public=True)
    page = open_file(map_page([dpviz.build(data, "ugrid", epsilon=1e3, seed=0, cells=8)]))
    map_view = the_map(page)
    frames(page)
    picture = np.array(Image.open(io.BytesIO(map_view.screenshot())).convert("RGB"))
    high, wide, _ = picture.shape
    middle = picture[high // 2 - 100 : high // 2 + 100, wide // 2 - 100 : wide // 2 + 100]
    assert len(np.unique(middle.reshape(-1, 3), axis=0)) == 1


@pytest.mark.webgl
def test_one_finger_scrolls_a_phone_s_page_buttons_fit_a_thumb_and_a_rectangle_is_drawn(
    open_file, series
):
    few = map_page(series[:1], rects=[RECT])  # cells are drawn again at every move of a finger
    page = open_file(few, bypass_csp=True, **PHONE)
    map_view = the_map(page)
    assert map_view.evaluate("e => e.querySelector('canvas').tabIndex") == -1  # the map has a name
    for button in page.get_by_test_id("dpviz-map").locator("button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    top = "e => e.__dpviz.deck.getViewports()[0].project(e.__dpviz.domain.slice(2))[1]"
    assert map_view.evaluate(top) + 0.5 > map_view.evaluate(
        "e => Math.max(...e.__dpviz.controls.boxes().map(b => b[3])"
        ".filter(y => y < e.clientHeight / 2))"
    )
    camera = map_view.evaluate("e => JSON.stringify(e.__dpviz.camera)")
    box = map_view.bounding_box()
    touch = page.context.new_cdp_session(page)
    x, y = box["x"] + 100, box["y"] + 300

    def moved(points, dx, dy):
        for k in range(11):
            now = [
                {"x": px + dx * k / 10, "y": py + dy * k / 10, "id": at}
                for at, (px, py) in enumerate(points)
            ]
            kind = "touchMove" if k else "touchStart"
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": now})
            frames(page, 1)  # as a touch screen reports it
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    for _ in range(5):  # a busy machine may report a quick move as a tap
        moved([(x, y)], 0, -200)
        frames(page, 6)
        if page.evaluate("window.scrollY > 100"):
            break
    page.wait_for_function("window.scrollY > 100")
    assert map_view.evaluate("e => JSON.stringify(e.__dpviz.camera)") == camera
    page.wait_for_function(  # the momentum may last a while
        "window.atTop = window.scrollY === 0 ? (window.atTop || 0) + 1 : 0,"
        " window.scrollTo(0, 0), window.atTop > 10"
    )
    moved([(x, y), (x + 60, y + 60)], 100, 0)
    page.wait_for_function(
        "([e, before]) => JSON.stringify(e.__dpviz.camera) !== before",
        arg=[map_view.element_handle(), camera],
    )
    assert page.evaluate("window.scrollY") == 0
    page.evaluate("window.scrollTo(0, 0)")
    tooltip = page.get_by_test_id("dpviz-tooltip")
    expect(tooltip).to_be_hidden()
    # Wherever it was before, it keeps clear of the edges.
    for across in (0.65, 0.6, 0.55, 0.5, 0.45, 0.4):
        page.touchscreen.tap(*at(map_view, across, 0.5))
        expect(tooltip).to_contain_text("km²")
        frames(page)
        left, right = tooltip.evaluate(
            "e => [e.offsetLeft, e.offsetParent.clientWidth - e.offsetLeft - e.offsetWidth]"
        )
        assert min(left, right) >= 7, across  # 8, less fractions of a pixel
    page.get_by_title("Draw a rectangle", exact=True).tap()
    assert map_view.evaluate("e => e.__dpviz.tool") == "rect"
    expect(page.get_by_text("Drag a finger over the map")).to_be_visible()
    page.keyboard.press("Escape")
    a_rectangle_drawn_in_the_file_is_answered_there(page, map_view, series[0])


def a_rectangle_drawn_in_the_file_is_answered_there(page, map_view, release):
    page.set_viewport_size({"width": 1280, "height": 900})
    frames(page)
    assert shape(map_view)["rect"] == list(RECT)
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.3, 0.4), (0.5, 0.6))
    rect = shape(map_view)["rect"]
    answer = release.count(rect)
    box = page.get_by_test_id("dpviz-answer")
    expect(box).to_contain_text(with_noise(answer.count[0], answer.total_error[0]))
    noise = half_width_words(answer.half_width[0])
    expect(box).to_contain_text(f"Noise alone± {noise} (95 %)")
    assert map_view.evaluate("e => e.__dpviz.overlay.map(l => l.props.data.length)") == [
        answer.nodes[0]
    ]
    page.get_by_role("button", name="Show rectangle 1").click()
    assert shape(map_view)["rect"] == list(RECT)
    page.get_by_test_id("dpviz-clear").click()
    expect(box).to_have_count(0)
    expect(page.get_by_text("Draw a rectangle")).to_be_visible()
    page.mouse.move(*at(map_view, 0.5, 0.5))
    expect(page.get_by_test_id("dpviz-tooltip")).to_contain_text("per km²")
    before = map_view.evaluate("e => e.__dpviz.camera.zoom")
    page.get_by_role("button", name="Zoom in").click()
    assert map_view.evaluate("e => e.__dpviz.camera.zoom") == before + 1
