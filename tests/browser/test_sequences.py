"""Sequences in a real Chromium: a clicked cell and its arrows, a path, trips that move."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from dpviz.datasets import DATASETS
from dpviz.releases.sequences.cells import Cells
from dpviz.releases.store import read
from tests.browser.conftest import downloaded, frames, open_tab, segment
from tests.browser.test_explore import over
from tests.browser.test_pages import (
    a_phone_has_room_for_map_and_legend,
    both_schemes_are_open_to_everyone,
    is_open_to_everyone,
    settled,
    violations,
)

pytestmark = pytest.mark.browser

SIDE = 12
CELL = (3, 6)


def the_map(page):
    """The map, once it shows what it was asked for."""
    settled(page)
    return page.locator("[data-testid=dpviz-map][data-rendered]").first


def at_cell(map_view, column, row):
    """Pixels of the page at the middle of a cell."""
    box = Cells(DATASETS["persons"].domain, SIDE).boxes[column * SIDE + row]
    return over(map_view, (float(box[0] + box[2]) / 2, float(box[1] + box[3]) / 2))


def marks(map_view, layer):
    """Number of objects in a layer of the map; None without the layer."""
    return map_view.evaluate(
        "(e, id) => e.__dpviz.layers().find(l => l.id === id)?.props.data.length ?? null", layer
    )


def test_a_visit_clicks_cells_and_paths_plays_trips_fits_a_phone_and_is_open_to_everyone(
    app, open_page, tmp_path
):
    page = open_page(f"{app}/sequences")
    is_open_to_everyone(page, "sequences")
    page.set_viewport_size({"width": 1280, "height": 900})
    map_view = the_map(page)
    more_epsilon_draws_another_map(page, map_view)
    a_clicked_cell_shows_where_it_leads_and_lets_go(page, map_view)
    a_place_is_chosen_by_keyboard(page, map_view)
    a_phone_in_the_dark_has_room_for_everything(page)
    synthetic_trips_move_pause_and_hurry(page)
    a_path_is_chosen_by_its_row(page)
    segment(page, "Moves").click()
    tabs_are_open_to_everyone(page)
    downloads_are_files(page, tmp_path)


def more_epsilon_draws_another_map(page, map_view):
    """Controlled by keyboard."""
    hopeless = page.get_by_text("Most moves are within their noise")
    thumb = page.get_by_role("slider", name="ε")
    for key in (*3 * ["PageDown"], *2 * ["ArrowLeft"]):  # three large steps, then single ones
        thumb.press(key)
    page.wait_for_url(re.compile(r"epsilon=0\.08\b"))
    expect(hopeless).to_be_visible()
    settled(page)
    noisy = marks(map_view, "moves") or 0
    for _ in range(6):
        thumb.press("PageUp")
    page.wait_for_url(re.compile(r"epsilon=5\b"))
    expect(hopeless).to_be_hidden()
    settled(page)
    assert noisy < marks(map_view, "moves") / 2


def a_clicked_cell_shows_where_it_leads_and_lets_go(page, map_view):
    assert marks(map_view, "visits") == SIDE * SIDE
    assert marks(map_view, "moves") > 20
    assert marks(map_view, "next") is None
    page.mouse.click(*at_cell(map_view, *CELL))
    name = "-".join(map(str, CELL))
    page.wait_for_url(re.compile(f"cell={name}"))
    expect(page.get_by_text("Next from Port Meridian")).to_be_visible()
    settled(page)
    assert marks(map_view, "chosen") == 1
    assert marks(map_view, "next") >= 4
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("its next moves")
    assert violations(page) == []
    page.mouse.click(*at_cell(map_view, *CELL))
    page.get_by_text("Busiest moves").wait_for()
    settled(page)
    assert marks(map_view, "next") is None
    assert "cell=" not in page.url


def a_place_is_chosen_by_keyboard(page, map_view):
    box = page.get_by_role("combobox", name="Place")
    box.focus()
    name = "4 km S of Port Meridian"
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(
        page.get_by_text(f"Next from {name}").or_(page.get_by_text(f"Next after {name}"))
    ).to_be_visible()
    settled(page)
    assert marks(map_view, "next") >= 4


def a_path_is_chosen_by_its_row(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    segment(page, "Frequent paths").click()
    page.get_by_text("Choose a row to see its path").wait_for()
    map_view = the_map(page)
    assert marks(map_view, "paths") == 9  # and the first one, which stands out
    expect(page.get_by_text("Path 1:")).to_be_visible()
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.click(box["x"] + 15, box["y"] + 36 + 15)  # unticks the first
    expect(page.get_by_text("Path 1:")).to_be_hidden()
    settled(page)
    assert marks(map_view, "paths") == 10
    page.mouse.click(box["x"] + 15, box["y"] + 36 + 66 * 2 + 15)
    expect(page.get_by_text("Path 3:")).to_be_visible()
    settled(page)
    assert marks(map_view, "path") == 1
    assert marks(map_view, "paths") == 9


def synthetic_trips_move_pause_and_hurry(page):
    """On a small screen."""
    page.set_viewport_size({"width": 500, "height": 420})
    page.emulate_media(color_scheme="light")
    map_view = the_map(page)
    assert marks(map_view, "trips") > 200
    assert violations(page) == []
    at = "e => e.__dpviz.player.at"
    first = map_view.evaluate(at)
    speed = page.get_by_test_id("dpviz-clock-speed")
    expect(speed).to_have_text("1×")
    speed.click()
    expect(speed).to_have_attribute("aria-label", "Speed: 2 times")
    expect(page.get_by_test_id("dpviz-clock-name")).to_have_text("step 1 of 40")
    # With reduced motion it does not start by itself.
    page.get_by_test_id("dpviz-clock-play").click()
    handle = map_view.element_handle()
    page.wait_for_function("([e, t]) => e.__dpviz.player.at !== t", arg=[handle, first])
    page.get_by_test_id("dpviz-clock-play").click()
    stopped = map_view.evaluate(at)
    frames(page, 10)
    assert map_view.evaluate(at) == stopped


def a_phone_in_the_dark_has_room_for_everything(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    for view, layer in (
        ("Moves", "next"),
        ("Frequent paths", "paths"),
        ("Synthetic trips", "trips"),
    ):
        segment(page, view).click()
        page.wait_for_function(DRAWN, arg=layer)
        has_room(page)


DRAWN = """id => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .map(each => each.shadowRoot?.querySelector('.map')?.__dpviz)
  .some(map => map?.layers().some(layer => layer.id === id))"""


def has_room(page):
    """Nothing on the map covers its other controls, nor goes beyond the phone."""
    map_view = the_map(page)
    a_phone_has_room_for_map_and_legend(page, map_view)
    parts = map_view.locator(".camera:visible, .panel:visible, .legend:visible")
    boxes = [parts.nth(at).bounding_box() for at in range(parts.count())]
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"]
                or other["x"] + other["width"] <= one["x"]
                or one["y"] + one["height"] <= other["y"]
                or other["y"] + other["height"] <= one["y"]
            )
            assert apart, (one, other)


def tabs_are_open_to_everyone(page):
    open_tab(page, "Table")
    settled(page)
    both_schemes_are_open_to_everyone(page)


def downloads_are_files(page, tmp_path):
    open_tab(page, "Share")
    file = downloaded(page, page.get_by_role("button", name="Release (Parquet)"))
    file.save_as(tmp_path / "release.parquet")
    release = read(tmp_path / "release.parquet")
    assert len(release.alphabet) == SIDE * SIDE
    file = downloaded(page, page.get_by_role("button", name="synthetic sequences (CSV)"))
    file.save_as(tmp_path / "synthetic.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "synthetic.csv").read_text())))
    assert len({row["sequence"] for row in rows}) > 4000
    assert {row["symbol"] for row in rows} <= set(release.alphabet.names)
