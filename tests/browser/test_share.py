"""A map in a file, opened from the disk: no server, no network, and answers as the engine's."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import shapely
from playwright.sync_api import expect

import dpviz
from dpviz.exports import Presentation, map_page, release_page, report_page
from dpviz.exports.facts import quotient_words
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.areas.window import step_windows
from dpviz.releases.points.window import during, windows
from dpviz.render import with_noise
from dpviz.render.nearby import place_rows, place_squares
from dpviz.render.numbers import count_words, percent_interval
from dpviz.ui.shared.shelf import Shelf
from tests.browser.conftest import downloaded, frames, idle, open_tab, until
from tests.browser.test_explore import domain_box, drag, shape, the_map
from tests.browser.test_map import styles
from tests.browser.test_pages import both_schemes_are_open_to_everyone
from tests.exports.test_html import EVIL
from tests.wards import voronoi

pytestmark = pytest.mark.browser
RECT = (14.5, -24.0, 14.7, -23.8)


@pytest.fixture(scope="module")
def releases():
    city = dpviz.load("city-50k")
    return [dpviz.build(city, "privtree", 1.0, seed=1), dpviz.build(city, "ugrid", 0.1, seed=2)]


def rectangles(domain, count, seed):
    """The same number of random rectangles inside this domain."""
    corners = np.random.default_rng(seed).uniform(domain.lower, domain.upper, (count, 2, 2))
    return np.sort(corners, axis=1).reshape(-1, 4)


def they_agree(of_file, answers):
    """Assert that a file's answers are the engine's: a thousandth of their noise apart at most."""
    count, noise, uniformity = (
        np.array([each[name] for each in of_file]) for name in ("count", "noise", "uniformity")
    )
    assert (np.abs(count - answers.count) <= answers.noise_sd / 1_000 + 1e-6).all()
    assert noise == pytest.approx(answers.noise_sd, rel=1e-3)
    assert uniformity == pytest.approx(answers.uniformity_sd, rel=1e-3, abs=1e-3)
    assert [len(each["used"]) for each in of_file] == answers.nodes.tolist()
    pairs = [
        (with_noise(value, np.hypot(half, error)), with_noise(*theirs))
        for value, half, error, *theirs in zip(
            count,
            INTERVAL_SDS * noise,
            INTERVAL_SDS * uniformity,
            answers.count,
            INTERVAL_SDS * np.hypot(answers.noise_sd, answers.uniformity_sd),
            strict=True,
        )
    ]
    assert sum(mine != engine for mine, engine in pairs) <= 1 + len(pairs) // 50


@pytest.mark.smoke
def test_a_file_answers_as_the_engine_does(open_file, releases):
    page = open_file(map_page(releases))
    the_map(page)
    domain = releases[0].domain
    rects = rectangles(domain, 200, seed=5)
    nodes = releases[0].nodes
    aligned = np.hstack([domain.to_coordinates(nodes.lo), domain.to_coordinates(nodes.hi)])[::97]
    beyond = [[*np.subtract(domain.lower, 1), *np.add(domain.upper, 1)]]
    rects = np.concatenate([rects, aligned, beyond])
    of_file = page.evaluate("rects => rects.map(rect => dpviz.answers(rect))", rects.tolist())
    for side, release in enumerate(releases):
        answers = release.count(rects)
        mine = [each[side] for each in of_file]
        they_agree(mine, answers)
        near = np.abs(np.array([each["low"] for each in mine]) - answers.low)
        assert (near <= 1 + answers.noise_sd / 500).all()
    assert page.evaluate("dpviz.answers([0, 0, 1, 1])") == [None, None]


@pytest.mark.parametrize("made", ["wavelets", "part"])
def test_a_file_knows_errors_that_are_no_sum_of_its_cells(open_file, made):
    """Noise of wavelets, cut cells below it, and time assumed even within a cell."""
    if made == "wavelets":
        release = dpviz.build(dpviz.load("city-50k"), "privelet", 1.0, seed=1, log_cells=6)
    else:
        year = dpviz.build(dpviz.load("year"), "privtree", 1.0, seed=1)
        release = during(year, ("2030-03-01", "2030-03-20"))
    page = open_file(map_page([release]))
    the_map(page)
    rects = rectangles(release.domain, 100, seed=6)
    answered = "([rects, what]) => rects.map(rect => dpviz.answers(rect)[0][what])"
    answers = release.count(rects)
    for what in ("noise", "uniformity"):
        stated = page.evaluate(answered, [rects.tolist(), what])
        assert stated == pytest.approx(getattr(answers, f"{what}_sd"), rel=1e-3)


def test_a_number_has_one_error_on_a_page_of_months_and_categories(open_file):
    """Bars, headline, tables and the answer to a place state the engine's total error."""
    year = {"period": ("2024-01-01", "2025-01-01"), "kind": "kind", "kinds": ["a", "b"]}
    houston = dpviz.Domain.from_bounds([-95.9, 29.4, -94.9, 30.2], ("lon", "lat"), **year)
    random = np.random.default_rng(0)
    table = pd.DataFrame({"lon": random.uniform(-95.9, -94.9, 6_000)})
    table["lat"] = random.normal(29.8, 0.1, 6_000).clip(29.5, 30.1)
    table["kind"] = random.choice(["a", "b"], 6_000)
    days = random.integers(0, 366, 6_000)
    table["time"] = np.datetime64("2024-01-01T07:00:00") + days * np.timedelta64(1, "D")
    release = dpviz.build(dpviz.load(table, houston, public=True), "ladder_tree", 1.0, seed=1)
    page = open_file(release_page(release, Presentation(noun="crimes")))
    assert the_map(page).get_attribute("aria-label").count("not private") == 1  # not of each map
    january = release.count(houston.without_time.bounds, ("2024-01-01", "2024-02-01"))
    assert january.total_error > january.half_width
    words = count_words(january)
    cells = page.locator("tr", has_text="January 2024").locator("td.number").all_text_contents()
    assert cells == [words, words]  # in the bars and in the table
    page.evaluate("dpviz.set({a: 1})")
    expect(page.locator("#total")).to_contain_text(f"{words} crimes, January 2024")
    row = place_rows(release)[0]
    page.evaluate("name => dpviz.find(dpviz.spec.places.names.indexOf(name))", row["place"])
    page.evaluate("dpviz.set({a: 0})")
    expect(page.get_by_test_id("dpviz-answer")).to_contain_text(row["noisy count"])
    expect(page.locator(".listed")).to_contain_text(row["noisy count"])


