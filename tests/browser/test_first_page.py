"""What a newcomer sees and does before the app is there is where the app has it, and not lost."""

import pytest

from tests.browser.conftest import idle
from tests.browser.test_explore import (
    sweep,
    the_map,
    view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks,
)

pytestmark = pytest.mark.browser

PAINTED = "window.dpvizFirst?.app?.root.dataset.painted"
CAMERA = "Object.values(map.camera).map(value => value.toFixed(6))"
BOX = "(({x, y, width, height}) => [x, y, width, height].map(Math.round))"
LOOK = f"map => [{CAMERA}, {BOX}(map.root.getBoundingClientRect())]"
DRAW = "window.dpvizFirst.app.root.querySelector('[data-testid=dpviz-draw]').click()"
BEGIN = "**/static/js/index.*.js"
"""Streamlit's program."""


@pytest.mark.webgl
def test_the_first_picture_is_the_apps_a_rectangle_drawn_on_it_is_answered_and_views_need_no_python(
    app, open_page
):
    page = open_page("about:blank")
    page.route(BEGIN, lambda route: None)  # held
    page.goto(app, wait_until="commit")
    page.wait_for_function(PAINTED)
    first = page.evaluate(f"({LOOK})(window.dpvizFirst.app)")
    page.evaluate(DRAW)
    _, (x, y, _, _) = first
    sweep(page, (x + 120, y + 180), (x + 260, y + 360))
    drawn = page.evaluate("window.dpvizFirst.app.root.dataset.shape")
    page.unroute(BEGIN)  # what was held goes on
    page.wait_for_function("!window.dpvizFirst")
    real = the_map(page)
    page.get_by_text("Built from").wait_for()
    idle(page)
    assert "rect" in drawn
    assert real.get_attribute("data-shape") == drawn
    assert real.evaluate(f"root => ({LOOK})(root.__dpviz)") == first
    page.get_by_test_id("dpviz-clear").click()
    page.get_by_text("Built from").wait_for(state="detached")
    idle(page)
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
