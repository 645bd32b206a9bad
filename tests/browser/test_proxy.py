"""Behind a reverse proxy, below a path of its own: nothing is asked outside of that path."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

import dpviz
from tests.browser.conftest import downloaded, idle, open_tab, upload
from tests.browser.proxy import proxy
from tests.browser.test_explore import metric, the_map

pytestmark = pytest.mark.browser
RECT = "rect=14.5,-24.0,14.7,-23.8"


@pytest.mark.webgl
def test_pages_maps_uploads_downloads_and_links_work_below_a_path(below, open_page, tmp_path):
    visits = tmp_path / "visits.csv"
    visits.write_text("lon,lat\n14.5,-23.9\n")
    server = urlsplit(below)
    with proxy(server.port, server.path) as (address, outside):
        page = open_page(f"{address}/?data=city-50k&{RECT}")  # a link from somebody else
        the_map(page)
        expect(metric(page)).to_be_visible()
        open_tab(page, "Share")
        file = downloaded(page, page.get_by_role("button", name="GeoParquet"))
        file.save_as(tmp_path / "release.parquet")
        assert dpviz.read(tmp_path / "release.parquet").header.method == "ladder_tree"
        page.get_by_test_id("stHeader").get_by_text("Publish", exact=True).click()
        expect(page).to_have_url(re.compile(f"^{re.escape(address)}/publish"))
        upload(page, visits)
        expect(page.get_by_role("combobox", name="Longitude / x")).to_be_visible()
        # A run that ends after Back would write its address over that of the page before.
        expect(page).to_have_url(re.compile("data=Your"))
        idle(page)
        page.go_back()
        expect(page).to_have_url(re.compile(f"^{re.escape(address)}/\\?.*{RECT[:5]}"))
        the_map(page)
        idle(page)
        page.close()
        assert outside == []
