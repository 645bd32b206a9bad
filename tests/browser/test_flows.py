"""Flows in a real Chromium: arrows between areas, a clicked area and its ins and outs."""

import numpy as np
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.private.flows import FlowData
from tests.browser.conftest import frames, idle, serving
from tests.browser.test_explore import over
from tests.browser.test_pages import violations
from tests.browser.test_sequences import marks
from tests.wards import voronoi

pytestmark = pytest.mark.browser


def test_an_opened_release_draws_arrows_and_a_clicked_area_has_its_ins_and_outs(
    open_page, tmp_path
):
    areas = voronoi(dpviz.Domain((14.4, -24.1), (15.0, -23.6)), 40, 3)
    random = np.random.default_rng(0)
    ends = np.column_stack([np.zeros(5_000, int), random.zipf(1.5, (5_000, 2)) % 40])
    release = dpviz.build(FlowData("walks", dpviz.Flows(areas), ends, public=True), seed=0)
    path = release.save(tmp_path / "flows.parquet")
    with serving(None, command=["-m", "dpviz", "app", str(path), "--port"]) as address:
        page = open_page(address)
        map_view = page.locator("[data-testid=dpviz-map][data-rendered]").first
        map_view.wait_for()
        expect(page.get_by_text("Trips (noisy)")).to_be_visible()
        everything = marks(map_view, "moves")
        assert everything > 20
        idle(page)
        assert not violations(page)
        leaf = int(np.bincount(ends[:, 1]).argmax())
        middle = areas.shapes[leaf].representative_point()
        page.mouse.click(*over(map_view, (middle.x, middle.y)))
        name = areas.names[areas.first_leaf + leaf]
        expect(page.get_by_text(f"Trips that begin in {name}", exact=True)).to_be_visible()
        expect(page.get_by_text(f"Trips that end in {name}", exact=True)).to_be_visible()
        frames(page)
        assert 0 < marks(map_view, "moves") < everything
