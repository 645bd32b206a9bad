"""What a newcomer sees before the app is there is where the app has it."""

import pytest

from tests.browser.conftest import idle
from tests.browser.test_explore import (
    the_map,
    view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks,
)

pytestmark = pytest.mark.browser

BEGIN = "**/static/js/index.*.js"
"""Streamlit's program."""


@pytest.mark.webgl
def test_a_picture_of_the_demo_stands_where_the_map_will_be_until_it_is_painted(app, open_page):
    page = open_page("about:blank")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.route(BEGIN, lambda route: None)  # held
    page.goto(app, wait_until="commit")
    picture = page.locator(".dpviz-first img")
    page.wait_for_function("document.querySelector('.dpviz-first img')?.complete")
    first = picture.bounding_box()
    page.unroute(BEGIN)  # what was held goes on
    picture.wait_for(state="detached")
    real = the_map(page)
    idle(page)
    box = real.bounding_box()
    assert all(abs(first[side] - box[side]) <= 4 for side in box)
    assert not [url for url in asked if "openstreetmap" in url]
    view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks(page)


def test_grey_shapes_stay_until_the_page_has_more_than_a_title(desk, app):
    """Streamlit's own page is empty for as long as a cold server takes to begin."""
    page = desk.new_page()
    silent = True

    def stream(socket):
        if not silent:
            socket.connect_to_server()

    try:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.route_web_socket("**/_stcore/stream", stream)
        page.goto(f"{app}/compare", wait_until="commit")
        page.locator("[data-testid=stApp]").wait_for()
        page.wait_for_function("document.fonts.status === 'loaded'")
        shape = page.locator(".dpviz-first i.map")
        top = "([x, y]) => document.elementsFromPoint(x, y)[0].closest('.dpviz-first i.map')"
        assert shape.is_visible()
        page.add_style_tag(content=".dpviz-first, .dpviz-first * {pointer-events: auto !important}")
        assert page.evaluate(f"Boolean(({top})([500, 400]))")
        silent = False
        page.reload()
        page.get_by_role("heading", name="Compare").wait_for()
        page.locator(".dpviz-first").wait_for(state="detached")
    finally:
        page.close()
