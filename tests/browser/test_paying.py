"""Paying in a real Chromium: a double click pays once, whatever is touched meanwhile."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from dpviz import Ledger
from tests.browser.conftest import PLACES, continued, idle, until
from tests.browser.proxy import proxy
from tests.browser.test_explore import the_map

pytestmark = pytest.mark.browser


def outcomes_since(path):
    """Outcomes of the ledger's spends from now on."""

    def spends():
        return {account.dataset: account.spends for account in Ledger(path).accounts()}

    before = {name: len(rows) for name, rows in spends().items()}
    return lambda: [
        row.outcome for name, rows in spends().items() for row in rows[before.get(name, 0) :]
    ]


def test_a_double_click_pays_once_and_what_it_paid_for_survives_a_touch_and_a_refresh(
    below, below_folder, open_page
):
    """A quick hand touches the page during the build, a slow one comes back to it later."""
    outcomes = outcomes_since(below_folder / PLACES[0])
    page = open_page(f"{below}/publish?data=city-250k")
    continued(page)
    a_double_click_pays(page, outcomes, 60)
    published = page.get_by_text("Published, and kept")
    a_touch_during_the_build_loses_nothing(page, published)
    assert outcomes() == ["released"]
    publishing_again_begins_with_the_budget(page, published)
    a_double_click_pays(page, outcomes, 400)
    page.get_by_text("Publishing").or_(published).first.wait_for()
    mine = page.locator(".st-key-publish-mine-open button")  # other boxes have buttons "Open" too
    a_refresh_during_the_build_loses_nothing(page, f"{below}/publish", mine, outcomes)
    mine.click()
    the_map(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Explore")
    expect(page.get_by_text("ε = 1 per record").first).to_be_visible()
    idle(page)
    assert outcomes() == 2 * ["released"]
    page.close()


def test_over_a_proxy_and_without_a_login_nobody_publishes(below, open_page):
    server = urlsplit(below)
    with proxy(server.port, server.path) as (address, _):
        page = open_page(f"{address}/publish?data=city-50k")
        expect(page.get_by_text("This server has no login")).to_be_visible()
        continued(page)
        refused = page.get_by_text("require a login on a server that others can reach")
        expect(refused.locator("visible=true")).to_be_visible()
        expect(page.get_by_role("button", name="Publish: spend")).to_have_count(0)
        page.close()


def a_double_click_pays(page, outcomes, delay):
    """Neither the first press alone pays, nor does the second pay twice."""
    before = outcomes()
    page.get_by_role("button", name="Publish: spend").click(click_count=2, delay=delay)
    sure = page.get_by_role("button", name="Spend it", exact=True)
    expect(page.get_by_text("it cannot be undone")).to_be_visible()
    idle(page)
    assert outcomes() == before
    sure.click(click_count=2, delay=delay)


def a_touch_during_the_build_loses_nothing(page, published):
    purpose = page.get_by_label("Purpose (saved in the ledger)")
    purpose.fill("something else")
    purpose.press("Enter")
    expect(published).to_be_visible()
    idle(page)


def publishing_again_begins_with_the_budget(page, published):
    page.locator("[data-testid=dpviz-map][data-rendered]").last.wait_for()  # nothing moves any more
    title = page.locator(".st-key-publish-step-3 strong").filter(has_text="Synthetic city, 250,000")
    expect(title.first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.get_by_test_id("dpviz-legend").last).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Publish again").click(click_count=2)
    published.wait_for(state="detached")
    idle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_role("button", name="3 Budget")).to_be_in_viewport()
    page.get_by_role("button", name="4 Publish").click()


def a_refresh_during_the_build_loses_nothing(page, address, mine, outcomes):
    page.reload()  # if the build has ended, it shows the release
    until(lambda: outcomes() == 2 * ["released"])
    page.goto(address)  # now in the list of releases
    page.get_by_role("button", name="1 Data").click()
    expect(mine).to_be_visible()
