"""What a newcomer sees and does before the app is there is where the app has it, and not lost."""

from tests.browser.conftest import idle

FIRST = ".dpviz-first .map [aria-roledescription=map][data-painted]"
APP = "[data-testid=dpviz-map][data-rendered]"
CAMERA = "map => Object.values(map.__dpviz.camera).map(value => value.toFixed(6))"
BEGIN = "**/static/js/index.*.js"
"""Streamlit's program."""


def test_the_first_picture_is_the_apps_and_a_rectangle_drawn_on_it_is_answered(desk, app):
    page = desk.new_page()
    try:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.route(BEGIN, lambda route: None)
        page.goto(app, wait_until="commit")
        first = page.locator(FIRST)
        first.wait_for()
        place, camera = first.bounding_box(), first.evaluate(CAMERA)
        page.locator(".dpviz-first").get_by_test_id("dpviz-draw").click()
        page.mouse.move(place["x"] + 120, place["y"] + 180)
        page.mouse.down()
        page.mouse.move(place["x"] + 260, place["y"] + 360, steps=3)
        page.mouse.up()
        drawn = first.get_attribute("data-shape")
        page.unroute(BEGIN)  # what was held goes on
        real = page.locator(APP)
        real.wait_for()
        page.locator(".dpviz-first").wait_for(state="detached")
        page.get_by_text("Built from").wait_for()
        idle(page)
        assert real.get_attribute("data-shape") == drawn
        assert real.evaluate(CAMERA) == camera
        now = real.bounding_box()
        assert all(abs(now[side] - place[side]) <= 2 for side in place)
    finally:
        page.close()