def test_two_maps_swipe_stand_side_by_side_fit_a_phone_and_paper_and_are_open_to_everyone(
    open_file, releases
):
    text = map_page(releases, labels=[EVIL, "B"], presentation=Presentation(EVIL), rects=[RECT])
    page = open_file(text, bypass_csp=True)
    map_view = the_map(page)
    names_are_never_markup(page)
    expect(page.get_by_test_id("dpviz-answer")).to_have_count(2)
    divider = page.get_by_test_id("dpviz-swipe")
    divider.focus()
    page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "48")
    page.get_by_role("button", name="Side by side").click()
    assert map_view.evaluate("e => e.__dpviz.mode") == "side"
    the_camera_fits(page, map_view)
    expect(page.locator(".handle:visible")).to_have_count(8)
    assert json.loads(map_view.get_attribute("data-shape"))["rect"] == list(RECT)
    page.get_by_role("button", name="Difference").click()
    shown = """e => e.__dpviz.scene.filter(l => l.props.visible).map(l => l.id)
        .filter(id => /^(cells|difference)/.test(id))"""
    assert map_view.evaluate(shown) == ["difference"]
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("A − B, records per km²")
    expect(page.get_by_test_id("dpviz-answer")).to_have_count(2)
    page.get_by_role("button", name="Swipe").click()
    assert map_view.evaluate(shown) == ["cells-0", "cells-1"]
    expect(page.get_by_test_id("dpviz-legend")).not_to_contain_text("A − B")
    the_camera_fits(page, map_view)
    they_fit_a_phone_and_are_open_to_everyone(page, map_view)
    on_paper_they_keep_the_legend_s_colours_and_no_buttons(page)


