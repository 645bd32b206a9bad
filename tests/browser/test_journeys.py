"""Journeys in a real browser: publish a file, query by keyboard, query on a phone."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import idle, onward, open_tab, paste_area, pay, upload
from tests.browser.test_explore import drag, metric, shape, the_map

pytestmark = pytest.mark.browser

RECORDS = 3_000


@pytest.fixture
def visits(tmp_path):
    """A file with columns named as cities name them, and 50 rows without a place."""
    spots = np.random.default_rng(5).normal([14.5, -23.5], 0.1, (RECORDS, 2))
    rows = [f"{x:.5f},{y:.5f}" for x, y in spots.tolist()]
    rows[:50] = ["unknown,unknown"] * 50
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["MapLongitude,MapLatitude", *rows]))
    return path


def test_by_keyboard_a_file_is_checked_placed_paid_for_and_its_release_outlives_a_reload(
    app, open_page, visits
):
    page = open_page(f"{app}/publish")
    idle(page)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload").last.press("Enter")
    chooser.value.set_files(visits)
    facts = page.get_by_text("For your eyes only").first
    expect(facts).to_contain_text(f"{RECORDS:,} records read, {RECORDS - 50:,} kept")
    expect(page.get_by_role("combobox", name="Longitude / x")).to_have_value("MapLongitude")
    onward(page, 0)
    paste_area(page)
    onward(page, 1)
    onward(page, 2)
    assert str(RECORDS) not in page.url
    pay(page)
    expect(page.get_by_text("Published, and kept")).to_be_visible()
    the_map(page)
    idle(page)
    assert "release=" in page.url
    page.reload()
    the_map(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Explore")
    chips = page.locator(".st-key-dpviz-chips")
    expect(chips).to_contain_text("visits")
    expect(chips).to_contain_text("differentially private, ε = 1")
    expect(page.get_by_text("For your eyes only")).to_have_count(0)
    open_tab(page, "Table")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_an_upload_that_a_reload_lost_is_asked_for_where_one_sees_it(app, open_page, visits):
    page = open_page(f"{app}/publish")
    upload(page, visits)
    onward(page, 0)
    page.reload()
    expect(page.get_by_text("Choose your file again")).to_be_visible()
    expect(page.get_by_text("Choose a file to begin.")).to_be_visible()


def test_the_keyboard_alone_asks_a_rectangle_and_reads_its_answer_and_places_by_name(
    app, open_page
):
    page = open_page(f"{app}/?data=city-50k&method=ugrid&seed=0")
    map_view = the_map(page)
    idle(page)
    map_view.focus()
    for key in ("d", *["ArrowLeft"] * 3, "Enter", *["ArrowRight"] * 3, *["ArrowDown"] * 3, "Enter"):
        page.keyboard.press(key)
    expect(metric(page)).to_be_visible()
    assert shape(map_view)["rect"]
    tab = page.get_by_role("tab", name="Summary", exact=True)
    tab.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    places = page.get_by_role("table").filter(has_text="Port Meridian")
    expect(places).to_be_visible()
    row = places.get_by_role("row").filter(has_text="Port Meridian")
    expect(row).to_contain_text("±")


def test_on_a_phone_epsilon_is_in_sight_and_a_rectangle_brings_its_answer_there(app, open_page):
    page = open_page(f"{app}/?data=city-50k&method=ugrid&seed=0", 390, 844)
    map_view = the_map(page)
    idle(page)
    epsilon = page.locator(".st-key-dpviz-bar [data-testid=stSlider]")
    expect(epsilon).to_be_in_viewport()
    page.get_by_test_id("dpviz-draw").click()
    drag(page, map_view, (0.3, 0.3), (0.6, 0.5))
    expect(metric(page)).to_be_in_viewport()
    expect(epsilon).to_be_in_viewport()
    rect = json.loads(map_view.get_attribute("data-shape"))["rect"]
    epsilon.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**epsilon=0.8**")
    idle(page)
    assert shape(map_view)["rect"] == rect
