"""The placeholder shown before the app starts has the layout of the app."""

from io import BytesIO

import pytest
from PIL import Image

from tests.browser.conftest import frames, idle
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
    page.route(BEGIN, lambda route: None)  # held back
    page.goto(app, wait_until="commit")
    picture = page.locator(".dpviz-first img")
    page.wait_for_function("document.querySelector('.dpviz-first img')?.complete")
    first = picture.bounding_box()
    page.unroute(BEGIN)  # now answered
    picture.wait_for(state="detached")
    real = the_map(page)
    idle(page)
    box = real.bounding_box()
    assert all(abs(first[side] - box[side]) <= 4 for side in box)
    assert not [url for url in asked if "openstreetmap" in url]
    the_foot_stays_when_the_head_is_scrolled_out_of_sight(page, real)
    view_controls_need_no_python_and_less_epsilon_redraws_where_one_looks(page)


def the_foot_stays_when_the_head_is_scrolled_out_of_sight(page, map_view):
    """Chromium without a GPU left as much of it blank as was out of sight above."""

    def foot():
        frames(page)
        box = map_view.bounding_box()
        x, y = round(box["x"]) + 40, round(box["y"] + box["height"])
        picture = Image.open(BytesIO(page.screenshot()))  # with a clip, all would be laid out anew
        return picture.crop((x, y - 60, x + 300, y - 10)).tobytes()

    before = foot()
    longer = "e => { e.style.paddingBottom = '500px'; }"
    page.get_by_test_id("stMainBlockContainer").evaluate(longer)
    scroll = "by => document.querySelector('[data-testid=stMain]').scrollBy(0, by)"
    page.evaluate(scroll, 300)
    assert map_view.bounding_box()["y"] < 0
    assert foot() == before
    page.evaluate(scroll, -300)