@pytest.mark.webgl
def test_a_map_that_comes_while_sheets_are_made_is_on_them(open_file, releases):
    """Regression: the printed map was white: it was copied only if it was there already."""
    page = open_file(map_page(releases[:1], presentation=Presentation("demo")), media="print")
    copy = page.locator(".copy img")
    expect(copy).to_have_count(1)
    natural = "each => each.decode().then(() => [each.naturalWidth, each.naturalHeight])"
    wide, high = copy.evaluate(natural)
    (west, north), (east, south) = domain_box(the_map(page))
    assert wide / high == pytest.approx((east - west) / (south - north), rel=0.01)


def they_fit_a_phone_and_are_open_to_everyone(page, map_view):
    page.set_viewport_size({"width": 390, "height": 844})
    frames(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert map_view.evaluate("e => e.classList.contains('dark')") is False
    both_schemes_are_open_to_everyone(page, frames)
    assert map_view.evaluate("e => e.classList.contains('dark')") is True


def on_paper_they_keep_the_legend_s_colours_and_no_buttons(page):
    page.emulate_media(media="print")
    inks = styles(page, ".class i", "printColorAdjust")
    assert len(inks) > 4
    assert set(inks) == {"exact"}
    expect(page.locator("#map")).to_be_visible()
    for away in (page.locator("#hint"), page.get_by_text("Swipe", exact=True)):
        expect(away).to_be_hidden()


def names_are_never_markup(page):
    expect(page.get_by_role("heading", level=1)).to_have_text(EVIL)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0


def the_camera_fits(page, map_view):
    """All of the domain, as large as it gets, clear of the buttons and of an answer's place."""
    frames(page)
    x, y = (map_view.bounding_box()[axis] for axis in "xy")
    (west, north), (east, south) = domain_box(map_view)
    west, north, east, south = west - x, north - y, east - x, south - y
    width, height = map_view.evaluate(
        "e => { const [{width, height}] = e.__dpviz.deck.getViewports(); return [width, height]; }"
    )
    assert 0.75 < max((south - north) / height, (east - west) / width) <= 1
    boxes = map_view.evaluate("e => e.__dpviz.controls.boxes()")
    assert len(boxes) >= 3  # tools, camera, view; the place of an answer on a single map
    for left, top, right, bottom in boxes:
        assert max(left - east, west - right, top - south, north - bottom) > -0.5


def test_a_projected_domain_shows_its_rectangles_and_computes_nothing(open_file):
    metres = dpviz.Domain((300_000.0, 200_000.0), (600_000.0, 500_000.0), crs="EPSG:27700")
    points = np.random.default_rng(3).uniform((4e5, 3e5), (5e5, 4e5), (2_000, 2))
    release = dpviz.build(dpviz.from_points(points, metres, public=True), epsilon=1.0, seed=0)
    page = open_file(map_page([release], rects=[(-1.5, 52.5, -1.0, 53.0)]))
    map_view = the_map(page)
    assert shape(map_view)["rect"] == [-1.5, 52.5, -1, 53]
    expect(page.get_by_test_id("dpviz-answer")).to_have_count(0)
    expect(page.get_by_text("Look around")).to_be_visible()
    expect(page.get_by_test_id("dpviz-draw")).to_have_count(0)


def test_a_file_of_areas_answers_as_the_engine_does_level_by_level(open_file):
    city = dpviz.load("city-50k")
    areas = voronoi(city.domain, 60, 0)
    # An island that belongs to another area.
    hole = areas.shapes[0].centroid.buffer(0.01, quad_segs=2)
    areas.shapes[0] = areas.shapes[0].difference(hole)
    areas.shapes[59] = areas.shapes[59].union(hole)
    release = dpviz.build(city, "areas", 1.0, areas=areas, seed=1)
    page = open_file(map_page([release], rects=[RECT]))
    map_view = the_map(page)
    rects = [*rectangles(release.domain, 60, seed=5).tolist(), list(release.domain.bounds)]
    answers = page.evaluate("rects => rects.map(r => dpviz.answers(r)[0])", rects)
    they_agree(answers, release.count(rects))
    expect(page.get_by_test_id("dpviz-answer")).to_contain_text("areas")
    assert levels_shown(map_view) == ["level-2-0s", "level-2-0-borders", "level-2-0-names"]
    page.get_by_test_id("dpviz-chooser").select_option("district")
    assert levels_shown(map_view) == ["level-1-0s", "level-1-0-borders", "level-1-0-names"]


def test_a_file_of_hexagons_steps_through_time_on_every_level(open_file):
    city = dpviz.Domain.from_bounds(
        [14, -24, 15, -23], period=("2030-01-01", "2030-07-01"), every="1d"
    )
    random = np.random.default_rng(0)
    records = random.uniform([14, -24, city.lower[2]], [15, -23, city.upper[2]], (3_000, 3))
    data = dpviz.from_points(records, city, public=True)
    release = dpviz.build(data, "areas", 1.0, areas="h3:5", every="1mo", seed=0)
    rect = (14.21, -23.83, 14.77, -23.31)
    page = open_file(release_page(release))
    map_view, total = the_map(page), page.locator("#total")
    whole = count_words(release.count(release.domain.without_time.bounds))
    expect(total).to_have_text(f"{whole} records, 1 January to 30 June 2030")
    page.get_by_test_id("dpviz-series").fill("2")
    february = ("2030-02-01", "2030-03-01")
    words = count_words(release.count(release.domain.without_time.bounds, february))
    expect(total).to_have_text(f"{words} records, February 2030")
    assert levels_shown(map_view) == ["level-2-2s", "level-2-2-borders"]
    chooser = page.get_by_test_id("dpviz-chooser")
    assert chooser.locator("option").all_inner_texts() == [
        "hexagons of 12,000 km²",
        "hexagons of 1,800 km²",
        "hexagons of 250 km²",
    ]
    chooser.select_option("view:1")
    assert levels_shown(map_view) == ["level-1-2s", "level-1-2-borders"]
    page.evaluate(f"dpviz.push({list(rect)})")
    rows = page.get_by_test_id("dpviz-all").locator("tr")
    expect(rows).to_have_count(6)
    for row, part in zip(rows.all_inner_texts(), step_windows(release)[0][1:], strict=True):
        assert count_words(part.count(rect)) in row
    assert "h3:" not in page.locator("main").inner_text()


def levels_shown(map_view):
    return map_view.evaluate(
        "e => e.__dpviz.scene.filter(l => l.props.visible && /^level/.test(l.id)).map(l => l.id)"
    )


def city_by_time(every, **attributes):
    """A city with time and offences, and 4,000 public records of half a year."""
    domain = dpviz.Domain.from_bounds(
        [14, -24, 15, -23],
        time="at",
        period=("2030-01-01", "2030-07-01"),
        every=every,
        **attributes,
    )
    random = np.random.default_rng(0)
    table = pd.DataFrame(np.add(random.beta(2, 3, (4_000, 2)), [14, -24]), columns=["lon", "lat"])
    days = random.beta(2, 2, 4_000) * 181
    table["at"] = pd.Timestamp("2030-01-01") + pd.to_timedelta(days, "D")
    table["offense"] = random.choice(["theft", "fraud"], 4_000, p=[0.8, 0.2])
    return dpviz.load(table, domain, public=True)


OFFENSES = {"kind": "offense", "kinds": ["theft", "fraud"]}


@pytest.mark.parametrize("method", ["ladder_tree", "privelet"])
def test_a_file_by_time_answers_as_the_release_in_each_window_and_category(open_file, method):
    options = {"log_cells": 5} if method == "privelet" else {}
    release = dpviz.build(city_by_time("1d", **OFFENSES), method, 2.0, seed=1, **options)
    page = open_file(release_page(release))
    map_view, category = the_map(page), page.get_by_test_id("dpviz-category")
    rects = rectangles(release.domain.without_time, 12, seed=5).tolist()
    steps, _ = windows(release)
    assert len(steps) > 5
    for kind, name in ((None, "All categories"), ("fraud", "fraud")):
        category.select_option(name)
        of_file = page.evaluate("rects => rects.map(rect => dpviz.answers(rect))", rects)
        for at, step in enumerate(steps):
            answers = release.count(rects, step.header.extra["period"], kind=kind)
            they_agree([each[at] for each in of_file], answers)
    page.get_by_test_id("dpviz-series").fill("2")
    total = release.count(release.domain.without_time.bounds, ("2030-02-01", "2030-03-01"), "fraud")
    expect(page.locator("#total")).to_have_text(
        f"{count_words(total)} records, fraud, February 2030"
    )
    shown = "e => e.__dpviz.scene.filter(l => l.props.visible && l.props.bounds).map(l => l.id)"
    assert map_view.evaluate(shown) == [f"cells-{2 * len(steps) + 2}"]


def test_a_file_of_areas_by_time_chooses_a_category(open_file):
    data = city_by_time("1d", **OFFENSES)
    areas = voronoi(data.domain.without_time.counts_only, 12, 0)
    release = dpviz.build(data, "areas", 2.0, areas=areas, every="1mo", seed=1)
    page = open_file(release_page(release))
    map_view = the_map(page)
    page.get_by_test_id("dpviz-category").select_option("theft")
    page.get_by_test_id("dpviz-series").fill("3")
    assert levels_shown(map_view)[0] == "level-2-10s"  # eighth of all, third of theft
    rects = rectangles(release.domain.without_time, 30, seed=5).tolist()
    of_file = page.evaluate("rects => rects.map(rect => dpviz.answers(rect))", rects)
    march = release.count(rects, ("2030-03-01", "2030-04-01"), kind="theft")
    they_agree([each[3] for each in of_file], march)


def test_a_reader_finds_an_area_by_its_name_and_sees_its_count(open_file):
    data = city_by_time("1d", **OFFENSES)
    areas = voronoi(data.domain.without_time.counts_only, 12, 0)
    names = (each.replace("district 1", "Förde 1") for each in areas.names)
    areas = replace(areas, names=tuple(names))
    release = dpviz.build(data, "areas", 2.0, areas=areas, every="1mo", seed=1)
    page = open_file(release_page(release))
    map_view, found = the_map(page), page.get_by_test_id("dpviz-find")
    answer = page.get_by_test_id("dpviz-answer")
    found.fill("FOERDE 1")
    row = release.frame.names.index("Förde 1")
    count = release.answers.count[row]
    half = INTERVAL_SDS * release.answers.noise_sd[row]
    expect(answer.get_by_role("heading")).to_contain_text("Förde 1, ")
    expect(answer.locator(".count")).to_have_text(with_noise(count, half))
    assert levels_shown(map_view)[0] == "level-1-0s"
    page.get_by_test_id("dpviz-category").select_option("theft")
    page.get_by_test_id("dpviz-series").fill("3")
    march = release.of("theft").during(("2030-03-01", "2030-04-01")).answers
    half = INTERVAL_SDS * march.noise_sd[row]
    expect(answer.locator(".count")).to_have_text(with_noise(march.count[row], half))
    found.fill("nowhere")
    found.press("Enter")
    expect(page.get_by_text("“nowhere” is not in the list")).to_be_visible()
    found.fill("")
    expect(answer).to_have_count(0)


@pytest.mark.parametrize("areas", [None, "h3:6"])
def test_a_reader_finds_a_place_in_its_table_or_in_a_hexagon(open_file, areas):
    city = dpviz.load("city-50k")
    if areas:
        release = dpviz.build(city, "areas", 1.0, areas=areas, seed=1)
    else:
        release = dpviz.build(city, "privtree", 1.0, seed=1)
    page = open_file(release_page(release))
    the_map(page)
    page.get_by_test_id("dpviz-find").fill("port mer")
    page.get_by_test_id("dpviz-find").press("Enter")
    expect(page.get_by_test_id("dpviz-find")).to_have_value("Port Meridian")
    answer = page.get_by_test_id("dpviz-answer")
    expect(answer.get_by_role("heading")).to_have_text("Port Meridian")
    if areas:
        (square,) = [
            box for name, _, box in place_squares(release.domain.bounds) if name == "Port Meridian"
        ]
        middle = shapely.box(*square).centroid
        row = int(np.flatnonzero(shapely.contains(release.frame.outlines(None), middle))[0])
        row += release.frame.slices[-1].start
        half = INTERVAL_SDS * release.answers.noise_sd[row]
        wanted = with_noise(release.answers.count[row], half)
    else:
        (wanted,) = [
            row["noisy count"] for row in place_rows(release) if row["place"] == "Port Meridian"
        ]
    expect(answer.locator(".count")).to_have_text(wanted)


def test_a_file_of_kinds_and_values_chooses_and_answers_each(open_file):
    random = np.random.default_rng(0)
    xy = random.beta(2, 4, (3_000, 2))
    kinds = np.array(["bike", "walk"])[(random.random(3_000) < xy[:, 0] + 0.2).astype(int)]
    frame = pd.DataFrame({"lon": xy[:, 0], "lat": xy[:, 1], "mode": kinds, "fare": 40 * xy[:, 1]})
    names = ["bike", "walk", "</script>"]
    domain = dpviz.Domain.from_bounds(
        [0, 0, 1, 1], kind="mode", kinds=names, value="fare", clip=(0, 50)
    )
    release = dpviz.build(dpviz.load(frame, domain, public=True), "quadtree", 5.0, height=4, seed=1)
    rect = [0.1, 0.2, 0.55, 0.6]
    page = open_file(map_page([release], rects=[rect]))
    map_view = the_map(page)
    answers = page.evaluate("rect => dpviz.answers(rect)", rect)
    every = [release, *map(release.of, release.kinds)]
    for mine, part in zip(answers, every, strict=True):
        count, total = part.count(rect), part.sum(rect)
        names_of = ("count", "noise", "uniformity", "sum", "sumNoise", "sumUniformity")
        pair = [mine[name] for name in names_of]
        wanted = [count.count[0], count.noise_sd[0], count.uniformity_sd[0]]
        wanted += [total.sum[0], total.noise_sd[0], total.uniformity_sd[0]]
        assert pair == pytest.approx(wanted, rel=1e-3)
    for part in every[:3]:  # of the noise alone were both, where cells are cut too
        count = part.count(rect)
        assert count.total_error > count.half_width
        headline = with_noise(count.count[0], count.total_error[0])
        named = "answer" if part is release else "all"
        expect(page.get_by_test_id(f"dpviz-{named}")).to_contain_text(headline)
    total = release.sum(rect)
    headline = with_noise(total.sum[0], total.total_error[0])
    expect(page.get_by_test_id("dpviz-answer")).to_contain_text(headline)
    share, mean = release.share(rect, "walk"), release.mean(rect)
    words = percent_interval(share.value[0], share.low[0], share.high[0])
    expect(page.get_by_test_id("dpviz-all")).to_contain_text(words)
    expect(page.get_by_test_id("dpviz-answer")).to_contain_text(quotient_words(mean))
    chooser = page.get_by_test_id("dpviz-chooser")
    wanted = ["All categories", *names, "Leading category", *(f"Share of {each}" for each in names)]
    assert chooser.locator("option").all_inner_texts() == [*wanted, "Mean of fare"]
    shown = "e => e.__dpviz.scene.filter(l => l.props.visible && l.props.bounds).map(l => l.id)"
    assert map_view.evaluate(shown) == ["cells-0"]
    chooser.select_option("Mean of fare")
    assert map_view.evaluate(shown) == ["mean"]
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("Mean of fare")
    expect(page.get_by_test_id("dpviz-compare")).to_be_hidden()
    chooser.select_option("bike")
    page.get_by_test_id("dpviz-compare").select_option("walk")
    assert map_view.evaluate(shown) == ["cells-1", "cells-2"]


def test_a_report_is_open_to_everyone_and_one_sheet_of_paper(open_file, releases):
    page = open_file(report_page(releases[:1], rects=[RECT]), bypass_csp=True)
    both_schemes_are_open_to_everyone(page, frames)
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1


def test_a_report_by_time_and_category_is_two_sheets_of_paper(open_file):
    release = dpviz.build(city_by_time("1d", **OFFENSES), "ugrid", 1.0, seed=1, cells=8)
    paper = open_file(report_page([release])).pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 2


def test_a_printed_file_is_one_sheet_and_states_its_guarantee_once(open_file):
    release = dpviz.build(city_by_time("1d", **OFFENSES), "ugrid", 1.0, seed=1, cells=8)
    page = open_file(release_page(release, Presentation("A city", "By month", "visits")))
    the_map(page)
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    page.emulate_media(media="print")
    text = page.locator("body").inner_text()
    assert text.count("ε = 1") == 1
    for words in ("A city", "By month", "visits, 1 January to 30 June 2030"):
        assert text.count(words) == 1
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("Visits per 1,000 km²")
    assert "theft" in text


def test_a_series_on_a_phone_has_no_sideways_scroll_and_its_slider_in_reach(open_file):
    year = dpviz.build(dpviz.load("year"), "ugrid", 1.0, seed=1, cells=8)
    page = open_file(release_page(year, Presentation("A year", "By month", "visits")))
    page.set_viewport_size({"width": 360, "height": 740})
    map_view = the_map(page)
    frames(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    slider = page.get_by_test_id("dpviz-series")
    expect(slider).to_be_in_viewport()
    before = page.locator("#total").inner_text()
    slider.press("ArrowRight")
    expect(page.locator("#total")).not_to_have_text(before)
    expect(page.locator("#total")).to_contain_text("visits")
    page.evaluate("window.scrollTo(0, 0)")
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.4, 0.5), (0.6, 0.7))
    expect(page.get_by_test_id("dpviz-answer")).to_be_in_viewport(ratio=1)


