"""Behind a reverse proxy, below a path of its own: nothing is asked outside of that path."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

import dpviz
from tests.browser.conftest import PLACES, continued, downloaded, idle, pay, until, upload
from tests.browser.proxy import proxy
from tests.browser.test_explore import metric, the_map
from tests.browser.test_paying import outcomes_since

pytestmark = pytest.mark.browser
RECT = "rect=14.5,-24.0,14.7,-23.8"


@pytest.mark.webgl
def test_pages_maps_uploads_downloads_and_links_work_below_a_path(below, open_page, tmp_path):
    visits = tmp_path / "visits.csv"
    visits.write_text("lon,lat\n14.5,-23.9\n")
    server = urlsplit(below)
    with proxy(server.port, server.path) as (address, outside):
        page = open_page(f"{address}/?data=city-50k&{RECT}")  # a link that somebody sent
        the_map(page)
        expect(metric(page)).to_be_visible()
        page.get_by_text("Download this release").click()
        file = downloaded(page, page.get_by_role("button", name="GeoParquet"))
        file.save_as(tmp_path / "release.parquet")
        assert dpviz.read(tmp_path / "release.parquet").header.method == "privtree"
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Publish").click()
        expect(page).to_have_url(re.compile(f"^{re.escape(address)}/publish"))
        upload(page, visits)
        expect(page.get_by_role("combobox", name="Longitude / x")).to_be_visible()
        page.go_back()
        expect(page).to_have_url(re.compile(f"^{re.escape(address)}/\\?.*{RECT[:5]}"))
        the_map(page)
        idle(page)
        page.close()
        assert outside == []


def test_what_a_browser_pays_for_survives_a_touch_and_a_refresh_in_the_middle_of_it(
    below, below_folder, open_page, desk
):
    """Where others reach the server, and no login says who comes: until the browser is closed."""
    server = urlsplit(below)
    outcomes = outcomes_since(below_folder / PLACES[0])
    with proxy(server.port, server.path) as (address, _):
        page = open_page(f"{address}/publish?data=city-250k")
        expect(page.get_by_text("This server has no login")).to_be_visible()
        continued(page)
        pay(page)
        published = page.get_by_text("Published, and kept")
        page.get_by_text("Publishing").or_(published).first.wait_for()
        page.reload()
        mine = page.locator(".st-key-publish-mine-open button")
        look = page.get_by_role("button", name="Look again")
        until(lambda: outcomes() == ["released"])  # each look runs the page
        while not mine.is_visible():
            expect(mine.or_(look).first).to_be_visible()
            idle(page)
            if look.is_visible():
                look.click()
                idle(page)
        a_touch_during_the_build_loses_nothing(page)
        assert outcomes() == 2 * ["released"]
        desk.clear_cookies(name="dpviz-visit")  # another browser
        page.reload()
        expect(page.get_by_text("What you publish is kept here")).to_be_visible()
        expect(mine).to_have_count(0)
        page.close()


def a_touch_during_the_build_loses_nothing(page):
    continued(page)
    pay(page)
    purpose = page.get_by_label("Purpose (saved in the ledger)")
    purpose.fill("something else")
    purpose.press("Enter")
    expect(page.get_by_text("Published, and kept")).to_be_visible()
    idle(page)
