"""Paying in a real Chromium: a double click pays once, whatever is touched meanwhile."""

import pytest
from playwright.sync_api import expect

from dpviz import Ledger
from tests.browser.conftest import continued, idle

pytestmark = pytest.mark.browser


def outcomes_since(path):
    """What has become of the spends of this ledger from now on."""

    def spends():
        return {account.dataset: account.spends for account in Ledger(path).accounts()}

    before = {name: len(rows) for name, rows in spends().items()}
    return lambda: [
        row.outcome for name, rows in spends().items() for row in rows[before.get(name, 0) :]
    ]


@pytest.fixture
def outcomes(app, ledgers):
    return outcomes_since(ledgers / "app.sqlite")


def test_a_double_click_pays_once_and_what_it_paid_for_survives_a_refresh(app, open_page, outcomes):
    """Of a quick hand and a slow one; each release after the first is paid for again."""
    page = open_page(f"{app}/publish?data=city-50k")
    published = page.get_by_text("Published, and kept")
    for paid, delay in enumerate((60, 400)):
        if paid:
            page.locator("[data-testid=dpviz-map][data-rendered]").last.wait_for()  # all stays put
            page.get_by_role("button", name="Publish again").click(click_count=2)
            published.wait_for(state="detached")
            idle(page)
            expect(page.get_by_test_id("stException")).to_have_count(0)
            expect(page.get_by_role("button", name="3 Budget")).to_be_in_viewport()
            page.get_by_role("button", name="4 Publish").click()
        else:
            continued(page)
        price = page.get_by_role("button", name="Publish: spend")
        price.click(click_count=2, delay=delay)
        sure = page.get_by_role("button", name="Spend it", exact=True)
        expect(page.get_by_text("it cannot be undone")).to_be_visible()
        idle(page)
        assert outcomes() == paid * ["released"]
        sure.click(click_count=2, delay=delay)
        expect(published).to_be_visible()
        idle(page)
        assert outcomes() == (paid + 1) * ["released"]
    page.reload()
    idle(page)
    page.locator(".st-key-publish-mine-open button").click()  # boxes have buttons "Open" too
    page.locator("[data-testid=dpviz-map][data-rendered]").first.wait_for()
    expect(page.get_by_role("heading", level=1)).to_have_text("Explore")
    expect(page.get_by_text("differentially private, ε = 1").first).to_be_visible()
    assert outcomes() == 2 * ["released"]
