"""Roads in a real Chromium: two clicks on streets get the engine's answer, on a phone too."""

import re

import pytest
from playwright.sync_api import expect

from dpviz.private.load.roads import city_trips
from dpviz.private.roads import exact_visits
from dpviz.render.roads import node_degrees
from dpviz.roads.routing import shortest_path
from tests.browser.conftest import segment
from tests.browser.test_explore import metric, over, the_map
from tests.browser.test_pages import (
    a_phone_has_room_for_map_and_legend,
    is_open_to_everyone,
    settled,
)

pytestmark = pytest.mark.browser

ENDS = ("5790", "4200")


def exact_total(ends):
    data = city_trips()
    return f"{int(exact_visits(data)[shortest_path(data.graph, *ends)].sum()):,}"


def test_two_clicked_streets_are_joined_and_answered(app, open_page):
    page = open_page(f"{app}/roads")
    is_open_to_everyone(page, "roads")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.get_by_test_id("stTopNavSection").locator("p")).to_have_css("font-weight", "600")
    settled(page)
    map_view, graph = the_map(page), city_trips().graph
    first, second = (node_degrees(graph)[graph.node_id.tolist().index(int(end))] for end in ENDS)
    page.mouse.click(*over(map_view, first.tolist()))
    page.wait_for_url(re.compile(r"from=\d+"))
    page.mouse.click(*over(map_view, second.tolist()))
    page.wait_for_url(re.compile(r"from=\d+.*to=\d+|to=\d+.*from=\d+"))
    ends = tuple(re.search(rf"[?&]{name}=(\d+)", page.url).group(1) for name in ("from", "to"))
    assert ends[0] != ends[1]
    page.locator(".st-key-dpviz-answer").get_by_text("Details", exact=True).click()
    expect(metric(page, "Exact total (public data)")).to_have_text(exact_total(ends))
    expect(metric(page, "Trips per street, on average (noisy)")).to_contain_text("±")
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("the chosen path")
    a_phone_in_the_dark_has_room_for_the_map_and_shows_sections(page, map_view)


def a_phone_in_the_dark_has_room_for_the_map_and_shows_sections(page, map_view):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    settled(page)
    a_phone_has_room_for_map_and_legend(page, map_view)
    expect(page.get_by_test_id("dpviz-legend")).to_contain_text("Trips per street")
    segment(page, "Sections").click()
    expect(page.get_by_test_id("dpviz-legend")).not_to_contain_text("Trips per street")
