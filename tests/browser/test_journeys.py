"""Journeys in a real browser: publish a file, query by keyboard, query on a phone."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.exports import Presentation
from dpviz.ui.shared.shelf import Shelf
from dpviz.ui.shared.welcome import SENTENCE
from tests.browser.conftest import (
    choose,
    continued,
    downloaded,
    frames,
    idle,
    onward,
    open_tab,
    paste_area,
    pay,
    segment,
    upload,
)
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
    bars = [leads_on(page, 0)]
    onward(page, 0)
    paste_area(page)
    bars.append(leads_on(page, 1))
    onward(page, 1)
    bars.append(leads_on(page, 2))
    onward(page, 2)
    bars.append(leads_on(page, 3))
    assert len({*bars}) == 1
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
    expect(chips).to_contain_text("ε = 1 per record")
    badge, button = chips.locator(".stMarkdownBadge"), chips.get_by_role("button", name="Share")
    words, press = badge.bounding_box(), button.bounding_box()
    assert words["x"] + words["width"] < press["x"], "the badge runs under the button"
    expect(page.get_by_text("For your eyes only")).to_have_count(0)
    open_tab(page, "Table")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def leads_on(page, step):
    """Place of the main button of a step, without scrolling."""
    bar = page.locator(f".st-key-publish-bar-{step}")
    expect(bar).to_be_in_viewport(ratio=1)
    place = bar.get_by_role("button").first.bounding_box()
    return round(place["x"]), round(place["y"])


def test_the_title_and_noun_typed_once_at_publish_head_the_map_its_page_and_its_files(
    app, open_page
):
    page = open_page(f"{app}/publish?data=city-50k&method=ugrid")
    legend = page.get_by_test_id("dpviz-legend")
    continued(page)
    fill(page, "Title", "Crimes in Houston, 2010", exact=True)
    fill(page, "What is counted", "crimes", exact=True)
    pay(page)
    expect(page.get_by_text("Published, and kept")).to_be_visible()
    expect(legend).to_contain_text("Crimes per km²")
    open_tab(page, "Receipt")
    receipt = downloaded(page, page.get_by_role("button", name="Receipt (JSON)"))
    assert receipt.suggested_filename == "crimes-in-houston-2010-receipt.json"
    open_tab(page, "Share")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Crimes in Houston, 2010")
    saved = downloaded(page, page.get_by_role("button", name="Map (HTML)"))
    assert saved.suggested_filename == "crimes-in-houston-2010.html"
    fill(page, "What is counted", "thefts", exact=True)
    expect(legend).to_contain_text("Thefts per km²")
    link = page.get_by_test_id("stTabs").get_by_text("/r?id=").inner_text()
    page.reload()
    expect(legend).to_contain_text("Thefts per km²")
    expect(page.locator(".st-key-dpviz-chips")).to_contain_text("Crimes in Houston, 2010")
    expect(page.get_by_text(SENTENCE)).to_have_count(0)
    page.goto(link)
    heading = page.frame_locator("iframe").get_by_role("heading", level=1)
    expect(heading).to_have_text("Crimes in Houston, 2010")


SIZES = ((390, 844), (360, 740))
"""Widths and heights of phones."""


@pytest.fixture
def crimes(tmp_path, ledgers):
    """Id of a paid release of crimes by date and category, which the app keeps."""
    rng = np.random.default_rng(6)
    spots, days = rng.normal([14.5, -23.5], 0.1, (RECORDS, 2)), rng.integers(0, 366, RECORDS)
    table = pd.DataFrame(spots, columns=["lon", "lat"])
    table["reported"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    table["offense"] = rng.choice(["theft", "fraud"], RECORDS, p=[0.7, 0.3])
    table["person"] = rng.integers(0, RECORDS // 2, RECORDS)
    table.to_csv(tmp_path / "crimes.csv", index=False)
    year = {"time": "reported", "period": ("2024-01-01", "2025-01-01")}
    kinds = {"kind": "offense", "kinds": ["theft", "fraud"]}
    domain = dpviz.Domain.from_bounds([14, -24, 15, -23], **year, **kinds)
    data = dpviz.load(tmp_path / "crimes.csv", domain, unit="person", max_per_unit=3)
    release = dpviz.build(data, epsilon=1.0, ledger=dpviz.Ledger(ledgers / "app.sqlite"))
    return Shelf(ledgers / "releases").keep(release, "here", Presentation("crimes")).id


@pytest.mark.webgl  # without it a notice below the map takes two lines
def test_crimes_by_month_and_category_are_shared_under_their_words_and_read_on_a_phone(
    app, open_page, open_file, crimes
):
    page = open_page(f"{app}/?release={crimes}")
    the_map(page)
    page.reload()
    the_map(page)
    expect(page.get_by_text("2024: ")).to_contain_text("±")
    open_tab(page, "Share")
    for label, text in (("Title", "Crimes, 2024"), ("Subtitle", "By month"),
                        ("What is counted", "crimes")):  # fmt: skip
        fill(page, label, text, exact=True)
    expect(page.get_by_test_id("dpviz-legend").first).to_contain_text("Crimes per km²")
    link = page.get_by_text("/r?id=").inner_text()
    files = {
        label: downloaded(page, page.get_by_role("button", name=label, exact=True))
        for label in ("Map (HTML)", "Report (HTML)", "Picture (PNG)", "CSV")
    }
    names = ["crimes-2024.html", "crimes-2024-report.html", "crimes-2024.png", "crimes-2024.csv"]
    assert [each.suggested_filename for each in files.values()] == names
    text, report = (files[name].path().read_text("utf-8") for name in list(files)[:2])
    for words in ("<h1>Crimes, 2024</h1>", "By month", "</strong> crimes", "theft", "fraud"):
        assert words in text
        assert words in report
    page.close()
    a_phone_reads(open_page(link, *SIZES[0]).frame_locator("iframe"))
    page = open_file(text, has_touch=True)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        the_map(page)
        frames(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        a_phone_reads(page)
        expect(page.get_by_test_id("dpviz-series")).to_be_in_viewport()


def a_phone_reads(page):
    """The page of the crimes: words, total, guarantee and ε once, counts in tables."""
    expect(page.get_by_role("heading", level=1)).to_have_text("Crimes, 2024")
    expect(page.locator("#total")).to_contain_text("crimes")
    seen = page.locator("body")
    assert seen.inner_text().count("remains uncertain") == 1
    assert seen.inner_text().count("ε = ") == 1
    expect(page.get_by_role("row").filter(has_text="theft")).to_contain_text("±")


def fill(page, label, text, **how):
    """Type into a field and leave it."""
    field = page.get_by_label(label, **how)
    field.fill(text)
    field.press("Tab")
    idle(page)


def test_an_upload_that_a_reload_lost_is_asked_for_where_one_sees_it(app, open_page, visits):
    page = open_page(f"{app}/publish")
    upload(page, visits)
    onward(page, 0)
    page.reload()
    expect(page.get_by_text("Choose your file again")).to_be_visible()
    expect(page.get_by_text("Choose a file to begin.")).to_be_visible()


def test_public_choices_about_a_file_outlive_a_reload(app, open_page, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("t,lon,lat\n" + "2024-03-05,14.5,-23.5\n" * 100)
    page = open_page(f"{app}/publish")
    upload(page, path)
    page.get_by_text("Time (optional)", exact=True).click()
    choose(page, "Column of the time", "t")
    fill(page, "From", "2024-01-01", exact=True)
    fill(page, "To", "2025-01-01", exact=True)
    expect(page).to_have_url(re.compile("(?=.*time_column=t)(?=.*2025-01-01)"))
    page.reload()
    expect(
        page.get_by_text("Kept in the address: the area, the person's column, time")
    ).to_be_visible()
    upload(page, path)
    page.get_by_text("Time: t, 2024-01-01 to 2025-01-01", exact=True).click()
    expect(page.get_by_label("To", exact=True)).to_have_value("2025-01-01")
    segment(page, "1 day").click()  # another run would lose a value that only the server has
    idle(page)
    expect(page.get_by_label("From", exact=True)).to_have_value("2024-01-01")
    assert "time_column=t" in page.url
    expect(page.get_by_text("all times can be read")).to_be_visible()


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
