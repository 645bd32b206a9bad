"""A public prior in a real browser: refused where it is no prior, reviewed, followed, shown."""

import numpy as np
import pytest
from playwright.sync_api import expect

import dpviz
from tests.browser.conftest import choose, downloaded, idle, onward, open_tab, paste_area, pay
from tests.browser.conftest import upload as upload_file
from tests.browser.test_explore import the_map

pytestmark = pytest.mark.browser

STEP = ".st-key-publish-step-1"


def table(path, seed, weights=()):
    """File of places around one point."""
    spots = np.random.default_rng(seed).normal([14.5, -23.5], 0.05, (3_000, 2))
    weights = (*weights, *[2] * (len(spots) - len(weights)))
    rows = [f"{x:.5f},{y:.5f},{w}" for (x, y), w in zip(spots.tolist(), weights, strict=True)]
    path.write_text("\n".join(["lon,lat,people", *rows]))
    return path


def test_public_data_about_the_place_are_checked_followed_and_drawn(app, open_page, tmp_path):
    records = table(tmp_path / "records.csv", 1)
    page = open_page(f"{app}/publish")
    upload_file(page, records)
    onward(page, 0)
    paste_area(page)
    step = page.locator(STEP)
    step.get_by_text("Something public about this place?").click()
    expect(step.get_by_text("It must be PUBLIC")).to_be_visible()
    the_records_themselves_are_refused(page, step, records)
    negative = table(tmp_path / "negative.csv", 2, [-1])
    replace_file(page, step, negative)
    choose(page, "Column of weights", "people")
    expect(step.get_by_role("alert")).to_contain_text("negative or missing weights")
    replace_file(page, step, table(tmp_path / "homes.csv", 2))
    expect(step.get_by_text("Read as points")).to_be_visible()
    onward(page, 1)
    onward(page, 2)
    expect(page.get_by_text("Public prior: homes.csv")).to_be_visible()
    pay(page)
    expect(page.get_by_text("Published, and kept")).to_be_visible()
    the_map(page)
    idle(page)
    page.get_by_text("Show the prior", exact=True).click()
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("Public prior")
    open_tab(page, "Share")
    file = downloaded(page, page.get_by_role("button", name="GeoParquet"))
    release = dpviz.read(file.path())
    entry = release.header.extra["prior"]
    assert entry["kind"] == "points"
    assert any(fit[0] > 0 for fit in entry["fits"][0])


def the_records_themselves_are_refused(page, step, records):
    replace_file(page, step, records)
    alert = step.get_by_role("alert")
    expect(alert).to_contain_text("The file holds the records themselves: a prior must be PUBLIC")
    expect(step.get_by_role("button", name="Continue")).to_be_disabled()


def replace_file(page, step, path):
    """Choose another file for the prior."""
    while (old := step.get_by_role("button", name="Remove")).count():
        old.first.click()
        idle(page)
    step.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)
    step.get_by_text(path.name).first.wait_for()
    idle(page)
