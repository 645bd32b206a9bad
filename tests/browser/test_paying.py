"""Paying in a real Chromium: a double click pays once, whatever is touched meanwhile."""

import pytest
from playwright.sync_api import expect

from dpviz import Ledger
from tests.browser.conftest import ROOT, continued, pay, serving

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "delay", [150, *(pytest.param(each, marks=pytest.mark.slow) for each in (400,))]
)
def test_a_double_click_pays_once(open_page, tmp_path, delay):
    ledger = tmp_path / "ledger.sqlite"
    with serving(ROOT / "app.py", DPVIZ_LEDGER=str(ledger)) as address:
        page = open_page(f"{address}/publish?data=city-250k")
        continued(page)
        price = page.get_by_role("button", name="Publish: spend")
        price.click(click_count=2, delay=delay)
        sure = page.get_by_role("button", name="Spend it", exact=True)
        expect(page.get_by_text("it cannot be undone")).to_be_visible()
        assert Ledger(ledger).account("city-250k").spends == ()
        sure.click(click_count=2, delay=delay)
        expect(page.get_by_text("Published, and kept")).to_be_visible()
        page.wait_for_timeout(1500)
    spends = Ledger(ledger).account("city-250k").spends
    assert [row.outcome for row in spends] == ["released"]


def test_a_touch_during_the_build_loses_nothing(open_page, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    with serving(ROOT / "app.py", DPVIZ_LEDGER=str(ledger)) as address:
        page = open_page(f"{address}/publish?data=city-250k")
        continued(page)
        pay(page)
        purpose = page.get_by_label("Purpose (saved in the ledger)")
        purpose.fill("something else")
        purpose.press("Enter")
        expect(page.get_by_text("Published, and kept")).to_be_visible()
    spends = Ledger(ledger).account("city-250k").spends
    assert [row.outcome for row in spends] == ["released"]


def test_what_was_paid_for_is_still_there_after_a_refresh(open_page, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    with serving(
        ROOT / "app.py", DPVIZ_LEDGER=str(ledger), DPVIZ_RELEASES=str(tmp_path / "releases")
    ) as address:
        page = open_page(f"{address}/publish?data=city-50k")
        continued(page)
        pay(page)
        expect(page.get_by_text("Published, and kept")).to_be_visible()
        page.reload()
        kept = page.get_by_test_id("stMain").get_by_role("button", name="Open").first
        kept.click()
        page.locator("[data-testid=dpviz-map][data-rendered]").first.wait_for()
        expect(page.get_by_role("heading", level=1)).to_have_text("Explore")
        expect(page.get_by_text("differentially private, ε = 1").first).to_be_visible()
    assert len(Ledger(ledger).account("city-50k").spends) == 1