def test_a_link_shows_a_paid_release_on_a_phone_under_the_words_of_its_owner(
    app, ledgers, open_page
):
    points = np.random.default_rng(0).beta(2, 4, (2_000, 2))
    data = dpviz.from_points(points, dpviz.Domain((0, 0), (1, 1)), name="linked")
    ledger = dpviz.Ledger(ledgers / "app.sqlite")
    release = dpviz.build(data, "ugrid", 1.0, ledger=ledger)
    shelf = Shelf(ledgers / "releases")
    identity = shelf.keep(release, "here", Presentation("linked")).id
    page = open_page(f"{app}/?release={identity}")
    open_tab(page, "Share")
    page.get_by_label("Title", exact=True).fill("Visits, 2024")
    page.get_by_label("What is counted", exact=True).fill("visits")
    page.get_by_label("What is counted", exact=True).press("Enter")
    idle(page)
    until(lambda: shelf.find(identity).presentation.noun == "visits")
    link = page.get_by_text(f"/r?id={identity}").inner_text()
    saved = downloaded(page, page.get_by_role("button", name="Map (HTML)"))
    assert saved.suggested_filename == "visits-2024.html"
    page.close()
    page = open_page(f"{app}/r?id={identity}")
    assert link.endswith(f"/r?id={identity}")
    page.set_viewport_size({"width": 390, "height": 844})
    inside = page.frame_locator("iframe")
    expect(inside.get_by_role("heading", name="Visits, 2024")).to_be_visible()
    expect(inside.locator("#total")).to_contain_text("visits")
    expect(inside.get_by_text("any one of the visits is in these data")).to_be_visible()
    expect(page.get_by_test_id("stTopNavLink")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    the_citation_is_there_to_select_where_copying_is_refused(page.frames[1])
    page.frames[1].evaluate("dpviz.push([0.2, 0.2, 0.6, 0.6])")
    page.wait_for_url("**rect=0.200000*")
    page.reload()
    expect(inside.get_by_test_id("dpviz-answer")).to_be_visible()


def the_citation_is_there_to_select_where_copying_is_refused(frame):
    frame.get_by_role("button", name="Copy link").wait_for()
    frame.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject() }")
    frame.get_by_role("button", name="Cite").click()
    cited = frame.get_by_label("Cite: the text to copy")
    words = r"^Visits, 2024\. Published 20\d\d-\d\d-\d\d\. .* ε = 1 .*/r\?id=\w+"
    expect(cited).to_have_value(re.compile(words))
    assert cited.evaluate("e => e.selectionEnd - e.selectionStart === e.value.length")


