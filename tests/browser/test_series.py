"""A series in a real Chromium: set up on page Publish, paid once, and read as it grows."""

import re
import shlex
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from dpviz.releases.series import node_files
from dpviz.ui.shared.shelf import Shelf
from tests.browser.conftest import PATIENCE, drawing, idle, onward, pay, segment, until, upload
from tests.browser.test_pages import violations
from tests.commands import as_json

pytestmark = pytest.mark.browser

DAYS = 14
PLACE = "bounds=14.4,-24.1,15.0,-23.6&areas=h3:5&method=areas"


@pytest.fixture
def visits(tmp_path):
    """Records of the last days, and the first of them."""
    rows, random = 2_000, np.random.default_rng(0)
    start = datetime.now(UTC).replace(hour=0, minute=0, second=0) - timedelta(days=DAYS)
    hours = random.integers(0, 24 * DAYS, rows)
    table = pd.DataFrame({"lon": random.uniform(14.4, 15, rows)})
    table["lat"] = random.uniform(-24.1, -23.6, rows)
    table["person"] = np.arange(rows) // 4
    table["time"] = [f"{start + timedelta(hours=int(each)):%Y-%m-%dT%H:%M}" for each in hours]
    table.to_csv(tmp_path / "everyday.csv", index=False)
    return tmp_path / "everyday.csv", f"{start:%Y-%m-%d}"


def published(page, address, visits, **changed):
    """Page Publish at its last step, every day, with a described file."""
    path, start = visits
    given = {"unit": "person", "bound": "2", "zone": "UTC", "epsilon": "1", "time_column": "time"}
    given |= {"start": start, "end": "2035-01-01", "time_step": "1d", **changed}
    query = "&".join(f"{name}={value}" for name, value in given.items())
    page.goto(f"{address}/publish?{PLACE}&{query}")
    segment(page, "Every day").click()
    upload(page, path)
    for step in range(3):
        onward(page, step)


def test_a_series_is_set_up_paid_once_and_grows_on_its_page(
    app, open_page, ledgers, visits, monkeypatch
):
    page = open_page(f"{app}/publish", height=720)
    published(page, app, visits)
    pay(page)
    folder = ledgers / "releases" / "everyday.series"
    expect(page.get_by_text("Every finished day is released.")).to_be_visible()
    many = len(node_files(folder))
    assert DAYS < many <= DAYS + 2  # and a week or two
    page.get_by_text("Every day, by itself").click()
    printed = page.get_by_text("dpviz series update")
    expect(printed).to_be_visible()
    idle(page)
    monkeypatch.chdir(visits[0].parent)
    job = as_json(*shlex.split(printed.inner_text().partition("dpviz ")[2]))
    assert (job["released"], job["lost"]) == ([], [])
    assert job["spent"] == 0.587  # of a day that is in a week, and in no four weeks yet
    assert not violations(page)
    a_changed_frame_and_zone_are_refused_in_one_line(page, app, visits)
    assert len(node_files(folder)) == many
    page.goto(f"{app}/?release={identity_of('everyday', ledgers)}")
    page.wait_for_url("**/series?**")
    timeline = page.get_by_test_id("stVegaLiteChart")
    expect(timeline).to_be_visible()
    area = page.get_by_role("combobox", name="Area")
    expect(area).to_have_value(re.compile("^Port Meridian · hexagons of"))
    segment(page, "running total").click()
    expect(page.get_by_text(f"{visits[1]} to before")).to_be_visible()
    idle(page)
    assert not violations(page)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(timeline).to_be_in_viewport()


@pytest.mark.webgl  # without it a notice below the map takes two lines
def test_another_visitor_reads_two_published_days_on_a_phone(
    app, open_page, ledgers, visits, browser, request
):
    path = visits[0].rename(visits[0].with_name("twodays.csv"))
    days = [datetime.now(UTC) - timedelta(days=ago) for ago in (2, 1)]
    page = open_page(f"{app}/publish", height=720)
    published(page, app, (path, f"{days[0]:%Y-%m-%d}"))
    pay(page)
    page.get_by_text("Share", exact=True).locator("visible=true").click()
    title = page.get_by_label("Title", exact=True).locator("visible=true")
    title.fill("Visits by day")
    title.press("Tab")
    identity, shelf = identity_of("twodays", ledgers), Shelf(ledgers / "releases")
    until(lambda: shelf.find(identity).presentation.title == "Visits by day")
    link = page.get_by_text("/r?id=").locator("visible=true").inner_text()
    assert link.endswith(identity)
    with browser.new_context(viewport={"width": 360, "height": 740}) as another:
        another.set_default_timeout(PATIENCE)
        page = drawing(another.new_page(), request)
        page.goto(link)
        inside = page.frame_locator("iframe")
        slider = inside.get_by_test_id("dpviz-series")
        expect(slider).to_be_in_viewport()
        expect(inside.get_by_role("heading", level=1)).to_have_text("Visits by day")
        root = page.frames[1].locator(":root")
        assert root.evaluate("e => e.scrollWidth") <= 360
        for day in days:
            slider.press("ArrowRight")
            expect(inside.locator("#total")).to_contain_text(f"{day.day} {day:%B %Y}")
        text = inside.locator("body").inner_text()
        assert (text.count("remains uncertain"), text.count("ε = ")) == (1, 1)
        assert "twodays" not in page.frames[1].content()  # the account's name
        assert not violations(page)
        page.goto(link.replace(identity, "twodays"))
        expect(page.get_by_text("no such release here")).to_be_visible()


def identity_of(account, ledgers):
    """Id of the series of an account."""
    kept = Shelf(ledgers / "releases").of("here")
    (identity,) = [each.id for each in kept if each.receipt.get("account") == account]
    return identity


def a_changed_frame_and_zone_are_refused_in_one_line(page, app, visits):
    published(page, app, visits, zone="Europe/Berlin", time_step="1h")
    expect(page.get_by_text("holds a series with zone 'UTC'")).to_be_visible()
    published(page, app, visits, bound="3")
    expect(page.get_by_text("holds a series with max_per_unit 2")).to_be_visible()
