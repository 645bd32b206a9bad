"""Flows in a real Chromium: arrows between areas, a clicked area and its ins and outs."""

import geopandas
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.private.flows import FlowData
from dpviz.render.pairs import flow_scene
from tests.browser.conftest import (
    choose,
    downloaded,
    frames,
    idle,
    open_tab,
    pay,
    segment,
    serving,
    until,
    upload,
)
from tests.browser.test_explore import over
from tests.browser.test_pages import is_open_to_everyone, violations
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
        assert everything == 30
        legend = page.get_by_test_id("dpviz-legend")
        expect(legend).to_contain_text("Trips between areas, the 30 largest of")
        circles_of_the_legend_are_as_large_as_those_of_the_map(page, map_view, release)
        idle(page)
        assert not violations(page)
        leaf = int(np.bincount(ends[:, 1]).argsort()[-5])
        middle = areas.shapes[leaf].representative_point()
        page.mouse.click(*over(map_view, (middle.x, middle.y)))
        name = areas.names[areas.first_leaf + leaf]
        for way in ("from", "to"):
            expect(page.get_by_text(f"Trips {way} {name}", exact=True)).to_be_visible()
        frames(page)
        assert 0 < marks(map_view, "moves") < everything


def circles_of_the_legend_are_as_large_as_those_of_the_map(page, map_view, release):
    """It showed a grey square, for "larger circles: more trips"."""
    scene = flow_scene(release, release.frame.levels[-1])
    (circles,) = (mark.table for mark in scene.marks if mark.id == "circles.0")
    largest = np.array(circles["polygon"][0].as_py())
    trips = circles["from"][0].as_py() + circles["to"][0].as_py()
    for press in (None, "Zoom in"):
        if press:
            before = legend_circles(page)
            page.get_by_role("button", name=press).click()
            until(lambda before=before: legend_circles(page) != before)
        zoom = map_view.evaluate("e => e.__dpviz.camera.zoom")
        across = np.ptp(largest[:, 0]) / 360 * 512 * 2**zoom
        shown = legend_circles(page)
        assert len(shown) == 3
        for count, diameter in shown:
            assert diameter == pytest.approx(across * (count / trips) ** 0.5, rel=0.03)
    page.get_by_role("button", name="Back to the whole area").click()


def legend_circles(page):
    """Counts and diameters of the circles in the legend."""
    shown = page.locator(".circles i").evaluate_all(
        "all => all.map(i => [i.nextSibling.textContent, i.getBoundingClientRect().width])"
    )
    return [(float(count.replace(",", "")), wide) for count, wide in shown]


@pytest.fixture
def files(tmp_path):
    """Commutes by ward of home and of work, and the wards in their districts."""
    areas = voronoi(dpviz.Domain((14.4, -24.1), (15.0, -23.6)), 20, 3)
    wards = range(areas.first_leaf, len(areas))
    names = {"district": [areas.parent_names[row] for row in wards]}
    names["ward"] = [f"ward {areas.names[row]}" for row in wards]
    geopandas.GeoDataFrame(names, geometry=list(areas.shapes), crs="EPSG:4326").to_file(
        tmp_path / "wards.gpkg"
    )
    ends = np.array(names["ward"])[np.random.default_rng(0).zipf(1.5, (3_000, 2)) % 20]
    table = {"home": ends[:, 0], "work": ends[:, 1], "person": np.arange(3_000) // 2}
    pd.DataFrame(table).to_csv(tmp_path / "commutes.csv", index=False)
    return tmp_path


def test_flows_of_a_file_are_paid_for_clicked_and_read_as_a_matrix(app, open_page, files):
    page = open_page(f"{app}/trips?count=areas&data=Your own file", height=720)
    page.get_by_role("button", name="Change").click()
    upload(page, files / "commutes.csv")
    segment(page, "Names of areas").click()
    choose(page, "Origin", "home")
    choose(page, "Destination", "work")
    segment(page, "Districts of a file").click()
    idle(page)
    page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(files / "wards.gpkg")
    expect(page.get_by_text("areas (20);")).to_be_visible()
    expect(page.get_by_text("3,000 records read, 3,000 kept")).to_be_visible()
    page.keyboard.press("Escape")
    pay(page)
    answer = page.locator(".st-key-dpviz-answer")
    expect(answer.get_by_text("Trips (noisy)")).to_be_visible()
    idle(page)
    is_open_to_everyone(page, "trips")
    choose(page, "Area", "ward 1")
    expect(answer.get_by_text("Trips from ward 1", exact=True)).to_be_visible()
    open_tab(page, "Table")
    expect(page.get_by_text("Trips from the area of a row to that of a column")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    open_tab(page, "Share")
    expect(page.get_by_role("button", name="Picture (PNG)")).to_be_visible()
    html = downloaded(page, page.get_by_role("button", name="Map (HTML)")).path().read_text("utf-8")
    assert "From (row) to (column)" in html
    csv = downloaded(page, page.get_by_role("button", name="CSV", exact=True)).path()
    assert {"origin", "destination", "count", "low", "high"} <= set(pd.read_csv(csv).columns)