def test_by_keyboard_a_reader_opens_a_link_finds_a_place_reads_its_count_and_takes_a_picture(
    app, ledgers, open_page
):
    city = dpviz.load("city-50k").domain
    low, high = np.array(city.lower), np.array(city.upper)
    points = low + np.random.default_rng(0).beta(2, 4, (5_000, 2)) * (high - low)
    domain = dpviz.Domain(city.lower, city.upper)
    ledger = dpviz.Ledger(ledgers / "app.sqlite")
    release = dpviz.build(
        dpviz.from_points(points, domain, name="read"), "ugrid", 1.0, ledger=ledger
    )
    words = Presentation("Visits by place", noun="visits")
    identity = Shelf(ledgers / "releases").keep(release, "here", words).id
    page = open_page(f"{app}/r?id={identity}")
    inside = page.frame_locator("iframe")
    the_map(inside)
    tab_to(page, inside.get_by_test_id("dpviz-map"))
    for key in ("d", "Enter", *["ArrowLeft"] * 3, *["ArrowUp"] * 3, "Enter"):
        page.keyboard.press(key)
    answer = inside.get_by_test_id("dpviz-answer")
    expect(answer.get_by_role("heading")).to_have_text("The rectangle")
    tab_to(page, inside.get_by_test_id("dpviz-find"))
    page.keyboard.type("saltf")
    page.keyboard.press("Enter")
    expect(answer.get_by_role("heading")).to_have_text("Saltflat")
    (row,) = [each for each in place_rows(release) if each["place"] == "Saltflat"]
    expect(answer.locator(".count")).to_have_text(row["noisy count"])
    picture = inside.get_by_role("button", name="Save picture", exact=True).last
    tab_to(page, picture)
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert saved.value.suggested_filename == "visits-by-place.png"
    tab_to(page, inside.get_by_role("button", name="Copy link"))
    inside.locator("body").evaluate(ON_PAPER)
    paper = page.pdf(prefer_css_page_size=True, format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    sheet, needed = page.frames[1].evaluate("heights")
    assert needed == sheet  # nothing is cut off, and nothing left over


ON_PAPER = """body => matchMedia("print").addEventListener("change", ({matches}) => {
  if (matches) window.heights = [innerHeight, body.scrollHeight];
})"""
"""Keeps the heights of the frame and of the page inside while it is printed."""


def tab_to(page, element, most=40):
    """Press Tab until an element has the focus."""
    for _ in range(most):
        if element.evaluate("e => e.getRootNode().activeElement === e"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"not reached by {most} presses of Tab")
