"""Paying in a real Chromium: a double click pays once, whatever is touched meanwhile."""

import pytest
from playwright.sync_api import expect

from dpviz import Ledger
from tests.browser.conftest import ROOT, pay, serving

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "delay", [150, *(pytest.param(each, marks=pytest.mark.slow) for each in (60, 400))]
)
def test_a_double_click_pays_once(open_page, tmp_path, delay):
    ledger = tmp_path / "ledger.sqlite"
    with serving(ROOT / "app.py", DPVIZ_LEDGER=str(ledger)) as address:
        page = open_page(f"{address}/publish?data=city-250k")
        expect(page.get_by_text("What to expect, before paying")).to_be_visible()
        pay = page.get_by_role("button", name="Pay and publish")
        expect(pay).to_be_enabled()
        pay.click(click_count=2, delay=delay)
        expect(page.get_by_text("Published.")).to_be_visible()
        page.wait_for_timeout(1500)
    spends = Ledger(ledger).account("city-250k").spends
    assert [row.outcome for row in spends] == ["released"]


def test_a_touch_during_the_build_loses_nothing(open_page, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    with serving(ROOT / "app.py", DPVIZ_LEDGER=str(ledger)) as address:
        page = open_page(f"{address}/publish?data=city-250k")
        expect(page.get_by_text("What to expect, before paying")).to_be_visible()
        pay(page)
        purpose = page.get_by_label("What for (a note in the ledger)")
        purpose.fill("something else")
        purpose.press("Enter")
        expect(page.get_by_text("Published.")).to_be_visible()
    spends = Ledger(ledger).account("city-250k").spends
    assert [row.outcome for row in spends] == ["released"]
